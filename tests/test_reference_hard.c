/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_hard.c - the attention reference on what other libraries got
 * wrong: NaN behind masks, ranges of f16, odd sizes, strides and heads.
 */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "judge.h"
#include "suite.h"

static judge J;

/* q, k and v as the sequences that the expected numbers below were worked out
   for, elsewhere and in double precision. */
static void fill_all(judge *j, size_t count)
{
    judge_fill(j->q, count, 7, 3, 11, 4);
    judge_fill(j->k, count, 5, 1, 13, 4);
    judge_fill(j->v, count, 3, 2, 17, 8);
}

/* The same numbers, stored as another dtype. */
static void narrow(double *values, int32_t dtype, size_t count)
{
    double copy[JUDGE_MOST / 16];
    ck_assert_uint_le(count, COUNT(copy));
    memcpy(copy, values, count * sizeof *copy);
    convert_store(values, dtype, 0, copy, count);
}

static uint16_t half_of(const double *values, size_t i)
{
    uint16_t bits = 0;
    memcpy(&bits, (const char *)values + i * sizeof bits, sizeof bits);
    return bits;
}

/* ---- Masks --------------------------------------------------------------- */

START_TEST(a_row_that_sees_nothing_is_0_among_others)
{
    const double mask[6] = {1, 1, 0, 0, 0, 0};
    const double out[4] = {-0.42595246, -0.05095246, 0, 0};
    const double lse[2] = {0.64387047, -(double)INFINITY};
    const double nothing[3] = {0};

    judge_start(&J, 1, 1, 1, 2, 3, 2, 2);
    fill_all(&J, 6);
    J.a.has_scale = 1;
    J.a.scale = 0.125f;
    judge_mask(&J, CLATTN_BOOL, 1, 1, 2, 3, mask);
    judge_run(&J);
    judge_expect("out", J.out, out, 4, DECIMALS_8);
    judge_expect("lse", J.lse, lse, 2, DECIMALS_8);
    judge_expect("exactly 0", J.out + 2, nothing, 2, 0);
    judge_expect("weights exactly 0", J.weights + 3, nothing, 3, 0);
}
END_TEST

START_TEST(what_a_hidden_key_holds_changes_no_bit)
{
    const double behind[3] = {1, 1e10, (double)NAN};
    const double mask[2] = {1, 0};
    const double out[8] = {0, 1, 2, 3, 0, 1, 2, 3};

    for (int n = 0; n < 3; ++n) {
        judge_start(&J, 1, 1, 1, 2, 2, 4, 4);
        for (int i = 0; i < 8; ++i)
            J.q[i] = J.k[i] = J.v[i] = i;
        J.k[4] = J.v[5] = behind[n];
        judge_mask(&J, CLATTN_BOOL, 1, 1, 1, 2, mask);
        judge_run(&J);
        judge_expect("out", J.out, out, 8, 0);
    }
}
END_TEST

START_TEST(an_attended_nan_reaches_its_own_rows_alone)
{
    judge_start(&J, 1, 1, 1, 3, 3, 1, 1);
    J.a.causal = 1;
    J.a.diagonal = CLATTN_TOP_LEFT;
    J.v[0] = J.v[1] = 4;
    J.k[2] = (double)NAN;
    judge_run(&J);
    ck_assert(J.out[0] == 4 && J.out[1] == 4 && isnan(J.out[2]));
    ck_assert(isnan(J.lse[2]) && !isnan(J.lse[1]));
}
END_TEST

START_TEST(each_head_has_its_own_mask)
{
    const double mask[4] = {1, 0, 0, 1}, v[4] = {1, 3, 1, 3}, out[2] = {1, 3};

    judge_start(&J, 1, 2, 2, 1, 2, 1, 1);
    memcpy(J.v, v, sizeof v);
    judge_mask(&J, CLATTN_BOOL, 1, 2, 1, 2, mask);
    judge_run(&J);
    judge_expect("out", J.out, out, 2, 0);
}
END_TEST

