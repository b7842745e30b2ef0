/* SPDX-License-Identifier: Apache-2.0
 *
 * fused.h - attention_lanes.cl, weights_lanes.cl and attention_simt.cl alone: a
 * row of a table made concrete, launched in one of their shapes, and compared
 * with the formula in double precision.
 */
#ifndef CLATTN_TESTS_FUSED_H
#define CLATTN_TESTS_FUSED_H

#include "rules.h"

enum fused_slot {
    FUSED_Q,
    FUSED_K,
    FUSED_V,
    FUSED_OUT,
    FUSED_LSE,
    FUSED_WEIGHTS,
    FUSED_SCORES
};

/* As the kernels' tables have them: the lanes kernels, and attention_simt. */
typedef struct fused_shape {
    size_t VW, LS, NV, BC, MS, MO;
} fused_shape;

typedef struct fused_tile {
    size_t BR, BC, WX, WY, KC, DC;
} fused_tile;

typedef struct fused_case {
    const char *about;
    size_t items, heads, group; /* heads of q that share one of k and v */
    size_t Lq, Lk, D, Dv;
    kernel_rules rules;
    wide diagonal, left, right;
    float softcap;
    bool mask_shared[4];
    int32_t dtype[4];   /* of q, k, v and out; 0: f32 */
    int stage;          /* of weights_lanes: 0, 1 weights, 2 final scores */
    int32_t weights;    /* dtype; 0: f32 */
    bool gaps, grouped; /* each group is launched for itself */
} fused_case;

typedef struct fused {
    fused_case of;
    const char *kernel;
    char shape[100];         /* the options that make it */
    size_t rows, work_items; /* of a group */
    bool keeps;              /* weights_lanes, which keeps the scores */
    rules rules;
    attention_params params;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} fused;

/* q and k of -1, 0 and 1, v of whole numbers; rows of k and v that no row of q
   sees are NaN, as is whatever is no item's. */
void fused_create(
    fused *p, const fused_case *c, const fused_shape *shape, bool keeps);
void fused_create_simt(fused *p, const fused_case *c, const fused_tile *tile);
/* Takes the memory as it is now for the state before. */
void fused_run(fused *p);
/* Every element of every output, and that nothing else was written. */
void fused_check(const fused *p);
void fused_destroy(fused *p);

/* The element of out of an item's own row. */
float *fused_out(const fused *p, size_t b, size_t h, size_t i, size_t column);
/* Of k or v: key j of an item, for head h of q. */
float *fused_key(const fused *p, enum fused_slot slot, size_t b, size_t h,
    size_t j, size_t column);

/* ---- Checks, which destroy what they check ------------------------------------ */

/* The formula; exact_ends: buffers without guard zones, for drivers that watch
   bounds. */
void fused_check_run(fused *p, bool exact_ends);

enum {
    FUSED_NAN_WAYS = 4 /* NaN or infinity, in k or in v */
};

/* Of two alike whose row i sees keys up to i + 2: NaN in what key 31 has makes
   rows from 29 on NaN, and changes no bit of the others. */
void fused_check_nan(fused *clean, fused *bad, int way);

/* With q of 0, out is the mean of the values that row i sees: up to i + 2. */
void fused_check_mean(fused *p);

#endif
