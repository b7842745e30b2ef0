/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.h - what rules.clh says, written out once more in double precision and
 * element by element, and the arrays that it needs in guarded memory.
 */
#ifndef CLATTN_TESTS_RULES_H
#define CLATTN_TESTS_RULES_H

#include "kernel.h"

/* Behind the slots of the kernel's own tensors. */
enum rules_slot {
    RULES_MASK = 16,
    RULES_SLOPES,
    RULES_SINKS,
    RULES_ITEMS
};

/* The dropout word of this row and key, item 0 and head 0: the last that is
   dropped. */
#define RULES_WORD 0x4c9e0535u

enum {
    RULES_WORD_ROW = 3,
    RULES_WORD_KEY = 2,
    RULES_KEYS = 1024 /* of the longest row */
};

typedef struct rules {
    kernel_rules on;
    size_t items, heads, Lq, Lk;
    bool mask_shared[4]; /* the mask's size is 1 there */
    bool gaps;
    arena *memory;
    int32_t *dtype; /* of its slots */
    const attention_params *params;
} rules;

/* All slots, before memory is allocated. */
void rules_place(const rules *r);
/* Their numbers, for rows [first, first + rows) of each item: a mask has what
   the item has, and is NaN elsewhere.  All exact in f32, as sums are. */
void rules_fill(const rules *r, size_t first, size_t rows, draw *d);
/* What parameters say of them; heads, Lq and Lk too, and some dropout. */
void rules_params(const rules *r, attention_params *params);
/* The slot, or KERNEL_NONE where the rule is off. */
size_t rules_slot(const rules *r, enum rules_slot slot);

/* Rows and keys of an item. */
kernel_item rules_item(const rules *r, size_t b);
/* The mask of row i; only where there is one. */
float *rules_mask(const rules *r, size_t b, size_t h, size_t i, size_t j);
/* Whether lengths, band and mask show key j to row i. */
bool rules_sees(const rules *r, size_t b, size_t h, size_t i, size_t j);
/* A scaled score after softcap. */
double rules_capped(const rules *r, double scaled);

/* One row of the problem. */
typedef struct rules_row {
    const rules *of;
    size_t b, h, i;
    kernel_item it;
    double score[RULES_KEYS]; /* final; -inf where the key is hidden */
    double top, sum;
} rules_row;

void rules_make_row(rules_row *row, const rules *r, size_t b, size_t h,
    size_t i, const double *scaled);
double rules_weight(const rules_row *row, size_t j); /* after dropout */
double rules_lse(const rules_row *row);

/* How far each may be off; an error of the scaled scores comes on top. */
double rules_score_slack(const rules *r);
double rules_weight_slack(const rules *r, double weight, double error);
double rules_lse_slack(const rules_row *row, double error);
/* Half a step of the dtype around a value. */
double rules_step(int32_t dtype, double value);

#endif
