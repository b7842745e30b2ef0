/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_attention_lanes.c - attention_lanes.cl alone, in its shapes:
 * blocks of rows and keys, each rule, each storage.  Trusts no reference.
 */
#include "fused.h"
#include "opencl.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

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
    {"sizes that divide nothing", 2, 4, 2, 21, 37, 5, 7, .rules = {.lse = 1},
        .gaps = true},
    {"one row and key", 1, 2, 2, 1, 1, 5, 7, .rules = {.lse = 1}},
    {"fewer keys than a register tile", 1, 2, 1, 9, 3, 5, 7,
        .rules = {.lse = 1}},
    {"no keys", 1, 2, 1, 5, 0, 5, 7, .rules = {.lse = 1}},
    {"more rows than any group", 1, 1, 1, 141, 19, 5, 7, .rules = {.lse = 1},
        .grouped = true},
    {"causal", 2, 2, 2, 40, 45, 5, 7, .rules = {.band = 1, .lse = 1}, 2, FAR, 0,
        .gaps = true},
    {"a window", 1, 2, 1, 70, 75, 5, 7, .rules = {.band = 1, .lse = 1}, 3, 5,
        2},
    {"rows that see nothing", 1, 2, 1, 20, 30, 5, 7,
        .rules = {.band = 1, .lse = 1}, -9, 4, 0},
    {"packed items, causal", 16, 2, 2, 19, 23, 8, 4,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, FAR, 0,
        .dtype = {0, CLATTN_F16, CLATTN_F16, 0}, .gaps = true},
    {"all rules at once", 8, 3, 1, 19, 27, 9, 5,
        .rules = {1, 1, 0, 1, 1, 1, 1, CLATTN_F16, 1}, 0, 9, 4, 4,
        .dtype = {CLATTN_F16, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},
        .gaps = true},
    {"a bool mask, causal, no LSE", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 4, FAR, 0,
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .gaps = true},
    {"a bool mask for all rows", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FAR, FAR,
        .mask_shared = {false, false, true},
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}},
    {"a bool mask for all keys", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FAR, FAR,
        .mask_shared = {true, false, false, true},
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .grouped = true},
    {"softcap and nothing else", 1, 2, 1, 21, 37, 5, 7,
        .rules = {.softcap = 1, .lse = 1}, .softcap = 4},
    {"ALiBi and nothing else", 1, 2, 1, 21, 37, 5, 7,
        .rules = {.alibi = 1, .lse = 1}},
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

enum {
    CAUSAL = 5 /* in CASES: row i sees keys up to i + 2 */
};

START_TEST(nan_reaches_the_rows_that_see_it_and_no_other)
{
    const fused_shape *shape = &SHAPES[_i % COUNT(SHAPES)];
    fused clean, bad;
    fused_create(&clean, &CASES[CAUSAL], shape, false);
    fused_create(&bad, &CASES[CAUSAL], shape, false);
    fused_check_nan(&clean, &bad, _i / (int)COUNT(SHAPES));
}
END_TEST

START_TEST(equal_scores_give_the_mean_of_the_values)
{
    fused p;
    fused_create(&p, &CASES[CAUSAL], &SHAPES[_i], false);
    fused_check_mean(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    const size_t n = (size_t)_i;
    check_case(n % COUNT(CASES), n / COUNT(CASES), true);
}
END_TEST

static TCase *cases(const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    return t;
}

int main(void)
{
    const int n = (int)COUNT(CASES), shapes = (int)COUNT(SHAPES);
    TCase *shaped = cases("shapes");
    tcase_add_loop_test(
        shaped, every_case_is_the_formula_in_every_shape, 0, n * shapes);

    TCase *properties = cases("properties");
    tcase_add_loop_test(properties,
        nan_reaches_the_rows_that_see_it_and_no_other, 0,
        FUSED_NAN_WAYS * shapes);
    tcase_add_loop_test(
        properties, equal_scores_give_the_mean_of_the_values, 0, shapes);

    TCase *tiny = cases("tiny");
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 2 * n);

    Suite *suite = suite_create("kernels_attention_lanes");
    suite_add_tcase(suite, shaped);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
