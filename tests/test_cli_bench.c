/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_bench.c - what CLATTN_PROGRAM refuses to measure, and what the JSON of
 * its bench holds.  Judges no speed: machines that test are not quiet.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "commands.h"
#include "program.h"
#include "suite.h"

static const struct refused_case {
    const char *about;
    const char *arguments[8];
    const char *message;
} REFUSED[] = {
    {"neither shape nor suite", {NULL}, "--shape B,H,L,D or --suite"},
    {"options, but no shape", {"--causal"}, "--shape B,H,L,D or --suite"},
    {"three sizes", {"--shape", "1,2,3"}, "--shape 1,2,3 is not B,H,L,D"},
    {"five sizes", {"--shape", "1,2,3,4,5"}, "is not B,H,L,D"},
    {"a size of 0", {"--shape", "1,0,3,4"}, "from 1 to 2147483647"},
    {"words for sizes", {"--shape", "a,b,c,d"}, "--shape a,b,c,d"},
    {"a file for sizes", {"--shape", "x.npy"}, "is not B,H,L,D"},
    {"the second shape", {"--shape", "1,1,1,1", "--shape", "1"},
        "--shape 1 is not"},
    {"suite and shape", {"--suite", "--shape", "1,1,1,1"},
        "--suite and --shape have no place together"},
    {"suite and another option", {"--suite", "--lengths-half"},
        "--suite and --lengths-half have no place"},
    {"unknown dtype", {"--shape", "1,1,1,1", "--dtype", "f64"},
        "--dtype f64 is not allowed, only f32 or f16 or bf16"},
    {"unknown precision", {"--shape", "1,1,1,1", "--precision", "f16"},
        "--precision f16 is not allowed, only f32 or storage"},
    {"rounding to f32", {"--shape", "1,1,1,1", "--precision", "storage"},
        "--precision storage needs --dtype f16 or bf16"},
    {"unknown mask", {"--shape", "1,1,1,1", "--mask", "f16"}, "--mask f16"},
    {"half a window", {"--shape", "1,1,1,1", "--window", "3"},
        "--window 3 is not L,R"},
    {"window below -1", {"--shape", "1,1,1,1", "--window", "-2,0"},
        "--window -2,0"},
    {"heads that do not divide", {"--shape", "1,4,8,8", "--heads-kv", "3"},
        "--heads-kv 3 does not divide the 4 heads of --shape 1,4,8,8"},
    {"no heads", {"--shape", "1,4,8,8", "--heads-kv", "0"}, "--heads-kv 0"},
};

static void run_bench(program_result *result, const char *const *arguments,
    const char *const *environment)
{
    const char *all[PROGRAM_ARGUMENTS] = {"bench"};
    for (size_t i = 0; arguments[i]; i++)
        all[i + 1] = arguments[i];
    program_run(result, all, environment);
}

START_TEST(wrong_use_is_told_before_anything_is_measured)
{
    static program_result result;
    const struct refused_case *row = &REFUSED[_i];
    run_bench(&result, row->arguments, NULL);
    ck_assert_msg(result.code == EXIT_WRONG_USE && result.out[0] == '\0',
        "%s: exit code %d: %s%s", row->about, result.code, result.out,
        result.err);
    ck_assert_msg(strstr(result.err, row->message) != NULL,
        "%s: \"%s\" does not hold \"%s\"", row->about, result.err,
        row->message);
}
END_TEST

/* ---- JSON --------------------------------------------------------------- */

static json_t *measured(const char *const *arguments)
{
    static program_result result;
    json_error_t error;
    run_bench(&result, arguments, NULL);
    ck_assert_msg(
        result.code == EXIT_DONE, "exit code %d: %s", result.code, result.err);
    json_t *o = json_loads(result.out, 0, &error);
    ck_assert_msg(o != NULL, "no JSON: %s: %s", error.text, result.out);
    return o;
}

