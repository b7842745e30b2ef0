/* SPDX-License-Identifier: Apache-2.0
 *
 * handed.h - small attention problems with their numbers and their results,
 * run on every kernel row in every way that the library can be called.
 */
#ifndef CLATTN_TESTS_HANDED_H
#define CLATTN_TESTS_HANDED_H

#include "attention_trial.h"

/* Numbers in the order (b, h, row, column), whatever the layout; NULL: 0, and
   of results: not looked at. */
typedef struct handed_case {
    attention_case of;
    const double *q, *k, *v, *mask;
    const double *key_lengths; /* B whole numbers */
    const double *out, *lse;
    const double *weights; /* or the stage that the case returns */
    double tolerance;      /* share of a number's size, of 1 for smaller ones */
} handed_case;

#define LIST(...)    \
    (const double[]) \
    {                \
        __VA_ARGS__  \
    }
/* What f32 makes of scores around 1: some roundings of 2^-24. */
#define CLOSE 1e-5
#define EXACT 0

/* The case's trial with its own numbers in it; to be destroyed. */
void handed_create(attention_trial *trial, const handed_case *c);
/* Give a tensor's elements their values; NULL: 0. */
void handed_fill(attention_trial *trial, size_t slot, const double *values);

/* Loop tests count cases times rows; `index` is one of them. */
int handed_count(size_t cases);
/* Run and compare.  A row that does not compute such a problem says so, and
   nothing is left to check; the planner's choice may not. */
void handed_check(const handed_case *cases, int index);
/* The same for a trial that is filled already; `row` NULL: of choice.  Whether
   the row computed it. */
bool handed_check_on(
    attention_trial *trial, const handed_case *c, const char *row);
/* The row of an index: NULL, then each by name. */
const char *handed_row(int index);
/* For messages. */
const char *handed_name(const char *row);

/* Fill `to` with ((a i + b) mod m - m / 2) / s for i = 0, 1, ...: exact in
   every dtype. */
void handed_sequence(double *to, size_t count, int a, int b, int m, int s);
#define HANDED_Q 7, 3, 11, 4
#define HANDED_K 5, 1, 13, 4
#define HANDED_V 3, 2, 17, 8

#endif
