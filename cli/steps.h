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

enum steps_bias {
    STEPS_BIAS_Q = 1,
    STEPS_BIAS_K = 2,
    STEPS_BIAS_V = 4,
    STEPS_BIAS_O = 8
};

/* One item of a batch.  All dense and f32.  x is NULL where q, k and v came
   from files, output where there is no output projection. */
typedef struct steps {
    size_t L, Lk, E, H, D, Dv, Ey;
    size_t head;              /* whose numbers are shown */
    const float *x;           /* (L, E) */
    const float *q, *k, *v;   /* (L, H, D), (Lk, H, D), (Lk, H, Dv): heads
                                 side by side; after any grouping */
    const float *weights;     /* (H, L, Lk) */
    const float *context;     /* (L, H, Dv) */
    const float *output;      /* (L, Ey), after the output projection */
    unsigned biases;          /* of steps_bias: those that were added */
    int causal;               /* 1: some scores are hidden */
    const long *first_hidden; /* L entries: keys from this one on are
                                 hidden in row i; NULL unless causal */
    int no_scale;             /* scores are not divided by sqrt(D) */
    double scale;             /* what they are multiplied by otherwise */
    const words *queries, *keys;
} steps;

void steps_print(FILE *to, const steps *s);

#endif
