/* SPDX-License-Identifier: Apache-2.0
 *
 * check_draws.c - random problems from a printed seed, on the rows in turn; one
 * that is wrong as the line that brings it back.
 */
#include <stdio.h>
#include <string.h>

#include "attention_rows.h"
#include "check_report.h"
#include "check_subject.h"
#include "session.h"
#include "ticks.h"

enum {
    PATIENCE = 30, /* seconds for a simpler problem */
    SIMPLER = 2    /* of so many; more are told as they are */
};

/* ---- Draws -------------------------------------------------------------- */

static size_t failed_draws(const check_report *report)
{
    size_t failed = 0;
    for (size_t row = 0; row < check_row_count(); row++)
        for (size_t i = 0; i < CHECK_STORAGES; i++)
            failed += report->score[CHECK_DRAWS][row][i].wrong;
    return failed;
}

static void report_draw(const check_run *run, const attention_case *c,
    size_t row, char why[ARENA_TEXT])
{
    const bool simpler = failed_draws(run->report) <= SIMPLER;
    char line[SUBJECT_LINE];
    const char *name = row ? check_row_name(row) : NULL;
    const attention_case least = subject_simplest(
        run->at, c, name, simpler ? run->extent->tries : 0, PATIENCE, why);
    check_fail(run->report, "draws, row %s: %s; clattn check --draw \"%s\"",
        check_row_name(row), why, subject_line(&least, name, line));
}

/* One row a configuration, or one of each family. */
static bool has_turn(const check_run *run, size_t configuration, size_t row)
{
    const size_t rows = check_row_count() - 1;
    const uint64_t turn = (run->report->seed + 2 * configuration) % rows;
    const char *name = check_row_name(row);
    if (!attention_row_is(name) || run->extent->rows == CHECK_CHOICE)
        return false;
    return run->extent->rows == CHECK_ONE_MORE
               ? turn == row - 1
               : attention_row_has_turn(name, configuration);
}

/* The choice, and rows in turn. */
static bool draw_on_rows(
    check_subject *s, const attention_case *c, size_t configuration, failure *f)
{
    char why[ARENA_TEXT];
    for (size_t row = 0; row < check_row_count(); row++) {
        if (row != 0 && !has_turn(s->run, configuration, row))
            continue;
        const enum subject_outcome outcome = check_subject_on(s, row, why);
        if (outcome == SUBJECT_WRONG)
            report_draw(s->run, c, row, why);
        if (outcome == SUBJECT_NO_MEMORY)
            return fail_memory(f, "%s", why);
    }
    return true;
}

bool check_draws(const check_run *run, failure *f)
{
    check_subject s;
    const size_t count = run->extent->configurations * run->extent->shapes;
    const double begin = ticks_ms();
    bool done = true;
    for (size_t n = 0; n < count && done; n++) {
        if (!check_has_time(run, CHECK_DRAWS, begin))
            continue;
        const size_t configuration = n / run->extent->shapes;
        const uint64_t base = 1000000007u * run->report->seed;
        attention_case c = attention_case_configure(base + configuration);
        attention_case_reshape(&c, base + n);
        progress_tell(run->shown, n, count, "random draws");
        done = check_attention(&s, run, &c, CHECK_DRAWS, f);
        done = done && draw_on_rows(&s, &c, configuration, f);
        subject_destroy(&s.subject);
    }
    return done;
}

/* ---- One given line ----------------------------------------------------- */

static enum subject_outcome run_line(subject *s, const char *row, failure *f)
{
    static const char *const OUTCOMES[] = {"right", "WRONG: ", "refused: "};
    char why[ARENA_TEXT] = "";
    const enum subject_outcome outcome = subject_run(s, row, why);
    if (outcome == SUBJECT_NO_MEMORY)
        fail_memory(f, "%s", why);
    else
        printf("row %-14s %s%s\n", row, OUTCOMES[outcome],
            outcome == SUBJECT_RIGHT ? "" : why);
    return outcome;
}

bool check_given(const device_queues *at, const attention_case *c,
    const char *row, failure *f)
{
    subject s;
    clattn_error error;
    bool right = library_ok(subject_attention(&s, at, c, &error), &error, f);
    bool taken = false, starved = false;
    for (size_t i = 1; s.first && !starved && i < check_row_count(); i++) {
        if (row[0] && strcmp(row, check_row_name(i)) != 0)
            continue;
        const enum subject_outcome outcome = run_line(&s, check_row_name(i), f);
        starved = outcome == SUBJECT_NO_MEMORY;
        taken = taken || outcome != SUBJECT_NOT_TAKEN;
        right = right && outcome != SUBJECT_WRONG;
    }
    if (starved)
        right = false;
    else if (s.first && !right)
        fail(f, "this device gets the problem of --draw wrong");
    else if (s.first && !taken)
        right = fail(f, "no row takes the problem of --draw");
    subject_destroy(&s);
    return right;
}
