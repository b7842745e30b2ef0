/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_case.h - attention problems in one line each, and what makes a
 * line concrete: strides, offsets, lengths and numbers, all from its seed.
 */
#ifndef CLATTN_CASES_ATTENTION_CASE_H
#define CLATTN_CASES_ATTENTION_CASE_H

#include "arena.h"

enum case_layout {
    LAYOUT_DENSE,  /* (B, H, L, D), strides left 0 */
    LAYOUT_BLHD,   /* (B, L, H, D) */
    LAYOUT_PACKED, /* q, k and v in one buffer, row by row; Lq = Lk */
    LAYOUT_PADDED, /* gaps behind rows, heads and items, odd offsets */
    LAYOUT_SHARED, /* all items read one k and one v: batch stride 0 */
    LAYOUTS
};

enum case_fill {
    FILL_RANDOM, /* q, k, v in [-1, 1) */
    FILL_EQUAL,  /* q = 0: all scores are */
    FILL_TALL,   /* scores to +-1e4 */
    FILL_HUGE,   /* the same, but the first key of each row alone is large */
    FILL_SUNK,   /* all scores far below 0, so that a padded 0 would win */
    FILL_TINY,   /* q and v subnormal */
    FILL_NAN,    /* one key that some rows read is NaN */
    FILLS
};

typedef struct attention_case {
    const char *about; /* a sentence */
    struct {
        size_t B, Hq, Hkv, Lq, Lk, D, Dv;
    } size;
    enum case_layout layout;
    enum case_fill fill;
    int32_t causal, diagonal, diagonal_offset;
    bool item_offsets; /* a diagonal offset of its own for each item */
    bool key_lengths;  /* drawn; the second item has 0, the third all */
    int32_t has_scale;
    float scale;
    uint32_t returns; /* CLATTN_RETURN_LSE, CLATTN_RETURN_WEIGHTS */
    uint64_t seed;
} attention_case;

/* The table, then sweeps over the sizes around the edges of tiles. */
size_t attention_case_count(void);
attention_case attention_case_at(size_t index);

/* Any legal case, all of it from the seed. */
attention_case attention_case_draw(uint64_t seed);

/* One line with everything that it takes to build the case again. */
const char *attention_case_text(const attention_case *c, char text[ARENA_TEXT]);

enum attention_slot {
    SLOT_Q,
    SLOT_K,
    SLOT_V,
    SLOT_OUT,
    SLOT_LSE,
    SLOT_WEIGHTS,
    SLOT_KEY_LENGTHS,
    SLOT_OFFSETS
};

/* A case made concrete. */
typedef struct attention_trial {
    attention_case of;
    clattn_attention problem;
    arena memory;     /* slots of attention_slot */
    bool host_arrays; /* hand int32 arrays over as host memory always */
} attention_trial;

/* False where memory is short.  Outputs hold the pattern, as does what no row
   may look at: keys past a length or hidden from every row by causal. */
bool attention_trial_create(attention_trial *trial, const attention_case *c);
void attention_trial_destroy(attention_trial *trial);

/* Arguments of a host call, or with the arena's buffers those of an enqueue. */
clattn_attention_args attention_trial_args(
    const attention_trial *trial, const cl_mem *buffers);

/* What the rules of the header say about one item: how many keys it has, and
   on which key its row 0 stands. */
size_t attention_trial_keys(const attention_trial *trial, size_t b);
int64_t attention_trial_offset(const attention_trial *trial, size_t b);
bool attention_trial_sees(
    const attention_trial *trial, size_t b, size_t i, size_t j);

/* Write `value` to every column of k and v that no row may look at. */
void attention_trial_poison(attention_trial *trial, float value);

#endif