static void check_positive(const json_t *o, const char *key)
{
    const double value = json_number_value(json_object_get(o, key));
    ck_assert_msg(value > 0.0, "%s is %g", key, value);
}

/* Figures that belong to each other. */
static void check_case(
    const json_t *o, const char *name, double operations, double peak)
{
    static const char *const FIGURES[] = {
        "ms_median", "ms_min", "gflops", "share", "samples"};
    ck_assert_str_eq(json_string_value(json_object_get(o, "name")), name);
    ck_assert(json_is_string(json_object_get(o, "path")));
    ck_assert(json_is_string(json_object_get(o, "kernel")));
    for (size_t i = 0; i < COUNT(FIGURES); i++)
        check_positive(o, FIGURES[i]);
    const double ms = json_number_value(json_object_get(o, "ms_median"));
    const double least = json_number_value(json_object_get(o, "ms_min"));
    const double gflops = json_number_value(json_object_get(o, "gflops"));
    const double share = json_number_value(json_object_get(o, "share"));
    ck_assert_msg(least <= ms, "%s: least %g, median %g", name, least, ms);
    ck_assert_double_eq_tol(gflops * ms * 1e6 / operations, 1.0, 1e-4);
    ck_assert_double_eq_tol(share * peak / gflops, 1.0, 1e-4);
}

START_TEST(the_object_holds_device_peak_and_one_case_per_shape)
{
    static const char *const ARGUMENTS[] = {
        "--shape", "1,2,16,8", "--shape=2,1,24,4", "--causal", "--json", NULL};
    static const char *const TEXTS[] = {"device", "driver", "commit"};
    json_t *o = measured(ARGUMENTS);
    for (size_t i = 0; i < COUNT(TEXTS); i++)
        ck_assert(json_is_string(json_object_get(o, TEXTS[i])));
    check_positive(o, "peak_gflops");
    const double peak = json_number_value(json_object_get(o, "peak_gflops"));
    const json_t *cases = json_object_get(o, "cases");
    ck_assert_uint_eq(json_array_size(cases), 2);
    check_case(json_array_get(cases, 0), "1,2,16,8 causal",
        0.5 * 4 * 2 * 16 * 16 * 8, peak);
    check_case(json_array_get(cases, 1), "2,1,24,4 causal",
        0.5 * 4 * 2 * 24 * 24 * 4, peak);
    json_decref(o);
}
END_TEST

START_TEST(a_forced_path_stands_in_the_figures)
{
    static const char *const ARGUMENTS[] = {
        "--shape", "1,1,8,8", "--kernel", "materialised", "--json", NULL};
    json_t *o = measured(ARGUMENTS);
    const json_t *one = json_array_get(json_object_get(o, "cases"), 0);
    ck_assert_str_eq(
        json_string_value(json_object_get(one, "path")), "materialised");
    json_decref(o);
}
END_TEST

/* Matrix units take nothing else; without their kernel the row has no name. */
START_TEST(precision_storage_is_what_matrix_units_take)
{
    static program_result result;
    static const char *const ARGUMENTS[] = {"--shape", "1,1,16,16", "--dtype",
        "f16", "--kernel", "mma_mfma", "--precision", "storage", NULL};
    static const char *const ENVIRONMENT[] = {
        "CLATTN_TUNING=emulate_units=1", NULL};
    const char *exact[COUNT(ARGUMENTS)];
    memcpy(exact, ARGUMENTS, sizeof exact);
    exact[7] = "f32";
    run_bench(&result, ARGUMENTS, ENVIRONMENT);
    if (strstr(result.err, "--kernel mma_mfma is not allowed"))
        return;
    ck_assert_msg(result.code == EXIT_DONE &&
                      strstr(result.out, "precision storage") != NULL,
        "%d: %s%s", result.code, result.out, result.err);
    run_bench(&result, exact, ENVIRONMENT);
    ck_assert_msg(result.code == EXIT_FAILED &&
                      strstr(result.err, "which precision or dtypes") != NULL,
        "%d: %s%s", result.code, result.out, result.err);
}
END_TEST

