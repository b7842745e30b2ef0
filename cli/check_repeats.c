/* SPDX-License-Identifier: Apache-2.0
 *
 * check_repeats.c - shapes that are prone to races, again and again: all runs
 * must leave the same bits, on both kinds of queue.
 */
#include <math.h>

#include "check_report.h"
#include "session.h"
#include "subject.h"
#include "ticks.h"

/* Each row of a shape has its share of the time, so that on a slow device all
   have their turn; twice it is run in any case. */
typedef struct turns {
    double begin, share_ms;
    size_t shapes;
} turns;

static turns turns_start(const check_run *run)
{
    const size_t all = attention_race_count(), most = run->extent->races;
    turns t = {ticks_ms(), INFINITY, most < all ? most : all};
    if (run->extent->seconds > 0.0)
        t.share_ms = 1e3 * run->extent->seconds /
                     (double)(t.shapes * (check_row_count() - 1));
    return t;
}

static double turn_end(const turns *t, size_t shape, size_t row)
{
    const size_t turn = shape * (check_row_count() - 1) + row;
    return t->begin + t->share_ms * (double)turn;
}

static bool repeat_on(
    const check_run *run, subject *s, size_t row, double end_ms, failure *f)
{
    char why[ARENA_TEXT], line[SUBJECT_LINE];
    const char *name = check_row_name(row);
    const attention_case *c = &s->trial.attention.of;
    check_repeat *r = &run->report->repeat[row - 1];
    enum subject_outcome outcome = SUBJECT_RIGHT;
    size_t n = 0;
    while (outcome == SUBJECT_RIGHT && n < run->extent->repeats &&
           (n < 2 || ticks_ms() < end_ms))
        outcome = subject_repeat(s, name, n++, why);
    if (outcome == SUBJECT_NO_MEMORY)
        return fail_memory(f, "%s", why);
    r->shapes++;
    r->refused += outcome == SUBJECT_NOT_TAKEN;
    r->wrong += outcome == SUBJECT_WRONG;
    r->runs += outcome == SUBJECT_NOT_TAKEN ? 0 : n;
    if (outcome == SUBJECT_WRONG)
        check_fail(run->report,
            "repeated, row %s: %s: %s; clattn check --draw \"%s\"", name,
            c->about, why, subject_line(c, name, line));
    return true;
}

/* Without time for a row there is no need of the reference either. */
static bool repeat_shape(
    const check_run *run, const turns *t, size_t shape, failure *f)
{
    const attention_case c = attention_race_at(shape);
    clattn_error error;
    subject s;
    bool made = false, done = true;
    for (size_t row = 1; done && row < check_row_count(); row++) {
        if (!check_is_built(run->report, row) ||
            !check_has_time(run, CHECK_REPEATS, t->begin))
            continue;
        if (!made)
            done = library_ok(
                subject_attention(&s, run->at, &c, &error), &error, f);
        made = true;
        done = done && repeat_on(run, &s, row, turn_end(t, shape, row), f);
    }
    if (made)
        subject_destroy(&s);
    return done;
}

bool check_repeats(const check_run *run, failure *f)
{
    const turns t = turns_start(run);
    bool done = true;
    for (size_t i = 0; i < t.shapes && done; i++) {
        progress_tell(run->shown, i, t.shapes, check_part_name(CHECK_REPEATS));
        done = repeat_shape(run, &t, i, f);
    }
    return done;
}
