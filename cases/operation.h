/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.h - attention, linear and layer as one and the same: a trial and
 * how it is planned and called.
 */
#ifndef CLATTN_CASES_OPERATION_H
#define CLATTN_CASES_OPERATION_H

#include "attention_trial.h"
#include "layer_case.h"
#include "linear_case.h"

typedef struct operation {
    arena *memory; /* the trial's */
    const void *trial;
    clattn_status (*host)(
        clattn_context *ctx, const void *trial, clattn_error *error);
    clattn_status (*reference)(const void *trial, clattn_error *error);
    clattn_status (*plan)(clattn_plan **plan, clattn_context *ctx,
        const void *trial, clattn_error *error);
    /* The workspace may be none, and `wait` NULL. */
    clattn_status (*enqueue)(const clattn_plan *plan, cl_command_queue queue,
        const void *trial, const cl_mem *buffers, clattn_output workspace,
        const cl_event *wait, cl_event *event, clattn_error *error);
} operation;

/* The trial must live as long. */
operation operation_attention(attention_trial *trial);
operation operation_linear(linear_trial *trial);
operation operation_layer(layer_trial *trial);

#endif
