/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.h - kernel launches on a caller's queue, each after the one before,
 * whatever the queue's order.
 */
#ifndef CLATTN_HOST_CHAIN_H
#define CLATTN_HOST_CHAIN_H

#include "choose.h"

typedef struct chain {
    cl_command_queue queue;
    cl_uint num_wait; /* what the first launch waits for */
    const cl_event *wait_list;
    cl_event last; /* of the latest launch; NULL before the first */
} chain;

/* All launches of a job; buffers that the job has none of (no bias, no
   lengths) become `any`, since a kernel argument must be something. */
clattn_status chain_attention(chain *c, const choice *chosen,
    const clattn_context *ctx, const clattn_attention *attention,
    const attention_regions *regions, clattn_error *error);
clattn_status chain_matmul(chain *c, const choice *chosen,
    const clattn_context *ctx, const matmul_job *job,
    const matmul_regions *regions, clattn_error *error);

/* Give the caller the event of the last launch or, if nothing was launched, a
   marker after the wait list.  event may be NULL.  Ends the chain. */
clattn_status chain_finish(chain *c, cl_event *event, clattn_error *error);

/* End it without; a no-op on an ended chain. */
void chain_drop(chain *c);

#endif