START_TEST(any_number_of_leading_keys_may_be_hidden)
{
    for (size_t hidden = 1; hidden < 130; ++hidden) {
        double mask[130];
        for (size_t j = 0; j < 130; ++j)
            mask[j] = j >= hidden;
        judge_start(&J, 1, 1, 1, 1, 130, 1, 1);
        J.v[128] = 1;
        J.v[129] = 3;
        judge_mask(&J, CLATTN_BOOL, 1, 1, 1, 130, mask);
        judge_run(&J);
        const double want = hidden == 129 ? 3 : 4 / (double)(130 - hidden);
        judge_expect("out", J.out, &want, 1, ROUNDING);
    }
}
END_TEST

START_TEST(a_mask_with_gaps_is_not_read_in_them)
{
    const double mask[8] = {
        0, 1, -(double)INFINITY, (double)NAN, 2, 0, 0, (double)NAN};
    const double e = exp(1.0), e2 = exp(2.0);
    const double out[2] = {(1 + 2 * e) / (1 + e), (1 * e2 + 2 + 4) / (e2 + 2)};

    judge_start(&J, 1, 1, 1, 2, 3, 1, 1);
    J.v[0] = 1;
    J.v[1] = 2;
    J.v[2] = 4;
    judge_mask(&J, CLATTN_F32, 1, 1, 2, 4, mask);
    J.a.mask.size[3] = 3;
    J.a.mask.stride[2] = 4;
    J.a.mask.stride[3] = 1;
    judge_run(&J);
    judge_expect("out", J.out, out, 2, ROUNDING);
}
END_TEST

/* ---- Range --------------------------------------------------------------- */

START_TEST(products_beyond_f16_are_right)
{
    const double v[2] = {0, 1};

    judge_start(&J, 1, 1, 1, 1, 2, 128, 1);
    J.a.dtype = CLATTN_F16;
    J.a.weights.dtype = CLATTN_F64;
    for (int d = 0; d < 128; ++d) {
        J.q[d] = J.k[d] = 32;
        J.k[128 + d] = 31.984375;
    }
    memcpy(J.v, v, sizeof v);
    narrow(J.q, CLATTN_F16, 128);
    narrow(J.k, CLATTN_F16, 256);
    narrow(J.v, CLATTN_F16, 2);
    judge_run(&J);
    ck_assert_uint_eq(half_of(J.out, 0), 0x1b21);
    const double lse = 11585.24; /* two decimals are given */
    judge_expect("lse", J.lse, &lse, 1, 0.005);
}
END_TEST

START_TEST(a_mean_of_large_numbers_stays_in_range)
{
    judge_start(&J, 1, 1, 1, 1, 2, 1, 1);
    J.v[0] = J.v[1] = 60000;
    narrow(J.v, CLATTN_F16, 2);
    J.a.v.dtype = CLATTN_F16;
    judge_run(&J);
    ck_assert(J.out[0] == 60000.0);
}
END_TEST

static const struct {
    const char *about;
    double v;
    int32_t dtype;
    uint16_t bits;
} STORED[] = {
    {"bf16 to nearest", 0.2691408770292272, CLATTN_BF16, 0x3e8a},
    {"the smallest f16", 0x1p-24, CLATTN_F16, 0x0001},
    {"f16 up to its smallest normal", 6.1005354e-5, CLATTN_F16, 0x0400},
};

START_TEST(one_key_returns_its_value_rounded_once)
{
    judge_start(&J, 1, 1, 1, 1, 1, 1, 1);
    J.v[0] = STORED[_i].v;
    J.a.out.dtype = STORED[_i].dtype;
    judge_run(&J);
    ck_assert_msg(half_of(J.out, 0) == STORED[_i].bits, "%s: 0x%04x",
        STORED[_i].about, (unsigned)half_of(J.out, 0));
}
END_TEST

