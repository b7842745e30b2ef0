/* SPDX-License-Identifier: Apache-2.0
 *
 * test_exclusions.c - what a row may not look at changes no bit of it, whatever
 * hides it: lengths, causal, window, bool and additive masks, packing; in every
 * storage, on every kernel row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "handed.h"
#include "opencl.h"
#include "run.h"
#include "suite.h"

#define LSE          .returns = CLATTN_RETURN_LSE
#define WEIGHTS      .returns = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
#define SCORES       .returns = CLATTN_RETURN_SCORES
#define MASKED(type) .mask_dtype = CLATTN_##type, .mask_axes = AXES_ALL
#define ALL(type)                                                         \
    .dtype = {CLATTN_##type, CLATTN_##type, CLATTN_##type, CLATTN_##type, \
        CLATTN_##type}
#define WINDOW(l, r, d) \
    .windowed = true, .window_left = (l), .window_right = (r), .diagonal = (d)

static const attention_case CASES[] = {
    {"key lengths", {4, 4, 2, 37, 90, 9, 9}, .key_lengths = true, LSE},
    {"query lengths", {4, 4, 2, 37, 90, 9, 9}, .query_lengths = true, LSE},
    {"both lengths, causal to the bottom right, f16", {4, 2, 1, 37, 90, 9, 9},
        .query_lengths = true, .key_lengths = true, .causal = 1,
        .diagonal = CLATTN_BOTTOM_RIGHT, ALL(F16), LSE},
    {"causal", {2, 4, 2, 90, 90, 9, 9}, .causal = 1,
        .diagonal = CLATTN_TOP_LEFT, LSE},
    {"a window", {2, 4, 2, 90, 90, 9, 9}, WINDOW(13, 6, CLATTN_TOP_LEFT), LSE},
    {"a window beside the keys, bf16", {2, 2, 1, 90, 70, 9, 9},
        WINDOW(5, 9, CLATTN_BOTTOM_RIGHT), ALL(BF16), LSE},
    {"a bool mask", {2, 4, 2, 50, 150, 9, 9}, MASKED(BOOL), LSE, .seed = 1},
    {"an additive mask", {2, 4, 2, 50, 150, 9, 9}, MASKED(F32), LSE, .seed = 2},
    {"an additive mask of f16, gaps", {2, 4, 2, 50, 150, 9, 9}, MASKED(F16),
        .mask_padded = true, .layout = LAYOUT_PADDED, ALL(F16), LSE, .seed = 3},
    {"an additive mask of bf16", {2, 4, 2, 50, 150, 9, 9}, MASKED(BF16), LSE,
        .seed = 4},
    {"a packed batch", {4, 4, 2, 37, 90, 9, 9}, .query_starts = true,
        .key_starts = true, LSE},
    {"a packed batch with gaps, causal", {4, 4, 2, 37, 90, 9, 9},
        .query_starts = true, .key_starts = true, .query_lengths = true,
        .key_lengths = true, .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT, LSE},
    {"everything at once", {4, 4, 2, 60, 90, 9, 9}, .query_lengths = true,
        .key_lengths = true, .causal = 1, WINDOW(40, -1, CLATTN_TOP_LEFT),
        .alibi = true, .softcap = 5, .sinks = true, .dropout_p = 0.3f,
        MASKED(BOOL), LSE, .seed = 5},
    {"weights of a bool mask", {2, 4, 2, 50, 90, 9, 9}, MASKED(BOOL), WEIGHTS,
        .seed = 6},
    {"scores of a window", {2, 4, 2, 50, 90, 9, 9},
        WINDOW(13, 6, CLATTN_TOP_LEFT), SCORES},
};

/* ---- Trials ----------------------------------------------------------------------- */

/* False if the row does not compute such problems. */
static bool run(attention_trial *trial, const char *row)
{
    clattn_error error;
    trial->problem.kernel = row;
    const clattn_status status = run_attention(trial, RUN_HOST, &error);
    if (status == CLATTN_UNSUPPORTED && row != NULL)
        return false;
    ck_assert_msg(status == CLATTN_OK, "%s, row %s: %s", trial->of.about,
        handed_name(row), error.message);
    return true;
}

/* Whether row i has the same bits in all that both trials return. */
static bool row_is_same(const attention_trial *one,
    const attention_trial *other, size_t b, size_t h, size_t i)
{
    for (size_t slot = SLOT_OUT; slot <= SLOT_WEIGHTS; ++slot) {
        const arena_tensor *t = &one->memory.tensor[slot];
        if (t->name == NULL || !arena_has_row(&one->memory, slot, b, i))
            continue;
        for (size_t c = 0; c < t->size[3]; ++c) {
            const double x = arena_get(&one->memory, slot, b, h, i, c);
            const double y = arena_get(&other->memory, slot, b, h, i, c);
            if (memcmp(&x, &y, sizeof x) != 0)
                return false;
        }
    }
    return true;
}

typedef bool row_check(const attention_trial *one, const attention_trial *other,
    size_t b, size_t h, size_t i);

