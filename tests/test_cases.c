/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cases.c - the judges themselves: tolerances let plain f32 pass and
 * nothing coarser, and guard zones notice what they are there for.  Needs no
 * device.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "attention_plain.h"
#include "suite.h"

enum {
    DRAWS = 200
};

/* ---- Plain f32, with one step made coarser ------------------------------- */

static float same(float x)
{
    return x;
}

/* To `bits` bits, as f16 has 11 and bf16 has 8. */
static float to_bits(float x, int bits)
{
    int exponent = 0;
    const float mantissa = frexpf(x, &exponent);
    return isfinite(x) ? ldexpf(rintf(ldexpf(mantissa, bits)), exponent - bits)
                       : x;
}

static float to_f16(float x)
{
    return to_bits(x, 11);
}

static float to_bf16(float x)
{
    return to_bits(x, 8);
}

/* A relative error of 2e-4 that differs from key to key: a common factor would
   vanish in the division. */
static float wavy_exp(float x)
{
    return expf(x) * (1 + 2e-4f * sinf(40 * x));
}

/* Whether an evaluation passes; the sentence is in `why`. */
static bool passes(const attention_case *c, const plain_rounding *r, char *why)
{
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    ck_assert(attention_trial_create(&trial, c));
    ck_assert_int_eq(attention_expect(&expected, &trial, &error), CLATTN_OK);
    ck_assert(attention_plain(&trial, r));
    const bool meets = attention_meets(&expected, &trial, why);
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
    return meets;
}

START_TEST(plain_f32_passes_every_case)
{
    const attention_case c = (size_t)_i < attention_case_count()
                                 ? attention_case_at((size_t)_i)
                                 : attention_case_draw((uint64_t)_i);
    char text[ARENA_TEXT], why[ARENA_TEXT];
    ck_assert_msg(
        passes(&c, &PLAIN, why), "%s: %s", attention_case_text(&c, text), why);
}
END_TEST

static const plain_rounding COARSE[] = {
    {"weights in f16", same, to_f16, expf},
    {"weights in bf16", same, to_bf16, expf},
    {"scores in f16", to_f16, same, expf},
    {"scores in bf16", to_bf16, same, expf},
    {"an exponential with four digits", same, same, wavy_exp},
};

static const attention_case FINE[] = {
    {"small", {2, 2, 1, 7, 11, 9, 9}, .returns = CLATTN_RETURN_LSE},
    {"a model's head", {1, 2, 2, 33, 40, 64, 64}, .returns = 0},
    {"a wide head", {1, 1, 1, 9, 100, 128, 128}, .returns = 0},
    {"options", {1, 2, 2, 33, 40, 64, 64}, .returns = 0, .softcap = 3,
        .alibi = true, .diagonal = CLATTN_BOTTOM_RIGHT, .sinks = true,
        .dropout_p = 0.5f},
};

START_TEST(nothing_coarser_than_f32_passes)
{
    const plain_rounding *r = &COARSE[(size_t)_i / COUNT(FINE)];
    const attention_case *c = &FINE[(size_t)_i % COUNT(FINE)];
    char why[ARENA_TEXT];
    ck_assert_msg(
        !passes(c, r, why), "%s passes in case %s", r->about, c->about);
}
END_TEST

/* ---- Guard zones --------------------------------------------------------- */

static const attention_case GUARDED = {"guarded", {2, 3, 1, 5, 7, 9, 4},
    .layout = LAYOUT_PADDED, .key_lengths = true, .returns = CLATTN_RETURN_LSE};