/* A batch that no machine has memory for, beside one that every has. */
START_TEST(what_is_refused_is_told_with_its_reason)
{
    static const char *const ARGUMENTS[] = {
        "--shape", "2000000000,1,1,512", "--shape", "1,1,8,8", "--json", NULL};
    json_t *o = measured(ARGUMENTS);
    const json_t *one = json_array_get(json_object_get(o, "cases"), 0);
    const char *reason = json_string_value(json_object_get(one, "refused"));
    ck_assert_msg(reason && reason[0], "no reason");
    ck_assert(json_is_null(json_object_get(one, "ms_median")));
    ck_assert(json_is_null(json_object_get(
        json_array_get(json_object_get(o, "cases"), 1), "refused")));
    json_decref(o);
}
END_TEST

START_TEST(nothing_measured_is_a_failure_with_the_reason)
{
    static program_result result;
    static const char *const ARGUMENTS[] = {
        "--shape", "2000000000,1,1,512", NULL};
    run_bench(&result, ARGUMENTS, NULL);
    ck_assert_int_eq(result.code, EXIT_FAILED);
    ck_assert_msg(strstr(result.err, "nothing could be measured: ") != NULL,
        "%s", result.err);
}
END_TEST

/* ---- Text --------------------------------------------------------------- */

START_TEST(the_table_names_device_peak_kernel_and_case)
{
    static program_result result;
    static const char *const ARGUMENTS[] = {"--shape", "1,1,8,8", NULL};
    static const char *const ENVIRONMENT[] = {"POCL_AFFINITY=1", NULL};
    static const char *const HOLDS[] = {
        "device    ", "driver    ", "commit    ", "peak      ", "1,1,8,8  "};
    run_bench(&result, ARGUMENTS, ENVIRONMENT);
    ck_assert_msg(result.code == EXIT_DONE && result.err[0] == '\0', "%d: %s",
        result.code, result.err);
    for (size_t i = 0; i < COUNT(HOLDS); i++)
        ck_assert_msg(strstr(result.out, HOLDS[i]) != NULL,
            "\"%s\" is not in: %s", HOLDS[i], result.out);
}
END_TEST

START_TEST(pocl_without_affinity_is_warned_of)
{
    static program_result result;
    static const char *const ARGUMENTS[] = {"--shape", "1,1,8,8", NULL};
    static const char *const ENVIRONMENT[] = {"POCL_AFFINITY=0", NULL};
    run_bench(&result, ARGUMENTS, ENVIRONMENT);
    const bool pocl = strstr(result.out, "Portable Computing Language");
    const bool warned = strstr(result.err, "POCL_AFFINITY=1 is not set");
    ck_assert_msg(warned == pocl, "%s%s", result.out, result.err);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli_bench");
    TCase *refused = tcase_create("refused");
    tcase_add_loop_test(refused, wrong_use_is_told_before_anything_is_measured,
        0, COUNT(REFUSED));
    suite_add_tcase(suite, refused);
    TCase *run = tcase_create("run");
    tcase_set_timeout(run, 120.0); /* a busy machine: 10 s a case, twice */
    tcase_add_test(run, the_object_holds_device_peak_and_one_case_per_shape);
    tcase_add_test(run, a_forced_path_stands_in_the_figures);
    tcase_add_test(run, precision_storage_is_what_matrix_units_take);
    tcase_add_test(run, what_is_refused_is_told_with_its_reason);
    tcase_add_test(run, nothing_measured_is_a_failure_with_the_reason);
    tcase_add_test(run, the_table_names_device_peak_kernel_and_case);
    tcase_add_test(run, pocl_without_affinity_is_warned_of);
    suite_add_tcase(suite, run);
    return suite_main(suite, 0);
}
