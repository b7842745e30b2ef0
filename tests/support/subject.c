/* SPDX-License-Identifier: Apache-2.0
 *
 * subject.c - one random attention case on one kernel row after the other.
 */
#include "subject.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "builds.h"
#include "opencl.h"
#include "run.h"

void subject_create(subject *s, const attention_case *c)
{
    clattn_error error;
    char text[ARENA_TEXT];
    s->worst = 0;
    ck_assert(attention_trial_create(&s->trial, c));
    ck_assert(attention_trial_create(&s->first, c));
    const clattn_status status =
        attention_expect(&s->expected, &s->trial, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: the reference says: %s",
        attention_case_text(c, text), error.message);
}

void subject_destroy(subject *s)
{
    attention_expected_free(&s->expected);
    attention_trial_destroy(&s->first);
    attention_trial_destroy(&s->trial);
}

/* The bits of an earlier run, or false if these are others. */
static bool same_bits(const subject *s, char why[ARENA_TEXT])
{
    const arena *a = &s->trial.memory, *before = &s->first.memory;
    for (size_t m = 0; m < a->memories; ++m)
        if (memcmp(a->memory[m].data, before->memory[m].data,
                a->memory[m].count * sizeof(float)) != 0) {
            snprintf(why, ARENA_TEXT, "two runs leave different bits");
            return false;
        }
    return true;
}

static void keep_bits(subject *s)
{
    const arena *a = &s->trial.memory;
    for (size_t m = 0; m < a->memories; ++m)
        memcpy(s->first.memory.memory[m].data, a->memory[m].data,
            a->memory[m].count * sizeof(float));
}

static void note_worst(subject *s)
{
    const arena *a = &s->trial.memory;
    const expected *const outputs[] = {
        &s->expected.out, &s->expected.lse, &s->expected.weights};
    for (size_t n = 0; n < 3; ++n)
        if (a->tensor[SLOT_OUT + n].name != NULL &&
            arena_dtype(&a->tensor[SLOT_OUT + n]) == CLATTN_F32) {
            const double worst = expected_worst(outputs[n], a, SLOT_OUT + n);
            s->worst = worst > s->worst ? worst : s->worst;
        }
}

static enum subject_outcome run_once(
    subject *s, enum run_way way, char why[ARENA_TEXT])
{
    clattn_error error;
    const clattn_status status = run_attention(&s->trial, way, &error);
    if (status == CLATTN_OK)
        return attention_meets(&s->expected, &s->trial, why) ? SUBJECT_RIGHT
                                                             : SUBJECT_WRONG;
    snprintf(why, ARENA_TEXT, "%s: %.500s", clattn_status_text(status),
        error.message);
    return status == CLATTN_UNSUPPORTED ? SUBJECT_NOT_TAKEN : SUBJECT_WRONG;
}

enum subject_outcome subject_run(
    subject *s, const char *row, char why[ARENA_TEXT])
{
    /* Both kinds of queue get their turn, and arrays from host and device. */
    static const enum run_way WAYS[] = {
        RUN_ENQUEUE, RUN_WORKSPACE, RUN_OUT_OF_ORDER};
    const enum run_way way = WAYS[s->trial.of.seed % 3];
    s->trial.problem.kernel = row;
    enum subject_outcome outcome = run_once(s, RUN_HOST, why);
    if (outcome != SUBJECT_RIGHT)
        return outcome;
    builds_note(&s->trial.problem);
    note_worst(s);
    keep_bits(s);
    outcome = run_once(s, way, why);
    if (outcome == SUBJECT_RIGHT && !same_bits(s, why))
        outcome = SUBJECT_WRONG;
    return outcome;
}
