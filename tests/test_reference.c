/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference.c - the attention reference against numbers worked out by
 * hand: one head, one item, rows of one number.
 */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "refusal.h"
#include "suite.h"

#define SIZE(field, value) EDIT_SIZE(clattn_attention, field, value)
#define INT(field, value)  EDIT_INT(clattn_attention, field, value)
#define REAL(field, value) EDIT_REAL(clattn_attention, field, value)

#define CAUSAL(corner)   INT(causal, 1), INT(diagonal, CLATTN_##corner)
#define LEFT(n, corner)  INT(window_left, n), INT(diagonal, CLATTN_##corner)
#define RIGHT(n, corner) INT(window_right, n), INT(diagonal, CLATTN_##corner)

static judge J;

/* Natural logarithms, so that a table can be read: the number it adds to a
   score multiplies the weight. */
#define LN2 0.69314718055994530942
#define LN3 1.09861228866810969140
#define NO  (-(double)INFINITY) /* an additive mask hides the key */

typedef struct hand_case {
    const char *about;
    size_t Lq, Lk;
    edit edits[4];
    double q[5], k[5], v[5];
    int32_t mask_dtype;
    double mask[15];
    double out[5];
} hand_case;

/* Where q is 0 all scores are equal, and a row is the mean of the values that
   it sees. */
