/* SPDX-License-Identifier: Apache-2.0
 *
 * test_handed_masks.c - what users of other attention libraries have met with
 * masks, rows without keys and diagonals, on every kernel row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "handed.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

#define HIDDEN (-(double)INFINITY)
#define LN2    0.69314718055994531
#define LN3    1.0986122886681098

#define LSE              .returns = CLATTN_RETURN_LSE
#define MASK(type, axes) .mask_dtype = CLATTN_##type, .mask_axes = (axes)
#define SCALE(s)         .has_scale = 1, .scale = (s)
#define TOP_LEFT         .causal = 1, .diagonal = CLATTN_TOP_LEFT
#define BOTTOM_RIGHT     .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT
#define WINDOW(l, r)                                           \
    .windowed = true, .window_left = (l), .window_right = (r), \
    .diagonal = CLATTN_TOP_LEFT

/* The beginnings of three sequences that are exact in every dtype. */
#define Q4 -0.5, 1.25, 0.25, -0.75
#define K6 -1.25, 0, 1.25, -0.75, 0.5, -1.5
#define V6 -0.75, -0.375, 0, 0.375, 0.75, -1

static const handed_case CASES[] = {
    /* ---- Masks ---- */
    {{"a row that is all masked is 0", {1, 1, 1, 2, 3, 2, 2}, SCALE(0.125f),
         MASK(BOOL, AXIS_Q | AXIS_K), LSE},
        .q = LIST(Q4), .k = LIST(K6), .v = LIST(V6),
        .mask = LIST(1, 1, 0, 0, 0, 0),
        .out = LIST(-0.42595246, -0.05095246, 0, 0),
        .lse = LIST(0.64387047, HIDDEN), .tolerance = CLOSE},
    {{"a masked key does not win over a low score", {1, 1, 1, 2, 2, 1, 1},
         SCALE(1), MASK(BOOL, AXIS_K), LSE},
        .q = LIST(-20000, 0), .k = LIST(1, 0), .v = LIST(1, 100),
        .mask = LIST(1, 0), .out = LIST(1, 1), .tolerance = EXACT},
    {{"a bool mask of 1 and 0", {1, 1, 1, 1, 2, 1, 1}, MASK(BOOL, AXIS_K), LSE},
        .v = LIST(1, 3), .mask = LIST(1, 0), .out = LIST(1),
        .tolerance = EXACT},
    {{"any byte but 0 is true", {1, 1, 1, 1, 4, 1, 1}, MASK(BOOL, AXIS_K), LSE},
        .v = LIST(1, 3, 5, 7), .mask = LIST(2, 0, 128, 255),
        .out = LIST(13.0 / 3), .lse = LIST(LN3), .tolerance = CLOSE},
    {{"a float mask of 1 and 0", {1, 1, 1, 1, 2, 1, 1}, MASK(F32, AXIS_K), LSE},
        .v = LIST(1, 3), .mask = LIST(1, 0), .out = LIST(1.5378828),
        .tolerance = CLOSE},
    {{"true may attend", {1, 1, 1, 3, 3, 1, 1}, MASK(BOOL, AXIS_Q | AXIS_K),
         LSE},
        .v = LIST(1, 2, 4), .mask = LIST(1, 0, 0, 1, 1, 0, 1, 1, 1),
        .out = LIST(1, 1.5, 2.3333333), .tolerance = CLOSE},
    {{"the strict upper triangle", {1, 1, 1, 3, 3, 1, 1},
         MASK(BOOL, AXIS_Q | AXIS_K), LSE},
        .v = LIST(1, 2, 4), .mask = LIST(0, 1, 1, 0, 0, 1, 0, 0, 0),
        .out = LIST(3, 4, 0), .lse = LIST(LN2, 0, HIDDEN), .tolerance = CLOSE},
    {{"each head has its own mask", {1, 2, 2, 1, 2, 1, 1}, MASK(BOOL, AXES_ALL),
         LSE},
        .v = LIST(1, 3, 1, 3), .mask = LIST(1, 0, 0, 1), .out = LIST(1, 3),
        .tolerance = EXACT},
    {{"causal and mask both hide", {1, 1, 1, 3, 3, 1, 1}, TOP_LEFT,
         MASK(BOOL, AXIS_Q | AXIS_K), LSE},
        .v = LIST(1, 2, 4), .mask = LIST(0, 1, 1, 1, 1, 1, 1, 1, 1),
        .out = LIST(0, 1.5, 2.3333333), .tolerance = CLOSE},
    /* ---- The diagonal ---- */
    {{"causal from the top left", {1, 1, 1, 2, 4, 1, 1}, TOP_LEFT, LSE},
        .v = LIST(1, 2, 4, 8), .out = LIST(1, 1.5), .tolerance = CLOSE},
    {{"causal from the bottom right", {1, 1, 1, 2, 4, 1, 1}, BOTTOM_RIGHT, LSE},
        .v = LIST(1, 2, 4, 8), .out = LIST(2.3333333, 3.75),
        .tolerance = CLOSE},
    {{"one query from the top left", {1, 1, 1, 1, 4, 1, 1}, TOP_LEFT, LSE},
        .v = LIST(1, 2, 4, 8), .out = LIST(1), .tolerance = EXACT},
    {{"one query from the bottom right", {1, 1, 1, 1, 4, 1, 1}, BOTTOM_RIGHT,
         LSE},
        .v = LIST(1, 2, 4, 8), .out = LIST(3.75), .tolerance = CLOSE},
    {{"the corner follows each item's keys", {2, 1, 1, 2, 6, 1, 1},
         BOTTOM_RIGHT, .key_lengths = true, LSE},
        .v = LIST(1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32),
        .key_lengths = LIST(4, 6), .out = LIST(2.3333333, 3.75, 6.2, 10.5),
        .tolerance = CLOSE},
    {{"a window of 2 to the left", {1, 1, 1, 5, 5, 1, 1}, WINDOW(2, 0), LSE},
        .v = LIST(1, 2, 4, 8, 16),
        .out = LIST(1, 1.5, 2.3333333, 4.6666667, 9.3333333),
        .tolerance = CLOSE},
    {{"a window of 1 to the left", {1, 1, 1, 5, 5, 1, 1}, WINDOW(1, 0), LSE},
        .v = LIST(1, 2, 4, 8, 16), .out = LIST(1, 1.5, 3, 6, 12),
        .tolerance = CLOSE},
    {{"a window of 1 to the left, causal beside it", {1, 1, 1, 5, 5, 1, 1},
         .causal = 1, WINDOW(1, -1), LSE},
        .v = LIST(1, 2, 4, 8, 16), .out = LIST(1, 1.5, 3, 6, 12),
        .tolerance = CLOSE},
};

