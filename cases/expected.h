/* SPDX-License-Identifier: Apache-2.0
 *
 * expected.h - what an output must hold, and whether it does.
 */
#ifndef CLATTN_CASES_EXPECTED_H
#define CLATTN_CASES_EXPECTED_H

#include "arena.h"

/* Dense values (b, h, row, column), and how far each may be off.  NaN asks for
   NaN, an infinity for itself; an infinite slack allows anything. */
typedef struct expected {
    double *value, *slack;
    double *got; /* room for what is compared, so that judging never fails for
                    want of memory, which is no fault of what is judged */
    size_t count;
} expected;

bool expected_create(expected *e, size_t count); /* zeros */
void expected_free(expected *e);

/* False, with a sentence about the worst element, if the tensor is off, or has
   not as many elements. */
bool expected_meets(
    const expected *e, const arena *a, size_t slot, char text[ARENA_TEXT]);

/* False, with a sentence, if an element that must be NaN was left as it was
   before the call, or came from where nothing is to be read. */
bool expected_written(
    const expected *e, const arena *a, size_t slot, char text[ARENA_TEXT]);

/* The largest error as a share of its slack, over all elements of finite value
   and slack. */
double expected_worst(const expected *e, const arena *a, size_t slot);
/* The same without the slack: absolute. */
double expected_error(const expected *e, const arena *a, size_t slot);

#endif
