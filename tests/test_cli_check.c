/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_check.c - the report of CLATTN_PROGRAM's check: what it holds where
 * all is right, that a wrong kernel and one that does not compile are found,
 * and what is wrong use.  Judges no speed.
 */
#define _XOPEN_SOURCE 700 /* symlink */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "commands.h"
#include "program.h"
#include "scratch.h"
#include "suite.h"

static program_result got;

static void run_check(
    const char *const *arguments, const char *const *environment)
{
    const char *all[PROGRAM_ARGUMENTS] = {"check"};
    for (size_t i = 0; arguments[i]; i++)
        all[i + 1] = arguments[i];
    program_run(&got, all, environment);
}

/* ---- Wrong use and failures --------------------------------------------- */

static const struct message_case {
    const char *about;
    const char *arguments[8];
    int code;
    const char *message;
} MESSAGES[] = {
    {"quick and full", {"--quick", "--full"}, EXIT_WRONG_USE,
        "--quick and --full have no place together"},
    {"a draw and a report", {"--draw", "seed=1", "--json"}, EXIT_WRONG_USE,
        "--draw seed=1 and --json have no place together"},
    {"a draw that is none", {"--draw", "hello"}, EXIT_WRONG_USE, "--draw: "},
    {"a draw of nothing", {"--draw", ""}, EXIT_WRONG_USE, "--draw is empty"},
    {"a draw without all sizes", {"--draw", "B=1 Hq=1"}, EXIT_WRONG_USE,
        "--draw: Hkv= is missing"},
    {"a draw on a row that is none",
        {"--draw", "B=1 Hq=1 Hkv=1 Lq=1 Lk=1 D=1 Dv=1 kernel=tiled17"},
        EXIT_WRONG_USE, "kernel=tiled17 is none of the library's rows"},
    {"a draw that says another problem than is run",
        {"--draw", "B=1 Hq=3 Hkv=2 Lq=1 Lk=1 D=1 Dv=1"}, EXIT_WRONG_USE,
        "--draw: 'Hq=3' contradicts the rest of the line, with which Hq=2 is "
        "allowed"},
    {"a seed that is no number", {"--seed", "x"}, EXIT_WRONG_USE, "--seed x"},
    {"a seed that no report holds", {"--seed", "9223372036854775808"},
        EXIT_WRONG_USE,
        "--seed 9223372036854775808 is above 9223372036854775807"},
    {"no such device", {"--device", "no such device"}, EXIT_FAILED,
        "no such device"},
    {"no such folder of cases", {"--onnx", "@none"}, EXIT_FAILED,
        "none: cannot be listed"},
    {"a folder that holds no cases", {"--onnx", "@empty"}, EXIT_FAILED,
        "there is no case"},
    {"a file in a folder that is not there", {"--markdown", "@none/r.md"},
        EXIT_FAILED, "none/r.md"},
};

START_TEST(what_cannot_work_is_told_before_anything_is_tried)
{
    const struct message_case *row = &MESSAGES[_i];
    run_check(row->arguments, NULL);
    ck_assert_msg(got.code == row->code && got.out[0] == '\0',
        "%s: exit code %d: %s%s", row->about, got.code, got.out, got.err);
    ck_assert_msg(strstr(got.err, row->message) != NULL,
        "%s: \"%s\" does not hold \"%s\"", row->about, got.err, row->message);
}
END_TEST

/* Sizes that no memory holds, alone or multiplied. */
static const char *const LARGE[] = {
    "B=1 Hq=1 Hkv=1 Lq=4611686018427387904 Lk=5 D=8 Dv=8 kernel=tiled16",
    "B=9223372036854775808 Hq=1 Hkv=1 Lq=3 Lk=5 D=8 Dv=8 kernel=tiled16",
    "B=1 Hq=1 Hkv=1 Lq=3 Lk=18446744073709551615 D=8 Dv=8 kernel=tiled16",
    "B=1 Hq=1 Hkv=1 Lq=3 Lk=5 D=8 Dv=18446744073709551615 kernel=tiled16",
    "B=1 Hq=1 Hkv=1 Lq=4294967296 Lk=5 D=8 Dv=8 kernel=tiled16",
    "B=65536 Hq=65536 Hkv=65536 Lq=65536 Lk=65536 D=8 Dv=8 kernel=tiled16",
};

