/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_scale_softmax.c - scale_softmax.cl alone: rows around the edges of
 * its groups, all keys or those of a band.  Trusts no reference.
 */
#include <math.h>

#include "opencl.h"
#include "softmax.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

#define PLAIN .rules = {.lse = 1}
/* diagonal, left, right */
#define BAND(...)  .rules = {.band = 1, .lse = 1}, __VA_ARGS__
#define ITEMS(...) .rules = {.band = 1, .items = 1, .lse = 1}, __VA_ARGS__

static const size_t WAYS[] = {4, 1, 16, 64, 256}; /* G */

/* Few variants to compile. */
static const softmax_case CASES[] = {
    {"one above a group", 2, 3, 2, {1, 1}, 0.5f, 0.25f, .gaps = true, PLAIN},
    {"one below a group", 2, 1, 2, {1, -1}, 0.5f, 0.25f, PLAIN},
    {"one key", 2, 2, 2, {0, 1}, 0.5f, 0.25f, PLAIN},
    {"two keys", 2, 2, 2, {0, 2}, -0.5f, 0.25f, PLAIN},
    {"groups exactly", 1, 2, 2, {2, 0}, 1, 0.25f, PLAIN},
    {"a block of later rows", 2, 2, 3, {2, 1}, -1.5f, 0.25f, .first_row = 5,
        .gaps = true, PLAIN},
    {"scores to 1e4 and -1e4", 1, 2, 3, {3, 2}, 0.5f, 2500, PLAIN},
    {"scores to 1e4 and -1e4, negative", 1, 2, 3, {3, 2}, -0.5f, 2500, PLAIN},
    {"scores far below 0", 1, 2, 3, {2, 1}, 1, 0.25f, .shift = -1e4f, PLAIN},
    {"scores far above 0", 1, 2, 3, {2, 1}, 1, 0.25f, .shift = 1e4f, PLAIN},
    {"scale 0", 1, 2, 2, {2, 1}, 0, 0.25f, .gaps = true, PLAIN},
    {"no keys", 2, 2, 2, {0, 0}, 0.5f, 0.25f, .first_row = 1, PLAIN},
    {"causal, a block of later rows", 1, 2, 5, {1, 2}, 0.5f, 0.25f,
        .first_row = 2, BAND(-1, FAR, 0), .gaps = true},
    {"a window", 1, 2, 9, {2, 1}, 0.5f, 0.25f, BAND(1, 2, 1)},
    {"a window of one key, behind the diagonal", 1, 1, 7, {1, 2}, 1, 0.25f,
        BAND(2, 1, -1)},
    {"an empty window", 1, 1, 4, {1, 2}, 1, 0.25f, BAND(2, 1, -2)},
    {"a window to the left only, far diagonal", 1, 1, 4, {1, 2}, 1, 0.25f,
        BAND(INT32_MIN, INT32_MAX, FAR)},
    {"items by a table", 16, 2, 5, {1, 2}, 0.5f, 0.25f, ITEMS(0, FAR, FAR),
        .gaps = true},
    {"items by a table, causal, a block of later rows", 16, 1, 5, {2, 1}, 0.5f,
        0.25f, .first_row = 1, ITEMS(0, FAR, 0), .gaps = true},
    {"items by a table, a window", 16, 1, 5, {2, -1}, 0.5f, 0.25f,
        ITEMS(0, 1, 1)},
    {"packed items, causal", 16, 2, 5, {1, 1}, 0.5f, 0.25f, .first_row = 1,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, FAR, 0,
        .gaps = true},
    {"each group for itself", 3, 2, 3, {1, 1}, 0.5f, 0.25f, .first_row = 2,
        ITEMS(0, FAR, 0), .gaps = true, .grouped = true},
};

static void check_case(const softmax_case *c, size_t G, bool exact_ends)
{
    softmax p;
    softmax_create(&p, c, G);
    if (exact_ends)
        kernel_cut_guards(&p.memory);
    softmax_run(&p);
    softmax_check(&p);
    softmax_destroy(&p);
}

START_TEST(exact_scores_give_the_formula_at_every_edge)
{
    const size_t n = (size_t)_i;
    check_case(&CASES[n % COUNT(CASES)], WAYS[n / COUNT(CASES)], false);
}
END_TEST

/* ---- Properties ------------------------------------------------------------ */

/* All numbers are multiples of 1/8 below 2^14: nothing is rounded before exp. */
START_TEST(a_constant_on_all_scores_changes_no_weight)
{
    softmax p, shifted;
    softmax_case c = CASES[0];
    softmax_create(&p, &c, WAYS[_i]);
    c.shift = 1024;
    softmax_create(&shifted, &c, WAYS[_i]);
    softmax_run(&p);
    softmax_run(&shifted);
    for (size_t at = 0; at < c.items * c.heads * c.rows * p.Lk; ++at) {
        const size_t j = at % p.Lk, row = at / p.Lk % c.rows;
        const size_t bh = at / p.Lk / c.rows;
        const size_t b = bh / c.heads, h = bh % c.heads;
        ck_assert_msg(softmax_weight(&p, b, h, row, j) ==
                          softmax_weight(&shifted, b, h, row, j),
            "%s: weight [%zu][%zu][%zu][%zu] changes", p.text, b, h, row, j);
    }
    softmax_destroy(&p);
    softmax_destroy(&shifted);
}
END_TEST

START_TEST(weights_of_a_row_sum_to_1)
{
    for (size_t n = 0; n < COUNT(CASES); ++n) {
        softmax p;
        const softmax_case *c = &CASES[n];
        softmax_create(&p, c, WAYS[_i]);
        softmax_run(&p);
        for (size_t at = 0; at < c->items * c->heads * c->rows; ++at) {
            const size_t row = at % c->rows, bh = at / c->rows;
            double sum = 0, want = 0;
            for (size_t j = 0; j < p.Lk; ++j)
                if (softmax_sees(&p, bh / c->heads, bh % c->heads, row, j)) {
                    sum += softmax_weight(
                        &p, bh / c->heads, bh % c->heads, row, j);
                    want = 1;
                }
            ck_assert_msg(
                fabs(sum - want) <= rules_weight_slack(&p.rules, want, 0),
                "%s: row %zu of %zu sums to %.9g", p.text, row, bh, sum);
        }
        softmax_destroy(&p);
    }
}
END_TEST

START_TEST(nan_makes_its_own_row_nan_and_no_other)
{
    softmax p;
    softmax_create(&p, &CASES[0], WAYS[_i]);
    *arena_at(&p.memory, SOFTMAX_S, 1, 2, 1, p.Lk - 1) = arena_poison();
    softmax_run(&p);
    softmax_check(&p);
    softmax_destroy(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case(&CASES[_i], 4, true);
}
END_TEST

int main(void)
{
    const int ways = (int)COUNT(WAYS), n = (int)COUNT(CASES);
    TCase *edges = opencl_cases("edges", 300);
    tcase_add_loop_test(
        edges, exact_scores_give_the_formula_at_every_edge, 0, ways * n);

    TCase *properties = opencl_cases("properties", 300);
    tcase_add_loop_test(
        properties, a_constant_on_all_scores_changes_no_weight, 0, ways);
    tcase_add_loop_test(properties, weights_of_a_row_sum_to_1, 0, ways);
    tcase_add_loop_test(
        properties, nan_makes_its_own_row_nan_and_no_other, 0, ways);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);

    Suite *suite = suite_create("kernels_scale_softmax");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
