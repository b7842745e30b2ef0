/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_attention_lanes.c - attention_lanes.cl alone, in its shapes:
 * blocks of rows and keys, each rule, each storage.  Trusts no reference.
 */
#include "fused.h"
#include "opencl.h"
#include "suite.h"

/* The first two are for drivers that watch bounds and races: small, and scalar,
   since with vectors Oclgrind 21.10 computes other sums than all devices. */
static const fused_shape SHAPES[] = {
    {1, 4, 1, 8, 2, 2},
    {1, 1, 2, 8, 2, 3},
    {4, 1, 2, 8, 2, 3},
    {16, 1, 2, 16, 8, 8},
    {16, 1, 4, 32, 4, 4},
    {8, 1, 2, 12, 4, 4},
};

static const fused_case CASES[] = {
    FUSED_CASES,
    {"fewer keys than a register tile", 1, 2, 1, 9, 3, 5, 7,
        .rules = {.lse = 1}},
};

static void check_case(size_t n, size_t shape, bool exact_ends)
{
    fused p;
    fused_create(&p, &CASES[n], &SHAPES[shape], false);
    fused_check_run(&p, exact_ends);
}

START_TEST(every_case_is_the_formula_in_every_shape)
{
    const size_t n = (size_t)_i;
    check_case(n % COUNT(CASES), n / COUNT(CASES), false);
}
END_TEST

/* ---- Properties -------------------------------------------------------------- */

START_TEST(nan_reaches_the_rows_that_see_it_and_no_other)
{
    const fused_shape *shape = &SHAPES[_i % COUNT(SHAPES)];
    fused clean, bad;
    fused_create(&clean, &CASES[FUSED_CAUSAL], shape, false);
    fused_create(&bad, &CASES[FUSED_CAUSAL], shape, false);
    fused_check_nan(&clean, &bad, _i / (int)COUNT(SHAPES));
}
END_TEST

START_TEST(equal_scores_give_the_mean_of_the_values)
{
    fused p;
    fused_create(&p, &CASES[FUSED_CAUSAL], &SHAPES[_i], false);
    fused_check_mean(&p);
}
END_TEST

START_TEST(of_vast_scores_only_the_best_count)
{
    fused p;
    fused_create(&p, &CASES[0], &SHAPES[_i], false);
    fused_check_vast(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    const size_t n = (size_t)_i;
    check_case(n % COUNT(CASES), n / COUNT(CASES), true);
}
END_TEST

int main(void)
{
    const int n = (int)COUNT(CASES), shapes = (int)COUNT(SHAPES);
    TCase *shaped = opencl_cases("shapes", 300);
    tcase_add_loop_test(
        shaped, every_case_is_the_formula_in_every_shape, 0, n * shapes);

    TCase *properties = opencl_cases("properties", 300);
    tcase_add_loop_test(properties,
        nan_reaches_the_rows_that_see_it_and_no_other, 0,
        FUSED_NAN_WAYS * shapes);
    tcase_add_loop_test(
        properties, equal_scores_give_the_mean_of_the_values, 0, shapes);
    tcase_add_loop_test(
        properties, of_vast_scores_only_the_best_count, 0, shapes);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 2 * n);

    Suite *suite = suite_create("kernels_attention_lanes");
    suite_add_tcase(suite, shaped);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
