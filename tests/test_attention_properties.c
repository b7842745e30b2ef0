/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention_properties.c - what must hold of attention whatever any
 * reference says: for each kernel row.
 */
#include <math.h>
#include <string.h>

#include "opencl.h"
#include "rows.h"
#include "suite.h"
#include "tolerance.h"

enum {
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

static const double U = 0x1p-24;

static void check_is_value(
    const attention_trial *trial, size_t b, size_t h, size_t i)
{
    for (size_t c = 0; c < trial->of.size.Dv; ++c)
        ck_assert_float_eq(*rows_at(trial, SLOT_OUT, b, h, i, c),
            *rows_at(trial, SLOT_V, b, rows_kv_head(trial, h), 0, c));
    ck_assert_float_eq(*rows_at(trial, SLOT_WEIGHTS, b, h, i, 0), 1.0f);
}

START_TEST(one_key_returns_its_value_exactly)
{
    const attention_case c = {
        "one key", {2, 4, 2, 17, 1, 9, 9}, .returns = BOTH};
    attention_trial trial;
    rows_create(&trial, &c, _i);
    rows_run(&trial);
    rows_for_each(&trial, check_is_value);
    attention_trial_destroy(&trial);
}
END_TEST

static void check_is_mean(
    const attention_trial *trial, size_t b, size_t h, size_t i)
{
    const size_t Lk = trial->of.size.Lk;
    for (size_t c = 0; c < trial->of.size.Dv; ++c) {
        double mean = 0;
        for (size_t j = 0; j < Lk; ++j)
            mean += *rows_at(trial, SLOT_V, b, rows_kv_head(trial, h), j, c);
        mean /= (double)Lk;
        /* |v| is at most 1; weights are off by a division of 2.5 ulp. */
        ck_assert_double_eq_tol(*rows_at(trial, SLOT_OUT, b, h, i, c), mean,
            tolerance_sum(Lk) + 6 * U);
    }
    ck_assert_double_eq_tol(*rows_at(trial, SLOT_LSE, b, h, i, 0),
        log((double)Lk), 8 * U * log((double)Lk));
}

START_TEST(equal_scores_return_the_mean_of_the_values)
{
    const attention_case c = {"equal scores", {2, 4, 2, 17, 37, 9, 9},
        .fill = FILL_EQUAL, .returns = BOTH};
    attention_trial trial;
    rows_create(&trial, &c, _i);
    rows_run(&trial);
    rows_for_each(&trial, check_is_mean);
    attention_trial_destroy(&trial);
}
END_TEST

/* Eighths, so that every score is exact in f32; column 0 of q is 1, and that of
   k adds `constant` to all scores. */
static void fill_exact(attention_trial *trial, float constant)
{
    const attention_case *c = &trial->of;
    for (size_t slot = SLOT_Q; slot <= SLOT_K; ++slot) {
        const arena_tensor *t = &trial->memory.tensor[slot];
        for (size_t n = 0; n < arena_elements(t); ++n) {
            const size_t column = n % c->size.D, row = n / c->size.D;
            float *x = rows_at(trial, slot, row / t->size[2] / t->size[1],
                row / t->size[2] % t->size[1], row % t->size[2], column);
            *x = (float)(n * 7 % 17) / 8.0f - 1.0f;
            if (column == 0)
                *x = slot == SLOT_Q ? 1.0f : constant;
        }
    }
}

/*
 * The readable rows keep these scores exactly, so no bit changes.  The others
 * count in units of ln 2: near 512 / ln 2 = 739 a score is rounded by up to
 * 2^-15, twice (shifted and not), and a weight moves by ln 2 of that, relative
 * to itself; an output, by as much of the largest |v|, which is at most 1.125,
 * and once more for the sum.
 */
static void assert_shifted(const attention_trial *plain,
    const attention_trial *shifted, enum attention_slot slot, size_t b,
    size_t h, size_t i)
{
    if (strncmp(rows_name(plain), "tiled", 5) == 0) {
        rows_assert_bits(plain, shifted, slot, b, h, i, "constant added");
        return;
    }
    const float bound = 1.125f * 4.0f * 0.6931472f / 32768.0f;
    for (size_t n = 0; n < plain->memory.tensor[slot].size[3]; ++n) {
        const float one = *rows_at(plain, slot, b, h, i, n);
        const float other = *rows_at(shifted, slot, b, h, i, n);
        ck_assert_msg(fabsf(one - other) <= bound,
            "row %s: slot %d [%zu][%zu][%zu][%zu] is %.9g, with a constant "
            "added to all scores %.9g",
            rows_name(plain), (int)slot, b, h, i, n, (double)one,
            (double)other);
    }
}

START_TEST(adding_a_constant_to_all_scores_changes_no_weight)
{
    const attention_case c = {"shifted scores", {2, 4, 2, 17, 37, 9, 9},
        .has_scale = 1, .scale = 1, .returns = BOTH};
    attention_trial plain, shifted;
    rows_create(&plain, &c, _i);
    rows_create(&shifted, &c, _i);
    fill_exact(&plain, 0.0f);
    fill_exact(&shifted, 512.0f);
    rows_rerun(&plain);
    rows_rerun(&shifted);
    for (size_t row = 0; row < 2 * 4 * 17; ++row) {
        const size_t b = row / 17 / 4, h = row / 17 % 4, i = row % 17;
        assert_shifted(&plain, &shifted, SLOT_OUT, b, h, i);
        assert_shifted(&plain, &shifted, SLOT_WEIGHTS, b, h, i);
        ck_assert_double_eq_tol(*rows_at(&shifted, SLOT_LSE, b, h, i, 0),
            *rows_at(&plain, SLOT_LSE, b, h, i, 0) + 512.0, 1100 * U);
    }
    attention_trial_destroy(&plain);
    attention_trial_destroy(&shifted);
}
END_TEST

/* Key j of the one is key 36 - j of the other. */
START_TEST(the_order_of_keys_does_not_matter)
{
    const attention_case c = {
        "reversed keys", {1, 2, 2, 17, 37, 9, 9}, .returns = BOTH};
    /* Scores have the same bits, so only the two sums differ. */
    const double slack = 4 * tolerance_sum(37) + 10 * U;
    attention_trial one, other;
    rows_create(&one, &c, _i);
    rows_create(&other, &c, _i);
    for (size_t j = 0; j < 37; ++j)
        for (size_t h = 0; h < 2; ++h) {
            memcpy(rows_at(&other, SLOT_K, 0, h, 36 - j, 0),
                rows_at(&one, SLOT_K, 0, h, j, 0), 9 * sizeof(float));
            memcpy(rows_at(&other, SLOT_V, 0, h, 36 - j, 0),
                rows_at(&one, SLOT_V, 0, h, j, 0), 9 * sizeof(float));
        }
    rows_run(&one);
    rows_rerun(&other);
    for (size_t row = 0; row < 2 * 17; ++row) {
        const size_t h = row / 17, i = row % 17;
        for (size_t column = 0; column < 9; ++column)
            ck_assert_double_eq_tol(*rows_at(&one, SLOT_OUT, 0, h, i, column),
                *rows_at(&other, SLOT_OUT, 0, h, i, column), slack);
        for (size_t j = 0; j < 37; ++j)
            ck_assert_double_eq_tol(*rows_at(&one, SLOT_WEIGHTS, 0, h, i, j),
                *rows_at(&other, SLOT_WEIGHTS, 0, h, i, 36 - j), slack);
    }
    attention_trial_destroy(&one);
    attention_trial_destroy(&other);
}
END_TEST

/* The third trial's v is the sum of the first two; doubling is exact. */
START_TEST(output_is_linear_in_v)
{
    const attention_case c = {"linear", {1, 2, 1, 17, 37, 9, 9}, .returns = 0};
    attention_trial trial[4];
    for (size_t n = 0; n < 4; ++n)
        rows_create(&trial[n], &c, _i);
    for (size_t j = 0; j < 37; ++j)
        for (size_t column = 0; column < 9; ++column) {
            const float one = (float)((j * 9 + column) % 23) / 32.0f;
            const float two = (float)((j * 5 + column) % 19) / 64.0f;
            *rows_at(&trial[0], SLOT_V, 0, 0, j, column) = one;
            *rows_at(&trial[1], SLOT_V, 0, 0, j, column) = two;
            *rows_at(&trial[2], SLOT_V, 0, 0, j, column) = one + two;
            *rows_at(&trial[3], SLOT_V, 0, 0, j, column) = 2 * one;
        }
    for (size_t n = 0; n < 4; ++n)
        rows_rerun(&trial[n]);
    for (size_t n = 0; n < 2 * 17 * 9; ++n) {
        const size_t h = n / 9 / 17, i = n / 9 % 17, column = n % 9;
        const double one = *rows_at(&trial[0], SLOT_OUT, 0, h, i, column);
        const double two = *rows_at(&trial[1], SLOT_OUT, 0, h, i, column);
        ck_assert_double_eq_tol(*rows_at(&trial[2], SLOT_OUT, 0, h, i, column),
            one + two, 2 * tolerance_sum(37));
        ck_assert_double_eq(
            *rows_at(&trial[3], SLOT_OUT, 0, h, i, column), 2 * one);
    }
    for (size_t n = 0; n < 4; ++n)
        attention_trial_destroy(&trial[n]);
}
END_TEST

/* Item b of the batch alone, in the same memory. */
static void run_item(attention_trial *trial, size_t b)
{
    clattn_error error;
    clattn_attention problem = trial->problem;
    clattn_attention_args args = attention_trial_args(trial, NULL);
    const attention_case *c = &trial->of;
    problem.B = 1;
    args.q.offset += b * c->size.Hq * c->size.Lq * c->size.D;
    args.k.offset += b * c->size.Hkv * c->size.Lk * c->size.D;
    args.v.offset += b * c->size.Hkv * c->size.Lk * c->size.Dv;
    args.out.offset += b * c->size.Hq * c->size.Lq * c->size.Dv;
    args.lse.offset += b * c->size.Hq * c->size.Lq;
    args.weights.offset += b * c->size.Hq * c->size.Lq * c->size.Lk;
    args.key_lengths.offset += b;
    const clattn_status status =
        clattn_attention_host(opencl_get()->ctx, &problem, &args, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

START_TEST(a_batch_equals_its_items_bit_for_bit)
{
    const attention_case c = {"a batch", {4, 4, 2, 17, 37, 9, 9}, .causal = 1,
        .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true, .returns = BOTH};
    attention_trial batch, items;
    rows_create(&batch, &c, _i);
    rows_create(&items, &c, _i);
    rows_run(&batch);
    for (size_t b = 0; b < c.size.B; ++b)
        run_item(&items, b);
    rows_assert_all_bits(&batch, &items, "one by one");
    attention_trial_destroy(&batch);
    attention_trial_destroy(&items);
}
END_TEST

/* Repeated, not tiled: heads 0, 1, 2 read key head 0. */
START_TEST(grouped_heads_equal_repeated_key_heads_bit_for_bit)
{
    const attention_case one = {
        "grouped", {2, 6, 2, 17, 37, 9, 9}, .returns = 0};
    const attention_case all = {
        "repeated", {2, 6, 6, 17, 37, 9, 9}, .returns = 0};
    attention_trial grouped, repeated;
    rows_create(&grouped, &one, _i);
    rows_create(&repeated, &all, _i);
    for (size_t row = 0; row < 2 * 6 * 37; ++row) {
        const size_t b = row / 37 / 6, h = row / 37 % 6, j = row % 37;
        memcpy(rows_at(&repeated, SLOT_K, b, h, j, 0),
            rows_at(&grouped, SLOT_K, b, h / 3, j, 0), 9 * sizeof(float));
        memcpy(rows_at(&repeated, SLOT_V, b, h, j, 0),
            rows_at(&grouped, SLOT_V, b, h / 3, j, 0), 9 * sizeof(float));
    }
    for (size_t row = 0; row < 2 * 6 * 17; ++row) {
        const size_t b = row / 17 / 6, h = row / 17 % 6, i = row % 17;
        memcpy(rows_at(&repeated, SLOT_Q, b, h, i, 0),
            rows_at(&grouped, SLOT_Q, b, h, i, 0), 9 * sizeof(float));
    }
    rows_run(&grouped);
    rows_rerun(&repeated);
    for (size_t row = 0; row < 2 * 6 * 17; ++row)
        rows_assert_bits(&grouped, &repeated, SLOT_OUT, row / 17 / 6,
            row / 17 % 6, row % 17, "key heads written out");
    attention_trial_destroy(&grouped);
    attention_trial_destroy(&repeated);
}
END_TEST

int main(void)
{
    const int rows = rows_count();
    TCase *t = tcase_create("properties");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, one_key_returns_its_value_exactly, 0, rows);
    tcase_add_loop_test(t, equal_scores_return_the_mean_of_the_values, 0, rows);
    tcase_add_loop_test(
        t, adding_a_constant_to_all_scores_changes_no_weight, 0, rows);
    tcase_add_loop_test(t, the_order_of_keys_does_not_matter, 0, rows);
    tcase_add_loop_test(t, output_is_linear_in_v, 0, rows);
    tcase_add_loop_test(t, a_batch_equals_its_items_bit_for_bit, 0, rows);
    tcase_add_loop_test(
        t, grouped_heads_equal_repeated_key_heads_bit_for_bit, 0, rows);

    Suite *suite = suite_create("attention properties");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
