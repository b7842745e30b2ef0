/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_batch.c - the attention reference on batches of unequal items:
 * lengths, packed rows, offsets of each item, and where tensors lie.
 */
#include <math.h>
#include <string.h>

#include "convert.h"
#include "judge.h"
#include "suite.h"

static judge J, OTHER;

#define NAN_D   ((double)NAN)
#define MINUS_D (-(double)INFINITY)

static void fill_all(judge *j, size_t count)
{
    judge_fill(j->q, count, 7, 3, 11, 4);
    judge_fill(j->k, count, 5, 1, 13, 4);
    judge_fill(j->v, count, 3, 2, 17, 8);
}

/* ---- Lengths ------------------------------------------------------------- */

START_TEST(the_bottom_right_corner_follows_each_length)
{
    const int32_t lengths[2] = {4, 6};
    const double out[4] = {7.0 / 3, 3.75, 6.2, 10.5};

    judge_start(&J, 2, 1, 1, 2, 6, 1, 1);
    for (int j = 0; j < 12; ++j)
        J.v[j] = 1 << j % 6;
    judge_array(&J, CLATTN_KEY_LENGTHS, lengths, 2);
    J.a.causal = 1;
    J.a.diagonal = CLATTN_BOTTOM_RIGHT;
    judge_run(&J);
    judge_expect("out", J.out, out, 4, ROUNDING);
}
END_TEST

START_TEST(the_bottom_right_corner_follows_query_lengths_too)
{
    /* Rows 0 and 1 of two stand on keys 2 and 3 of four; row 2 is padding. */
    const int32_t queries = 2, keys = 4;
    const double out[3] = {7.0 / 3, 3.75, 0},
                 lse[3] = {log(3), log(4), MINUS_D};

    judge_start(&J, 1, 1, 1, 3, 5, 1, 1);
    for (int j = 0; j < 4; ++j)
        J.v[j] = 1 << j;
    J.v[4] = J.k[4] = NAN_D;
    J.q[2] = NAN_D;
    judge_array(&J, CLATTN_QUERY_LENGTHS, &queries, 1);
    judge_array(&J, CLATTN_KEY_LENGTHS, &keys, 1);
    J.a.causal = 1;
    J.a.diagonal = CLATTN_BOTTOM_RIGHT;
    judge_run(&J);
    judge_expect("out", J.out, out, 3, ROUNDING);
    judge_expect("lse", J.lse, lse, 3, ROUNDING);
}
END_TEST

START_TEST(unused_rows_of_a_cache_are_not_read)
{
    const int32_t used[2] = {1, 3};

    judge_start(&J, 2, 1, 1, 1, 3, 64, 64);
    for (int i = 0; i < 2 * 3 * 64; ++i) {
        const int row = i / 64 % 3, valid = row < used[i / 192];
        J.k[i] = valid ? 0.5 : NAN_D;
        J.v[i] = valid ? row + 1 : NAN_D;
    }
    for (int i = 0; i < 128; ++i)
        J.q[i] = 0.5;
    judge_array(&J, CLATTN_KEY_LENGTHS, used, 2);
    judge_run(&J);
    for (int i = 0; i < 128; ++i)
        ck_assert_msg(fabs(J.out[i] - (i < 64 ? 1 : 2)) <= ROUNDING,
            "column %d is %g", i, J.out[i]);
}
END_TEST

START_TEST(an_item_without_keys_is_0_beside_others)
{
    const int32_t lengths[2] = {0, 3};
    const double out[2] = {0, 7.0 / 3}, lse[2] = {MINUS_D, log(3)};

    judge_start(&J, 2, 1, 1, 1, 4, 1, 1);
    for (int j = 0; j < 8; ++j)
        J.v[j] = 1 << j % 4;
    judge_array(&J, CLATTN_KEY_LENGTHS, lengths, 2);
    judge_run(&J);
    judge_expect("out", J.out, out, 2, ROUNDING);
    judge_expect("lse", J.lse, lse, 2, ROUNDING);
    judge_expect("weights past a length", J.weights + 7, out, 1, 0);
}
END_TEST