START_TEST(masks_and_diagonals_are_right)
{
    handed_check(CASES, _i);
}
END_TEST

/* ---- What a masked key holds --------------------------------------------------- */

static void run_once(attention_trial *trial, const char *row, void *out)
{
    clattn_error error;
    rows_take(trial, row);
    arena_remember(&trial->memory);
    const clattn_status status = run_attention(trial, RUN_HOST, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    memcpy(
        out, arena_at(&trial->memory, SLOT_OUT, 0, 0, 0, 0), 8 * sizeof(float));
}

/* q, k and v are 0 to 7, and key 1 is masked; then its first element is 1, 1e10
   and NaN. */
START_TEST(a_masked_key_may_hold_anything)
{
    static const int32_t MASKS[] = {CLATTN_BOOL, CLATTN_F32};
    static const float SPOILT[] = {1, 1e10f, NAN, INFINITY};
    const double rising[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const float want[] = {0, 1, 2, 3, 0, 1, 2, 3};
    for (size_t m = 0; m < COUNT(MASKS); ++m) {
        const bool additive = MASKS[m] == CLATTN_F32;
        const handed_case c = {{"a masked key", {1, 1, 1, 2, 2, 4, 4},
                                   .mask_dtype = MASKS[m], .mask_axes = AXIS_K},
            .q = rising, .k = rising, .v = rising,
            .mask = additive ? LIST(0, HIDDEN) : LIST(1, 0)};
        attention_trial trial;
        handed_create(&trial, &c);
        for (size_t n = 0; n < COUNT(SPOILT); ++n) {
            float out[8];
            *arena_at(&trial.memory, SLOT_K, 0, 0, 1, 0) = SPOILT[n];
            *arena_at(&trial.memory, SLOT_V, 0, 0, 1, 0) = SPOILT[n];
            run_once(&trial, handed_row(_i), out);
            for (size_t e = 0; e < 8; ++e)
                ck_assert_msg(out[e] == want[e],
                    "row %s, key %g: out %zu is %g, want %g",
                    handed_name(handed_row(_i)), (double)SPOILT[n], e,
                    (double)out[e], (double)want[e]);
        }
        attention_trial_destroy(&trial);
    }
}
END_TEST

/* ---- Blocks of keys without a visible one --------------------------------------- */

/* The first n of 130 keys are masked; the last two have the values 1 and 3. */
static void check_first_masked(
    attention_trial *trial, size_t n, const char *row)
{
    clattn_error error;
    for (size_t j = 0; j < 130; ++j)
        arena_set(&trial->memory, SLOT_MASK, 0, 0, 0, j,
            trial->of.mask_dtype == CLATTN_BOOL ? j >= n
            : j >= n                            ? 0
                                                : HIDDEN);
    arena_remember(&trial->memory);
    const clattn_status status = run_attention(trial, RUN_HOST, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    const double want = n < 129 ? 4.0 / (130 - (double)n) : 3;
    const double got = arena_get(&trial->memory, SLOT_OUT, 0, 0, 0, 0);
    ck_assert_msg(fabs(got - want) <= CLOSE * fmax(1, want),
        "row %s, %zu keys masked: out is %g, want %g", handed_name(row), n, got,
        want);
}

START_TEST(the_first_keys_may_all_be_masked)
{
    static const int32_t MASKS[] = {CLATTN_BOOL, CLATTN_F32};
    double v[130] = {0};
    v[128] = 1;
    v[129] = 3;
    for (size_t m = 0; m < COUNT(MASKS); ++m) {
        const handed_case c = {
            {"keys masked", {1, 1, 1, 1, 130, 1, 1}, .mask_dtype = MASKS[m],
                .mask_axes = AXIS_K, LSE},
            .v = v};
        attention_trial trial;
        handed_create(&trial, &c);
        rows_take(&trial, handed_row(_i));
        for (size_t n = 1; n < 130; ++n)
            check_first_masked(&trial, n, trial.problem.kernel);
        attention_trial_destroy(&trial);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("masks");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, masks_and_diagonals_are_right, 0, handed_count(COUNT(CASES)));
    tcase_add_loop_test(t, a_masked_key_may_hold_anything, 0, handed_count(1));
    tcase_add_loop_test(
        t, the_first_keys_may_all_be_masked, 0, handed_count(1));

    Suite *suite = suite_create("handed masks");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
