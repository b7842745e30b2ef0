/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul_simt.c - matmul_simt.cl alone: sizes around the edges of
 * its tiles, in whole numbers, whose sums are exact.  Trusts no reference.
 */
#include "opencl.h"
#include "multiply.h"
#include "suite.h"

#define TILE(BM, BN, BK, WX, WY)                                             \
    "matmul_simt",                                                           \
        "-DBM=" #BM " -DBN=" #BN " -DBK=" #BK " -DWX=" #WX " -DWY=" #WY, BM, \
        BN, BK, WX *WY, 1, false

/* The first four are for drivers that watch bounds and races: small. */
static const product_way WAYS[] = {
    {TILE(8, 8, 4, 4, 4), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(8, 8, 4, 4, 4), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(4, 16, 8, 4, 2), false, CLATTN_F16, CLATTN_BF16, CLATTN_F32},
    {TILE(6, 12, 8, 4, 2), true, CLATTN_BF16, CLATTN_F16, CLATTN_F32},
    {TILE(32, 32, 16, 8, 8), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(32, 32, 16, 8, 8), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(64, 64, 16, 16, 16), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(64, 64, 16, 16, 16), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(128, 64, 16, 8, 16), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(128, 64, 16, 8, 16), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(32, 32, 16, 8, 8), false, CLATTN_F32, CLATTN_BF16, CLATTN_BF16},
    {TILE(32, 32, 16, 8, 8), true, CLATTN_F16, CLATTN_F32, CLATTN_F16},
};

enum {
    ROUNDED = 10 /* in WAYS: the first whose result has 16 bits */
};

static const product_case CASES[] = {
    PRODUCT_CASES,
    {"two and three beyond", 1, 2, 1, {1, 2}, {1, 3}, {1, 2}, .bias = true},
};

START_TEST(whole_numbers_are_exact_at_every_edge)
{
    const size_t n = (size_t)_i;
    product_check_case(
        &CASES[n % COUNT(CASES)], &WAYS[n / COUNT(CASES)], false);
}
END_TEST

START_TEST(nan_stays_in_its_row_and_column)
{
    product_check_nan(&CASES[0], &WAYS[_i]);
}
END_TEST

START_TEST(a_16_bit_result_is_rounded_once_to_nearest_even)
{
    product_check_rounding(&CASES[1], &WAYS[ROUNDED + _i]);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    const size_t n = (size_t)_i;
    product_check_case(&CASES[n % COUNT(CASES)], &WAYS[n / COUNT(CASES)], true);
}
END_TEST

int main(void)
{
    const int n = (int)COUNT(CASES), ways = (int)COUNT(WAYS);
    TCase *edges = opencl_cases("edges", 300);
    tcase_add_loop_test(
        edges, whole_numbers_are_exact_at_every_edge, 0, n * ways);
    tcase_add_loop_test(edges, nan_stays_in_its_row_and_column, 0, ways);
    tcase_add_loop_test(edges, a_16_bit_result_is_rounded_once_to_nearest_even,
        0, ways - ROUNDED);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 4 * n);

    Suite *suite = suite_create("kernels_matmul_simt");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