/* clang-format off */
static const hand_case HAND[] = {
    { "all keys seen", 1, 3, {INT(causal, 0)}, {0}, {0}, {1, 2, 6},
      0, {0}, {3} },
    { "one score larger by ln 2", 1, 2, {INT(causal, 0)}, {1}, {LN2, 0}, {3, 6},
      0, {0}, {4} },
    { "the scale is on the product", 1, 2,
      {INT(has_scale, 1), REAL(scale, 0.5)}, {2}, {LN3, 0}, {4, 8},
      0, {0}, {5} },
    { "scale 0 makes all equal", 1, 2, {INT(has_scale, 1)}, {7}, {9, -9},
      {1, 3}, 0, {0}, {2} },
    { "a negative scale", 1, 2, {INT(has_scale, 1), REAL(scale, -1)}, {1},
      {LN2, LN2 + LN3}, {0, 4}, 0, {0}, {1} },

    { "true may attend", 1, 2, {INT(causal, 0)}, {0}, {0}, {1, 3},
      CLATTN_BOOL, {1, 0}, {1} },
    { "numbers are added", 1, 2, {INT(causal, 0)}, {0}, {0}, {1, 3},
      CLATTN_F32, {1, 0}, {1.5378828427399902} },
    { "numbers of f16", 1, 2, {INT(causal, 0)}, {0}, {0}, {1, 3},
      CLATTN_F16, {1, 0}, {1.5378828427399902} },
    { "numbers of bf16, after the scale", 1, 2,
      {INT(has_scale, 1), REAL(scale, 0.5)}, {2}, {1, 0}, {1, 3},
      CLATTN_BF16, {0, 0}, {1.5378828427399902} },
    { "a hidden key with the larger score", 2, 2, {INT(causal, 0)},
      {-20000, 0}, {1, 0}, {1, 100}, CLATTN_BOOL, {1, 0, 1, 0}, {1, 1} },
    { "a lower triangle", 3, 3, {INT(causal, 0)}, {0}, {0}, {1, 2, 4},
      CLATTN_BOOL, {1, 0, 0, 1, 1, 0, 1, 1, 1}, {1, 1.5, 7.0 / 3} },
    { "its opposite, with a row that sees nothing", 3, 3, {INT(causal, 0)},
      {0}, {0}, {1, 2, 4}, CLATTN_BOOL, {0, 1, 1, 0, 0, 1, 0, 0, 0},
      {3, 4, 0} },
    { "minus infinity hides as false does", 3, 3, {INT(causal, 0)}, {0}, {0},
      {1, 2, 4}, CLATTN_F16, {NO, 0, 0, NO, NO, 0, NO, NO, NO}, {3, 4, 0} },
    { "a large number does not hide", 2, 2, {INT(causal, 0)}, {0}, {0}, {1, 3},
      CLATTN_F32, {0, -1e9, -1e9, -1e9}, {1, 2} },
    { "mask and causal both hide", 3, 3, {CAUSAL(TOP_LEFT)}, {0}, {0},
      {1, 2, 4}, CLATTN_BOOL, {0, 1, 1, 1, 1, 1, 1, 1, 1},
      {0, 1.5, 7.0 / 3} },

    { "causal from the top left", 2, 4, {CAUSAL(TOP_LEFT)}, {0}, {0},
      {1, 2, 4, 8}, 0, {0}, {1, 1.5} },
    { "causal to the bottom right", 2, 4, {CAUSAL(BOTTOM_RIGHT)}, {0}, {0},
      {1, 2, 4, 8}, 0, {0}, {7.0 / 3, 3.75} },
    { "a decoding step, top left", 1, 4, {CAUSAL(TOP_LEFT)}, {0}, {0},
      {1, 2, 4, 8}, 0, {0}, {1} },
    { "a decoding step, bottom right", 1, 4, {CAUSAL(BOTTOM_RIGHT)}, {0}, {0},
      {1, 2, 4, 8}, 0, {0}, {3.75} },
    { "more queries than keys, bottom right", 4, 2, {CAUSAL(BOTTOM_RIGHT)},
      {0}, {0}, {1, 3}, 0, {0}, {0, 0, 1, 2} },
    { "an offset of one", 2, 4, {CAUSAL(OFFSET), INT(diagonal_offset, 1)}, {0},
      {0}, {1, 2, 4, 8}, 0, {0}, {1.5, 7.0 / 3} },
    { "a negative offset", 3, 4, {CAUSAL(OFFSET), INT(diagonal_offset, -1)},
      {0}, {0}, {1, 2, 4, 8}, 0, {0}, {0, 1, 1.5} },
    { "an offset beyond all keys", 1, 2,
      {CAUSAL(OFFSET), INT(diagonal_offset, INT32_MAX)}, {0}, {0}, {1, 2},
      0, {0}, {1.5} },
    { "an offset before all keys", 1, 2,
      {CAUSAL(OFFSET), INT(diagonal_offset, INT32_MIN)}, {0}, {0}, {1, 2},
      0, {0}, {0} },

    { "a window of two back and none ahead", 5, 5,
      {LEFT(2, TOP_LEFT), INT(window_right, 0)}, {0}, {0}, {1, 2, 4, 8, 16},
      0, {0}, {1, 1.5, 7.0 / 3, 14.0 / 3, 28.0 / 3} },
    { "one back and none ahead", 5, 5, {LEFT(1, TOP_LEFT), INT(causal, 1)},
      {0}, {0}, {1, 2, 4, 8, 16}, 0, {0}, {1, 1.5, 3, 6, 12} },
    { "a window ahead alone", 3, 5, {RIGHT(1, TOP_LEFT)}, {0}, {0},
      {1, 2, 4, 8, 16}, 0, {0}, {1.5, 7.0 / 3, 3.75} },
    { "a window back alone", 3, 5, {LEFT(0, TOP_LEFT)}, {0}, {0},
      {1, 2, 4, 8, 16}, 0, {0}, {6.2, 7.5, 28.0 / 3} },
    { "a window on the diagonal of the last rows", 2, 4,
      {LEFT(0, BOTTOM_RIGHT), INT(window_right, 0)}, {0}, {0}, {1, 2, 4, 8},
      0, {0}, {4, 8} },
    { "a window that is larger than everything", 1, 3,
      {LEFT(INT32_MAX, TOP_LEFT), INT(window_right, INT32_MAX)}, {0}, {0},
      {1, 2, 6}, 0, {0}, {3} },

    { "softcap comes before the mask", 1, 2,
      {INT(has_scale, 1), REAL(scale, 1), REAL(softcap, 1)}, {0}, {0},
      {1, 100}, CLATTN_F32, {0, NO}, {1} },
    { "softcap holds a large score", 1, 2, {REAL(softcap, 1)}, {1}, {1e6, -1e6},
      {0, 1}, 0, {0}, {0.11920292202211756} },
    { "scores about 2000", 1, 2, {INT(has_scale, 1), REAL(scale, 1)}, {2048},
      {1, 1 - 0x1p-10}, {1, 0}, 0, {0}, {0.88079707797788243} },
    { "scores far below 0", 1, 3, {INT(causal, 0)}, {50}, {-1, -1, -1},
      {1, 1, 1}, 0, {0}, {1} },
    { "one score beyond all others", 1, 3, {INT(causal, 0)}, {1e4}, {-1, 1, 0},
      {1, 5, 7}, 0, {0}, {5} },
};
/* clang-format on */