START_TEST(a_problem_that_no_memory_holds_is_told)
{
    run_check((const char *const[]){"--draw", LARGE[_i], NULL}, NULL);
    ck_assert_msg(got.code == EXIT_FAILED && got.out[0] == '\0',
        "exit code %d: %s%s", got.code, got.out, got.err);
    ck_assert_str_eq(got.err, "clattn: no memory for a case\n");
}
END_TEST

static const struct {
    const char *arguments[3], *environment, *message;
} NO_KERNELS[] = {
    {{"--quick"}, "CLATTN_KERNEL=nosuch", "CLATTN_KERNEL is 'nosuch'"},
    {{"--quick"}, "CLATTN_DISABLE=tiled1,nosuch",
        "CLATTN_DISABLE holds 'nosuch'"},
    {{"--draw", "B=1 Hq=1 Hkv=1 Lq=3 Lk=5 D=8 Dv=8"}, "CLATTN_DISABLE=nosuch",
        "CLATTN_DISABLE holds 'nosuch'"},
};

START_TEST(a_kernel_that_is_none_in_the_environment_is_no_fault_of_the_device)
{
    const char *const environment[] = {NO_KERNELS[_i].environment, NULL};
    run_check(NO_KERNELS[_i].arguments, environment);
    ck_assert_msg(got.code == EXIT_WRONG_USE && got.out[0] == '\0' &&
                      strstr(got.err, NO_KERNELS[_i].message) != NULL,
        "%d: %s%s", got.code, got.out, got.err);
}
END_TEST

/* ---- All is right ------------------------------------------------------- */

static json_t *report_of(const char *about)
{
    json_error_t error;
    json_t *o = json_loads(got.out, 0, &error);
    ck_assert_msg(o != NULL, "%s: no JSON: %s: %s%s", about, error.text,
        got.out, got.err);
    return o;
}

/* Of an array of objects: a number of each, added up. */
static size_t sum_of(const json_t *array, const char *key)
{
    size_t sum = 0;
    ck_assert_msg(json_is_array(array), "no array with %s", key);
    for (size_t i = 0; i < json_array_size(array); i++)
        sum += (size_t)json_integer_value(
            json_object_get(json_array_get(array, i), key));
    return sum;
}

static void check_builds(const json_t *builds)
{
    size_t built = 0;
    for (size_t i = 0; i < json_array_size(builds); i++) {
        const json_t *b = json_array_get(builds, i);
        const json_t *kernels = json_object_get(b, "kernels");
        const bool refused = json_is_string(json_object_get(b, "refused"));
        ck_assert(json_is_false(json_object_get(b, "failed")));
        ck_assert_msg(refused == (json_array_size(kernels) == 0),
            "row %s has kernels or a reason for none",
            json_string_value(json_object_get(b, "row")));
        built += !refused;
    }
    ck_assert_uint_gt(built, 0);
}

static void check_scores(const json_t *scores)
{
    ck_assert_uint_gt(sum_of(scores, "right"), 0);
    ck_assert_uint_eq(sum_of(scores, "wrong"), 0);
    for (size_t i = 0; i < json_array_size(scores); i++) {
        const json_t *s = json_array_get(scores, i);
        const double share = json_number_value(json_object_get(s, "share"));
        ck_assert_msg(share >= 0 && share <= 1, "%s: %g of what is allowed",
            json_string_value(json_object_get(s, "table")), share);
    }
}

