/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_case.h - multi-head layers in one line each, made concrete, and what
 * their outputs must hold.
 */
#ifndef CLATTN_CASES_LAYER_CASE_H
#define CLATTN_CASES_LAYER_CASE_H

#include "expected.h"

typedef struct layer_case {
    const char *about;
    struct {
        size_t B, Hq, Hkv, Lq, Lk, D, Dv, E, Ek, Ev, Ey;
    } size;
    int32_t order;  /* CLATTN_IN_OUT or CLATTN_OUT_IN */
    uint32_t flags; /* of clattn_layer_flags */
    uint32_t returns;
    int32_t causal; /* bottom right */
    bool key_lengths;
    bool nan_rows; /* input rows past the lengths hold NaN */
    bool packed;   /* w_q, w_k and w_v in one buffer; Ek = Ev = 0 */
    bool padded;   /* gaps behind rows of x, y and weights; odd offsets */
    uint64_t seed;
} layer_case;

size_t layer_case_count(void);
layer_case layer_case_at(size_t index);
const char *layer_case_text(const layer_case *c, char text[ARENA_TEXT]);

enum layer_slot {
    LAYER_X,
    LAYER_X_K,
    LAYER_X_V,
    LAYER_W_Q,
    LAYER_W_K,
    LAYER_W_V,
    LAYER_W_O,
    LAYER_B_Q,
    LAYER_B_K,
    LAYER_B_V,
    LAYER_B_O,
    LAYER_Y,
    LAYER_Q,
    LAYER_K,
    LAYER_V,
    LAYER_OUT,
    LAYER_LSE,
    LAYER_WEIGHTS,
    LAYER_KEY_LENGTHS,
    LAYER_SLOTS
};

/* Not to be copied: problem.attention points into it. */
typedef struct layer_trial {
    layer_case of;
    clattn_attention attention;
    clattn_layer problem;
    arena memory; /* slots of layer_slot */
} layer_trial;

bool layer_trial_create(layer_trial *trial, const layer_case *c);
void layer_trial_destroy(layer_trial *trial);

/* `inner` is written, and must live as long as the arguments. */
clattn_layer_args layer_trial_args(const layer_trial *trial,
    clattn_attention_args *inner, const cl_mem *buffers);

/* Keys of an item, by its length. */
size_t layer_trial_keys(const layer_trial *trial, size_t b);

/* One per slot; those that are no output stay empty. */
typedef struct layer_expected {
    expected of[LAYER_SLOTS];
} layer_expected;

clattn_status layer_expect(
    layer_expected *e, const layer_trial *trial, clattn_error *error);
void layer_expected_free(layer_expected *e);
bool layer_meets(
    const layer_expected *e, const layer_trial *trial, char text[ARENA_TEXT]);

#endif
