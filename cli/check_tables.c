/* SPDX-License-Identifier: Apache-2.0
 *
 * check_tables.c - the case tables of attention, linear and layer against the
 * reference in double precision.
 */
#include <string.h>

#include "attention_rows.h"
#include "check_report.h"
#include "check_subject.h"
#include "plan_words.h"
#include "session.h"
#include "ticks.h"

/* ---- Which storage a case is of ----------------------------------------- */

static enum check_storage storage_of(const attention_case *c)
{
    const int32_t of[] = {c->dtype.q, c->dtype.k, c->dtype.v, c->dtype.out};
    for (size_t i = 1; i < 4; i++)
        if (of[i] != of[0])
            return CHECK_MIXED;
    return of[0] == CLATTN_F16    ? CHECK_F16
           : of[0] == CLATTN_BF16 ? CHECK_BF16
                                  : CHECK_F32;
}

/* ---- Subjects ----------------------------------------------------------- */

bool check_attention(check_subject *to, const check_run *run,
    const attention_case *c, enum check_table table, failure *f)
{
    clattn_error error;
    *to = (check_subject){.run = run, .table = table, .storage = storage_of(c)};
    return library_ok(
        subject_attention(&to->subject, run->at, c, &error), &error, f);
}

static bool check_linear(
    check_subject *to, const check_run *run, const linear_case *c, failure *f)
{
    clattn_error error;
    *to = (check_subject){.run = run, .table = CHECK_LINEAR};
    linear_case_text(c, to->text);
    return library_ok(
        subject_linear(&to->subject, run->at, c, &error), &error, f);
}

static bool check_layer(
    check_subject *to, const check_run *run, const layer_case *c, failure *f)
{
    clattn_error error;
    *to = (check_subject){.run = run, .table = CHECK_LAYER};
    layer_case_text(c, to->text);
    return library_ok(
        subject_layer(&to->subject, run->at, c, &error), &error, f);
}

enum subject_outcome check_subject_on(
    check_subject *s, size_t row, char why[ARENA_TEXT])
{
    check_score *score = &s->run->report->score[s->table][row][s->storage];
    s->subject.share = s->subject.error = 0;
    const enum subject_outcome outcome =
        subject_run(&s->subject, row ? check_row_name(row) : NULL, why);
    score->right += outcome == SUBJECT_RIGHT;
    score->wrong += outcome == SUBJECT_WRONG;
    score->refused += outcome == SUBJECT_NOT_TAKEN;
    if (outcome == SUBJECT_NOT_TAKEN)
        check_refuse(s->run->report, row, why);
    if (s->subject.share > score->share)
        score->share = s->subject.share;
    if (s->subject.error > score->error)
        score->error = s->subject.error;
    return outcome;
}

/* ---- Rows --------------------------------------------------------------- */

/* A row of attention alone leaves products to others. */
static bool does_product(check_subject *s, const char *row)
{
    clattn_linear problem = s->subject.trial.linear.problem;
    clattn_plan *plan = NULL;
    char kernel[64];
    problem.kernel = row;
    if (clattn_linear_plan(&plan, s->run->at->ctx, &problem, NULL) != CLATTN_OK)
        return true; /* and will say why not */
    plan_kernel(kernel, sizeof kernel, clattn_plan_describe(plan));
    clattn_plan_destroy(plan);
    return strcmp(kernel, row) == 0;
}

static bool does(check_subject *s, size_t row)
{
    const char *name = check_row_name(row);
    return s->table == CHECK_LINEAR ? does_product(s, name)
                                    : attention_row_is(name);
}

/* An attention case also as the line that brings it back. */
static void report(const check_subject *s, size_t row, const char *why)
{
    char line[SUBJECT_LINE];
    const attention_case *c = &s->subject.trial.attention.of;
    const char *name = row ? check_row_name(row) : NULL;
    if (s->table != CHECK_ATTENTION)
        check_fail(s->run->report, "%s, row %s: %s: %s",
            check_part_name(s->table), check_row_name(row), s->text, why);
    else
        check_fail(s->run->report,
            "attention, row %s: %s: %s; clattn check --draw \"%s\"",
            check_row_name(row), c->about, why, subject_line(c, name, line));
}

static bool run_row(check_subject *s, size_t row, failure *f)
{
    char why[ARENA_TEXT];
    const enum subject_outcome outcome = check_subject_on(s, row, why);
    if (outcome == SUBJECT_WRONG)
        report(s, row, why);
    return outcome != SUBJECT_NO_MEMORY || fail_memory(f, "%s", why);
}

/* Whether a case goes to a row beside the choice. */
static bool has_turn(const check_subject *s, size_t index, size_t row)
{
    const size_t rows = check_row_count() - 1;
    const enum check_rows wanted = s->run->extent->rows;
    const bool cheap =
        s->table == CHECK_ATTENTION && attention_case_shares_programs(index);
    if (wanted == CHECK_ONE_MORE && !cheap)
        return index % CHECK_TURN == 0 && index / CHECK_TURN % rows == row - 1;
    return wanted != CHECK_CHOICE;
}

/* The planner's choice, and rows that do the operation. */
static bool run_rows(check_subject *s, size_t index, failure *f)
{
    bool done = run_row(s, 0, f);
    for (size_t row = 1; done && row < check_row_count(); row++)
        if (has_turn(s, index, row) && does(s, row))
            done = run_row(s, row, f);
    return done;
}

/* ---- Tables ------------------------------------------------------------- */

static bool make(check_subject *s, const check_run *run, enum check_table table,
    size_t index, failure *f)
{
    if (table == CHECK_LINEAR) {
        const linear_case c = linear_case_at(index);
        return check_linear(s, run, &c, f);
    }
    if (table == CHECK_LAYER) {
        const layer_case c = layer_case_at(index);
        return check_layer(s, run, &c, f);
    }
    const attention_case c = attention_case_at(index);
    return check_attention(s, run, &c, table, f);
}

static size_t count_of(enum check_table table)
{
    return table == CHECK_LINEAR  ? linear_case_count()
           : table == CHECK_LAYER ? layer_case_count()
                                  : attention_case_count();
}

static bool run_case(
    const check_run *run, enum check_table table, size_t index, failure *f)
{
    check_subject s;
    const bool done = make(&s, run, table, index, f) && run_rows(&s, index, f);
    subject_destroy(&s.subject);
    return done;
}

/* In rounds, each of which is spread over the table: what is left out at the end
   is no kind of case as a whole. */
static bool run_table(const check_run *run, enum check_table table, failure *f)
{
    const size_t stride = run->extent->stride;
    const size_t count = (count_of(table) + stride - 1) / stride;
    const double begin = ticks_ms();
    bool done = true;
    size_t told = 0;
    for (size_t round = 0; round < CHECK_TURN; round++)
        for (size_t i = round; i < count && done; i += CHECK_TURN) {
            progress_tell(run->shown, told++, count, check_part_name(table));
            if (check_has_time(run, table, begin))
                done = run_case(run, table, i * stride, f);
        }
    return done;
}

bool check_tables(const check_run *run, failure *f)
{
    return run_table(run, CHECK_ATTENTION, f) &&
           run_table(run, CHECK_LINEAR, f) && run_table(run, CHECK_LAYER, f);
}
