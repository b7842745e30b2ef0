/* SPDX-License-Identifier: Apache-2.0
 *
 * test_handed_shapes.c - what users of other attention libraries have met with
 * head sizes, strides, groups of heads, masks that broadcast and buffers that
 * overlap, on every kernel row.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
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

/* The beginnings of three sequences that are exact in every dtype. */
#define Q12 -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, -1.25, 0.5, -0.5
#define K12 -1.25, 0, 1.25, -0.75, 0.5, -1.5, -0.25, 1, -1, 0.25, 1.5, -0.5
#define V12 \
    -0.75, -0.375, 0, 0.375, 0.75, -1, -0.625, -0.25, 0.125, 0.5, 0.875, -0.875

static const handed_case CASES[] = {
    {{"a head of 3 columns", {1, 1, 1, 1, 2, 3, 1}, LSE}, .q = LIST(1, 1, 1),
        .k = LIST(1, 1, 1, 0, 0, 0), .v = LIST(0, 1), .out = LIST(0.15032545),
        .tolerance = CLOSE},
    {{"rows of a mask with gaps between them", {1, 1, 1, 2, 3, 1, 1},
         MASK(F32, AXIS_Q | AXIS_K), .mask_padded = true, LSE},
        .v = LIST(1, 2, 4), .mask = LIST(0, LN2, HIDDEN, LN3, 0, 0),
        .out = LIST(1.6666667, 1.8), .tolerance = CLOSE},
    {{"neighbouring heads share keys", {1, 4, 2, 1, 1, 1, 1}, LSE},
        .v = LIST(1, 3), .out = LIST(1, 1, 3, 3), .tolerance = EXACT},
    {{"no keys", {1, 1, 1, 2, 0, 1, 2}, LSE}, .out = LIST(0, 0, 0, 0),
        .lse = LIST(HIDDEN, HIDDEN), .tolerance = EXACT},
    {{"an empty cache beside a full one", {2, 1, 1, 1, 4, 1, 1},
         .key_lengths = true, LSE},
        .v = LIST(1, 2, 4, 8, 1, 2, 4, 8), .key_lengths = LIST(0, 3),
        .out = LIST(0, 2.3333333), .lse = LIST(HIDDEN, LN3),
        .tolerance = CLOSE},
};

START_TEST(shapes_are_right)
{
    handed_check(CASES, _i);
}
END_TEST

/* ---- Strides --------------------------------------------------------------------- */

/* Element n of 12 that lie (row, head, column), as (head, row, column). */
static size_t apart(size_t n)
{
    const size_t head = n / 6, row = n / 2 % 3, column = n % 2;
    return row * 4 + head * 2 + column;
}

START_TEST(heads_may_lie_side_by_side)
{
    const double q[] = {Q12}, k[] = {K12}, v[] = {V12};
    double by_head[3][12];
    for (size_t n = 0; n < 12; ++n) {
        by_head[0][n] = q[apart(n)];
        by_head[1][n] = k[apart(n)];
        by_head[2][n] = v[apart(n)];
    }
    const handed_case c = {{"heads side by side", {1, 2, 2, 3, 3, 2, 2},
                               .layout = LAYOUT_BLHD, LSE},
        .q = by_head[0], .k = by_head[1], .v = by_head[2],
        .out = LIST(-0.21883025, 0.02312392, 0.35180847, -0.57181024,
            0.31308828, -0.60807360, 0.27559967, -0.22616935, -0.40259519,
            -0.24708305, 0.29215869, -0.25),
        .tolerance = CLOSE};
    handed_check(&c, _i);
}
END_TEST

/* ---- Against the reference ---------------------------------------------------------- */

/* Once, by host pointers. */
static void check_case(const attention_case *c, const char *row)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    attention_case_text(c, text);
    ck_assert(attention_trial_create(&trial, c));
    rows_take(&trial, row);
    clattn_status status = attention_expect(&expected, &trial, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);
    status = run_attention(&trial, RUN_HOST, &error);
    ck_assert_msg(status == CLATTN_OK, "%s, row %s: %s", text, handed_name(row),
        error.message);
    ck_assert_msg(attention_meets(&expected, &trial, why), "%s, row %s: %s",
        text, handed_name(row), why);
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}

START_TEST(heads_side_by_side_are_right_at_every_length)
{
    static const size_t LENGTHS[] = {1, 8, 9};
    for (size_t n = 0; n < COUNT(LENGTHS); ++n) {
        const attention_case c = {"heads side by side",
            {1, 2, 2, LENGTHS[n], LENGTHS[n], 2, 2}, .layout = LAYOUT_BLHD,
            LSE};
        check_case(&c, handed_row(_i));
    }
}
END_TEST

/* Only what fuses the products is compiled for D, and its two tiles without
   lanes are the same but for their size. */
