/* SPDX-License-Identifier: Apache-2.0
 *
 * planned.h - the object behind clattn_plan: an operation, its completed
 * descriptor, and the choices made for it.
 */
#ifndef CLATTN_HOST_PLANNED_H
#define CLATTN_HOST_PLANNED_H

#include "choose.h"

enum operation {
    OPERATION_ATTENTION,
    OPERATION_LINEAR,
    OPERATION_LAYER
};

/* The projections of a layer. */
enum projection {
    PROJECT_Q,
    PROJECT_K,
    PROJECT_V,
    PROJECT_OUT,
    N_PROJECTIONS
};

struct clattn_plan {
    clattn_context *ctx;
    enum operation operation;

    clattn_attention attention; /* of attention and layer */
    choice attend;

    clattn_linear linear;
    clattn_layer layer; /* completed; its attention is the one above */
    clattn_layer given; /* as the caller had it: which inputs there are */
    matmul_job job[N_PROJECTIONS]; /* a linear's is the first */
    choice project[N_PROJECTIONS];
    cl_mem slopes;                 /* ALiBi's, one a head; NULL: none */
    size_t scratch[N_PROJECTIONS]; /* where q, k, v, out lie in the workspace */
    size_t attend_scratch;         /* where the attention's own begins */
    size_t project_scratch;        /* and that of the projections, in turn */

    size_t workspace_bytes;
    char text[16000];
};

/* An empty plan that keeps ctx. */
clattn_status planned_create(clattn_plan **plan, clattn_context *ctx,
    enum operation operation, clattn_error *error);

/* Put the descriptor's ALiBi slopes into a buffer of the plan. */
clattn_status planned_keep_slopes(clattn_plan *plan, clattn_error *error);

/* Append "label: " and the choice to the plan's text. */
void planned_describe(clattn_plan *plan, const char *label, const choice *c);

/* Descriptors were read during the call; what they point to is not kept. */
void planned_forget_pointers(clattn_plan *plan);

const char *operation_name(enum operation operation);

#endif
