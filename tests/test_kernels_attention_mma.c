/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_attention_mma.c - attention_mma.cl alone, with every matrix unit
 * emulated: blocks of rows and keys, each rule, both storages.  Trusts no
 * reference.
 */
#include <math.h>
#include <stdio.h>

#include "fused.h"
#include "opencl.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

#define UNIT(mma, more, warps, lanes, rows_of_tile, tiles, type)         \
    {                                                                    \
        "-DEMULATED=1 -DMMA=" #mma " -DWARPS=" #warps " -DTILES=" #tiles \
        " " more,                                                        \
            (warps) * (tiles) * (rows_of_tile), (warps) * (lanes), type  \
    }

/* Every unit, in the shapes that differ in more than a number. */
static const fused_unit SHAPES[] = {
    UNIT(1, "-DBC=64", 2, 32, 16, 1, CLATTN_F16),
    UNIT(1, "-DBC=32 -DQ_LOCAL=1", 2, 32, 16, 2, CLATTN_BF16),
    UNIT(2, "-DBC=32", 1, 32, 16, 2, CLATTN_F16),
    UNIT(3, "-DBC=32", 1, 64, 16, 1, CLATTN_BF16),
    UNIT(4, "-DBC=32", 2, 32, 16, 1, CLATTN_F16),
    UNIT(5, "-DBC=32", 2, 16, 16, 1, CLATTN_BF16),
    UNIT(6, "-DBC=16 -DQ_LOCAL=1", 4, 8, 8, 1, CLATTN_F16),
};

static const fused_case CASES[] = {
    {"sizes that divide nothing", 2, 4, 2, 21, 37, 5, 7, .rules = {.lse = 1},
        .gaps = true},
    {"whole tiles, aligned", 1, 2, 1, 64, 128, 64, 64, .rules = {.lse = 1},
        .dtype = {[3] = CLATTN_F16}},
    {"one row and key", 1, 2, 2, 1, 1, 5, 7, .rules = {.lse = 1}},
    {"no keys", 1, 2, 1, 5, 0, 5, 7, .rules = {.lse = 1}},
    {"more rows than any group, wide heads", 1, 1, 1, 141, 19, 80, 48,
        .rules = {.lse = 1}, .grouped = true},
    {"causal", 2, 2, 2, 40, 45, 24, 40, .rules = {.band = 1, .lse = 1}, 2, FAR,
        0},
    {"causal over many blocks", 1, 2, 1, 70, 200, 16, 16,
        .rules = {.band = 1, .lse = 1}, 130, FAR, 0, .gaps = true},
    {"a window", 1, 2, 1, 70, 175, 8, 8, .rules = {.band = 1, .lse = 1}, 53, 5,
        2},
    {"rows that see nothing", 1, 2, 1, 20, 30, 5, 7,
        .rules = {.band = 1, .lse = 1}, -9, 4, 0},
    {"packed items, causal", 16, 2, 2, 19, 23, 8, 4,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, FAR, 0,
        .dtype = {[3] = CLATTN_BF16}, .gaps = true},
    {"items without a band", 8, 2, 1, 19, 70, 16, 16,
        .rules = {.items = 1, .lse = 1}},
    {"softcap, ALiBi, sinks and an additive mask", 2, 3, 1, 19, 75, 9, 5,
        .rules = {1, 1, 0, 1, 1, 1, 0, CLATTN_F16, 1}, 0, 9, 4, 4,
        .dtype = {[3] = CLATTN_F16}, .gaps = true},
    {"a mask of f32 alone", 1, 2, 1, 37, 82, 16, 8,
        .rules = {.mask = CLATTN_F32, .lse = 1}},
    {"a bf16 mask, causal", 1, 2, 1, 37, 82, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BF16, .lse = 1}, 45, FAR, 0},
    {"a bool mask, causal, no LSE", 2, 2, 1, 37, 141, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 104, FAR, 0,
        .dtype = {[3] = CLATTN_F16}, .gaps = true},
    {"a bool mask for all rows", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.mask = CLATTN_BOOL}, .mask_shared = {false, false, true}},
    {"a bool mask for all keys", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.mask = CLATTN_BOOL},
        .mask_shared = {true, false, false, true}, .grouped = true},
    {"an additive mask for all keys", 1, 2, 1, 37, 41, 16, 8,
        .rules = {.mask = CLATTN_F16},
        .mask_shared = {true, false, false, true}},
};

