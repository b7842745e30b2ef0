/* SPDX-License-Identifier: Apache-2.0
 *
 * check_draws.c - random problems from a printed seed, on the rows in turn; one
 * that is wrong as the line that brings it back.
 */
#include <stdio.h>
#include <string.h>

#include "attention_rows.h"
#include "check.h"
#include "check_subject.h"
#include "session.h"

enum {
    PATIENCE = 30 /* seconds for a simpler problem */
};

/* ---- Draws ---------------------------------------------------------------- */

static void report_draw(const check_run *run, const attention_case *c,
    size_t row, char why[ARENA_TEXT])
{
    char line[SUBJECT_LINE];
    const char *name = row ? check_row_name(row) : NULL;
    const attention_case least =
        subject_simplest(run->at, c, name, run->extent->tries, PATIENCE, why);
    check_fail(run->report, "draws, row %s: %s; clattn check --draw \"%s\"",
        check_row_name(row), why, subject_line(&least, name, line));
}

/* The choice, and one attention row that takes the problem, beginning with the
   one whose turn it is. */
static void draw_on_rows(
    check_subject *s, const attention_case *c, size_t configuration)
{
    char why[ARENA_TEXT];
    const size_t rows = check_rows();
    if (check_subject_on(s, 0, why) == SUBJECT_WRONG)
        report_draw(s->run, c, 0, why);
    for (size_t row = 1; row < rows; row++) {
        const bool turn =
            s->run->extent->all_rows
                ? attention_row_has_turn(check_row_name(row), configuration)
                : configuration % (rows - 1) == row - 1;
        if (turn && check_subject_on(s, row, why) == SUBJECT_WRONG)
            report_draw(s->run, c, row, why);
    }
}

bool check_draws(const check_run *run, failure *f)
{
    static check_subject s; /* large, and points into itself */
    const size_t count = run->extent->draws * run->extent->shapes;
    bool done = true;
    for (size_t n = 0; n < count && done; n++) {
        const size_t configuration = n / run->extent->shapes;
        const uint64_t base = 1000000007u * run->report->seed;
        attention_case c = attention_case_configure(base + configuration);
        attention_case_reshape(&c, base + n);
        progress_tell(run->shown, n, count, "random draws");
        done = check_attention(&s, run, &c, CHECK_DRAWS, f);
        if (done)
            draw_on_rows(&s, &c, configuration);
        subject_destroy(&s.subject);
        run->report->cases[CHECK_DRAWS]++;
    }
    return done;
}

/* ---- One given line --------------------------------------------------------- */

static bool run_line(subject *s, const char *row)
{
    static const char *const OUTCOMES[] = {"right", "WRONG: ", "refused: "};
    char why[ARENA_TEXT] = "";
    const enum subject_outcome outcome = subject_run(s, row, why);
    printf("row %-14s %s%s\n", row, OUTCOMES[outcome],
        outcome == SUBJECT_RIGHT ? "" : why);
    return outcome != SUBJECT_WRONG;
}

bool check_given(const device_queues *at, const attention_case *c,
    const char *row, failure *f)
{
    static subject s; /* large, and points into itself */
    clattn_error error;
    bool right = library_ok(subject_attention(&s, at, c, &error), &error, f);
    for (size_t i = 1; s.first && i < check_rows(); i++)
        if (!row[0] || strcmp(row, check_row_name(i)) == 0)
            right = run_line(&s, check_row_name(i)) && right;
    if (s.first && !right)
        fail(f, "this device gets the problem of --draw wrong");
    subject_destroy(&s);
    return right;
}