static void check_markdown(const char *device)
{
    static const char *const HOLDS[] = {"# clattn check: ", "\n## Kernel rows",
        "\n| table | row |", "\n|---|---|", "\n## ONNX cases\n",
        "\n## Verdict\n\nRight: all "};
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    char *text = scratch_read(scratch_path(path, "report.md"), &bytes);
    ck_assert_msg(text != NULL, "no report.md");
    for (size_t i = 0; i < COUNT(HOLDS); i++)
        ck_assert_msg(strstr(text, HOLDS[i]) != NULL, "\"%s\" is not in: %s",
            HOLDS[i], text);
    ck_assert_msg(
        strstr(text, device) != NULL, "%s is not in: %s", device, text);
    free(text);
}

START_TEST(a_right_device_has_a_report_in_both_forms_and_code_0)
{
    run_check((const char *const[]){"--quick", "--seed", "7", "--json",
                  "--markdown", "@report.md", "--onnx", "@onnx", NULL},
        NULL);
    ck_assert_msg(got.code == EXIT_DONE && got.err[0] == '\0', "%d: %s%s",
        got.code, got.out, got.err);
    json_t *o = report_of("quick");
    const json_t *onnx = json_object_get(o, "onnx");
    const json_t *repeats = json_object_get(o, "repeats");
    ck_assert(json_is_true(json_object_get(o, "right")));
    ck_assert_int_eq(json_integer_value(json_object_get(o, "seed")), 7);
    ck_assert_int_eq(json_integer_value(json_object_get(o, "failed")), 0);
    ck_assert_str_eq(json_string_value(json_object_get(o, "extent")), "quick");
    check_builds(json_object_get(o, "builds"));
    check_scores(json_object_get(o, "scores"));
    ck_assert_uint_eq(sum_of(onnx, "failed"), 0);
    ck_assert_uint_gt(sum_of(onnx, "passed"), 0);
    ck_assert_uint_gt(sum_of(repeats, "runs"), sum_of(repeats, "shapes"));
    ck_assert_uint_eq(sum_of(repeats, "wrong"), 0);
    check_markdown(json_string_value(
        json_object_get(json_object_get(o, "device"), "name")));
    json_decref(o);
}
END_TEST

/* The ONNX case asks for a matrix, which without that path nothing returns. */
START_TEST(kernels_that_the_environment_keeps_out_are_told_and_nothing_is_wrong)
{
    static const char SET[] = "CLATTN_DISABLE=materialised";
    run_check((const char *const[]){"--quick", "--seed", "7", "--json",
                  "--onnx", "@matrix", NULL},
        (const char *const[]){SET, NULL});
    json_t *o = report_of("a path kept out");
    const char *verdict = json_string_value(json_object_get(o, "verdict"));
    ck_assert_str_eq(json_string_value(json_object_get(o, "environment")), SET);
    ck_assert_msg(json_integer_value(json_object_get(o, "failed")) == 0 &&
                      strstr(verdict, SET) != NULL,
        "%s", got.out);
    ck_assert_uint_eq(sum_of(json_object_get(o, "onnx"), "failed"), 0);
    ck_assert_uint_gt(sum_of(json_object_get(o, "onnx"), "refused"), 0);
    json_decref(o);
}
END_TEST

/* ---- All is not right --------------------------------------------------- */

/* The kernels in a folder "kernels", but in `file` the text `was` replaced. */
static void change_kernel(const char *file, const char *was, const char *is)
{
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    size_t bytes = 0;
    mkdir(scratch_path(to, "kernels"), 0700);
    DIR *entries = opendir(CLATTN_SOURCE_DIR "/kernels");
    ck_assert(entries != NULL);
    for (const struct dirent *e; (e = readdir(entries)) != NULL;) {
        snprintf(to, sizeof to, "kernels/%.100s", e->d_name);
        snprintf(
            from, sizeof from, CLATTN_SOURCE_DIR "/kernels/%.100s", e->d_name);
        char path[SCRATCH_PATH];
        unlink(scratch_path(path, to));
        if (e->d_name[0] != '.' && strcmp(e->d_name, file) != 0)
            ck_assert_int_eq(symlink(from, path), 0);
    }
    closedir(entries);

    snprintf(from, sizeof from, CLATTN_SOURCE_DIR "/kernels/%s", file);
    char *text = scratch_read(from, &bytes);
    ck_assert(text != NULL);
    const char *at = strstr(text, was);
    ck_assert_msg(at != NULL, "%s does not hold %s", file, was);
    char *changed = malloc(bytes + strlen(is) + 1);
    ck_assert(changed != NULL);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
    snprintf(to, sizeof to, "kernels/%s", file);
    char path[SCRATCH_PATH];
    scratch_write(path, to, changed, strlen(changed));
    free(changed);
    free(text);
}