START_TEST(the_exponential_is_right_over_its_range)
{
    const double out = 0.53120937, lse = 2.1412906;

    judge_start(&J, 1, 1, 1, 1, 800, 1, 1);
    J.q[0] = 1;
    for (int j = 0; j < 800; ++j) {
        J.k[j] = -j / 8.0;
        J.v[j] = j % 2 == 0;
    }
    judge_run(&J);
    judge_expect("out", J.out, &out, 1, DECIMALS_8);
    judge_expect("lse, given to 7 decimals", J.lse, &lse, 1, 0.51e-7);
}
END_TEST

START_TEST(the_last_keys_of_any_length_count_and_none_after)
{
    static const size_t LENGTHS[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 129};

    for (size_t n = 0; n < COUNT(LENGTHS); ++n) {
        const double one = 1;
        judge_start(&J, 1, 1, 1, 1, LENGTHS[n], 1, 1);
        for (size_t j = 0; j < 200; ++j) {
            J.k[j] = j < LENGTHS[n] ? -1 : (double)NAN;
            J.v[j] = j < LENGTHS[n] ? 1 : (double)NAN;
        }
        J.q[0] = 50;
        judge_run(&J);
        judge_expect("out", J.out, &one, 1, ROUNDING);
        ck_assert(isnan(J.weights[LENGTHS[n]]) && isnan(J.out[1]));
    }
}
END_TEST

/* ---- Sizes, strides and heads -------------------------------------------- */

START_TEST(a_width_of_59_is_scaled_by_59)
{
    const double first[2][3] = {
        {-0.2896165, -0.2271708, 0.1478292}, {0.3924302, -0.2796610, 0}};
    const double last[2] = {-0.1021708, -0.1546610};
    const double lse[2] = {1.1844362, 1.0983225};

    judge_start(&J, 1, 1, 1, 2, 3, 59, 59);
    fill_all(&J, 3 * 59);
    judge_run(&J);
    judge_expect("row 0", J.out, first[0], 3, 0.51e-7);
    judge_expect("row 1", J.out + 59, first[1], 2, 0.51e-7);
    judge_expect("its end", J.out + 58, &last[0], 1, 0.51e-7);
    judge_expect("row 1's end", J.out + 117, &last[1], 1, 0.51e-7);
    judge_expect("lse", J.lse, lse, 2, 0.51e-7);
}
END_TEST

START_TEST(strides_read_heads_that_lie_side_by_side)
{
    const double out[12] = {-0.21883025, 0.02312392, 0.35180847, -0.57181024,
        0.31308828, -0.60807360, 0.27559967, -0.22616935, -0.40259519,
        -0.24708305, 0.29215869, -0.25};
    const clattn_tensor beside = {.head = 2, .row = 4};

    judge_start(&J, 1, 2, 2, 3, 3, 2, 2);
    fill_all(&J, 12);
    J.a.q = J.a.k = J.a.v = beside;
    judge_run(&J);
    judge_expect("out", J.out, out, 12, DECIMALS_8);
}
END_TEST

START_TEST(query_heads_in_turn_share_a_key_head)
{
    const double out[4] = {1, 1, 3, 3};

    judge_start(&J, 1, 4, 2, 1, 1, 1, 1);
    J.v[0] = 1;
    J.v[1] = 3;
    judge_run(&J);
    judge_expect("out", J.out, out, 4, 0);
}
END_TEST

START_TEST(a_mask_of_odd_width_in_f16_is_right)
{
    double mask[43 * 43];
    const double row0[4] = {-0.01612193, 0.07865471, 0.04990618, -0.14644148};
    const double row42[4] = {0.09133591, -0.09796700, 0.02116862, 0.00795960};
    const double lse = 4.2947161;

    for (int i = 0; i < 43; ++i)
        for (int j = 0; j < 43; ++j)
            mask[i * 43 + j] = ((i + 2 * j) % 5 - 2) / 2.0;
    judge_start(&J, 1, 1, 1, 43, 43, 4, 4);
    fill_all(&J, 172);
    narrow(J.q, CLATTN_F16, 172);
    narrow(J.k, CLATTN_F16, 172);
    narrow(J.v, CLATTN_F16, 172);
    J.a.q.dtype = J.a.k.dtype = J.a.v.dtype = CLATTN_F16;
    judge_mask(&J, CLATTN_F16, 1, 1, 43, 43, mask);
    judge_run(&J);
    judge_expect("row 0", J.out, row0, 4, DECIMALS_8);
    judge_expect("row 42", J.out + 168, row42, 4, DECIMALS_8);
    judge_expect("lse", J.lse + 42, &lse, 1, 0.51e-7);
}
END_TEST

