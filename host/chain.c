/* SPDX-License-Identifier: Apache-2.0
 *
 * chain.c - kernel launches on a caller's queue, each after the one before,
 * whatever the queue's order.
 */
#include "chain.h"

#include "error.h"

static clattn_status set_arguments(
    cl_kernel kernel, const launch *l, cl_mem any, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_uint index = 0;
    for (; index < l->n_buffers; ++index) {
        const cl_mem mem = l->buffer[index] ? l->buffer[index] : any;
        TRY(error_check_cl(error,
            clSetKernelArg(kernel, index, sizeof mem, &mem), "clSetKernelArg"));
    }
    TRY(error_check_cl(error,
        clSetKernelArg(kernel, index, l->params_bytes, l->params),
        "clSetKernelArg"));

cleanup:
    return status;
}

static clattn_status enqueue_kernel(
    chain *c, cl_kernel kernel, const launch *l, clattn_error *error)
{
    size_t global[3];
    for (int d = 0; d < 3; ++d)
        global[d] = l->groups[d] * l->local[d];
    cl_event done = NULL;
    const cl_uint num_wait = c->last ? 1 : c->num_wait;
    const cl_event *wait_list = c->last ? &c->last : c->wait_list;
    const cl_int code = clEnqueueNDRangeKernel(c->queue, kernel, 3, NULL,
        global, l->local, num_wait, wait_list, &done);
    if (code != CL_SUCCESS)
        return error_check_cl(error, code, "clEnqueueNDRangeKernel");
    if (c->last)
        clReleaseEvent(c->last);
    c->last = done;
    return CLATTN_OK;
}

/* What the visitor of a walk needs. */
typedef struct running {
    chain *chain;
    const choice *chosen;
    cl_mem any;
    clattn_error *error;
} running;

static clattn_status run_launch(void *state, const launch *l)
{
    const running *r = state;
    const built_kernel *built = r->chosen->built[l->kernel];
    system_lock_take(built->lock);
    clattn_status status = set_arguments(built->kernel, l, r->any, r->error);
    if (status == CLATTN_OK)
        status = enqueue_kernel(r->chain, built->kernel, l, r->error);
    system_lock_release(built->lock);
    return status;
}

/* With part of the work queued, outputs are unspecified: say so by status. */
static clattn_status after_walk(
    const chain *c, clattn_status status, clattn_error *error)
{
    if (status == CLATTN_OK || !c->last)
        return status;
    return error_after_work(error);
}

clattn_status chain_attention(chain *c, const choice *chosen,
    const clattn_context *ctx, const clattn_attention *attention,
    const attention_regions *regions, clattn_error *error)
{
    running state = {c, chosen, regions->out.mem, error};
    return after_walk(c,
        plan_walk_attention(
            &chosen->p, attention, &ctx->limits, regions, run_launch, &state),
        error);
}

clattn_status chain_matmul(chain *c, const choice *chosen,
    const clattn_context *ctx, const matmul_job *job,
    const matmul_regions *regions, clattn_error *error)
{
    running state = {c, chosen, regions->c.mem, error};
    return after_walk(c,
        chosen->p.row->walk_matmul(
            &chosen->p, job, &ctx->limits, regions, run_launch, &state),
        error);
}

clattn_status chain_finish(chain *c, cl_event *event, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    if (event && c->last) {
        *event = c->last;
        c->last = NULL;
    } else if (event) {
        status = error_check_cl(error,
            clEnqueueMarkerWithWaitList(
                c->queue, c->num_wait, c->wait_list, event),
            "clEnqueueMarkerWithWaitList");
    }
    chain_drop(c);
    return status;
}

void chain_drop(chain *c)
{
    if (c->last)
        clReleaseEvent(c->last);
    c->last = NULL;
}
