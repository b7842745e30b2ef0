/* SPDX-License-Identifier: Apache-2.0
 *
 * subject.h - one case of attention, linear or layer on one kernel row after
 * the other: whether each agrees with the reference, and again with the same
 * bits.
 */
#ifndef CLATTN_CASES_SUBJECT_H
#define CLATTN_CASES_SUBJECT_H

#include "attention_expected.h"
#include "trial_run.h"

enum subject_outcome {
    SUBJECT_RIGHT,
    SUBJECT_WRONG,
    SUBJECT_NOT_TAKEN, /* the row does not compute such problems */
    SUBJECT_NO_MEMORY  /* of the host or the device: nothing is known */
};

typedef struct subject_kind subject_kind; /* what the operations differ in */

/* Not to be copied: trials point into themselves. */
typedef struct subject {
    const device_queues *at;
    const subject_kind *kind;
    union {
        attention_trial attention;
        linear_trial linear;
        layer_trial layer;
    } trial;
    union {
        attention_expected attention;
        expected linear;
        layer_expected layer;
    } expected;
    arena *memory; /* the trial's */
    float *first;  /* what the first run left in it */
    uint64_t turn; /* which way comes second */
    /* Largest since they were last set to 0: */
    double share; /* error of f32 outputs as a share of what is allowed */
    double error; /* of out or y, absolute */
} subject;

/* Whether a call failed for want of memory.  CL_OUT_OF_RESOURCES does not count:
   some drivers say so of a kernel that strayed. */
bool subject_lacks_memory(clattn_status status, const clattn_error *error);

/* To be destroyed also after a failure, which is memory or the reference's. */
clattn_status subject_attention(subject *s, const device_queues *at,
    const attention_case *c, clattn_error *error);
clattn_status subject_linear(subject *s, const device_queues *at,
    const linear_case *c, clattn_error *error);
clattn_status subject_layer(subject *s, const device_queues *at,
    const layer_case *c, clattn_error *error);
void subject_destroy(subject *s);

/* `row` by its name, NULL for the planner's choice; with host pointers and then
   with buffers.  `why` is what is wrong, why the row does not take the case, or
   what there is no memory for. */
enum subject_outcome subject_run(
    subject *s, const char *row, char why[ARENA_TEXT]);

/* The n-th run with buffers: the first, 0, leaves the bits that all others must
   leave. */
enum subject_outcome subject_repeat(
    subject *s, const char *row, size_t n, char why[ARENA_TEXT]);

/* ---- Attention that a row gets wrong ------------------------------------ */

enum {
    SUBJECT_ROW = 32,              /* bytes of a row's name */
    SUBJECT_LINE = ARENA_TEXT + 60 /* of a line */
};

/* "B=2 ... seed=7 kernel=lanes", enough to try it again: the case as mending
   leaves it, which drops what has no effect. */
const char *subject_line(
    const attention_case *c, const char *row, char line[SUBJECT_LINE]);
/* The case of such a line, and its row, which may be missing: "".  False, with
   a sentence, if it is none; see attention_case_parse. */
bool subject_parse(attention_case *c, char row[SUBJECT_ROW], const char *line,
    char why[ARENA_TEXT]);

/* The case made as simple as it can be while the row still gets it wrong, with
   at most so many tries in about so many seconds.  `why` goes in as what is
   wrong with `c`, and comes out for the simplest. */
attention_case subject_simplest(const device_queues *at,
    const attention_case *c, const char *row, size_t tries, double seconds,
    char why[ARENA_TEXT]);

/* ---- For the library's own steps ---------------------------------------- */

struct subject_kind {
    clattn_status (*run)(subject *s, enum run_way way, char broken[ARENA_TEXT],
        clattn_error *error);
    bool (*meets)(const subject *s, char why[ARENA_TEXT]);
    const expected *(*expected)(const subject *s, size_t slot); /* or NULL */
    void (*set_row)(subject *s, const char *row);
    void (*destroy)(subject *s);
    size_t result; /* the slot of out or y */
};

/* Room for the bits of the first run. */
clattn_status subject_ready(subject *s, clattn_error *error);

#endif