START_TEST(each_item_has_its_own_diagonal)
{
    const int32_t offsets[3] = {0, -1, 5};
    const double out[6] = {1, 1.5, 0, 1, 7.0 / 3, 7.0 / 3};

    judge_start(&J, 3, 1, 1, 2, 3, 1, 1);
    for (int j = 0; j < 9; ++j)
        J.v[j] = 1 << j % 3;
    judge_array(&J, CLATTN_DIAGONAL_OFFSETS, offsets, 3);
    J.a.causal = 1;
    J.a.diagonal = CLATTN_OFFSET;
    judge_run(&J);
    judge_expect("out", J.out, out, 6, ROUNDING);
}
END_TEST

/* ---- Packed -------------------------------------------------------------- */

/* Three items of 2, 0 and 3 queries on 3, 2 and 4 keys, two heads, with every
   option that counts within an item. */
enum {
    B = 3,
    H = 2,
    LQ = 3,
    LK = 4,
    D = 2
};
static const int32_t QUERIES[B] = {2, 0, 3}, KEYS[B] = {3, 2, 4};
static const int32_t Q_STARTS[B + 1] = {1, 3, 3, 6};
static const int32_t K_STARTS[B + 1] = {2, 5, 7, 11};
static const float SLOPES[H] = {0.25f, 0.5f};

static void set_options(judge *j)
{
    double mask[B * H * LQ * LK];
    judge_fill(mask, COUNT(mask), 3, 1, 7, 4);
    judge_mask(j, CLATTN_F32, B, H, LQ, LK, mask);
    j->a.causal = 1;
    j->a.diagonal = CLATTN_BOTTOM_RIGHT;
    j->a.alibi_slopes = SLOPES;
    j->a.dropout_p = 0.25f;
    j->args.dropout_seed = 7;
}

/* Row i of item b and head h in q, k or v of the padded problem, which is
   dense. */
static double *padded_row(double *t, size_t rows, size_t b, size_t h, size_t i)
{
    return t + ((b * H + h) * rows + i) * D;
}

static double *packed_row(double *t, int32_t start, size_t h, size_t i)
{
    return t + (((size_t)start + i) * H + h) * D;
}

static void pack(double *to, double *from, size_t rows, const int32_t *starts,
    const int32_t *lengths)
{
    for (size_t b = 0; b < B; ++b)
        for (size_t h = 0; h < H; ++h)
            for (size_t i = 0; i < (size_t)lengths[b]; ++i)
                memcpy(packed_row(to, starts[b], h, i),
                    padded_row(from, rows, b, h, i), D * sizeof *to);
}

static void start_padded(judge *j)
{
    judge_start(j, B, H, H, LQ, LK, D, D);
    fill_all(j, B * H * LK * D);
    set_options(j);
    judge_array(j, CLATTN_QUERY_LENGTHS, QUERIES, B);
    judge_array(j, CLATTN_KEY_LENGTHS, KEYS, B);
}

/* The packed form of a padded problem, in rows that begin as NaN. */
static void start_packed(judge *j, judge *padded)
{
    judge_start(j, B, H, H, LQ, LK, D, D);
    for (size_t i = 0; i < 12 * H * D; ++i)
        j->q[i] = j->k[i] = j->v[i] = NAN_D;
    j->a.q_rows = 7;
    j->a.k_rows = 12;
    set_options(j);
    pack(j->q, padded->q, LQ, Q_STARTS, QUERIES);
    pack(j->k, padded->k, LK, K_STARTS, KEYS);
    pack(j->v, padded->v, LK, K_STARTS, KEYS);
}

static void expect_equal(const judge *packed, judge *padded)
{
    double out[7 * H * D], lse[7 * H];

    for (size_t i = 0; i < COUNT(out); ++i)
        out[i] = NAN_D; /* rows of no item are left alone */
    for (size_t i = 0; i < COUNT(lse); ++i)
        lse[i] = NAN_D;
    pack(out, padded->out, LQ, Q_STARTS, QUERIES);
    for (size_t b = 0; b < B; ++b)
        for (size_t h = 0; h < H; ++h)
            for (size_t i = 0; i < (size_t)QUERIES[b]; ++i)
                lse[h * 7 + (size_t)Q_STARTS[b] + i] =
                    padded->lse[(b * H + h) * LQ + i];
    judge_expect("out", packed->out, out, COUNT(out), 0);
    judge_expect("lse", packed->lse, lse, COUNT(lse), 0);
    judge_expect(
        "weights", packed->weights, padded->weights, B * H * LQ * LK, 0);
}

