/* SPDX-License-Identifier: Apache-2.0
 *
 * fused.h - kernels of fused attention alone, and weights_lanes.cl: a row of a
 * table made concrete, launched in one of their shapes, and compared with the
 * formula in double precision.
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

/* attention_mma: q, k and v in one 16-bit storage, whatever the case says. */
typedef struct fused_unit {
    const char *options;
    size_t rows, work_items;
    int32_t dtype;
} fused_unit;

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

#define FUSED_FAR KERNEL_UNBOUNDED

/* Initialisers of what a kernel must bear in every shape. */
/* clang-format off */ /* it takes the last one for a block */
#define FUSED_CASES                                                            \
    {"sizes that divide nothing", 2, 4, 2, 21, 37, 5, 7, .rules = {.lse = 1},  \
        .gaps = true},                                                         \
    {"one row and key", 1, 2, 2, 1, 1, 5, 7, .rules = {.lse = 1}},             \
    {"no keys", 1, 2, 1, 5, 0, 5, 7, .rules = {.lse = 1}},                     \
    {"more rows than any group", 1, 1, 1, 141, 19, 5, 7,                       \
        .rules = {.lse = 1}, .grouped = true},                                 \
    {"causal", 2, 2, 2, 40, 45, 5, 7, .rules = {.band = 1, .lse = 1}, 2,       \
        FUSED_FAR, 0, .gaps = true},                                           \
    {"a window", 1, 2, 1, 70, 75, 5, 7, .rules = {.band = 1, .lse = 1}, 3,     \
        5, 2},                                                                 \
    {"rows that see nothing", 1, 2, 1, 20, 30, 5, 7,                           \
        .rules = {.band = 1, .lse = 1}, -9, 4, 0},                             \
    {"packed items, causal", 16, 2, 2, 19, 23, 8, 4,                           \
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0,            \
        FUSED_FAR, 0, .dtype = {0, CLATTN_F16, CLATTN_F16, 0},                 \
        .gaps = true},                                                         \
    {"all rules at once", 8, 3, 1, 19, 27, 9, 5,                               \
        .rules = {1, 1, 0, 1, 1, 1, 1, CLATTN_F16, 1}, 0, 9, 4, 4,             \
        .dtype = {CLATTN_F16, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},           \
        .gaps = true},                                                         \
    {"a bool mask, causal, no LSE", 2, 2, 1, 37, 41, 16, 8,                    \
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 4, FUSED_FAR, 0,            \
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .gaps = true},     \
    {"a bool mask for all rows", 2, 2, 1, 37, 41, 16, 8,                       \
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FUSED_FAR,               \
        FUSED_FAR, .mask_shared = {false, false, true},                        \
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}},                   \
    {"a bool mask for all keys", 2, 2, 1, 37, 41, 16, 8,                       \
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FUSED_FAR,               \
        FUSED_FAR, .mask_shared = {true, false, false, true},                  \
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16},                    \
        .grouped = true},                                                      \
    {"softcap and nothing else", 1, 2, 1, 21, 37, 5, 7,                        \
        .rules = {.softcap = 1, .lse = 1}, .softcap = 4},                      \
    {"ALiBi and nothing else", 1, 2, 1, 21, 37, 5, 7,                          \
        .rules = {.alibi = 1, .lse = 1}}
/* clang-format on */

enum {
    FUSED_CAUSAL = 4 /* of these: row i sees keys up to i + 2 */
};

typedef struct fused {
    fused_case of;
    const char *kernel;
    char shape[100];         /* the options that make it */
    size_t rows, work_items; /* of a group */
    bool keeps;              /* weights_lanes, which keeps the scores */
    int32_t rounds; /* the storage that weights are rounded to; 0: none */
    rules rules;
    attention_params params;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
    double error,
        share; /* of out, once checked: the worst; of what is allowed */
} fused;

/* q and k of -1, 0 and 1, v of whole numbers; rows of k and v that no row of q
   sees are NaN, as is whatever is no item's. */
void fused_create(
    fused *p, const fused_case *c, const fused_shape *shape, bool keeps);
void fused_create_simt(fused *p, const fused_case *c, const fused_tile *tile);
void fused_create_unit(fused *p, const fused_case *c, const fused_unit *unit);
/* Takes the memory as it is now for the state before. */
void fused_run(fused *p);
/* Every element of every output, and that nothing else was written. */
void fused_check(fused *p);
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

/* With q of 0, out is the mean of the values that a row sees. */
void fused_check_mean(fused *p);

/* With scores that lie millions apart, out is the mean of the values whose keys
   score best of those that a row sees. */
void fused_check_vast(fused *p);

#endif