START_TEST(a_row_is_what_the_hand_gives)
{
    const hand_case *c = &HAND[_i];

    judge_start(&J, 1, 1, 1, c->Lq, c->Lk, 1, 1);
    memcpy(J.q, c->q, sizeof c->q);
    memcpy(J.k, c->k, sizeof c->k);
    memcpy(J.v, c->v, sizeof c->v);
    if (c->mask_dtype != 0)
        judge_mask(&J, c->mask_dtype, 1, 1, c->Lq, c->Lk, c->mask);
    const edit edits[MOST_EDITS] = {
        c->edits[0], c->edits[1], c->edits[2], c->edits[3]};
    refusal_apply(&J.a, edits);
    judge_run(&J);
    judge_expect(c->about, J.out, c->out, c->Lq, ROUNDING);
}
END_TEST

/* ---- Denominator, weights and stages ------------------------------------- */

START_TEST(weights_sum_to_1_and_lse_is_their_denominator)
{
    const double want_lse = log(exp(1.0) + exp(-2.0) + exp(0.5));
    const double k[3] = {1, -2, 0.5};

    judge_start(&J, 1, 1, 1, 1, 3, 1, 1);
    J.q[0] = 1;
    memcpy(J.k, k, sizeof k);
    judge_run(&J);
    judge_expect("lse", J.lse, &want_lse, 1, ROUNDING);
    for (int j = 0; j < 3; ++j) {
        const double want = exp(k[j] - want_lse);
        judge_expect("weight", &J.weights[j], &want, 1, ROUNDING);
    }
}
END_TEST

START_TEST(a_sink_adds_to_the_denominator_alone)
{
    /* Two equal keys and a sink of weight 2: a quarter for each key. */
    const double out[2] = {1, 0}, lse[2] = {log(4.0), LN2};
    const double weights[4] = {0.25, 0.25, 0, 0};
    const double mask[4] = {1, 1, 0, 0};

    judge_start(&J, 1, 1, 1, 2, 2, 1, 1);
    J.v[0] = 1;
    J.v[1] = 3;
    judge_mask(&J, CLATTN_BOOL, 1, 1, 2, 2, mask);
    J.a.flags |= CLATTN_SINKS;
    J.sinks[1] = (float)LN2;
    J.args.sinks.host = J.sinks;
    J.args.sinks.offset = 1;
    judge_run(&J);
    /* The sink is a float, and its rounding shows. */
    judge_expect("out", J.out, out, 2, 1e-7);
    judge_expect("lse", J.lse, lse, 2, 1e-7);
    judge_expect("weights", J.weights, weights, 4, 1e-7);
    const double sink = (double)J.sinks[1];
    judge_expect("an empty row's lse", &J.lse[1], &sink, 1, 0);
}
END_TEST

START_TEST(alibi_takes_the_slope_for_each_step_from_the_diagonal)
{
    /* Scores -|i + 1 - j| * ln 2: weights 1/2, 1, 1/2 in row 0. */
    const float slopes[2] = {(float)LN2, 0};
    const double v[3] = {1, 2, 5};
    const double out[4] = {(0.5 * 1 + 1 * 2 + 0.5 * 5) / 2,
        (0.25 * 1 + 0.5 * 2 + 1 * 5) / 1.75, 8.0 / 3, 8.0 / 3};

    judge_start(&J, 1, 2, 1, 2, 3, 1, 1);
    memcpy(J.v, v, sizeof v);
    J.a.alibi_slopes = slopes;
    J.a.diagonal = CLATTN_BOTTOM_RIGHT;
    judge_run(&J);
    /* The slope is a float. */
    judge_expect("out", J.out, out, 4, 1e-7);
}
END_TEST

