/* SPDX-License-Identifier: Apache-2.0
 *
 * test_trust.c - matrix units are taken where they were seen to multiply right,
 * and nowhere else: units that compute wrong, devices that claim what they do
 * not have, barriers that are missing, and what of it is remembered.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "run.h"
#include "scratch.h"
#include "shim.h"
#include "suite.h"

static const char *const UNITS[] = {"mma_m16n8k16", "mma_m16n8k8", "mma_mfma",
    "mma_wmma", "mma_dpas16", "mma_dpas8"};

static const attention_case PROBLEM = {"16-bit weights", {1, 2, 1, 5, 7, 16, 8},
    .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_F16, CLATTN_F16, 0},
    .precision = CLATTN_PRECISION_STORAGE, .returns = CLATTN_RETURN_LSE};

/* A device whose units are emulated, made by the shim what `device` says. */
static clattn_context *open_emulated(const shim_device *device)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    shim_shrink(device);
    setenv("CLATTN_TUNING", "emulate_units=1", 1);
    ck_assert_msg(clattn_context_create(&ctx, NULL, &error) == CLATTN_OK, "%s",
        error.message);
    unsetenv("CLATTN_TUNING");
    return ctx;
}

static void close_context(clattn_context *ctx)
{
    clattn_context_destroy(ctx);
    shim_shrink(NULL);
}

/* The plan's description, or the refusal; D makes another program. */
static clattn_status plan(
    clattn_context *ctx, const char *kernel, size_t D, char text[4000])
{
    clattn_error error;
    clattn_plan *made = NULL;
    attention_case c = PROBLEM;
    attention_trial trial;
    c.size.D = D;
    ck_assert(attention_trial_create(&trial, &c));
    trial.problem.kernel = kernel;
    const clattn_status status =
        clattn_attention_plan(&made, ctx, &trial.problem, &error);
    snprintf(text, 4000, "%s",
        status == CLATTN_OK ? clattn_plan_describe(made) : error.message);
    clattn_plan_destroy(made);
    attention_trial_destroy(&trial);
    return status;
}

/* ---- Units -------------------------------------------------------------------- */

START_TEST(a_unit_that_multiplies_right_is_taken)
{
    char text[4000], start[64];
    clattn_context *ctx = open_emulated(NULL);
    const clattn_status status = plan(ctx, UNITS[_i], 16, text);
    snprintf(start, sizeof start, "attention: %s (fused):", UNITS[_i]);
    ck_assert_msg(status == CLATTN_OK, "%s", text);
    ck_assert_msg(strncmp(text, start, strlen(start)) == 0, "%s", text);
    ck_assert_msg(strstr(text, ", emulated") != NULL, "%s", text);
    close_context(ctx);
}
END_TEST

/* What a unit may get wrong, as a change of what emulates it. */
static const struct {
    const char *about, *unit, *find, *instead;
} FAULTS[] = {
    {"a sum", "mma_mfma", "differs ? NAN : sum", "differs ? NAN : sum + 1"},
    {"a lane's number of another row", "mma_m16n8k16", "x.a + c_row(x.lane, n)",
        "x.a + (c_row(x.lane, n) ^ 8)"},
    {"an exchange between lanes", "mma_wmma", "x.word[x.lane ^ mask]",
        "x.word[x.lane]"},
    {"the order of a pair", "mma_dpas8", "pair_of(rounded(low), rounded(high))",
        "pair_of(rounded(high), rounded(low))"},
    {"a last k that is left out", "mma_dpas16", "k < UNIT_K; ++k",
        "k < UNIT_K - 1; ++k"},
};

START_TEST(a_unit_that_multiplies_wrong_is_never_taken)
{
    char text[4000];
    const shim_device wrong = {
        .find = FAULTS[_i].find, .instead = FAULTS[_i].instead};
    clattn_context *ctx = open_emulated(&wrong);
    const clattn_status status = plan(ctx, FAULTS[_i].unit, 16, text);
    ck_assert_msg(
        status == CLATTN_UNSUPPORTED, "%s: %s", FAULTS[_i].about, text);
    ck_assert_msg(strstr(text, "a product as built there is wrong") != NULL,
        "%s: %s", FAULTS[_i].about, text);
    close_context(ctx);
}
END_TEST

