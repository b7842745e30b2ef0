/* SPDX-License-Identifier: Apache-2.0
 *
 * call.h - one enqueue: its plan, queue and operands checked, host arrays and
 * workspace in place; what all X_enqueue have in common.
 */
#ifndef CLATTN_HOST_CALL_H
#define CLATTN_HOST_CALL_H

#include "chain.h"
#include "operand.h"
#include "planned.h"

typedef struct call {
    const clattn_plan *plan;
    chain chain;
    operand list[MAX_OPERANDS];
    size_t count;
    cl_mem made[MAX_OPERANDS]; /* released when the call ends: OpenCL keeps
                                  them until the work is done */
    size_t n_made;
    region workspace;                      /* offset in bytes */
    uint64_t dropout_seed, dropout_offset; /* of an attention */
} call;

/* The plan is of this operation, the queue of its context and device, the wait
   list in order. */
clattn_status call_begin(call *c, const clattn_plan *plan,
    enum operation operation, cl_command_queue queue, cl_uint num_wait,
    const cl_event *wait_list, clattn_error *error);

/* The operands are listed: resolve and check them, the workspace included. */
clattn_status call_check(
    call *c, const clattn_output *workspace, clattn_error *error);

/* Put host arrays into buffers, and make a workspace if none was given. */
clattn_status call_prepare(call *c, clattn_error *error);

/* A buffer that is released when the call ends. */
clattn_status call_buffer(cl_mem *out, call *c, cl_mem_flags flags,
    size_t bytes, const void *content, clattn_error *error);

/* Where the operand of that name lies; nowhere if it was not given. */
region call_region(const call *c, const char *name);

/* All that an attention reads and writes; the workspace is still nowhere. */
attention_regions call_attention_regions(const call *c, bool within_layer);

/* A part of the workspace as a region of elements of so many bytes. */
region call_scratch(const call *c, size_t offset_bytes, size_t element);

void call_end(call *c);

#endif