START_TEST(every_head_size_is_right)
{
    static const size_t COLUMNS[] = {
        1, 3, 5, 7, 20, 40, 59, 80, 96, 100, 128, 160, 256};
    const char *row = handed_row(_i);
    for (size_t n = 0; n < COUNT(COLUMNS); ++n) {
        const attention_case c = {"a head size",
            {1, 1, 1, 2, 3, COLUMNS[n], COLUMNS[n]}, LSE, .seed = n};
        if (row == NULL || strcmp(row, "items16") != 0 || n % 4 == 0)
            check_case(&c, row);
    }
}
END_TEST

/* The first and last numbers of both rows. */
START_TEST(a_head_of_59_columns_is_right)
{
    enum {
        D = 59
    };
    static const struct {
        size_t row, column;
        double want;
    } KNOWN[] = {{0, 0, -0.2896165}, {0, 1, -0.2271708}, {0, 2, 0.1478292},
        {0, D - 1, -0.1021708}, {1, 0, 0.3924302}, {1, 1, -0.2796610},
        {1, D - 1, -0.1546610}};
    double q[2 * D], k[3 * D], v[3 * D];
    handed_sequence(q, COUNT(q), HANDED_Q);
    handed_sequence(k, COUNT(k), HANDED_K);
    handed_sequence(v, COUNT(v), HANDED_V);
    const handed_case c = {{"59 columns", {1, 1, 1, 2, 3, D, D}, LSE}, .q = q,
        .k = k, .v = v, .lse = LIST(1.1844362, 1.0983225), .tolerance = CLOSE};
    attention_trial trial;
    handed_create(&trial, &c);
    const bool computed = handed_check_on(&trial, &c, handed_row(_i));
    for (size_t n = 0; computed && n < COUNT(KNOWN); ++n)
        ck_assert_double_eq_tol(arena_get(&trial.memory, SLOT_OUT, 0, 0,
                                    KNOWN[n].row, KNOWN[n].column),
            KNOWN[n].want, CLOSE);
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Masks ---------------------------------------------------------------------------- */

/* 43 keys divide by no vector, and rows of an f16 mask begin at odd words. */
START_TEST(a_mask_may_be_43_keys_wide)
{
    enum {
        L = 43,
        D = 4
    };
    static const double ROWS[2][D] = {
        {-0.01612193, 0.07865471, 0.04990618, -0.14644148},
        {0.09133591, -0.09796700, 0.02116862, 0.00795960}};
    double q[L * D], k[L * D], v[L * D], mask[L * L];
    handed_sequence(q, COUNT(q), HANDED_Q);
    handed_sequence(k, COUNT(k), HANDED_K);
    handed_sequence(v, COUNT(v), HANDED_V);
    for (int n = 0; n < L * L; ++n)
        mask[n] = ((n / L + 2 * (n % L)) % 5 - 2) / 2.0;
    const handed_case c = {
        {"a mask of 43 keys", {1, 1, 1, L, L, D, D}, MASK(F16, AXIS_Q | AXIS_K),
            .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_F16, 0, 0}},
        .q = q, .k = k, .v = v, .mask = mask, .tolerance = CLOSE};
    attention_trial trial;
    handed_create(&trial, &c);
    const bool computed = handed_check_on(&trial, &c, handed_row(_i));
    for (size_t n = 0; computed && n < 2 * D; ++n)
        ck_assert_double_eq_tol(
            arena_get(&trial.memory, SLOT_OUT, 0, 0, n / D * (L - 1), n % D),
            ROWS[n / D][n % D], CLOSE);
    attention_trial_destroy(&trial);
}
END_TEST

/* What a broadcast mask gives, and what the same mask written out gives. */
static void check_broadcast(uint32_t axes, int32_t dtype, const char *row)
{
    attention_case c = {"a mask that broadcasts", {6, 4, 4, 7, 5, 16, 32},
        .mask_dtype = dtype, .mask_axes = axes, .seed = axes};
    clattn_error error;
    attention_trial small, whole;
    ck_assert(attention_trial_create(&small, &c));
    c.mask_axes = AXES_ALL;
    ck_assert(attention_trial_create(&whole, &c));
    const size_t *size = small.memory.tensor[SLOT_MASK].size;
    for (size_t n = 0; n < 6 * 4 * 7 * 5; ++n) {
        const size_t b = n / 140, h = n / 35 % 4, i = n / 5 % 7, j = n % 5;
        arena_set(&whole.memory, SLOT_MASK, b, h, i, j,
            arena_get(&small.memory, SLOT_MASK, b % size[0], h % size[1],
                i % size[2], j % size[3]));
    }
    for (size_t slot = SLOT_Q; slot <= SLOT_V; ++slot) {
        double *values = arena_dense(&small.memory, slot);
        handed_fill(&whole, slot, values);
        free(values);
    }
    arena_remember(&whole.memory);
    rows_take(&whole, row);
    small.problem.kernel = whole.problem.kernel;
    ck_assert_int_eq(run_attention(&small, RUN_HOST, &error), CLATTN_OK);
    ck_assert_int_eq(run_attention(&whole, RUN_HOST, &error), CLATTN_OK);
    ck_assert_msg(memcmp(arena_at(&small.memory, SLOT_OUT, 0, 0, 0, 0),
                      arena_at(&whole.memory, SLOT_OUT, 0, 0, 0, 0),
                      6 * 4 * 7 * 32 * sizeof(float)) == 0,
        "row %s, axes %u of the mask", handed_name(row), (unsigned)axes);
    attention_trial_destroy(&small);
    attention_trial_destroy(&whole);
}

