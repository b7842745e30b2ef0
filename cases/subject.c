/* SPDX-License-Identifier: Apache-2.0
 *
 * subject.c - running a subject on a row, and judging what it left.
 */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- The bits of the first run ------------------------------------------ */

clattn_status subject_ready(subject *s, clattn_error *error)
{
    size_t count = 0;
    for (size_t m = 0; m < s->memory->memories; ++m)
        count += s->memory->memory[m].count;
    s->first = malloc((count + 1) * sizeof *s->first);
    return s->first ? CLATTN_OK
                    : error_set(error, CLATTN_NO_MEMORY,
                          "no memory for a copy of %zu words", count);
}

static void keep_bits(subject *s)
{
    float *to = s->first;
    for (size_t m = 0; m < s->memory->memories; ++m) {
        const arena_memory *from = &s->memory->memory[m];
        memcpy(to, from->data, from->count * sizeof *to);
        to += from->count;
    }
}

static bool same_bits(const subject *s)
{
    const float *first = s->first;
    for (size_t m = 0; m < s->memory->memories; ++m) {
        const arena_memory *now = &s->memory->memory[m];
        if (memcmp(first, now->data, now->count * sizeof *first) != 0)
            return false;
        first += now->count;
    }
    return true;
}

void subject_destroy(subject *s)
{
    free(s->first);
    s->first = NULL;
    if (s->kind)
        s->kind->destroy(s);
    s->kind = NULL;
}

bool subject_lacks_memory(clattn_status status, const clattn_error *error)
{
    return status == CLATTN_NO_MEMORY && error->cl_code != CL_OUT_OF_RESOURCES;
}

/* ---- Running ------------------------------------------------------------ */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void note_errors(subject *s)
{
    for (size_t slot = 0; slot < ARENA_TENSORS; ++slot) {
        const arena_tensor *t = &s->memory->tensor[slot];
        const expected *e = s->kind->expected(s, slot);
        if (t->name == NULL || e == NULL || e->count == 0)
            continue;
        if (arena_dtype(t) == CLATTN_F32)
            s->share = larger(s->share, expected_worst(e, s->memory, slot));
        if (slot == s->kind->result)
            s->error = larger(s->error, expected_error(e, s->memory, slot));
    }
}

static enum subject_outcome run_once(
    subject *s, enum run_way way, char why[ARENA_TEXT])
{
    clattn_error error;
    const clattn_status status = s->kind->run(s, way, why, &error);
    if (why[0] != '\0')
        return SUBJECT_WRONG;
    if (status == CLATTN_OK)
        return s->kind->meets(s, why) ? SUBJECT_RIGHT : SUBJECT_WRONG;
    snprintf(why, ARENA_TEXT, "%s: %.500s", clattn_status_text(status),
        error.message);
    if (subject_lacks_memory(status, &error))
        return SUBJECT_NO_MEMORY;
    return status == CLATTN_UNSUPPORTED ? SUBJECT_NOT_TAKEN : SUBJECT_WRONG;
}

/* A run that must leave the bits of the first. */
static enum subject_outcome run_again(
    subject *s, enum run_way way, char why[ARENA_TEXT])
{
    const enum subject_outcome outcome = run_once(s, way, why);
    if (outcome != SUBJECT_RIGHT || same_bits(s))
        return outcome;
    snprintf(why, ARENA_TEXT, "two runs leave different bits (the other: %s)",
        run_way_name(way));
    return SUBJECT_WRONG;
}

static enum subject_outcome run_first(
    subject *s, enum run_way way, const char *row, char why[ARENA_TEXT])
{
    s->kind->set_row(s, row);
    const enum subject_outcome outcome = run_once(s, way, why);
    if (outcome != SUBJECT_RIGHT)
        return outcome;
    note_errors(s);
    keep_bits(s);
    return outcome;
}

/* Both kinds of queue get their turn, and arrays from host and device. */
static enum run_way way_of(uint64_t turn)
{
    static const enum run_way WAYS[] = {
        RUN_ENQUEUE, RUN_WORKSPACE, RUN_OUT_OF_ORDER};
    return WAYS[turn % 3];
}

enum subject_outcome subject_run(
    subject *s, const char *row, char why[ARENA_TEXT])
{
    const enum subject_outcome outcome = run_first(s, RUN_HOST, row, why);
    return outcome == SUBJECT_RIGHT ? run_again(s, way_of(s->turn), why)
                                    : outcome;
}

enum subject_outcome subject_repeat(
    subject *s, const char *row, size_t n, char why[ARENA_TEXT])
{
    return n == 0 ? run_first(s, way_of(n), row, why)
                  : run_again(s, way_of(n), why);
}
