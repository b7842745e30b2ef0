/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.h - attention, linear and layer as one and the same: a trial and
 * how it is planned and called, on the shared context.
 */
#ifndef CLATTN_TESTS_OPERATION_H
#define CLATTN_TESTS_OPERATION_H

#include "attention_trial.h"
#include "layer_case.h"
#include "linear_case.h"

typedef struct operation {
    arena *memory;
    const void *trial;
    clattn_status (*host)(const void *trial, clattn_error *error);
    clattn_status (*plan)(
        clattn_plan **plan, const void *trial, clattn_error *error);
    clattn_status (*enqueue)(const clattn_plan *plan, cl_command_queue queue,
        const void *trial, const cl_mem *buffers, cl_event *event,
        clattn_error *error);
} operation;

/* The trial must live as long. */
operation operation_attention(attention_trial *trial);
operation operation_linear(linear_trial *trial);
operation operation_layer(layer_trial *trial);

#endif
