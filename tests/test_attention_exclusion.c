/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention_exclusion.c - a hidden key is never looked at, a seen NaN
 * stays where it belongs, and weights are shares: for each kernel row, without
 * a reference.
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

static const attention_case EXCLUDING[] = {
    {"lengths", {4, 4, 2, 17, 37, 9, 9}, .key_lengths = true, .returns = BOTH},
    {"causal", {2, 4, 2, 19, 19, 9, 9}, .causal = 1,
        .diagonal = CLATTN_TOP_LEFT, .returns = BOTH},
    {"causal to the bottom right, lengths", {4, 4, 2, 17, 37, 9, 9},
        .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true,
        .returns = BOTH},
    {"an offset for each item", {4, 4, 2, 17, 19, 9, 9}, .causal = 1,
        .diagonal = CLATTN_OFFSET, .item_offsets = true, .returns = BOTH},
    {"huge scores, lengths", {4, 4, 2, 17, 37, 9, 9}, .fill = FILL_TALL,
        .key_lengths = true, .returns = BOTH},
    {"everything seen", {2, 4, 2, 17, 37, 9, 9}, .returns = BOTH},
};

enum {
    CASES = COUNT(EXCLUDING)
};

static void check_between(
    const attention_trial *trial, size_t b, size_t h, size_t i)
{
    const double slack = 2 * tolerance_sum(trial->of.size.Lk) + 6 * U;
    for (size_t c = 0; c < trial->of.size.Dv; ++c) {
        double least = INFINITY, most = -INFINITY;
        for (size_t j = 0; j < trial->of.size.Lk; ++j)
            if (attention_trial_sees(trial, b, h, i, j)) {
                const double v =
                    *rows_at(trial, SLOT_V, b, rows_kv_head(trial, h), j, c);
                least = fmin(least, v);
                most = fmax(most, v);
            }
        const double out = *rows_at(trial, SLOT_OUT, b, h, i, c);
        if (least > most) /* the row sees no key */
            least = most = 0;
        ck_assert_msg(out >= least - slack && out <= most + slack,
            "row %s: out[%zu][%zu][%zu][%zu] is %g, values %g to %g",
            rows_name(trial), b, h, i, c, out, least, most);
    }
}

/* Each weight is off by a factor, the same in all of a row but for exp and the
   division: so their sum is. */
static void check_weights(
    const attention_trial *trial, size_t b, size_t h, size_t i)
{
    const size_t Lk = trial->of.size.Lk;
    double sum = 0;
    bool any = false;
    for (size_t j = 0; j < Lk; ++j) {
        const double p = *rows_at(trial, SLOT_WEIGHTS, b, h, i, j);
        const bool sees = attention_trial_sees(trial, b, h, i, j);
        ck_assert_msg(sees ? p >= 0 && p <= 1 + 8 * U : p == 0,
            "row %s: weights[%zu][%zu][%zu][%zu] is %g", rows_name(trial), b, h,
            i, j, p);
        sum += p;
        any = any || sees;
    }
    ck_assert_double_eq_tol(sum, any, tolerance_sum(Lk) + 12 * U);
    if (!any)
        ck_assert_float_eq(*rows_at(trial, SLOT_LSE, b, h, i, 0), -INFINITY);
}

