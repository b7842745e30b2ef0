/* SPDX-License-Identifier: Apache-2.0
 *
 * test_case_lines.c - the lines of attention problems: what is printed comes
 * back, and a line that says what is not run is none.
 */
#include <stdio.h>
#include <string.h>

#include "attention_rows.h"
#include "subject.h"
#include "suite.h"

START_TEST(a_line_brings_back_the_problem_and_its_row)
{
    for (uint64_t seed = 1; seed < 100; seed++) {
        const attention_case c = attention_case_draw(seed);
        const char *row = attention_row_name(seed % 3);
        char line[SUBJECT_LINE], again[SUBJECT_LINE];
        char found[SUBJECT_ROW], why[ARENA_TEXT];
        attention_case back;
        subject_line(&c, row, line);
        ck_assert_msg(subject_parse(&back, found, line, why), "%s", why);
        ck_assert_str_eq(found, row);
        ck_assert_str_eq(subject_line(&back, row, again), line);
        subject_line(&c, NULL, line);
        ck_assert_msg(subject_parse(&back, found, line, why), "%s", why);
        ck_assert_str_eq(found, "");
    }
}
END_TEST

/* The problem that a trial puts to the library; pointers beside. */
static clattn_attention problem_of(const attention_case *c)
{
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, c));
    clattn_attention problem = trial.problem;
    problem.alibi_slopes = NULL;
    attention_trial_destroy(&trial);
    return problem;
}

START_TEST(lines_of_all_tables_are_accepted_and_mean_the_same_problem)
{
    const size_t count = attention_case_count();
    for (size_t n = 0; n < count + attention_race_count(); n++) {
        const attention_case c =
            n < count ? attention_case_at(n) : attention_race_at(n - count);
        char line[SUBJECT_LINE], again[SUBJECT_LINE];
        char row[SUBJECT_ROW], why[ARENA_TEXT];
        attention_case back;
        subject_line(&c, "lanes", line);
        ck_assert_msg(
            subject_parse(&back, row, line, why), "%s: %s", line, why);
        ck_assert_ptr_null(attention_case_missing(line));
        ck_assert_str_eq(subject_line(&back, row, again), line);
        const clattn_attention one = problem_of(&c), other = problem_of(&back);
        ck_assert_msg(memcmp(&one, &other, sizeof one) == 0,
            "%s: another problem: %s", c.about, line);
    }
}
END_TEST

/* Lines that would run another problem than they say. */
static const struct {
    const char *more; /* behind sizes that are right */
    const char *why;  /* is in the sentence */
} WRONG_LINES[] = {
    {"returns=4294967295", "'returns=4294967295' is not allowed: returns is a "
                           "whole number from 0 to "},
    {"returns=-1", "returns=-1"},
    {"mask=f32 mask_axes=4294967296",
        "mask_axes is a whole number from 0 to 15"},
    {"mask=f32 mask_axes=16", "mask_axes is a whole number from 0 to 15"},
    {"windowed=1 window_left=4294967295",
        "window_left is a whole number from -1 to 2147483647"},
    {"windowed=1 window_left=9223372036854775807", "window_left is"},
    {"windowed=1 window_left=-9223372036854775807", "window_left is"},
    {"windowed=1 window_right=-2", "window_right is a whole number from -1"},
    {"windowed=2", "windowed is a whole number from 0 to 1"},
    {"windowed=1 window_left=-1 window_right=-1",
        "'window_left=-1' contradicts the rest of the line, with which "
        "window_left=0 is allowed"},
    {"window_left=3", "'window_left=3' contradicts"},
    {"causal=77", "causal is a whole number from 0 to 1"},
    {"causal=1 diagonal=offset diagonal_offset=-2147483649", "diagonal_offset"},
    {"causal=1 diagonal=unset", "diagonal=top-left is allowed"},
    {"diagonal_offset=3", "'diagonal_offset=3' contradicts"},
    {"precision=5", "precision is a whole number from 0 to 1"},
    {"precision=1", "'precision=1' contradicts"},
    {"q=bool", "'q=bool' is not allowed: q is f32, f16 or bf16"},
    {"out=none", "out is f32, f16 or bf16"},
    {"mask=f64", "mask is none, f32, f16, bf16 or bool"},
    {"layout=", "layout is dense, "},
    {"mask=none mask_axes=15", "'mask_axes=15' contradicts"},
    {"mask_padded=1", "'mask_padded=1' contradicts"},
    {"weights=f16", "'weights=f16' contradicts"},
    {"returns=6", "'returns=6' contradicts the rest of the line, with which "
                  "returns=2 is allowed"},
    {"scale=2", "'scale=2' contradicts"},
    {"item_offsets=1", "'item_offsets=1' contradicts"},
    {"layout=packed", "'Lk=5' contradicts the rest of the line, with which "
                      "Lk=3 is allowed"},
    {"layout=packed q=f16", "layout=blhd is allowed"},
    {"layout=shared key_starts=1", "layout=padded is allowed"},
    {"dropout=nan", "'dropout=nan' is not allowed: dropout is a finite number"},
    {"softcap=inf", "softcap is a finite number"},
    {"dropout=1e-99", "dropout is a finite number that a float holds"},
    {"softcap=1e99", "softcap is a finite number that a float holds"},
    {"has_scale=1 scale=0.5x", "scale is a finite number"},
    {"has_scale=1 scale=+1", "scale is a finite number"},
    {"seed=18446744073709551616", "seed is a whole number from 0 to "
                                  "18446744073709551615"},
    {"seed=-1", "seed=-1"},
    {"seed=+1", "seed=+1"},
    {"seed=0x10", "seed=0x10"},
    {"seed=1 seed=1", "'seed=1' is one too many"},
    {"B=1", "'B=1' is one too many"},
    {"kernel=", "'kernel=' is not the name of a row"},
    {"kernel=lanes kernel=tiled16", "'kernel=tiled16' is one too many"},
    {"kernel=0123456789012345678901234567890123456789", "not the name of a"},
    {"seed=1\tq=f16", "seed is a whole number"},
};

