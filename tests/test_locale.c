/* SPDX-License-Identifier: Apache-2.0
 *
 * test_locale.c - a caller whose numbers have a decimal comma: the same results,
 * and no comma in what a kernel is built with.  The locale is made here, since
 * few machines have one.
 */
#define _XOPEN_SOURCE 700

#include <locale.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "planning.h" /* before the tests' own */

#include "handed.h"
#include "opencl.h"
#include "rows.h"
#include "scratch.h"
#include "suite.h"

/* ---- The locale ----------------------------------------------------------- */

/* LC_NUMERIC as glibc keeps it: a magic number, how many items there are, where
   each begins, and the items; two of them are a wide character. */
typedef struct numeric {
    uint32_t magic, count, at[6];
    char point[2], separator[1], grouping[1];
    uint32_t wide_point, wide_separator;
    char codeset[8];
} numeric;

#define AT(item) (uint32_t) offsetof(numeric, item)

static void take_comma_locale(void)
{
    const numeric comma = {.magic = 0x20031115 ^ LC_NUMERIC,
        .count = 6,
        .at = {AT(point), AT(separator), AT(grouping), AT(wide_point),
            AT(wide_separator), AT(codeset)},
        .point = ",",
        .wide_point = 44,
        .codeset = "UTF-8"};
    char path[SCRATCH_PATH];
    scratch_begin();
    mkdir(scratch_path(path, "comma"), 0700);
    scratch_write(path, "comma/LC_NUMERIC", &comma, sizeof comma);
    setenv("LOCPATH", scratch_path(path, ""), 1);
    ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "comma"));
    ck_assert_int_eq(localeconv()->decimal_point[0], ',');
}

/* ---- What is computed in it ----------------------------------------------- */

static const handed_case SCALED[] = {
    {{"a scale of an eighth", {1, 1, 1, 1, 2, 1, 1}, .has_scale = 1,
         .scale = 0.125f, .returns = CLATTN_RETURN_LSE},
        .q = LIST(8), .k = LIST(1, 0), .v = LIST(1, 0), .out = LIST(0.73105858),
        .tolerance = CLOSE},
    {{"a cap of three halves", {1, 1, 1, 1, 2, 1, 1}, .has_scale = 1,
         .scale = 0.5f, .softcap = 1.5f, .returns = CLATTN_RETURN_LSE},
        .q = LIST(2), .k = LIST(1, 0), .v = LIST(1, 0),
        /* 1 / (1 + exp(-1.5 tanh(1 / 1.5))) */
        .out = LIST(0.70561356), .tolerance = CLOSE},
};

START_TEST(a_decimal_comma_changes_no_result)
{
    static const char *const rows[] = {NULL, "tiled16"};
    const handed_case *c = &SCALED[_i / (int)COUNT(rows)];
    attention_trial trial;
    handed_create(&trial, c);
    handed_check_on(&trial, c, rows[_i % (int)COUNT(rows)]);
    attention_trial_destroy(&trial);
}
END_TEST

/* Of each row, with all that has a value. */
START_TEST(no_option_of_a_build_holds_a_comma)
{
    static const float SLOPES[4] = {0.5f, 0.25f, 0.125f, 0.0625f};
    planning s = planning_start();
    s.given.has_scale = 1;
    s.given.scale = 0.125f;
    s.given.softcap = 1.5f;
    s.given.dropout_p = 0.1f;
    s.given.alibi_slopes = SLOPES;
    s.given.diagonal = CLATTN_TOP_LEFT;
    s.wishes.kernel = rows_row((size_t)_i);
    const clattn_status status = planning_run(&s);
    ck_assert_msg(status == CLATTN_OK || status == CLATTN_UNSUPPORTED, "%s",
        s.error.message);
    for (size_t i = 0; i < s.p.n_needs; ++i)
        ck_assert_msg(strchr(s.p.need[i].options, ',') == NULL, "%s: %s",
            s.p.need[i].name, s.p.need[i].options);
}
END_TEST

int main(void)
{
#ifndef __GLIBC__
    return suite_skip("glibc, whose form of a locale this is");
#endif
    TCase *t = tcase_create("locale");
    tcase_add_unchecked_fixture(t, take_comma_locale, scratch_end);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, a_decimal_comma_changes_no_result, 0, 2 * (int)COUNT(SCALED));
    tcase_add_loop_test(t, no_option_of_a_build_holds_a_comma, 0, rows_count());

    Suite *suite = suite_create("locale");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
