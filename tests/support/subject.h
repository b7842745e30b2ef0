/* SPDX-License-Identifier: Apache-2.0
 *
 * subject.h - one random attention case on one kernel row after the other:
 * whether each agrees with the reference, twice with the same bits.
 */
#ifndef CLATTN_TESTS_SUBJECT_H
#define CLATTN_TESTS_SUBJECT_H

#include "attention_expected.h"

enum subject_outcome {
    SUBJECT_RIGHT,
    SUBJECT_WRONG,
    SUBJECT_NOT_TAKEN /* the row does not compute such problems */
};

typedef struct subject {
    attention_trial trial, first;
    attention_expected expected;
    double worst; /* error of f32 outputs as a share of what is allowed */
} subject;

/* To be destroyed.  Memory that runs out fails the test. */
void subject_create(subject *s, const attention_case *c);
void subject_destroy(subject *s);

/* `row` by its name, with host pointers and then with buffers.  `why` is what
   is wrong, or why the row does not take the case. */
enum subject_outcome subject_run(
    subject *s, const char *row, char why[ARENA_TEXT]);

#endif