/* The first LINE of `--draw "LINE"` in what failed. */
static void find_line(char *line, size_t bytes, const json_t *report)
{
    static const char DRAW[] = "--draw \"";
    const json_t *failures = json_object_get(report, "failures");
    line[0] = '\0';
    for (size_t i = 0; i < json_array_size(failures) && !line[0]; i++) {
        const char *text = json_string_value(json_array_get(failures, i));
        const char *at = strstr(text, DRAW);
        if (at)
            snprintf(line, bytes, "%.*s", (int)strcspn(at + strlen(DRAW), "\""),
                at + strlen(DRAW));
    }
}

static const char *const *changed_kernels(void)
{
    static char variable[SCRATCH_PATH + 30];
    static const char *const environment[] = {variable, NULL};
    strcpy(variable, "CLATTN_KERNEL_DIR=");
    scratch_path(variable + strlen(variable), "kernels");
    return environment;
}

START_TEST(a_wrong_kernel_is_found_and_its_line_brings_it_back)
{
    char line[1200];
    const char *const again[] = {"--draw", line, NULL};
    change_kernel(
        "weighted_sum.cl", "STORE(OT, sum,", "STORE(OT, sum + 0.01f,");
    run_check((const char *const[]){"--quick", "--seed", "7", "--json", NULL},
        changed_kernels());
    ck_assert_msg(got.code == EXIT_FAILED, "%d: %s", got.code, got.err);
    ck_assert_msg(strstr(got.err, "WRONG: ") != NULL, "%s", got.err);
    json_t *o = report_of("wrong kernel");
    ck_assert(json_is_false(json_object_get(o, "right")));
    ck_assert_uint_gt(sum_of(json_object_get(o, "repeats"), "wrong"), 0);
    find_line(line, sizeof line, o);
    ck_assert_msg(line[0] != '\0', "no line brings it back");
    json_decref(o);

    run_check(again, changed_kernels());
    ck_assert_msg(got.code == EXIT_FAILED && strstr(got.out, "WRONG: ") != NULL,
        "%d: %s%s", got.code, got.out, got.err);
    run_check(again, NULL);
    ck_assert_msg(got.code == EXIT_DONE && strstr(got.out, " right\n") != NULL,
        "%d: %s%s", got.code, got.out, got.err);
}
END_TEST

/* Four heads that share one of k and v, one row: as in decoding: the rows that are
   wrong are named, and without them the same device is right, by those that use
   another kernel, if there are any. */
START_TEST(rows_that_are_wrong_can_be_switched_off)
{
    const char *const draw[] = {
        "--draw", "B=1 Hq=4 Hkv=1 Lq=1 Lk=9 D=8 Dv=8 seed=7", NULL};
    change_kernel(
        "weighted_sum.cl", "STORE(OT, sum,", "STORE(OT, sum + 0.01f,");
    const char *folder = changed_kernels()[0];
    const char *const without[] = {
        folder, "CLATTN_DISABLE=tiled16,tiled8,tiled4,tiled1", NULL};
    run_check(draw, changed_kernels());
    ck_assert_msg(got.code == EXIT_FAILED &&
                      strstr(got.out, "row tiled16        WRONG: ") != NULL,
        "%d: %s%s", got.code, got.out, got.err);
    const bool others = strstr(got.out, " right\n") != NULL;
    run_check(draw, without);
    ck_assert_msg((got.code == EXIT_DONE) == others &&
                      (strstr(got.out, " right\n") != NULL) == others &&
                      strstr(got.out, "tiled16: switched off") != NULL,
        "%d: %s%s", got.code, got.out, got.err);
}
END_TEST