static const struct {
    const char *about;
    uint32_t stage;
    double want[8]; /* two rows of four keys, of which three exist */
} STAGES[] = {
    {"scaled: hidden keys too", CLATTN_RETURN_SCALED,
        {2, 4, -2, 0, 4, 8, -4, 0}},
    {"capped: hidden keys too", CLATTN_RETURN_CAPPED,
        {0.76159415595576489 * 2, 0.96402758007581688 * 2,
            -0.76159415595576489 * 2, 0, 0.96402758007581688 * 2,
            0.99932929973906704 * 2, -0.96402758007581688 * 2, 0}},
    {"scores: hidden keys are -inf", CLATTN_RETURN_SCORES,
        {0.76159415595576489 * 2 + 0.5, -INFINITY, -INFINITY, -INFINITY,
            0.96402758007581688 * 2 + 0.5, 0.99932929973906704 * 2, -INFINITY,
            -INFINITY}},
};

START_TEST(each_stage_shows_the_scores_as_they_are_then)
{
    const double q[2] = {1, 2}, k[4] = {2, 4, -2, (double)NAN};
    const double mask[4] = {0.5, 0, 0, 0};
    const int32_t length = 3;

    judge_start(&J, 1, 1, 1, 2, 4, 1, 1);
    memcpy(J.q, q, sizeof q);
    memcpy(J.k, k, sizeof k);
    judge_mask(&J, CLATTN_F32, 1, 1, 1, 4, mask);
    judge_array(&J, CLATTN_KEY_LENGTHS, &length, 1);
    J.a.softcap = 2;
    J.a.causal = 1;
    J.a.diagonal = CLATTN_TOP_LEFT;
    J.a.flags &= ~(uint32_t)CLATTN_RETURN_WEIGHTS;
    J.a.flags |= STAGES[_i].stage;
    judge_run(&J);
    judge_expect(STAGES[_i].about, J.weights, STAGES[_i].want, 8, ROUNDING);
}
END_TEST

START_TEST(without_keys_out_is_0_and_lse_minus_infinity)
{
    const double zeros[4] = {0}, minus[2] = {NO, NO};

    judge_start(&J, 1, 2, 1, 1, 0, 1, 2);
    J.args.k.host = J.args.v.host = J.args.weights.host = NULL;
    judge_run(&J);
    judge_expect("out", J.out, zeros, 4, 0);
    judge_expect("lse", J.lse, minus, 2, 0);
}
END_TEST

START_TEST(empty_problems_write_nothing)
{
    static const size_t SIZES[3][3] = {{0, 2, 3}, {2, 0, 3}, {2, 2, 0}};

    judge_start(&J, SIZES[_i][0], SIZES[_i][1], SIZES[_i][1] ? 1 : 0,
        SIZES[_i][2], 4, 2, 2);
    judge_run(&J);
    ck_assert(isnan(J.out[0]) && isnan(J.lse[0]) && isnan(J.weights[0]));
    memset(&J.args, 0, sizeof J.args);
    J.args.struct_size = sizeof J.args;
    if (SIZES[_i][0] == 0)
        judge_run(&J);
}
END_TEST

START_TEST(however_many_items_without_rows_are_nothing)
{
    const size_t most = ((size_t)1 << 31) - 1;

    judge_start(&J, _i == 0 ? most : 0, _i == 1 ? most : 0, 1, 1, 4, 2, 2);
    J.a.Lk = _i == 2 ? most : 4;
    J.a.flags = 0;
    J.a.lse.dtype = 0;
    const clattn_attention_args none = {.struct_size = sizeof none};
    J.args = none;
    J.args.k.host = J.args.v.host = J.k; /* B items have keys all the same */
    judge_run(&J);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference");
    TCase *hand = tcase_create("by hand");

    tcase_add_loop_test(
        hand, a_row_is_what_the_hand_gives, 0, (int)COUNT(HAND));
    tcase_add_test(hand, weights_sum_to_1_and_lse_is_their_denominator);
    tcase_add_test(hand, a_sink_adds_to_the_denominator_alone);
    tcase_add_test(hand, alibi_takes_the_slope_for_each_step_from_the_diagonal);
    tcase_add_loop_test(hand, each_stage_shows_the_scores_as_they_are_then, 0,
        (int)COUNT(STAGES));
    tcase_add_test(hand, without_keys_out_is_0_and_lse_minus_infinity);
    tcase_add_loop_test(hand, empty_problems_write_nothing, 0, 3);
    tcase_add_loop_test(
        hand, however_many_items_without_rows_are_nothing, 0, 3);
    suite_add_tcase(suite, hand);
    return suite_main(suite, 0);
}
