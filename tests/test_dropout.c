/* SPDX-License-Identifier: Apache-2.0
 *
 * test_dropout.c - the same entries are dropped on every kernel row, and they
 * are those that the authors of Philox would drop.
 *
 * Random123 is the oracle if it was there when this was configured; else the
 * library's own words, which test_philox holds to the authors' vectors.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef CLATTN_RANDOM123
#include <Random123/philox.h>
#else
#include "philox.h"
#endif

#include "handed.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

/* ---- The oracle ------------------------------------------------------------------- */

static uint32_t word_of(
    const attention_trial *trial, size_t b, size_t h, size_t i, size_t j)
{
    const uint64_t seed = trial->dropout_seed;
    const uint64_t sequence = trial->dropout_offset + b * trial->of.size.Hq + h;
    const uint32_t counter[4] = {(uint32_t)(j / 4), (uint32_t)i,
        (uint32_t)sequence, (uint32_t)(sequence >> 32)};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
#ifdef CLATTN_RANDOM123
    philox4x32_ctr_t words;
    philox4x32_key_t keys;
    memcpy(words.v, counter, sizeof counter);
    memcpy(keys.v, key, sizeof key);
    words = philox4x32_R(10, words, keys);
    return words.v[j % 4];
#else
    uint32_t words[4];
    philox4x32_10(words, counter, key);
    return words[j % 4];
#endif
}

static bool drops(
    const attention_trial *trial, size_t b, size_t h, size_t i, size_t j)
{
    return word_of(trial, b, h, i, j) <
           (double)trial->of.dropout_p * 4294967296.0;
}

/* ---- Which entries ------------------------------------------------------------------ */

#define LSE   .returns = CLATTN_RETURN_LSE
#define UNITS .fill = FILL_UNITS

/* v is the unit matrix and all scores are equal, so that out shows which
   weights were kept: 1 / keys seen / (1 - p), or 0. */
static const attention_case SHOWN[] = {
    {"half of many, over the edges of blocks", {2, 4, 2, 37, 150, 4, 150},
        UNITS, LSE, .dropout_p = 0.5f},
    {"one in ten", {1, 3, 1, 130, 75, 4, 150}, UNITS, LSE, .dropout_p = 0.1f},
    {"nine in ten", {1, 2, 2, 20, 100, 4, 150}, UNITS, LSE, .dropout_p = 0.9f,
        .seed = 5},
    {"a word below 5 in 2^32", {1, 2, 2, 20, 100, 4, 150}, UNITS, LSE,
        .dropout_p = 1e-9f},
    {"blocks that begin within four words", {2, 2, 1, 90, 150, 4, 150}, UNITS,
        LSE, .windowed = true, .window_left = 21, .window_right = 10,
        .diagonal = CLATTN_OFFSET, .diagonal_offset = 27, .dropout_p = 0.5f,
        .seed = 2},
    {"causal to the bottom right", {2, 2, 1, 40, 101, 4, 150}, UNITS, LSE,
        .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT, .dropout_p = 0.25f,
        .seed = 3},
    {"a packed batch counts within its items", {4, 2, 1, 40, 101, 4, 150},
        UNITS, LSE, .query_starts = true, .key_starts = true, .dropout_p = 0.5f,
        .seed = 4},
    {"a mask hides keys, not words", {2, 2, 1, 40, 101, 4, 150}, UNITS, LSE,
        .mask_dtype = CLATTN_BOOL, .mask_axes = AXES_ALL, .dropout_p = 0.5f,
        .seed = 6},
};

/* Offsets that carry from the low word into the high one, and around. */
static const uint64_t OFFSETS[] = {0, 0xfffffffd, UINT64_MAX - 2};

static size_t seen_keys(
    const attention_trial *trial, size_t b, size_t h, size_t i)
{
    size_t seen = 0;
    for (size_t j = 0; j < trial->of.size.Lk; ++j)
        seen += attention_trial_sees(trial, b, h, i, j);
    return seen;
}

/* Every element of one row of out. */
static void check_row(const attention_trial *trial, size_t b, size_t h,
    size_t i, const char *text)
{
    const double keep = 1 / (1 - (double)trial->of.dropout_p);
    const double seen = (double)seen_keys(trial, b, h, i);
    for (size_t j = 0; j < trial->of.size.Lk; ++j) {
        const double got = arena_get(&trial->memory, SLOT_OUT, b, h, i, j);
        const bool kept = attention_trial_sees(trial, b, h, i, j) &&
                          !drops(trial, b, h, i, j);
        const double want = kept ? keep / seen : 0;
        ck_assert_msg(fabs(got - want) <= CLOSE * want,
            "%s: weight [%zu][%zu][%zu][%zu] is %g, want %g", text, b, h, i, j,
            got, want);
    }
}

static void check_entries(attention_trial *trial, const char *row)
{
    char text[ARENA_TEXT];
    clattn_error error;
    snprintf(text, sizeof text, "%s, row %s, offset %llu", trial->of.about,
        handed_name(row), (unsigned long long)trial->dropout_offset);
    rows_take(trial, row);
    ck_assert_msg(run_attention(trial, RUN_HOST, &error) == CLATTN_OK, "%s: %s",
        text, error.message);
    const attention_case *c = &trial->of;
    for (size_t n = 0; n < c->size.B * c->size.Hq * c->size.Lq; ++n) {
        const size_t i = n % c->size.Lq, bh = n / c->size.Lq;
        const size_t b = bh / c->size.Hq;
        if (arena_has_row(&trial->memory, SLOT_OUT, b, i))
            check_row(trial, b, bh % c->size.Hq, i, text);
    }
}

