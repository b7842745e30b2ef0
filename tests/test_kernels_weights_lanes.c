/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_weights_lanes.c - weights_lanes.cl alone, in its shapes: blocks
 * of rows and keys, weights and final scores.  Trusts no reference.
 */
#include <math.h>

#include "fused.h"
#include "opencl.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

/* The first is for drivers that watch bounds and races: small, and scalar, since
   with vectors Oclgrind 21.10 computes other sums than all devices. */
static const fused_shape SHAPES[] = {{1, 1, 2, 8, 2, 3}, {4, 1, 2, 8, 2, 3},
    {16, 1, 2, 16, 8, 8}, {8, 1, 2, 12, 4, 4}};

static const fused_case CASES[] = {
    {"sizes that divide nothing", 2, 4, 2, 21, 37, 5, 7, .rules = {.lse = 1},
        .stage = 1, .gaps = true},
    {"one row and key", 1, 2, 2, 1, 1, 5, 7, .rules = {.lse = 1}, .stage = 1},
    {"no keys", 1, 2, 1, 5, 0, 5, 7, .rules = {.lse = 1}, .stage = 1},
    {"more rows than any group", 1, 1, 1, 141, 19, 5, 7, .rules = {.lse = 1},
        .stage = 1, .grouped = true},
    {"packed items, causal, final scores", 16, 2, 2, 19, 23, 8, 4,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, FAR, 0,
        .dtype = {0, CLATTN_F16, CLATTN_F16, 0}, .stage = 2, .gaps = true},
    {"items, a window, final scores", 16, 2, 2, 19, 23, 8, 4,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, 4, 2,
        .dtype = {0, CLATTN_F16, CLATTN_F16, 0}, .stage = 2, .grouped = true},
    {"all rules at once", 8, 3, 1, 19, 27, 9, 5,
        .rules = {1, 1, 0, 1, 1, 1, 1, CLATTN_F16, 1}, 0, 9, 4, 4,
        .dtype = {CLATTN_F16, CLATTN_BF16, CLATTN_F16, CLATTN_BF16}, .stage = 1,
        .weights = CLATTN_F16, .gaps = true},
    {"a bool mask, causal, neither LSE nor weights", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 4, FAR, 0,
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .gaps = true},
    {"a window that some rows are not in", 1, 2, 1, 29, 20, 5, 7,
        .rules = {.band = 1, .lse = 1}, -6, 3, 1, .stage = 1,
        .weights = CLATTN_BF16},
};

static void check_case(size_t n, size_t shape, bool exact_ends)
{
    fused p;
    fused_create(&p, &CASES[n], &SHAPES[shape], true);
    fused_check_run(&p, exact_ends);
}

START_TEST(every_case_is_the_formula_in_every_shape)
{
    const size_t n = (size_t)_i;
    check_case(n % COUNT(CASES), n / COUNT(CASES), false);
}
END_TEST

/* ---- Properties -------------------------------------------------------------- */

START_TEST(weights_of_a_row_sum_to_1_and_make_out)
{
    const fused_case *c = &CASES[0];
    fused p;
    fused_create(&p, c, &SHAPES[_i], true);
    fused_run(&p);
    for (size_t at = 0; at < c->items * c->heads * c->Lq; ++at) {
        const size_t i = at % c->Lq, b = at / c->Lq / c->heads;
        const size_t h = at / c->Lq % c->heads;
        double sum = 0, out = 0;
        for (size_t j = 0; j < c->Lk; ++j) {
            const double w = *arena_at(&p.memory, FUSED_WEIGHTS, b, h, i, j);
            sum += w;
            out += w * *fused_key(&p, FUSED_V, b, h, j, 4);
        }
        const double got = *fused_out(&p, b, h, i, 4);
        ck_assert_msg(
            fabs(sum - 1) <= 37 * 6e-8 && fabs(got - out) <= 37 * 6e-8 * 8,
            "%s: row %zu sums to %.9g, out is %.9g and not %.9g", p.text, i,
            sum, got, out);
    }
    fused_destroy(&p);
}
END_TEST

/* Of row 3 alone: its weights and out are NaN, and no other row's. */
START_TEST(nan_in_a_query_stays_in_its_row)
{
    fused p;
    fused_create(&p, &CASES[0], &SHAPES[_i], true);
    *arena_at(&p.memory, FUSED_Q, 1, 2, 3, 0) = NAN;
    fused_run(&p);
    fused_check(&p);
    fused_destroy(&p);
}
END_TEST

START_TEST(of_vast_scores_only_the_best_count)
{
    fused p;
    fused_create(&p, &CASES[0], &SHAPES[_i], true);
    fused_check_vast(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case((size_t)_i, 0, true);
}
END_TEST

int main(void)
{
    const int n = (int)COUNT(CASES), shapes = (int)COUNT(SHAPES);
    TCase *shaped = opencl_cases("shapes", 300);
    tcase_add_loop_test(
        shaped, every_case_is_the_formula_in_every_shape, 0, n * shapes);

    TCase *properties = opencl_cases("properties", 300);
    tcase_add_loop_test(
        properties, weights_of_a_row_sum_to_1_and_make_out, 0, shapes);
    tcase_add_loop_test(properties, nan_in_a_query_stays_in_its_row, 0, shapes);
    tcase_add_loop_test(
        properties, of_vast_scores_only_the_best_count, 0, shapes);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);

    Suite *suite = suite_create("kernels_weights_lanes");
    suite_add_tcase(suite, shaped);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