START_TEST(weights_are_shares_and_outputs_lie_between_the_values)
{
    attention_trial trial;
    rows_create(&trial, &EXCLUDING[_i % CASES], _i / CASES);
    rows_run(&trial);
    rows_for_each(&trial, check_between);
    rows_for_each(&trial, check_weights);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(what_no_row_may_look_at_changes_no_bit)
{
    const float values[] = {0.0f, 1e30f, INFINITY, -INFINITY, NAN};
    const attention_case *c = &EXCLUDING[_i % CASES];
    attention_trial trial, poisoned;
    rows_create(&trial, &EXCLUDING[_i % CASES], _i / CASES);
    rows_create(&poisoned, &EXCLUDING[_i % CASES], _i / CASES);
    rows_run(&trial);
    for (size_t n = 0; n < COUNT(values); ++n) {
        arena_restore(&poisoned.memory);
        attention_trial_poison(&poisoned, values[n]);
        rows_rerun(&poisoned);
        for (size_t slot = SLOT_OUT; slot <= SLOT_WEIGHTS; ++slot)
            for (size_t row = 0; row < c->size.B * c->size.Hq * c->size.Lq;
                 ++row)
                rows_assert_bits(&trial, &poisoned, slot,
                    row / c->size.Lq / c->size.Hq,
                    row / c->size.Lq % c->size.Hq, row % c->size.Lq,
                    "other values behind the exclusions");
    }
    attention_trial_destroy(&trial);
    attention_trial_destroy(&poisoned);
}
END_TEST

/* NaN at key `key`: rows before it do not see it, all others do. */
START_TEST(causal_rows_ignore_a_nan_future_and_no_other)
{
    attention_trial trial, nan;
    const attention_case *c = &EXCLUDING[1];
    rows_create(&trial, c, _i);
    rows_run(&trial);
    for (size_t key = 1; key < c->size.Lk; key += 5) {
        rows_create(&nan, c, _i);
        *rows_at(&nan, SLOT_K, 0, 1, key, 3) = NAN;
        rows_rerun(&nan);
        for (size_t row = 0; row < 2 * 4 * 19; ++row) {
            const size_t b = row / 19 / 4, h = row / 19 % 4, i = row % 19;
            if (b == 1 || h < 2 || i < key)
                rows_assert_bits(
                    &trial, &nan, SLOT_OUT, b, h, i, "NaN ahead of it");
            else
                ck_assert_msg(isnan(*rows_at(&nan, SLOT_OUT, b, h, i, 0)) &&
                                  isnan(*rows_at(&nan, SLOT_LSE, b, h, i, 0)),
                    "row %s: row %zu sees NaN in key %zu and does not show it",
                    rows_name(&nan), i, key);
        }
        attention_trial_destroy(&nan);
    }
    attention_trial_destroy(&trial);
}
END_TEST

/* NaN, or numbers so large that scores leave f32's range or lie steps of more
   than 1 apart. */
static const float SPOILING[] = {NAN, INFINITY, 3e38f, 1e8f};

enum {
    SPOILINGS = COUNT(SPOILING)
};

START_TEST(a_spoilt_query_spoils_no_other_row)
{
    const float value = SPOILING[_i % SPOILINGS];
    const attention_case *c = &EXCLUDING[5];
    attention_trial trial, spoilt;
    rows_create(&trial, c, _i / SPOILINGS);
    rows_create(&spoilt, c, _i / SPOILINGS);
    for (size_t d = 0; d < c->size.D; ++d)
        *rows_at(&spoilt, SLOT_Q, 1, 2, 7, d) = value;
    rows_run(&trial);
    rows_rerun(&spoilt);
    for (size_t row = 0; row < 2 * 4 * 17; ++row) {
        const size_t b = row / 17 / 4, h = row / 17 % 4, i = row % 17;
        if (b != 1 || h != 2 || i != 7)
            rows_assert_bits(
                &trial, &spoilt, SLOT_OUT, b, h, i, "another query spoilt");
    }
    if (isnan(value))
        ck_assert_float_nan(*rows_at(&spoilt, SLOT_OUT, 1, 2, 7, 0));
    attention_trial_destroy(&trial);
    attention_trial_destroy(&spoilt);
}
END_TEST

int main(void)
{
    const int rows = rows_count();
    TCase *t = tcase_create("exclusion");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t,
        weights_are_shares_and_outputs_lie_between_the_values, 0, rows * CASES);
    tcase_add_loop_test(
        t, what_no_row_may_look_at_changes_no_bit, 0, rows * CASES);
    tcase_add_loop_test(
        t, causal_rows_ignore_a_nan_future_and_no_other, 0, rows);
    tcase_add_loop_test(
        t, a_spoilt_query_spoils_no_other_row, 0, SPOILINGS * rows);

    Suite *suite = suite_create("attention exclusion");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
