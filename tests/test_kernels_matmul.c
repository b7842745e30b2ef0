/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul.c - matmul.cl alone: sizes around the edges of its tiles,
 * in whole numbers, whose sums are exact.  Trusts no reference.
 */
#include "opencl.h"
#include "multiply.h"
#include "suite.h"

#define TILE(T) "matmul", "-DT=" #T, T, T, T, T, T, true

static const product_way WAYS[] = {
    {TILE(4), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(4), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(1), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(1), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(8), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(8), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(16), false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(16), true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {TILE(4), true, CLATTN_F16, CLATTN_BF16, CLATTN_F32},
    {TILE(4), false, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},
    {TILE(8), true, CLATTN_F32, CLATTN_F16, CLATTN_F16},
};

static const product_case CASES[] = {
    PRODUCT_CASES,
    {"a sum in two launches, cut at a tile", 2, 1, 1, {2, 1}, {1, -1}, {2, 0},
        .in_two = true},
    {"a block of later rows", 2, 2, 2, {1, 1}, {1, 1}, {1, 1}, .first_row = 5,
        .gaps = true},
    {"items by a table", 16, 2, 1, {1, 2}, {2, -1}, {1, 1}, .gaps = true,
        .table = true},
    {"items by a table, a block of later rows", 8, 2, 2, {1, 2}, {1, 1},
        {1, -1}, .first_row = 3, .table = true, .in_two = true},
    {"items by a table, each group for itself", 9, 1, 1, {1, 1}, {1, 1}, {1, 0},
        .first_row = 1, .table = true, .grouped = true},
    {"items by a table, numbers around them", 16, 2, 2, {1, 2}, {2, -1}, {1, 1},
        .first_row = 3, .table = true, .filled = true},
    {"items by a table that go on past the block", 8, 1, 1, {1, 2}, {1, 1},
        {1, 1}, .first_row = 2, .later = 19, .table = true},
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
    product_check_rounding(&CASES[1], &WAYS[9 + (size_t)_i]);
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
    TCase *edges = tcase_create("edges");
    tcase_add_unchecked_fixture(edges, opencl_open, opencl_close);
    tcase_set_timeout(edges, 300);
    tcase_add_loop_test(edges, whole_numbers_are_exact_at_every_edge, 0,
        (int)(COUNT(WAYS) * COUNT(CASES)));
    tcase_add_loop_test(
        edges, nan_stays_in_its_row_and_column, 0, (int)COUNT(WAYS));
    tcase_add_loop_test(
        edges, a_16_bit_result_is_rounded_once_to_nearest_even, 0, 2);

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    /* The first two ways: T = 4. */
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, 2 * (int)COUNT(CASES));

    Suite *suite = suite_create("kernels_matmul");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