/* Rows that see the same scores, however large, have equal weights. */
START_TEST(the_largest_scores_are_numbers)
{
    clattn_error error;
    attention_trial trial;
    attention_case c = PROBLEM;
    clattn_context *ctx = open_emulated(NULL);
    ck_assert(attention_trial_create(&trial, &c));
    trial.problem.kernel = UNITS[_i];
    for (size_t column = 0; column < c.size.D; ++column) {
        for (size_t row = 0; row < c.size.Lq; ++row)
            arena_set(&trial.memory, SLOT_Q, 0, 0, row, column, 61000);
        for (size_t row = 0; row < c.size.Lk; ++row)
            arena_set(&trial.memory, SLOT_K, 0, 0, row, column, 59000);
    }
    for (size_t row = 0; row < c.size.Lk; ++row)
        arena_set(&trial.memory, SLOT_V, 0, 0, row, 0, (double)row);
    const clattn_attention_args args = attention_trial_args(&trial, NULL);
    ck_assert_msg(
        clattn_attention_host(ctx, &trial.problem, &args, &error) == CLATTN_OK,
        "%s", error.message);
    for (size_t row = 0; row < c.size.Lq; ++row)
        ck_assert_double_eq(
            arena_get(&trial.memory, SLOT_OUT, 0, 0, row, 0), 3);
    attention_trial_destroy(&trial);
    close_context(ctx);
}
END_TEST

/* ---- Barriers ------------------------------------------------------------------- */

/* Each barrier of attention_mma.cl that a plan reaches, but for the first, where
   none is missing. */
static const struct {
    const char *about, *find;
    double value; /* of v, of a key that row 0 does not see */
} BARRIERS[] = {
    {"none", NULL, INFINITY},
    {"that of q", "group_barrier(&seen); /* all queries are there", 1},
    {"that of k", "group_barrier(&seen); /* K is there;", 1},
    {"that of v", "group_barrier(&seen); /* V is there;", 1},
    {"that of v without infinity",
        "group_barrier(&seen); /* V is there without", INFINITY},
    {"that of the mask", "group_barrier(seen); /* all rows have been", 1},
};

/* An infinity that some rows see has a barrier of its own. */
START_TEST(an_emulated_unit_shows_that_a_barrier_is_missing)
{
    clattn_error error;
    attention_trial trial;
    attention_case c = PROBLEM;
    const shim_device without = {
        .find = BARRIERS[_i].find, .instead = "/* gone"};
    clattn_context *ctx = open_emulated(_i ? &without : NULL);
    c.causal = 1;
    c.diagonal = CLATTN_TOP_LEFT;
    c.mask_dtype = CLATTN_BOOL;
    c.mask_axes = AXIS_Q | AXIS_K;
    ck_assert(attention_trial_create(&trial, &c));
    trial.problem.kernel = "mma_mfma";
    arena_set(&trial.memory, SLOT_V, 0, 0, 3, 0, BARRIERS[_i].value);
    const clattn_attention_args args = attention_trial_args(&trial, NULL);
    ck_assert_msg(
        clattn_attention_host(ctx, &trial.problem, &args, &error) == CLATTN_OK,
        "%s", error.message);
    const double out = arena_get(&trial.memory, SLOT_OUT, 0, 0, 0, 0);
    ck_assert_msg(isnan(out) ? _i > 0 : _i == 0 && isfinite(out),
        "missing is %s: out is %g", BARRIERS[_i].about, out);
    attention_trial_destroy(&trial);
    close_context(ctx);
}
END_TEST

/* ---- Devices that lie ----------------------------------------------------------- */

static void check_result(clattn_context *ctx)
{
    clattn_error error;
    char why[ARENA_TEXT];
    attention_trial trial;
    attention_expected expected;
    ck_assert(attention_trial_create(&trial, &PROBLEM));
    const clattn_attention_args args = attention_trial_args(&trial, NULL);
    ck_assert_int_eq(attention_expect(&expected, &trial, &error), CLATTN_OK);
    ck_assert_msg(
        clattn_attention_host(ctx, &trial.problem, &args, &error) == CLATTN_OK,
        "%s", error.message);
    ck_assert_msg(attention_meets(&expected, &trial, why), "%s", why);
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}

