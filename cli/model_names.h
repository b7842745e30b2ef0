/* SPDX-License-Identifier: Apache-2.0
 *
 * model_names.h - how models name the tensors of an attention layer, and which
 * of a file's layers a request means.
 */
#ifndef CLATTN_CLI_MODEL_NAMES_H
#define CLATTN_CLI_MODEL_NAMES_H

#include "model.h"
#include "safetensors.h"

/* All names follow the prefix and a dot; the dot goes where the prefix is
   empty. */
typedef struct model_naming {
    const char *module; /* what the prefix must end in; NULL: anything */
    const char *beside; /* a tensor that must be there too; NULL: none */
    const char *weight[MODEL_PARTS];
    const char *bias[MODEL_PARTS][2]; /* at most one of two may be there */
    int32_t order;                    /* a clattn_weight_order */
    bool packed;     /* q, k and v are one tensor, one after another */
    bool needs_o;    /* always has an output projection */
    bool has_rotary; /* q and k are rotated before attention */
} model_naming;

/* A layer of a file.  The prefix is not terminated and lives in the file. */
typedef struct model_match {
    const model_naming *naming;
    const char *prefix;
    size_t prefix_size;
} model_match;

/* The one layer that the request means.  None or several: the message lists
   what is there. */
bool model_choose(model_match *match, const safetensors *file,
    const model_request *request, failure *f);

/* The layer's number: the last part of the prefix that is digits. */
bool model_index(const model_match *match, size_t *index);

/* The tensor of that name in the layer; NULL if there is none. */
const safetensor *model_tensor(
    const safetensors *file, const model_match *match, const char *name);

/* False if the layer does what attention alone does not: rotation (but for
   no_rope), norms of q and k, position terms in the scores. */
bool model_is_plain(const safetensors *file, const model_match *match,
    const model_request *request, failure *f);

#endif
