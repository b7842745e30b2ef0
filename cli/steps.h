/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - attention step by step, for people who learn it: name, formula,
 * shape and, for small sizes, the numbers; numbers shown add up at the
 * precision shown.
 */
#ifndef CLATTN_CLI_STEPS_H
#define CLATTN_CLI_STEPS_H

#include <stdio.h>

#include "words.h"

/* All dense and f32.  x, w_*, b_*, output may be NULL where the command has
   none; weights may not. */
typedef struct steps {
    size_t L, Lk, E, H, D, Dv, Ey; /* one item of the batch */
    size_t head;                   /* whose numbers are shown */
    const float *x;                /* (L, E) */
    const float *q, *k, *v;        /* (L, H, D), (Lk, H, D), (Lk, H, Dv):
                                       heads side by side; after any grouping */
    const float *weights;          /* (H, L, Lk) */
    const float *context;          /* (L, H, Dv) */
    const float *output;           /* (L, Ey) after the output projection */
    int has_bias;
    int causal;               /* 1: some scores are hidden */
    const long *first_hidden; /* L entries: keys from this one on are
                                       hidden in row i */
    int no_scale;             /* scores are not divided by sqrt(D) */
    double scale;
    const words *queries, *keys;
} steps;

void steps_print(FILE *to, const steps *s);

#endif