/* It has no unit, no sub-groups, and less local memory than it says. */
START_TEST(a_device_that_claims_units_is_not_believed)
{
    static const char *const CLAIMS[] = {"cl_nv_device_attribute_query",
        "cl_amd_device_attribute_query",
        ("cl_intel_subgroup_matrix_multiply_accumulate "
         "cl_intel_required_subgroup_size")};
    char text[4000];
    clattn_error error;
    clattn_context *ctx = NULL;
    const shim_device liar = {.gpu = true,
        .claimed_local_bytes = (cl_ulong)1 << 40,
        .claimed_extensions = CLAIMS[_i]};
    shim_shrink(&liar);
    ck_assert_msg(clattn_context_create(&ctx, NULL, &error) == CLATTN_OK, "%s",
        error.message);
    ck_assert_msg(plan(ctx, NULL, 16, text) == CLATTN_OK, "%s", text);
    ck_assert_msg(strncmp(text, "attention: mma", 14) != 0, "%s", text);
    ck_assert_msg(
        strstr(text, "does not compile as built there: ") != NULL, "%s", text);
    check_result(ctx);
    for (size_t unit = 0; unit < COUNT(UNITS); ++unit)
        ck_assert_msg(
            plan(ctx, UNITS[unit], 16, text) == CLATTN_UNSUPPORTED, "%s", text);
    close_context(ctx);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------- */

typedef struct work {
    size_t builds, launches;
} work;

static work work_of_plan(clattn_context *ctx, size_t D)
{
    char text[4000];
    shim_arm(SHIM_clBuildProgram, 0, 0);
    plan(ctx, UNITS[2], D, text);
    shim_disarm();
    return (work){shim_calls(SHIM_clBuildProgram),
        shim_calls(SHIM_clEnqueueNDRangeKernel)};
}

START_TEST(a_verdict_is_found_once_in_a_context)
{
    const shim_device wrong = {
        .find = FAULTS[0].find, .instead = FAULTS[0].instead};
    clattn_context *ctx = open_emulated(_i ? &wrong : NULL);
    const work first = work_of_plan(ctx, 16);
    ck_assert_uint_eq(first.launches, 1);
    ck_assert_uint_eq(first.builds, _i ? 1 : 2);
    const work second = work_of_plan(ctx, 24);
    ck_assert_uint_eq(second.launches, 0);
    ck_assert_uint_eq(second.builds, _i ? 0 : 1);
    close_context(ctx);
}
END_TEST

/* Where programs are kept, verdicts are; they go with the program's text. */
START_TEST(a_verdict_outlives_the_context)
{
    char folder[SCRATCH_PATH];
    const shim_device wrong = {
        .find = FAULTS[0].find, .instead = FAULTS[0].instead};
    setenv("XDG_CACHE_HOME", scratch_path(folder, _i ? "wrong" : "right"), 1);
    unsetenv("CLATTN_CACHE");
    for (size_t launches = 1;; --launches) {
        clattn_context *ctx = open_emulated(_i ? &wrong : NULL);
        ck_assert_uint_eq(work_of_plan(ctx, 16).launches, launches);
        close_context(ctx);
        if (launches == 0)
            break;
    }
    setenv("CLATTN_CACHE", "0", 1);
    unsetenv("XDG_CACHE_HOME");
}
END_TEST

/* A compiler that says what is wrong will say so again; one that says nothing may
   have lacked room. */
START_TEST(a_build_that_fails_without_a_word_is_tried_by_the_next_context)
{
    char folder[SCRATCH_PATH];
    setenv("XDG_CACHE_HOME", scratch_path(folder, _i ? "told" : "silent"), 1);
    unsetenv("CLATTN_CACHE");
    clattn_context *ctx = open_emulated(NULL);
    shim_compile(_i ? SHIM_COMPILER_FAILS : SHIM_COMPILER_SILENT);
    ck_assert_uint_eq(work_of_plan(ctx, 16).builds, _i ? 1 : 2);
    ck_assert_uint_eq(work_of_plan(ctx, 16).builds, 0);
    shim_compile(SHIM_COMPILER_REAL);
    close_context(ctx);
    ctx = open_emulated(NULL);
    ck_assert_uint_eq(work_of_plan(ctx, 16).launches, _i ? 0 : 1);
    close_context(ctx);
    setenv("CLATTN_CACHE", "0", 1);
    unsetenv("XDG_CACHE_HOME");
}
END_TEST

int main(void)
{
    TCase *units = tcase_create("units");
    tcase_set_timeout(units, 0);
    tcase_add_loop_test(
        units, a_unit_that_multiplies_right_is_taken, 0, (int)COUNT(UNITS));
    tcase_add_loop_test(units, a_unit_that_multiplies_wrong_is_never_taken, 0,
        (int)COUNT(FAULTS));

    tcase_add_loop_test(
        units, the_largest_scores_are_numbers, 0, (int)COUNT(UNITS));

    TCase *barriers = tcase_create("barriers");
    tcase_set_timeout(barriers, 0);
    tcase_add_loop_test(barriers,
        an_emulated_unit_shows_that_a_barrier_is_missing, 0,
        (int)COUNT(BARRIERS));

    TCase *lies = tcase_create("lies");
    tcase_set_timeout(lies, 0);
    tcase_add_loop_test(lies, a_device_that_claims_units_is_not_believed, 0, 3);

    TCase *memory = tcase_create("memory");
    tcase_add_unchecked_fixture(memory, scratch_begin, scratch_end);
    tcase_set_timeout(memory, 0);
    tcase_add_loop_test(memory, a_verdict_is_found_once_in_a_context, 0, 2);
    tcase_add_loop_test(memory, a_verdict_outlives_the_context, 0, 2);
    tcase_add_loop_test(memory,
        a_build_that_fails_without_a_word_is_tried_by_the_next_context, 0, 2);

    Suite *suite = suite_create("trust");
    suite_add_tcase(suite, units);
    suite_add_tcase(suite, barriers);
    suite_add_tcase(suite, lies);
    suite_add_tcase(suite, memory);
    return suite_main(suite, 1);
}