/* `holds` for all rows, or the test fails. */
static void check_rows(const attention_trial *one, const attention_trial *other,
    row_check *holds, const char *about)
{
    const attention_case *c = &one->of;
    for (size_t n = 0; n < c->size.B * c->size.Hq * c->size.Lq; ++n) {
        const size_t i = n % c->size.Lq, bh = n / c->size.Lq;
        ck_assert_msg(holds(one, other, bh / c->size.Hq, bh % c->size.Hq, i),
            "%s, row %s, [%zu][%zu][%zu]: %s", c->about,
            handed_name(one->problem.kernel), bh / c->size.Hq, bh % c->size.Hq,
            i, about);
    }
}

/* ---- What nobody may look at --------------------------------------------------------- */

static bool sees_any(const attention_trial *trial, size_t b, size_t h, size_t i)
{
    for (size_t j = 0; j < trial->of.size.Lk; ++j)
        if (attention_trial_sees(trial, b, h, i, j))
            return true;
    return false;
}

/* Queries that see no key. */
static void poison_queries(attention_trial *trial, float value)
{
    const attention_case *c = &trial->of;
    for (size_t n = 0; n < c->size.B * c->size.Hq * c->size.Lq; ++n) {
        const size_t i = n % c->size.Lq, bh = n / c->size.Lq;
        const size_t b = bh / c->size.Hq, h = bh % c->size.Hq;
        if (arena_has_row(&trial->memory, SLOT_Q, b, i) &&
            !sees_any(trial, b, h, i))
            for (size_t d = 0; d < c->size.D; ++d)
                arena_set(&trial->memory, SLOT_Q, b, h, i, d, (double)value);
    }
}

START_TEST(what_no_row_may_look_at_changes_no_bit)
{
    static const float VALUES[] = {0.0f, 1e30f, INFINITY, -INFINITY};
    const attention_case *c = &CASES[_i / handed_count(1)];
    attention_trial trial, poisoned; /* the trial has NaN there */
    ck_assert(attention_trial_create(&trial, c));
    ck_assert(attention_trial_create(&poisoned, c));
    const bool taken = run(&trial, handed_row(_i));
    for (size_t n = 0; taken && n < COUNT(VALUES); ++n) {
        arena_restore(&poisoned.memory);
        attention_trial_poison(&poisoned, VALUES[n]);
        poison_queries(&poisoned, VALUES[n]);
        arena_remember(&poisoned.memory);
        run(&poisoned, handed_row(_i));
        check_rows(&trial, &poisoned, row_is_same,
            "other bits with other values behind the exclusions");
    }
    attention_trial_destroy(&trial);
    attention_trial_destroy(&poisoned);
}
END_TEST

/* ---- What some rows may look at -------------------------------------------------------- */

/* The key that holds NaN. */
static struct {
    size_t b, kv, j;
    enum attention_slot slot;
} spoilt;

/* Whether row i of head h looks at it; in a packed batch another item's row may
   lie in the same place. */
static bool looks(const attention_trial *trial, size_t b, size_t h, size_t i)
{
    const attention_case *c = &trial->of;
    const arena *a = &trial->memory;
    const size_t kv = h / (c->size.Hq / c->size.Hkv);
    const size_t at = arena_index(a, SLOT_K, spoilt.b, spoilt.kv, spoilt.j, 0);
    for (size_t j = 0; j < c->size.Lk; ++j)
        if (attention_trial_sees(trial, b, h, i, j) &&
            arena_index(a, SLOT_K, b, kv, j, 0) == at)
            return true;
    return false;
}

/* NaN where the row looks, and the same bits where it does not. */
static bool shows_what_it_sees(const attention_trial *one,
    const attention_trial *other, size_t b, size_t h, size_t i)
{
    if (!looks(one, b, h, i))
        return row_is_same(one, other, b, h, i);
    return !arena_has_row(&one->memory, SLOT_OUT, b, i) ||
           isnan(arena_get(&other->memory, SLOT_OUT, b, h, i, 0));
}

/* Some keys of all items, in k and in v. */
START_TEST(a_nan_reaches_the_rows_that_look_at_it_and_no_other)
{
    const attention_case *c = &CASES[_i / handed_count(1)];
    attention_trial trial, nan;
    ck_assert(attention_trial_create(&trial, c));
    ck_assert(attention_trial_create(&nan, c));
    const bool taken = run(&trial, handed_row(_i));
    for (size_t n = 0; taken && n < 2 * c->size.B; ++n) {
        spoilt.b = n / 2;
        spoilt.slot = n % 2 ? SLOT_K : SLOT_V;
        spoilt.kv = n / 2 % c->size.Hkv;
        spoilt.j = (n * 17 + 5) % c->size.Lk;
        if (spoilt.j >= attention_trial_keys(&trial, spoilt.b))
            continue;
        attention_trial_destroy(&nan);
        ck_assert(attention_trial_create(&nan, c));
        arena_set(&nan.memory, spoilt.slot, spoilt.b, spoilt.kv, spoilt.j, 0,
            (double)NAN);
        arena_remember(&nan.memory);
        run(&nan, handed_row(_i));
        check_rows(&trial, &nan, shows_what_it_sees,
            spoilt.slot == SLOT_K ? "NaN in a key" : "NaN in a value");
    }
    attention_trial_destroy(&trial);
    attention_trial_destroy(&nan);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("exclusions");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t, what_no_row_may_look_at_changes_no_bit, 0,
        handed_count(COUNT(CASES)));
    tcase_add_loop_test(t, a_nan_reaches_the_rows_that_look_at_it_and_no_other,
        0, handed_count(COUNT(CASES)));

    Suite *suite = suite_create("exclusions");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
