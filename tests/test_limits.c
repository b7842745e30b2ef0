/* SPDX-License-Identifier: Apache-2.0
 *
 * test_limits.c - small devices, large problems and capped launches: the same
 * results, by splitting or by smaller groups.
 *
 * Shrunken devices are processes of their own, since a driver reads its
 * environment once: this program with the name of a suite.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attention_expected.h"
#include "child.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

enum {
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

static void check_case(const attention_case *c, const char *kernel)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    attention_case_text(c, text);
    ck_assert(attention_trial_create(&trial, c));
    trial.problem.kernel = kernel;
    clattn_status status = attention_expect(&expected, &trial, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);
    status = run_attention(&trial, RUN_HOST, &error);
    /* A row that is asked for may say that the device is too small for it. */
    if (status != CLATTN_UNSUPPORTED || kernel == NULL) {
        ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);
        ck_assert_msg(
            attention_meets(&expected, &trial, why), "%s: %s", text, why);
    }
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}

/* ---- Suites of child processes ------------------------------------------- */

/* Else this suite would prove nothing. */
START_TEST(the_device_is_as_small_as_was_asked)
{
    size_t max_group = 0;
    ck_assert_int_eq(
        clGetDeviceInfo(opencl_get()->device, CL_DEVICE_MAX_WORK_GROUP_SIZE,
            sizeof max_group, &max_group, NULL),
        CL_SUCCESS);
    ck_assert_uint_eq(
        max_group, strtoul(getenv("POCL_MAX_WORK_GROUP_SIZE"), NULL, 10));
}
END_TEST

/* A seventh of all cases: the table's first and some of each sweep. */
START_TEST(the_planners_choice_is_right)
{
    const attention_case c = attention_case_at(7 * (size_t)_i);
    check_case(&c, NULL);
}
END_TEST

START_TEST(each_row_is_right_or_declines)
{
    const attention_case c = {"each row", {3, 4, 2, 17, 19, 9, 9}, .causal = 1,
        .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true, .returns = BOTH};
    check_case(&c, rows_row((size_t)_i));
}
END_TEST

static void check_linear(linear_case c)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    linear_trial trial;
    expected y;
    linear_case_text(&c, text);
    ck_assert(linear_trial_create(&trial, &c));
    ck_assert_int_eq(linear_expect(&y, &trial, &error), CLATTN_OK);
    ck_assert_msg(run_linear(&trial, RUN_HOST, &error) == CLATTN_OK, "%s: %s",
        text, error.message);
    ck_assert_msg(linear_meets(&y, &trial, why), "%s: %s", text, why);
    expected_free(&y);
    linear_trial_destroy(&trial);
}

START_TEST(projections_are_right)
{
    check_linear(linear_case_at(3 * (size_t)_i));
}
END_TEST

static int child_small(void)
{
    TCase *t = tcase_create("small");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    tcase_add_test(t, the_device_is_as_small_as_was_asked);
    tcase_add_loop_test(
        t, the_planners_choice_is_right, 0, (int)(attention_case_count() / 7));
    tcase_add_loop_test(t, each_row_is_right_or_declines, 0, rows_count());
    tcase_add_loop_test(
        t, projections_are_right, 0, (int)(linear_case_count() / 3));
    Suite *suite = suite_create("small device");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}

/* Fewer rows and keys than any tile, three heads, every row of kernels.  Largest
   first: oclgrind 21.10 remembers which bytes of a buffer are set in as much
   memory as the first buffer with that number had, and reads beyond. */
START_TEST(groups_that_are_mostly_empty_end_and_are_right)
{
    const size_t n = 8 - (size_t)(_i / rows_count());
    const attention_case c = {"mostly empty groups",
        {1, 3, 3, 1 + n / 3, 1 + n % 3, 5, 5}, .returns = BOTH};
    check_case(&c, rows_row((size_t)(_i % rows_count())));
}
END_TEST

static int child_tiny(void)
{
    TCase *t = tcase_create("tiny");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, groups_that_are_mostly_empty_end_and_are_right, 0, 9 * rows_count());
    Suite *suite = suite_create("tiny problems");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}

/* More keys, and more columns, than a work-item of rusticl may loop over:
   llvmpipe goes on silently wrong after 65,535 passes of all loops. */
START_TEST(sums_beyond_the_loop_limit_are_right)
{
    const attention_case keys = {"long sums over keys",
        {1, 1, 1, 2, 70000, 1, 1}, .returns = CLATTN_RETURN_LSE};
    const linear_case columns = {.about = "a long sum over columns",
        .rows = 2,
        .n_in = 150000,
        .n_out = 3,
        .order = CLATTN_OUT_IN,
        .bias = true};
    check_case(&keys, NULL);
    check_linear(columns);
}
END_TEST

/* Rows that do not split their loops run while these are few. */
START_TEST(each_row_is_right_or_declines_as_loops_grow)
{
    static const size_t KEYS[] = {128, 256, 1000};
    const attention_case c = {"growing loops",
        {1, 1, 1, 1, KEYS[(size_t)_i % COUNT(KEYS)], 64, 64},
        .returns = CLATTN_RETURN_LSE};
    check_case(&c, rows_row((size_t)_i / COUNT(KEYS)));
}
END_TEST

/* With rusticl chosen by the environment: a test of its own. */
static int main_loops(void)
{
    if (access("/etc/OpenCL/vendors/rusticl.icd", R_OK) != 0)
        return suite_skip("Mesa's rusticl");
    TCase *t = tcase_create("loops");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_test(t, sums_beyond_the_loop_limit_are_right);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(
        t, each_row_is_right_or_declines_as_loops_grow, 0, 3 * rows_count());
    Suite *suite = suite_create("loops");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}

/* ---- Shrunken devices ---------------------------------------------------- */

static void check_child(
    const char *mode, const char *const *environment, int limit_seconds)
{
    const child_result child = child_run(mode, environment, limit_seconds);
    ck_assert_msg(child.exit_code == 0, "%s with %s: exit %d after %.1f s: %s",
        mode, environment[0], child.exit_code, child.seconds, child.output);
}

static const char POCL[] = "CLATTN_DEVICE=portable computing language::";

static const char *const GROUPS[] = {"POCL_MAX_WORK_GROUP_SIZE=1",
    "POCL_MAX_WORK_GROUP_SIZE=2", "POCL_MAX_WORK_GROUP_SIZE=16",
    "POCL_MAX_WORK_GROUP_SIZE=64", "POCL_MAX_WORK_GROUP_SIZE=128"};

START_TEST(small_work_groups_give_the_same_results)
{
    const char *const environment[] = {GROUPS[_i], POCL, NULL};
    check_child("small", environment, 120);
}
END_TEST

START_TEST(no_kernel_hangs_where_groups_are_mostly_empty)
{
    const char *const environment[] = {POCL, NULL};
    check_child("tiny", environment, 120);
}
END_TEST

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "small") == 0)
        return child_small();
    if (strcmp(mode, "tiny") == 0)
        return child_tiny();
    if (strcmp(mode, "loops") == 0)
        return main_loops();

    TCase *t = tcase_create("limits");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(
        t, small_work_groups_give_the_same_results, 0, (int)COUNT(GROUPS));
    tcase_add_test(t, no_kernel_hangs_where_groups_are_mostly_empty);

    Suite *suite = suite_create("limits");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