START_TEST(packed_items_give_what_padded_ones_do)
{
    start_padded(&OTHER);
    judge_run(&OTHER);
    start_packed(&J, &OTHER);
    judge_array(&J, CLATTN_QUERY_STARTS, Q_STARTS, B + 1);
    judge_array(&J, CLATTN_KEY_STARTS, K_STARTS, B + 1);
    judge_run(&J);
    expect_equal(&J, &OTHER);
}
END_TEST

START_TEST(starts_with_lengths_give_the_same)
{
    start_padded(&OTHER);
    judge_run(&OTHER);
    start_packed(&J, &OTHER);
    judge_array(&J, CLATTN_QUERY_STARTS, Q_STARTS, B);
    judge_array(&J, CLATTN_KEY_STARTS, K_STARTS, B);
    judge_array(&J, CLATTN_QUERY_LENGTHS, QUERIES, B);
    judge_array(&J, CLATTN_KEY_LENGTHS, KEYS, B);
    judge_run(&J);
    expect_equal(&J, &OTHER);
}
END_TEST

START_TEST(left_padding_is_starts_with_a_batch_stride)
{
    /* Two items of three rows, of which the first has its last two. */
    const int32_t starts[2] = {1, 0}, lengths[2] = {2, 3};
    const clattn_tensor rows = {.batch = 3, .head = 1, .row = 1};
    const double out[6] = {NAN_D, 2, 3, 8, 12, 56.0 / 3};

    judge_start(&J, 2, 1, 1, 3, 3, 1, 1);
    for (int i = 0; i < 6; ++i)
        J.v[i] = i == 0 ? NAN_D : 1 << i;
    J.q[0] = J.k[0] = NAN_D;
    J.a.q_rows = J.a.k_rows = 3;
    J.a.q = J.a.k = J.a.v = J.a.out = rows;
    J.a.lse.batch = 3;
    J.a.lse.row = 1;
    J.a.causal = 1;
    J.a.diagonal = CLATTN_TOP_LEFT;
    judge_array(&J, CLATTN_QUERY_STARTS, starts, 2);
    judge_array(&J, CLATTN_KEY_STARTS, starts, 2);
    judge_array(&J, CLATTN_QUERY_LENGTHS, lengths, 2);
    judge_array(&J, CLATTN_KEY_LENGTHS, lengths, 2);
    judge_run(&J);
    judge_expect("out", J.out, out, 6, ROUNDING);
}
END_TEST

/* ---- Where tensors lie --------------------------------------------------- */

START_TEST(a_batch_is_its_items_one_by_one)
{
    judge_start(&J, 3, 4, 2, 2, 5, 2, 3);
    fill_all(&J, 3 * 2 * 5 * 3);
    judge_run(&J);
    for (size_t b = 0; b < 3; ++b) {
        judge_start(&OTHER, 1, 4, 2, 2, 5, 2, 3);
        fill_all(&OTHER, 3 * 2 * 5 * 3);
        OTHER.args.q.offset = b * 4 * 2 * 2;
        OTHER.args.k.offset = b * 2 * 5 * 2;
        OTHER.args.v.offset = b * 2 * 5 * 3;
        judge_run(&OTHER);
        judge_expect("out", J.out + b * 4 * 2 * 3, OTHER.out, 4 * 2 * 3, 0);
        judge_expect("lse", J.lse + b * 4 * 2, OTHER.lse, 4 * 2, 0);
    }
}
END_TEST

