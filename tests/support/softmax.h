/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax.h - scale_softmax.cl alone: a row of a table made concrete, launched,
 * and compared with the formula in double precision.
 */
#ifndef CLATTN_TESTS_SOFTMAX_H
#define CLATTN_TESTS_SOFTMAX_H

#include "rules.h"

/* As the kernel has them. */
enum softmax_stage {
    STAGE_NONE,
    STAGE_WEIGHTS,
    STAGE_FINAL,
    STAGE_SCALED,
    STAGE_CAPPED
};

enum softmax_slot {
    SOFTMAX_S,
    SOFTMAX_LSE,
    SOFTMAX_WEIGHTS
};

typedef struct softmax_case {
    const char *about;
    size_t items, heads, rows;
    edge Lk;
    float scale, spread, shift; /* scores are spread * -8 to 8 + shift */
    size_t first_row;           /* of a block of rows, which two more follow */
    kernel_rules rules;
    wide diagonal, left, right;
    float softcap;
    bool mask_shared[4]; /* the mask's size is 1 there */
    enum softmax_stage stage;
    int32_t weights; /* dtype; 0: f32 */
    bool gaps;
    bool grouped; /* each group is launched for itself */
} softmax_case;

/* A case with the group's size put in. */
typedef struct softmax {
    softmax_case of;
    size_t G, Lk, Lq;
    rules rules;
    attention_params params;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} softmax;

/* All numbers are exact in f32 up to the first exponential or tanh.  What no
   row may look at is NaN. */
void softmax_create(softmax *p, const softmax_case *c, size_t G);
/* Takes the memory as it is now for the state before. */
void softmax_run(softmax *p);
/* Every element of every output, and that nothing else was written. */
void softmax_check(const softmax *p);
void softmax_destroy(softmax *p);

/* Whether row `row` of the block sees key j. */
bool softmax_sees(const softmax *p, size_t b, size_t h, size_t row, size_t j);
/* What softmax left of it. */
float softmax_weight(
    const softmax *p, size_t b, size_t h, size_t row, size_t j);
float softmax_lse(const softmax *p, size_t b, size_t h, size_t row);

#endif