START_TEST(a_line_that_says_what_is_not_run_is_refused)
{
    char line[SUBJECT_LINE], row[SUBJECT_ROW], why[ARENA_TEXT] = "";
    attention_case c;
    snprintf(line, sizeof line, "B=1 Hq=2 Hkv=1 Lq=3 Lk=5 D=8 Dv=8 %s",
        WRONG_LINES[_i].more);
    ck_assert_msg(!subject_parse(&c, row, line, why), "%s is taken", line);
    ck_assert_msg(
        strstr(why, WRONG_LINES[_i].why) != NULL, "%s: %s", line, why);
}
END_TEST

/* B, Hq, Hkv, D, Dv. */
static const char *const WRONG_SIZES[][6] = {
    {"-1", "1", "1", "8", "8", "'B=-1' is not allowed: B is a whole number"},
    {"18446744073709551616", "1", "1", "8", "8", "B is a whole number"},
    {"1", "3", "2", "8", "8",
        "'Hq=3' contradicts the rest of the line, with "
        "which Hq=2 is allowed"},
    {"1", "1", "2", "8", "8", "Hkv=1 is allowed"},
    {"1", "1", "0", "8", "8", "Hkv is a whole number from 1"},
    {"1", "1", "1", "0", "8", "D is a whole number from 1"},
    {"1", "1", "1", "8", "0", "Dv is a whole number from 1"},
    {"65", "1", "1", "8", "8 key_starts=1", "'key_starts=1' contradicts"},
};

START_TEST(a_line_of_sizes_that_are_not_run_is_refused)
{
    const char *const *size = WRONG_SIZES[_i];
    char line[SUBJECT_LINE], row[SUBJECT_ROW], why[ARENA_TEXT] = "";
    attention_case c;
    snprintf(line, sizeof line, "B=%s Hq=%s Hkv=%s Lq=3 Lk=5 D=%s Dv=%s",
        size[0], size[1], size[2], size[3], size[4]);
    ck_assert_msg(!subject_parse(&c, row, line, why), "%s is taken", line);
    ck_assert_msg(strstr(why, size[5]) != NULL, "%s: %s", line, why);
}
END_TEST

START_TEST(a_line_says_its_row_anywhere_and_is_never_cut)
{
    static const char SIZES[] =
        "kernel=lanes B=2 Hq=2 Hkv=1 Lq=0 Lk=5 D=8 Dv=8";
    char line[2 * SUBJECT_LINE], row[SUBJECT_ROW], why[ARENA_TEXT] = "";
    attention_case c;
    ck_assert_msg(subject_parse(&c, row, SIZES, why), "%s", why);
    ck_assert_str_eq(row, "lanes");
    ck_assert_uint_eq(c.size.B, 2);
    snprintf(line, sizeof line, "%s%*s", SIZES, SUBJECT_LINE, "seed=7");
    ck_assert(!subject_parse(&c, row, line, why));
    ck_assert_msg(strstr(why, "bytes, but may have ") != NULL, "%s", why);
}
END_TEST

int main(void)
{
    TCase *list = tcase_create("lines");
    tcase_add_test(list, a_line_brings_back_the_problem_and_its_row);
    tcase_add_test(
        list, lines_of_all_tables_are_accepted_and_mean_the_same_problem);
    tcase_add_loop_test(list, a_line_that_says_what_is_not_run_is_refused, 0,
        (int)COUNT(WRONG_LINES));
    tcase_add_loop_test(list, a_line_of_sizes_that_are_not_run_is_refused, 0,
        (int)COUNT(WRONG_SIZES));
    tcase_add_test(list, a_line_says_its_row_anywhere_and_is_never_cut);
    Suite *suite = suite_create("case_lines");
    suite_add_tcase(suite, list);
    return suite_main(suite, 0);
}
