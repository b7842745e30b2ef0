/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h - the attention layer of a model in a .safetensors file: found by the
 * names of its tensors, converted to f32, measured.
 */
#ifndef CLATTN_CLI_MODEL_H
#define CLATTN_CLI_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

typedef enum model_part {
    MODEL_Q,
    MODEL_K,
    MODEL_V,
    MODEL_O,
    MODEL_PARTS
} model_part;

typedef struct model_request {
    const char *path;
    bool has_layer;
    size_t layer;
    const char *prefix;   /* NULL: any */
    int32_t weight_order; /* 0: what the names say */
    bool no_rope;         /* the input is meant without rotation */
    bool no_output;       /* leave the output projection out */
    size_t heads;         /* 0: what the file's metadata say */
} model_request;

/* W and b of one projection: y = x W + b. */
typedef struct model_weight {
    const float *w, *b; /* b: NULL if there is none; both if no projection */
    size_t row;         /* stride of w */
    size_t n_in, n_out;
} model_weight;

typedef struct model_layer {
    char *prefix; /* of the names: "encoder.layer.3.attention"; may be "" */
    bool has_index;
    size_t index;         /* 3 */
    int32_t weight_order; /* a clattn_weight_order */
    model_weight part[MODEL_PARTS];
    size_t E, Ey; /* width of x and of y */
    size_t Hq, Hkv, D, Dv;
    float *owned[2 * MODEL_PARTS]; /* what w and b point into */
} model_layer;

/*
 * Recognised, P being the prefix:
 *   P.self.{query,key,value}.{weight,bias}, P.output.dense; P ends in attention
 *   P.{q,k,v}_proj, P.out_proj
 *   P.{q,k,v}_proj, P.o_proj          refused without no_rope
 *   P.in_proj_weight, P.in_proj_bias, P.out_proj
 *   P.W_{Q,K,V,O}.{weight,bias}       [out,in] as nn.Linear stores it
 *   P.W_{Q,K,V,O}, P.b_{Q,K,V,O}      [in,out] as the formula has it
 * On false *layer is empty and needs no freeing.
 */
bool model_load(model_layer *layer, const model_request *request, failure *f);
void model_free(model_layer *layer);

#endif