START_TEST(a_mask_that_broadcasts_equals_one_written_out)
{
    for (uint32_t axes = 0; axes < AXES_ALL; ++axes)
        check_broadcast(
            axes, axes % 2 ? CLATTN_BOOL : CLATTN_F32, handed_row(_i));
}
END_TEST

START_TEST(a_mask_for_fewer_keys_is_refused_by_name)
{
    const attention_case c = {
        "a narrow mask", {6, 4, 4, 7, 5, 16, 32}, MASK(F32, AXES_ALL)};
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    trial.problem.mask.size[3] = 4;
    ck_assert_int_eq(run_attention(&trial, RUN_HOST, &error), CLATTN_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "mask.size[3] is 4"));
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Nothing to do, and overlaps -------------------------------------------------------- */

START_TEST(nothing_is_launched_where_there_is_nothing_to_do)
{
    static const attention_case EMPTY[] = {
        {"no items", {0, 10, 10, 3952, 16, 64, 64}, .returns = 0},
        {"no queries", {3, 10, 10, 0, 16, 64, 64}, .returns = 0},
    };
    for (size_t n = 0; n < COUNT(EMPTY); ++n) {
        clattn_plan *plan = NULL;
        clattn_error error;
        attention_trial trial;
        ck_assert(attention_trial_create(&trial, &EMPTY[n]));
        rows_take(&trial, handed_row(_i));
        for (int way = 0; way < RUN_WAYS; ++way)
            ck_assert_msg(run_attention(&trial, way, &error) == CLATTN_OK,
                "%s: %s", EMPTY[n].about, error.message);
        ck_assert_int_eq(clattn_attention_plan(
                             &plan, opencl_get()->ctx, &trial.problem, &error),
            CLATTN_OK);
        ck_assert_msg(strstr(clattn_plan_describe(plan), "launches=0") != NULL,
            "%s: %s", EMPTY[n].about, clattn_plan_describe(plan));
        clattn_plan_destroy(plan);
        attention_trial_destroy(&trial);
    }
}
END_TEST

/* out on top of q, and over the second half of v: refused, each time. */
START_TEST(an_output_on_top_of_an_input_is_refused)
{
    static const struct {
        size_t slot, offset;
        const char *name;
    } OVERLAPS[] = {{SLOT_Q, 0, "q"}, {SLOT_V, 3, "v"}};
    const attention_case c = {
        "an overlap", {1, 1, 1, 2, 3, 2, 2}, MASK(BOOL, AXIS_Q | AXIS_K)};
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    rows_take(&trial, handed_row(_i));
    for (int n = 0; n < 20 * (int)COUNT(OVERLAPS); ++n) {
        const arena *a = &trial.memory;
        const size_t slot = OVERLAPS[n % 2].slot;
        clattn_error error;
        char why[ARENA_TEXT];
        clattn_attention_args args = attention_trial_args(&trial, NULL);
        args.out.host = a->memory[a->tensor[slot].memory].data;
        args.out.offset =
            arena_index(a, slot, 0, 0, 0, 0) + OVERLAPS[n % 2].offset;
        const clattn_status status = clattn_attention_host(
            opencl_get()->ctx, &trial.problem, &args, &error);
        ck_assert_msg(status == CLATTN_INVALID &&
                          strstr(error.message, OVERLAPS[n % 2].name) != NULL,
            "out over %s: %s", OVERLAPS[n % 2].name, error.message);
        ck_assert_msg(arena_unharmed(a, why), "%s", why);
    }
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("shapes");
    const int rows = handed_count(1);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t, shapes_are_right, 0, handed_count(COUNT(CASES)));
    tcase_add_loop_test(t, heads_may_lie_side_by_side, 0, rows);
    tcase_add_loop_test(
        t, heads_side_by_side_are_right_at_every_length, 0, rows);
    tcase_add_loop_test(t, every_head_size_is_right, 0, rows);
    tcase_add_loop_test(t, a_head_of_59_columns_is_right, 0, rows);
    tcase_add_loop_test(t, a_mask_may_be_43_keys_wide, 0, rows);
    tcase_add_loop_test(
        t, a_mask_that_broadcasts_equals_one_written_out, 0, rows);
    tcase_add_test(t, a_mask_for_fewer_keys_is_refused_by_name);
    tcase_add_loop_test(
        t, nothing_is_launched_where_there_is_nothing_to_do, 0, rows);
    tcase_add_loop_test(t, an_output_on_top_of_an_input_is_refused, 0, rows);

    Suite *suite = suite_create("handed shapes");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