static const size_t BROADCASTS[][4] = {{1, 1, 1, 1}, {1, 1, 1, 5}, {1, 1, 3, 1},
    {2, 1, 1, 5}, {1, 4, 1, 1}, {2, 1, 3, 5}, {1, 4, 3, 5}, {2, 4, 3, 5}};

START_TEST(a_size_of_1_in_a_mask_serves_all)
{
    const size_t *size = BROADCASTS[_i];
    static judge whole;
    double mask[120], expanded[120];

    judge_fill(mask, COUNT(mask), 3, 1, 7, 4);
    for (size_t n = 0; n < COUNT(expanded); ++n) {
        const size_t j = n % 5, i = n / 5 % 3, h = n / 15 % 4, b = n / 60;
        expanded[n] = mask[((b % size[0] * size[1] + h % size[1]) * size[2] +
                               i % size[2]) *
                               size[3] +
                           j % size[3]];
    }
    judge_start(&J, 2, 4, 2, 3, 5, 2, 2);
    judge_start(&whole, 2, 4, 2, 3, 5, 2, 2);
    fill_all(&J, 80);
    fill_all(&whole, 80);
    judge_mask(&J, CLATTN_F32, size[0], size[1], size[2], size[3], mask);
    judge_mask(&whole, CLATTN_F32, 2, 4, 3, 5, expanded);
    judge_run(&J);
    judge_run(&whole);
    judge_expect("out", J.out, whole.out, 48, 0);
}
END_TEST

START_TEST(many_items_and_many_heads_are_each_their_own)
{
    const size_t many = JUDGE_MOST;

    judge_start(&J, _i ? many : 1, _i ? 1 : many, _i ? 1 : many, 1, 1, 1, 1);
    for (size_t b = 0; b < many; ++b)
        J.v[b] = (double)(b % 7);
    judge_run(&J);
    judge_expect("out", J.out, J.v, many, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_hard");
    TCase *masks = tcase_create("masks");
    TCase *range = tcase_create("range");
    TCase *shapes = tcase_create("shapes");

    tcase_add_test(masks, a_row_that_sees_nothing_is_0_among_others);
    tcase_add_test(masks, what_a_hidden_key_holds_changes_no_bit);
    tcase_add_test(masks, an_attended_nan_reaches_its_own_rows_alone);
    tcase_add_test(masks, each_head_has_its_own_mask);
    tcase_add_test(masks, any_number_of_leading_keys_may_be_hidden);
    tcase_add_test(masks, a_mask_with_gaps_is_not_read_in_them);
    suite_add_tcase(suite, masks);

    tcase_add_test(range, products_beyond_f16_are_right);
    tcase_add_test(range, a_mean_of_large_numbers_stays_in_range);
    tcase_add_loop_test(
        range, one_key_returns_its_value_rounded_once, 0, (int)COUNT(STORED));
    tcase_add_test(range, the_exponential_is_right_over_its_range);
    tcase_add_test(range, the_last_keys_of_any_length_count_and_none_after);
    suite_add_tcase(suite, range);

    tcase_add_test(shapes, a_width_of_59_is_scaled_by_59);
    tcase_add_test(shapes, strides_read_heads_that_lie_side_by_side);
    tcase_add_test(shapes, query_heads_in_turn_share_a_key_head);
    tcase_add_test(shapes, a_mask_of_odd_width_in_f16_is_right);
    tcase_add_loop_test(
        shapes, a_size_of_1_in_a_mask_serves_all, 0, (int)COUNT(BROADCASTS));
    tcase_add_loop_test(
        shapes, many_items_and_many_heads_are_each_their_own, 0, 2);
    suite_add_tcase(suite, shapes);
    return suite_main(suite, 0);
}
