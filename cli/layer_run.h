/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_run.h - a model's attention layer applied to hidden states by the
 * library: sizes, memory, call.
 */
#ifndef CLATTN_CLI_LAYER_RUN_H
#define CLATTN_CLI_LAYER_RUN_H

#include "model.h"
#include "npy.h"
#include "session.h"

typedef struct layer_run {
    /* What is asked. */
    const model_layer *model;
    const npy_array *x;     /* (L, E) or (B, L, E) */
    const int32_t *lengths; /* of keys, B values; NULL: all L */
    int32_t diagonal;       /* not CLATTN_DIAGONAL_UNSET: causal */
    bool no_scale;
    bool want_context, want_weights, want_lse, want_qkv;
    /* What comes of it.  The shapes follow x: without B if x has none. */
    size_t B, L;
    npy_array y;       /* (B, L, Ey) */
    npy_array context; /* (B, L, Hq * Dv), before the output projection */
    npy_array weights; /* (B, Hq, L, L) */
    npy_array lse;     /* (B, Hq, L) */
    npy_array q, k, v; /* (B, L, heads, columns) */
} layer_run;

/* Fill in B and L from the asked, which are checked against each other; the
   messages name the files of model and x. */
bool layer_run_measure(
    layer_run *run, const char *model_path, const char *x_path, failure *f);

/* Times go to the session.  The plan's description goes to `explain` unless
   that is NULL. */
bool layer_run_compute(layer_run *run, session *s, FILE *explain, failure *f);
void layer_run_free(layer_run *run);

/* The context, which is y where there is no output projection. */
const npy_array *layer_run_context(const layer_run *run);

#endif