START_TEST(packed_qkv_and_gaps_give_what_dense_tensors_do)
{
    const clattn_tensor in_three = {.batch = 90, .head = 3, .row = 18};
    const clattn_tensor gaps = {.batch = 100, .head = 40, .row = 7};

    judge_start(&OTHER, 2, 2, 2, 5, 5, 3, 3);
    fill_all(&OTHER, 60);
    judge_run(&OTHER);
    judge_start(&J, 2, 2, 2, 5, 5, 3, 3);
    for (size_t n = 0; n < 60; ++n) {
        const size_t c = n % 3, i = n / 3 % 5, h = n / 15 % 2, b = n / 30;
        double *at = J.q + 1 + b * 90 + i * 18 + h * 3 + c;
        at[0] = OTHER.q[n];
        at[6] = OTHER.k[n];
        at[12] = OTHER.v[n];
    }
    J.a.q = J.a.k = J.a.v = in_three;
    J.a.out = gaps;
    J.args.k.host = J.args.v.host = J.q;
    J.args.q.offset = 1;
    J.args.k.offset = 7;
    J.args.v.offset = 13;
    J.args.out.offset = 5;
    judge_run(&J);
    for (size_t at = 0, n = 0; at < 250; ++at) {
        const size_t e = at - 5, c = e % 100 % 40 % 7, i = e % 100 % 40 / 7;
        const int hit = at >= 5 && e < 200 && e % 100 < 80 && i < 5 && c < 3;
        const double want = hit ? OTHER.out[n++] : NAN_D;
        judge_expect("out and its gaps", J.out + at, &want, 1, 0);
    }
}
END_TEST

static const int32_t DTYPES[] = {CLATTN_F32, CLATTN_F16, CLATTN_BF16};

START_TEST(every_dtype_gives_the_exact_result_rounded_once)
{
    const int32_t dtype = DTYPES[_i];
    const size_t count = 2 * 3 * 4;
    double want[24], copy[24];

    /* These numbers are exact in every dtype, so only the result is rounded. */
    judge_start(&OTHER, 1, 2, 2, 3, 3, 4, 4);
    fill_all(&OTHER, count);
    judge_run(&OTHER);
    convert_store(want, dtype, 0, OTHER.out, count);

    judge_start(&J, 1, 2, 2, 3, 3, 4, 4);
    J.a.dtype = dtype;
    fill_all(&OTHER, count);
    memcpy(copy, OTHER.q, sizeof copy);
    convert_store(J.q, dtype, 0, copy, count);
    memcpy(copy, OTHER.k, sizeof copy);
    convert_store(J.k, dtype, 0, copy, count);
    memcpy(copy, OTHER.v, sizeof copy);
    convert_store(J.v, dtype, 0, copy, count);
    J.a.weights.dtype = CLATTN_F64;
    judge_run(&J);
    ck_assert_mem_eq(J.out, want, count * (dtype == CLATTN_F32 ? 4 : 2));
    judge_expect("weights", J.weights, OTHER.weights, 18, 0);
}
END_TEST

START_TEST(outputs_of_two_calls_are_the_same_bits)
{
    start_padded(&J);
    start_padded(&OTHER);
    judge_run(&J);
    judge_run(&OTHER);
    ck_assert_mem_eq(J.out, OTHER.out, sizeof J.out);
    ck_assert_mem_eq(J.lse, OTHER.lse, sizeof J.lse);
    ck_assert_mem_eq(J.weights, OTHER.weights, sizeof J.weights);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_batch");
    TCase *lengths = tcase_create("lengths");
    TCase *packed = tcase_create("packed");
    TCase *places = tcase_create("places");

    tcase_add_test(lengths, the_bottom_right_corner_follows_each_length);
    tcase_add_test(lengths, the_bottom_right_corner_follows_query_lengths_too);
    tcase_add_test(lengths, unused_rows_of_a_cache_are_not_read);
    tcase_add_test(lengths, an_item_without_keys_is_0_beside_others);
    tcase_add_test(lengths, each_item_has_its_own_diagonal);
    suite_add_tcase(suite, lengths);

    tcase_add_test(packed, packed_items_give_what_padded_ones_do);
    tcase_add_test(packed, starts_with_lengths_give_the_same);
    tcase_add_test(packed, left_padding_is_starts_with_a_batch_stride);
    suite_add_tcase(suite, packed);

    tcase_add_test(places, a_batch_is_its_items_one_by_one);
    tcase_add_test(places, packed_qkv_and_gaps_give_what_dense_tensors_do);
    tcase_add_loop_test(places, every_dtype_gives_the_exact_result_rounded_once,
        0, (int)COUNT(DTYPES));
    tcase_add_test(places, outputs_of_two_calls_are_the_same_bits);
    suite_add_tcase(suite, places);
    return suite_main(suite, 0);
}
