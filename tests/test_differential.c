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
 *
 * A problem that a row gets wrong is made as simple as it can be while the row
 * still gets it wrong, and printed as the LINE that brings it back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "builds.h"
#include "opencl.h"
#include "subject.h"
#include "suite.h"

enum {
    MAX_ROWS = 16,
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
static char current[ARENA_TEXT + 60];

static void announce(const attention_case *c, const char *row)
{
    char line[ARENA_TEXT];
    snprintf(current, sizeof current, "%s kernel=%s",
        attention_case_line(c, line), row);
}

/* ---- Simpler problems --------------------------------------------------------- */

typedef struct search {
    const char *row;
    time_t end;
    char why[ARENA_TEXT]; /* of the simplest so far */
} search;

static bool is_wrong(const attention_case *c, void *state)
{
    search *s = state;
    char why[ARENA_TEXT];
    subject wrong;
    if (time(NULL) > s->end)
        return false;
    announce(c, s->row);
    subject_create(&wrong, c);
    const bool shows = subject_run(&wrong, s->row, why) == SUBJECT_WRONG;
    subject_destroy(&wrong);
    if (shows)
        memcpy(s->why, why, sizeof why);
    return shows;
}

static void report(const attention_case *c, const char *row, const char *why)
{
    char line[ARENA_TEXT];
    static size_t reports;
    search s = {.row = row, .end = time(NULL) + PATIENCE};
    snprintf(s.why, sizeof s.why, "%s", why);
    const attention_case least =
        attention_case_shrink(c, is_wrong, &s, reports++ < REPORTS ? TRIES : 0);
    ck_abort_msg("row %s: %s\n    test_differential --draw \"%s kernel=%s\"",
        row, s.why, attention_case_line(&least, line), row);
}

/* ---- One problem ---------------------------------------------------------------- */

static void check_row(subject *s, size_t row)
{
    char why[ARENA_TEXT];
    const char *name = clattn_kernel_name(row);
    ck_assert_uint_lt(row, MAX_ROWS);
    announce(&s->trial.of, name);
    const enum subject_outcome outcome = subject_run(s, name, why);
    if (outcome == SUBJECT_WRONG) {
        const attention_case c = s->trial.of;
        subject_destroy(s);
        report(&c, name, why);
    }
    if (outcome == SUBJECT_NOT_TAKEN) {
        ++tally[row].not_taken;
        return;
    }
    ++tally[row].taken;
    if (tally[row].worst < s->worst)
        tally[row].worst = s->worst;
    s->worst = 0;
}

/* "tiled" of "tiled16". */
static size_t family_length(const char *row)
{
    return strcspn(row, "0123456789");
}

/* Rows of one family share their kernels' text and differ in the tile, so that
   one of them a configuration is enough. */
static bool has_turn(size_t row, size_t configuration)
{
    const char *name = clattn_kernel_name(row);
    const size_t length = family_length(name);
    size_t members = 0, before = 0;
    for (size_t n = 0; clattn_kernel_name(n) != NULL; ++n)
        if (family_length(clattn_kernel_name(n)) == length &&
            strncmp(clattn_kernel_name(n), name, length) == 0) {
            before += n < row;
            ++members;
        }
    return number_of("CLATTN_TEST_ALL", 0) != 0 ||
           configuration % members == before;
}

static void check_case(const attention_case *c, size_t configuration)
{
    subject s;
    subject_create(&s, c);
    ++draws;
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row)
        if (has_turn(row, configuration))
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
        check_case(&c, (size_t)_i);
    }
}
END_TEST

static const char *given; /* by --draw or CLATTN_DRAW */

/* The line of a report: a problem, and perhaps the row. */
START_TEST(the_given_problem_is_right)
{
    char line[ARENA_TEXT], why[ARENA_TEXT], row[32] = "";
    attention_case c;
    subject s;
    snprintf(line, sizeof line, "%s", given);
    char *kernel = strstr(line, "kernel=");
    if (kernel != NULL) {
        sscanf(kernel, "kernel=%31s", row);
        *kernel = '\0';
    }
    ck_assert_msg(attention_case_parse(&c, line, why), "%s", why);
    subject_create(&s, &c);
    for (size_t n = 0; clattn_kernel_name(n) != NULL; ++n) {
        const char *name = clattn_kernel_name(n);
        if (*row != '\0' && strcmp(row, name) != 0)
            continue;
        announce(&c, name);
        const enum subject_outcome outcome = subject_run(&s, name, why);
        ck_assert_msg(outcome != SUBJECT_WRONG, "row %s: %s", name, why);
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