/* How many cases each shape had, and what was worst. */
static struct {
    size_t cases;
    double error, share;
} tally[COUNT(SHAPES)];

static void check_case(size_t n, size_t shape, bool exact_ends)
{
    fused p;
    fused_create_unit(&p, &CASES[n], &SHAPES[shape]);
    fused_check_run(&p, exact_ends);
    ++tally[shape].cases;
    tally[shape].error = fmax(tally[shape].error, p.error);
    tally[shape].share = fmax(tally[shape].share, p.share);
}

/* The shapes take turns, for a program takes seconds to build.
   CLATTN_TEST_ALL=1: all of them with each case. */
static bool has_turn(size_t n, size_t shape)
{
    return suite_count(0, 1) == 1 || n % COUNT(SHAPES) == shape;
}

START_TEST(every_case_is_the_formula_with_every_unit)
{
    const size_t n = (size_t)_i % COUNT(CASES),
                 shape = (size_t)_i / COUNT(CASES);
    if (has_turn(n, shape))
        check_case(n, shape, false);
}
END_TEST

START_TEST(every_unit_had_cases)
{
    for (size_t i = 0; i < COUNT(SHAPES); ++i) {
        printf("%s dtype %d: %zu cases, out off by %.2g, %.2g of what is "
               "allowed\n",
            SHAPES[i].options, (int)SHAPES[i].dtype, tally[i].cases,
            tally[i].error, tally[i].share);
        ck_assert_uint_gt(tally[i].cases, 0);
    }
}
END_TEST

/* ---- Properties -------------------------------------------------------------- */

enum {
    ALIGNED = 1, /* in CASES: whole blocks, which no rule reads */
    CAUSAL = 5   /* row i sees keys up to i + 2 */
};

START_TEST(nan_reaches_the_rows_that_see_it_and_no_other)
{
    const fused_unit *unit = &SHAPES[_i % (int)COUNT(SHAPES)];
    fused clean, bad;
    fused_create_unit(&clean, &CASES[CAUSAL], unit);
    fused_create_unit(&bad, &CASES[CAUSAL], unit);
    fused_check_nan(&clean, &bad, _i / (int)COUNT(SHAPES));
}
END_TEST

START_TEST(of_vast_scores_only_the_best_count)
{
    fused p;
    fused_create_unit(&p, &CASES[ALIGNED], &SHAPES[_i]);
    fused_check_vast(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    static const size_t TINY[] = {0, 8, 14};
    const size_t n = (size_t)_i % COUNT(TINY), shape = (size_t)_i / COUNT(TINY);
    if (suite_count(0, 1) == 1 || shape % COUNT(TINY) == n)
        check_case(TINY[n], shape, true);
}
END_TEST

static TCase *cases(const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 1200);
    return t;
}

int main(void)
{
    const int n = (int)COUNT(CASES), shapes = (int)COUNT(SHAPES);
    TCase *units = cases("units");
    tcase_add_loop_test(
        units, every_case_is_the_formula_with_every_unit, 0, n * shapes);
    tcase_add_test(units, every_unit_had_cases);

    TCase *properties = cases("properties");
    tcase_add_loop_test(properties,
        nan_reaches_the_rows_that_see_it_and_no_other, 0,
        FUSED_NAN_WAYS * shapes);
    tcase_add_loop_test(
        properties, of_vast_scores_only_the_best_count, 0, shapes);

    TCase *tiny = cases("tiny");
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, 3 * shapes);

    Suite *suite = suite_create("kernels_attention_mma");
    suite_add_tcase(suite, units);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