START_TEST(a_kernel_that_does_not_compile_is_found)
{
    change_kernel("scale_softmax.cl", "__kernel", "#error no such luck\n");
    run_check((const char *const[]){"--quick", "--seed", "7", NULL},
        changed_kernels());
    ck_assert_msg(got.code == EXIT_FAILED, "%d: %s", got.code, got.err);
    ck_assert_msg(strstr(got.out, "FAILED: ") != NULL &&
                      strstr(got.out, "does not build or run") != NULL &&
                      strstr(got.out, "scale_softmax.cl") != NULL,
        "%s", got.out);
}
END_TEST

/* What is kept on disk would be tried in place of the compiler. */
START_TEST(the_program_cache_is_neither_read_nor_written)
{
    char folder[SCRATCH_PATH], variable[SCRATCH_PATH + 20];
    const char *const environment[] = {"CLATTN_CACHE=1", variable, NULL};
    snprintf(variable, sizeof variable, "XDG_CACHE_HOME=%s",
        scratch_path(folder, "cache"));
    run_check(
        (const char *const[]){"--draw",
            "B=1 Hq=1 Hkv=1 Lq=3 Lk=5 D=8 Dv=8 seed=7 kernel=tiled1", NULL},
        environment);
    ck_assert_msg(got.code == EXIT_DONE && strstr(got.out, " right\n") != NULL,
        "%d: %s%s", got.code, got.out, got.err);
    snprintf(variable, sizeof variable, "%s/clattn", folder);
    ck_assert_msg(access(variable, F_OK) != 0, "%s is there", variable);
}
END_TEST

static void make_files(void)
{
    char path[SCRATCH_PATH];
    scratch_begin();
    mkdir(scratch_path(path, "empty"), 0700);
    mkdir(scratch_path(path, "cache"), 0700);
    mkdir(scratch_path(path, "onnx"), 0700);
    ck_assert_int_eq(symlink(CLATTN_SOURCE_DIR "/tests/data/onnx/3d",
                         scratch_path(path, "onnx/3d")),
        0);
    mkdir(scratch_path(path, "matrix"), 0700);
    ck_assert_int_eq(
        symlink(CLATTN_SOURCE_DIR "/tests/data/onnx/4d_with_qk_matmul_softcap",
            scratch_path(path, "matrix/4d_with_qk_matmul_softcap")),
        0);
}

int main(void)
{
    Suite *suite = suite_create("cli_check");
    TCase *told = tcase_create("told");
    tcase_add_unchecked_fixture(told, make_files, scratch_end);
    tcase_add_loop_test(told, what_cannot_work_is_told_before_anything_is_tried,
        0, (int)COUNT(MESSAGES));
    tcase_add_loop_test(
        told, a_problem_that_no_memory_holds_is_told, 0, (int)COUNT(LARGE));
    tcase_add_loop_test(told,
        a_kernel_that_is_none_in_the_environment_is_no_fault_of_the_device, 0,
        (int)COUNT(NO_KERNELS));
    suite_add_tcase(suite, told);
    TCase *run = tcase_create("run");
    tcase_add_unchecked_fixture(run, make_files, scratch_end);
    tcase_add_test(run, a_right_device_has_a_report_in_both_forms_and_code_0);
    tcase_add_test(run,
        kernels_that_the_environment_keeps_out_are_told_and_nothing_is_wrong);
    tcase_add_test(run, a_wrong_kernel_is_found_and_its_line_brings_it_back);
    tcase_add_test(run, rows_that_are_wrong_can_be_switched_off);
    tcase_add_test(run, a_kernel_that_does_not_compile_is_found);
    tcase_add_test(run, the_program_cache_is_neither_read_nor_written);
    suite_add_tcase(suite, run);
    /* No forks: nothing here rests on the time that a busy machine takes. */
    return suite_main(suite, 1);
}
