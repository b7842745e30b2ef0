/* SPDX-License-Identifier: Apache-2.0
 *
 * check_repeats.c - shapes that are prone to races, again and again: all runs
 * must leave the same bits, on both kinds of queue.
 */
#include "check_report.h"
#include "session.h"
#include "subject.h"
#include "ticks.h"

static bool repeat_on(const check_run *run, subject *s, const attention_case *c,
    size_t row, failure *f)
{
    char why[ARENA_TEXT], line[SUBJECT_LINE];
    check_repeat *r = &run->report->repeat[row - 1];
    const size_t times = run->extent->repeats;
    const enum subject_outcome outcome =
        subject_repeat(s, check_row_name(row), times, why);
    if (outcome == SUBJECT_NO_MEMORY)
        return fail_memory(f, "%s", why);
    r->shapes++;
    r->refused += outcome == SUBJECT_NOT_TAKEN;
    r->wrong += outcome == SUBJECT_WRONG;
    r->runs += outcome == SUBJECT_NOT_TAKEN ? 0 : times;
    if (outcome == SUBJECT_WRONG)
        check_fail(run->report,
            "repeated, row %s: %s: %s; clattn check --draw \"%s\"",
            check_row_name(row), c->about, why,
            subject_line(c, check_row_name(row), line));
    return true;
}

bool check_repeats(const check_run *run, failure *f)
{
    subject s;
    const size_t count = run->extent->races < attention_race_count()
                             ? run->extent->races
                             : attention_race_count();
    const double begin = ticks_ms();
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        if (!check_has_time(run, CHECK_REPEATS, begin))
            continue;
        const attention_case c = attention_race_at(i);
        clattn_error error;
        progress_tell(run->shown, i, count, check_part_name(CHECK_REPEATS));
        done =
            library_ok(subject_attention(&s, run->at, &c, &error), &error, f);
        for (size_t row = 1; done && row < check_row_count(); row++)
            if (check_is_built(run->report, row))
                done = repeat_on(run, &s, &c, row, f);
        subject_destroy(&s);
    }
    return done;
}
