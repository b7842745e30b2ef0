/* SPDX-License-Identifier: Apache-2.0
 *
 * test_differential.c - random problems on every kernel row that takes them,
 * against the double-precision reference and each other.
 *
 *   CLATTN_DRAWS=N      how many problems
 *   CLATTN_SHAPES=N     how many of them for one compiled configuration
 *   CLATTN_TEST_SEED=N  others than the usual ones
 *   CLATTN_TEST_ALL=1   all rows for each, not one of a family in turn
 *   CLATTN_DRAW=LINE    this problem alone; so does --draw LINE
 *   CLATTN_TEST_UNITS   rows of matrix units alone: see units.h
 *
 * A problem that a row gets wrong is made as simple as it can be while the row
 * still gets it wrong, and printed as the LINE that brings it back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attention_rows.h"
#include "builds.h"
#include "opencl.h"
#include "rows.h"
#include "subject.h"
#include "suite.h"
#include "units.h"

enum {
    MAX_ROWS = 32,
    SHAPES = 20,
    DRAWS = 1000, /* 150 configurations of a row; mostly it builds */
    REPORTS = 3,  /* problems that are made simpler; more are only named */
    TRIES = 200,  /* at a simpler one */
    PATIENCE = 90 /* seconds for them */
};

static struct {
    size_t taken, not_taken;
    double worst;
} tally[MAX_ROWS];

static uint64_t number_of(const char *variable, uint64_t usual)
{
    const char *text = getenv(variable);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 0) : usual;
}

static size_t draws;
/* What is running, for the last words of a program that ends in the middle. */
static char current[SUBJECT_LINE];

static void announce(const attention_case *c, const char *row)
{
    subject_line(c, row, current);
}

static void begin(subject *s, const attention_case *c)
{
    clattn_error error;
    const clattn_status status = subject_attention(s, opencl_get(), c, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

static void report(const attention_case *c, const char *row, char *why)
{
    char line[SUBJECT_LINE];
    static size_t reports;
    const attention_case least = subject_simplest(
        opencl_get(), c, row, reports++ < REPORTS ? TRIES : 0, PATIENCE, why);
    ck_abort_msg("row %s: %s\n    test_differential --draw \"%s\"", row, why,
        subject_line(&least, row, line));
}

/* ---- One problem ---------------------------------------------------------------- */

static void check_row(subject *s, size_t row)
{
    char why[ARENA_TEXT];
    const char *name = clattn_kernel_name(row);
    ck_assert_uint_lt(row, MAX_ROWS);
    announce(&s->trial.attention.of, name);
    const enum subject_outcome outcome = subject_run(s, name, why);
    if (outcome == SUBJECT_WRONG) {
        const attention_case c = s->trial.attention.of;
        subject_destroy(s);
        report(&c, name, why);
    }
    ck_assert_msg(outcome != SUBJECT_NO_MEMORY, "row %s: %s", name, why);
    if (outcome == SUBJECT_NOT_TAKEN) {
        ++tally[row].not_taken;
        return;
    }
    ++tally[row].taken;
    builds_note(&s->trial.attention.problem);
    if (tally[row].worst < s->share)
        tally[row].worst = s->share;
    s->share = 0;
}

static bool has_turn(const char *row, size_t configuration)
{
    if (units_asked())
        return units_have_turn(row, configuration);
    return number_of("CLATTN_TEST_ALL", 0) != 0 ||
           (rows_tries(row) ? attention_row_has_turn(row, configuration)
                            : rows_has_turn(row, configuration));
}

static void check_case(const attention_case *c, size_t configuration)
{
    subject s;
    begin(&s, c);
    ++draws;
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row)
        if (has_turn(clattn_kernel_name(row), configuration))
            check_row(&s, row);
    subject_destroy(&s);
}

/* ---- Tests ------------------------------------------------------------------------ */

START_TEST(every_row_agrees_with_the_reference)
{
    const uint64_t wanted = number_of("CLATTN_DRAWS", DRAWS);
    const uint64_t shapes = number_of("CLATTN_SHAPES", SHAPES);
    const uint64_t begin = (uint64_t)_i * shapes;
    const uint64_t base =
        1000000007u * number_of("CLATTN_TEST_SEED", 1) + begin;
    const attention_case configured = attention_case_configure(base);
    for (uint64_t n = 0; n < shapes && begin + n < wanted; ++n) {
        attention_case c = configured;
        attention_case_reshape(&c, base + n);
        units_round(&c);
        check_case(&c, (size_t)_i);
    }
}
END_TEST

static const char *given; /* by --draw or CLATTN_DRAW */

/* The line of a report: a problem, and perhaps the row. */
START_TEST(the_given_problem_is_right)
{
    char why[ARENA_TEXT], row[SUBJECT_ROW];
    attention_case c;
    subject s;
    ck_assert_msg(subject_parse(&c, row, given, why), "%s", why);
    begin(&s, &c);
    for (size_t n = 0; clattn_kernel_name(n) != NULL; ++n) {
        const char *name = clattn_kernel_name(n);
        if (*row != '\0' && strcmp(row, name) != 0)
            continue;
        announce(&c, name);
        const enum subject_outcome outcome = subject_run(&s, name, why);
        ck_assert_msg(outcome == SUBJECT_RIGHT || outcome == SUBJECT_NOT_TAKEN,
            "row %s: %s", name, why);
        printf("row %s: %s\n", name, outcome == SUBJECT_RIGHT ? "right" : why);
    }
    subject_destroy(&s);
}
END_TEST

static void print_tally(time_t began)
{
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row)
        printf("row %s: took %zu problems, did not take %zu, off by %.2f of "
               "what is allowed at most\n",
            clattn_kernel_name(row), tally[row].taken, tally[row].not_taken,
            tally[row].worst);
    printf("%zu problems, %zu programs built, %.0f s\n", draws, builds_count(),
        difftime(time(NULL), began));
}

int main(int argc, char **argv)
{
    const time_t began = time(NULL);
    const uint64_t wanted = number_of("CLATTN_DRAWS", DRAWS);
    const uint64_t shapes = number_of("CLATTN_SHAPES", SHAPES);
    given = argc == 3 && strcmp(argv[1], "--draw") == 0 ? argv[2]
                                                        : getenv("CLATTN_DRAW");
    TCase *t = tcase_create("draws");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    if (given != NULL && *given != '\0')
        tcase_add_test(t, the_given_problem_is_right);
    else
        tcase_add_loop_test(t, every_row_agrees_with_the_reference, 0,
            (int)((wanted + shapes - 1) / shapes));

    Suite *suite = suite_create("differential");
    suite_add_tcase(suite, t);
    const int result = suite_main(suite, 1);
    print_tally(began);
    if (result != EXIT_SUCCESS)
        printf("the last was --draw \"%s\"\n", current);
    return result;
}