START_TEST(every_row_drops_the_entries_that_philox_says)
{
    const size_t index = (size_t)_i / (size_t)handed_count(1);
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &SHOWN[index]));
    for (size_t n = 0; n < COUNT(OFFSETS); ++n) {
        trial.dropout_offset = OFFSETS[n];
        check_entries(&trial, handed_row(_i));
    }
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Probabilities -------------------------------------------------------------------- */

static const attention_case EVEN = {
    "all values 1", {1, 2, 2, 64, 64, 4, 4}, .fill = FILL_EQUAL, LSE};

static void create_even(attention_trial *trial, float p, const char *row)
{
    attention_case c = EVEN;
    c.dropout_p = p;
    ck_assert(attention_trial_create(trial, &c));
    for (size_t n = 0; n < 2 * 64 * 4; ++n)
        arena_set(&trial->memory, SLOT_V, 0, n / 256, n / 4 % 64, n % 4, 1.0);
    arena_remember(&trial->memory);
    trial->dropout_seed = p > 0;
    trial->dropout_offset = 0;
    rows_take(trial, row);
}

static const float *run_even(attention_trial *trial, enum run_way way)
{
    clattn_error error;
    ck_assert_msg(
        run_attention(trial, way, &error) == CLATTN_OK, "%s", error.message);
    return arena_at(&trial->memory, SLOT_OUT, 0, 0, 0, 0);
}

START_TEST(no_dropout_changes_no_bit)
{
    attention_trial with, without;
    create_even(&with, 0.0f, handed_row(_i));
    create_even(&without, 0.0f, handed_row(_i));
    with.problem.dropout_p = -0.0f;
    ck_assert_mem_eq(run_even(&with, RUN_HOST), run_even(&without, RUN_HOST),
        2 * 64 * 4 * sizeof(float));
    attention_trial_destroy(&with);
    attention_trial_destroy(&without);
}
END_TEST

/* Not of where buffers lie, either. */
START_TEST(equal_seeds_give_equal_bits_and_others_do_not)
{
    float first[2 * 64 * 4];
    attention_trial trial;
    create_even(&trial, 0.5f, handed_row(_i));
    memcpy(first, run_even(&trial, RUN_HOST), sizeof first);
    for (int way = 0; way < RUN_WAYS; ++way)
        ck_assert_mem_eq(run_even(&trial, way), first, sizeof first);
    trial.dropout_seed = (uint64_t)1 << 32;
    ck_assert_mem_ne(run_even(&trial, RUN_HOST), first, sizeof first);
    attention_trial_destroy(&trial);
}
END_TEST

/* 64 weights of variance 1 / 64^2 a row: a standard deviation of 0.016. */
START_TEST(heads_differ_and_their_mean_is_that_of_no_dropout)
{
    attention_trial trial;
    create_even(&trial, 0.5f, handed_row(_i));
    const float *out = run_even(&trial, RUN_HOST);
    ck_assert_mem_ne(out, out + 64 * 4, 64 * 4 * sizeof(float));
    for (size_t h = 0; h < 2; ++h) {
        double mean = 0;
        for (size_t i = 0; i < 64; ++i)
            mean += (double)out[(h * 64 + i) * 4] / 64;
        ck_assert_msg(fabs(mean - 1) < 0.1, "head %zu: %g", h, mean);
    }
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(dropping_all_gives_0_and_no_nan)
{
    attention_trial trial;
    create_even(&trial, 1.0f, handed_row(_i));
    const float *out = run_even(&trial, RUN_HOST);
    for (size_t n = 0; n < 2 * 64 * 4; ++n)
        ck_assert_float_eq(out[n], 0.0f);
    ck_assert_double_eq_tol(
        arena_get(&trial.memory, SLOT_LSE, 0, 0, 0, 0), log(64), CLOSE);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(a_probability_outside_0_to_1_is_refused)
{
    static const float WRONG[] = {-1.0f, 1.5f, NAN, INFINITY, -1e-9f, 1.0001f};
    clattn_error error;
    attention_trial trial;
    create_even(&trial, 0.5f, handed_row(_i));
    for (size_t n = 0; n < COUNT(WRONG); ++n) {
        trial.problem.dropout_p = WRONG[n];
        ck_assert_int_eq(
            run_attention(&trial, RUN_HOST, &error), CLATTN_INVALID);
        ck_assert_ptr_nonnull(strstr(error.message, "dropout_p"));
    }
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("dropout");
    const int rows = handed_count(1);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t, every_row_drops_the_entries_that_philox_says, 0,
        handed_count(COUNT(SHOWN)));
    tcase_add_loop_test(t, no_dropout_changes_no_bit, 0, rows);
    tcase_add_loop_test(
        t, equal_seeds_give_equal_bits_and_others_do_not, 0, rows);
    tcase_add_loop_test(
        t, heads_differ_and_their_mean_is_that_of_no_dropout, 0, rows);
    tcase_add_loop_test(t, dropping_all_gives_0_and_no_nan, 0, rows);
    tcase_add_loop_test(t, a_probability_outside_0_to_1_is_refused, 0, rows);

    Suite *suite = suite_create("dropout");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