START_TEST(a_write_outside_the_outputs_is_found)
{
    char why[ARENA_TEXT];
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &GUARDED));
    ck_assert(attention_plain(&trial, &PLAIN));
    ck_assert_msg(arena_unharmed(&trial.memory, why), "%s", why);
    float *row = arena_at(&trial.memory, SLOT_OUT, 1, 2, 4, 0);
    float *const strays[] = {row + 4, /* behind a row, and behind the tensor */
        arena_at(&trial.memory, SLOT_OUT, 0, 0, 0, 0) - 1,
        arena_at(&trial.memory, SLOT_OUT, 0, 0, 1, 0) - 1,
        arena_at(&trial.memory, SLOT_K, 0, 0, 0, 3),
        arena_at(&trial.memory, SLOT_LSE, 1, 2, 4, 0) + ARENA_GUARD};
    for (size_t n = 0; n < COUNT(strays); ++n) {
        const float kept = *strays[n];
        *strays[n] = 1.0f;
        ck_assert_msg(
            !arena_unharmed(&trial.memory, why), "stray %zu was not found", n);
        *strays[n] = kept;
    }
    ck_assert(arena_unharmed(&trial.memory, why));
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(an_output_element_that_is_not_written_is_found)
{
    char why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    ck_assert(attention_trial_create(&trial, &GUARDED));
    ck_assert_int_eq(attention_expect(&expected, &trial, &error), CLATTN_OK);
    ck_assert(!attention_meets(&expected, &trial, why));
    ck_assert(attention_plain(&trial, &PLAIN));
    ck_assert_msg(attention_meets(&expected, &trial, why), "%s", why);
    for (size_t slot = SLOT_OUT; slot <= SLOT_LSE; ++slot) {
        float *last = arena_at(&trial.memory, slot, 1, 2, 4,
            trial.memory.tensor[slot].size[3] - 1);
        const float kept = *last;
        *last = arena_poison();
        ck_assert(!attention_meets(&expected, &trial, why));
        ck_assert_msg(strstr(why, "[1][2][4]") != NULL, "%s", why);
        *last = kept;
    }
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Draws --------------------------------------------------------------- */

START_TEST(a_seed_draws_the_same_case_and_the_same_numbers)
{
    const attention_case one = attention_case_draw(77);
    const attention_case two = attention_case_draw(77);
    const attention_case other = attention_case_draw(78);
    char text[3][ARENA_TEXT];
    attention_trial first, second;
    ck_assert_str_eq(
        attention_case_text(&one, text[0]), attention_case_text(&two, text[1]));
    ck_assert_str_ne(text[0], attention_case_text(&other, text[2]));
    ck_assert(attention_trial_create(&first, &one));
    ck_assert(attention_trial_create(&second, &two));
    for (size_t m = 0; m < first.memory.memories; ++m)
        ck_assert_mem_eq(first.memory.memory[m].data,
            second.memory.memory[m].data,
            first.memory.memory[m].count * sizeof(float));
    attention_trial_destroy(&first);
    attention_trial_destroy(&second);
}
END_TEST

/* ---- 16 bits ------------------------------------------------------------------ */

static const attention_case STORED[] = {
    {"f16", {2, 3, 1, 5, 7, 9, 4}, .layout = LAYOUT_PADDED, .returns = 0,
        .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_F16, CLATTN_F16, 0}},
    {"bf16", {2, 3, 1, 5, 7, 9, 4}, .layout = LAYOUT_PADDED, .returns = 0,
        .dtype = {CLATTN_BF16, CLATTN_BF16, CLATTN_BF16, CLATTN_BF16, 0}},
};

/* Away from the exact value, to the next number that the dtype has. */
START_TEST(a_result_one_unit_too_far_is_found)
{
    char why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    const arena *a = &trial.memory;
    const int bits = STORED[_i].dtype.out == CLATTN_F16 ? 11 : 8;
    ck_assert(attention_trial_create(&trial, &STORED[_i]));
    ck_assert_int_eq(attention_expect(&expected, &trial, &error), CLATTN_OK);
    ck_assert(attention_plain(&trial, &PLAIN));
    ck_assert_msg(attention_meets(&expected, &trial, why), "%s", why);
    for (size_t column = 0; column < 4; ++column) {
        const double got = arena_get(a, SLOT_OUT, 1, 2, 4, column);
        const double want = expected.out.value[expected.out.count - 4 + column];
        const double unit = ldexp(1, ilogb(got) + 1 - bits);
        arena_set(
            a, SLOT_OUT, 1, 2, 4, column, got > want ? got + unit : got - unit);
        ck_assert_msg(!attention_meets(&expected, &trial, why),
            "%g instead of %g", got, want);
        arena_set(a, SLOT_OUT, 1, 2, 4, column, got);
    }
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(a_stray_of_16_bits_is_found)
{
    char why[ARENA_TEXT];
    attention_trial trial;
    const arena *a = &trial.memory;
    ck_assert(attention_trial_create(&trial, &STORED[_i]));
    ck_assert(attention_plain(&trial, &PLAIN));
    ck_assert_msg(arena_unharmed(a, why), "%s", why);
    unsigned char *const first =
        (unsigned char *)a->memory[a->tensor[SLOT_OUT].memory].data +
        2 * arena_index(a, SLOT_OUT, 0, 0, 0, 0);
    first[-1] ^= 1;
    ck_assert(!arena_unharmed(a, why));
    first[-1] ^= 1;
    first[8] ^= 1; /* the gap behind the row */
    ck_assert(!arena_unharmed(a, why));
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Lines ---------------------------------------------------------------------- */

START_TEST(a_line_brings_its_case_back)
{
    char line[ARENA_TEXT], again[ARENA_TEXT], why[ARENA_TEXT];
    attention_case parsed;
    for (uint64_t seed = 0; seed < 2000; ++seed) {
        const attention_case c = attention_case_draw(seed);
        attention_case_line(&c, line);
        ck_assert_msg(
            attention_case_parse(&parsed, line, why), "%s: %s", line, why);
        ck_assert_str_eq(attention_case_line(&parsed, again), line);
        ck_assert_uint_lt(strlen(line), ARENA_TEXT - 200);
    }
}
END_TEST

static const char *const NO_LINES[] = {"B", "B=", "B=2 Hq=x", "size=3",
    "layout=round", "scale=1.5.2", "seed=99999999999999999999999",
    "B=2 = Hq=2"};

START_TEST(what_is_no_line_is_refused)
{
    char why[ARENA_TEXT];
    attention_case c;
    ck_assert_msg(!attention_case_parse(&c, NO_LINES[_i], why),
        "'%s' was taken for a line", NO_LINES[_i]);
}
END_TEST

/* ---- Simpler cases ---------------------------------------------------------------- */

static bool needs_softcap_and_keys(const attention_case *c, void *state)
{
    (void)state;
    return c->softcap > 0 && c->size.Lk >= 7 && c->size.Lk <= 200 &&
           c->dtype.v == CLATTN_F16 && c->key_lengths;
}

START_TEST(a_case_shrinks_to_what_it_takes)
{
    char line[ARENA_TEXT];
    attention_case c = attention_case_draw(12);
    c.size.Lk = 90;
    c.softcap = 30;
    c.dtype.v = CLATTN_F16;
    c.key_lengths = c.query_lengths = c.alibi = true;
    c.seed = 5;
    attention_case_mend(&c);
    const attention_case least =
        attention_case_shrink(&c, needs_softcap_and_keys, NULL, 1000);
    ck_assert_str_eq(attention_case_line(&least, line),
        "B=1 Hq=1 Hkv=1 Lq=1 Lk=7 D=1 Dv=1 softcap=1 key_lengths=1 v=f16 "
        "seed=5");
}
END_TEST

/* No draw, and nothing simpler, is refused by the library. */
START_TEST(every_draw_and_every_simpler_case_is_legal)
{
    char text[ARENA_TEXT];
    for (size_t n = 0; n < 20; ++n) {
        clattn_error error;
        attention_trial trial;
        attention_expected expected;
        attention_case c = attention_case_draw((uint64_t)_i);
        c.size.Lq = c.size.Lk = 3;
        attention_case_simpler(&c, &c, (size_t)_i + 4 * n);
        ck_assert(attention_trial_create(&trial, &c));
        const clattn_status status =
            attention_expect(&expected, &trial, &error);
        ck_assert_msg(status == CLATTN_OK, "%s: %s",
            attention_case_text(&c, text), error.message);
        attention_expected_free(&expected);
        attention_trial_destroy(&trial);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cases");
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(
        t, plain_f32_passes_every_case, 0, (int)attention_case_count() + DRAWS);
    tcase_add_loop_test(t, nothing_coarser_than_f32_passes, 0,
        (int)(COUNT(COARSE) * COUNT(FINE)));
    tcase_add_test(t, a_write_outside_the_outputs_is_found);
    tcase_add_test(t, an_output_element_that_is_not_written_is_found);
    tcase_add_test(t, a_seed_draws_the_same_case_and_the_same_numbers);
    tcase_add_loop_test(
        t, a_result_one_unit_too_far_is_found, 0, (int)COUNT(STORED));
    tcase_add_loop_test(t, a_stray_of_16_bits_is_found, 0, (int)COUNT(STORED));
    tcase_add_test(t, a_line_brings_its_case_back);
    tcase_add_loop_test(t, what_is_no_line_is_refused, 0, (int)COUNT(NO_LINES));
    tcase_add_test(t, a_case_shrinks_to_what_it_takes);
    tcase_add_loop_test(t, every_draw_and_every_simpler_case_is_legal, 0, 60);

    Suite *suite = suite_create("cases");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
