/* SPDX-License-Identifier: Apache-2.0
 *
 * host_call.c - clattn_X_host: plan, copy in, run, copy out.
 */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "operations.h"
#include "problem.h"

/* What one host call makes and must release. */
typedef struct host_call {
    call call; /* its operands' host places are kept in `host` */
    clattn_input host[MAX_OPERANDS];
    clattn_plan *plan;
    cl_command_queue queue;
    char *staged; /* room for any output with gaps; NULL: none has */
} host_call;

/* A queue of our own, and a call on it; takes over the plan. */
static clattn_status begin(host_call *h, clattn_plan *plan,
    enum operation operation, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;

    h->plan = plan;
    h->queue = clCreateCommandQueue(plan->ctx->cl, plan->ctx->device, 0, &code);
    TRY(error_check_cl(error, code, "clCreateCommandQueue"));
    TRY(call_begin(&h->call, plan, operation, h->queue, 0, NULL, error));

cleanup:
    return status;
}

static void end(host_call *h)
{
    call_end(&h->call);
    if (h->queue)
        clReleaseCommandQueue(h->queue);
    free(h->staged);
    clattn_plan_destroy(h->plan);
}

static clattn_status refuse_workspace(
    const clattn_output *workspace, clattn_error *error)
{
    if (workspace->mem || workspace->host || workspace->offset)
        return error_set(error, CLATTN_INVALID,
            "workspace is given, but a host call brings its own");
    return CLATTN_OK;
}

/* Rows of a packed batch that no item owns keep what they hold, so such an
   output goes to the device and back. */
static bool is_copied_in(const host_call *h, const operand *op)
{
    return !op->output || (h->plan->attention.flags & CLATTN_QUERY_STARTS) != 0;
}

static clattn_status upload(host_call *h, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const device_limits *limits = &h->plan->ctx->limits;
    for (size_t i = 0; i < h->call.count; ++i) {
        operand *op = &h->call.list[i];
        const size_t bytes = operand_span(op) * op->element;
        h->host[i] = op->at;
        if (!op->wanted || bytes == 0)
            continue;
        if (bytes > limits->max_buffer_bytes)
            return error_set(error, CLATTN_UNSUPPORTED,
                "%s takes %zu bytes, the device's buffers end at %zu", op->name,
                bytes, limits->max_buffer_bytes);
        const char *first =
            (const char *)op->at.host + op->at.offset * op->element;
        const bool in = is_copied_in(h, op);
        TRY(call_buffer(&op->at.mem, &h->call,
            (op->output ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY) |
                (in ? CL_MEM_COPY_HOST_PTR : 0),
            bytes, in ? first : NULL, error));
        op->at.host = NULL;
        op->at.offset = 0;
    }

cleanup:
    return status;
}

static bool has_gaps(const operand *op)
{
    return op->size[0] * op->size[1] * op->size[2] * op->size[3] !=
           operand_span(op);
}

/* Room for outputs that come back with what lies between their rows, made
   before any work is queued: later is too late for a lack of memory. */
static clattn_status make_staging(host_call *h, clattn_error *error)
{
    size_t most = 0;
    const char *name = "";
    for (size_t i = 0; i < h->call.count; ++i) {
        const operand *op = &h->call.list[i];
        const size_t bytes = operand_span(op) * op->element;
        if (!op->output || !op->at.mem || !has_gaps(op) || bytes <= most)
            continue;
        most = bytes;
        name = op->name;
    }
    h->staged = most > 0 ? malloc(most) : NULL;
    if (most > 0 && !h->staged)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for %zu bytes of %s", most, name);
    return CLATTN_OK;
}

/* Copy a tensor's elements, and nothing between them. */
static void copy_rows(const operand *op, char *to, const char *from)
{
    const size_t row_bytes = op->size[3] * op->element;
    for (size_t b = 0; b < op->size[0]; ++b)
        for (size_t h = 0; h < op->size[1]; ++h)
            for (size_t i = 0; i < op->size[2]; ++i) {
                const size_t at = (b * op->stride[0] + h * op->stride[1] +
                                      i * op->stride[2]) *
                                  op->element;
                memcpy(to + at, from + at, row_bytes);
            }
}

static clattn_status download_one(
    const host_call *h, size_t index, clattn_error *error)
{
    const operand *op = &h->call.list[index];
    const clattn_input *at = &h->host[index];
    const size_t bytes = operand_span(op) * op->element;
    /* An output: the caller's pointer was not const. */
    char *to = (char *)(uintptr_t)at->host + at->offset * op->element;
    const bool gaps = has_gaps(op);
    const clattn_status status = error_check_cl(error,
        clEnqueueReadBuffer(h->queue, op->at.mem, CL_TRUE, 0, bytes,
            gaps ? h->staged : to, 0, NULL, NULL),
        "clEnqueueReadBuffer");
    if (status == CLATTN_OK && gaps)
        copy_rows(op, to, h->staged);
    return status;
}

/* Where there was work, outputs may be written in part when this fails. */
static clattn_status download(const host_call *h, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    TRY(error_check_cl(error, clFinish(h->queue), "clFinish"));
    for (size_t i = 0; i < h->call.count; ++i)
        if (h->call.list[i].output && h->call.list[i].at.mem)
            TRY(download_one(h, i, error));

cleanup:
    return status != CLATTN_OK && h->call.chain.last ? error_after_work(error)
                                                     : status;
}

/* The call's operands are listed and lie on the host. */
static clattn_status run(host_call *h,
    clattn_status (*chain)(call *, clattn_error *), clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    TRY(upload(h, error));
    TRY(call_prepare(&h->call, error));
    TRY(make_staging(h, error));
    TRY(chain(&h->call, error));
    TRY(download(h, error));

cleanup:
    return status;
}

clattn_status clattn_attention_host(clattn_context *ctx,
    const clattn_attention *attention, const clattn_attention_args *args,
    clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;
    clattn_attention_args taken;
    host_call h = {0};
    call *c = &h.call;

    TRY(clattn_attention_plan(&plan, ctx, attention, error));
    TRY(begin(&h, plan, OPERATION_ATTENTION, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    TRY(refuse_workspace(&taken.workspace, error));
    c->dropout_seed = taken.dropout_seed;
    c->dropout_offset = taken.dropout_offset;
    c->count = operands_of_attention(c->list, &plan->attention, &taken);
    TRY(operands_check(c->list, c->count, OPERANDS_ON_HOST, error));
    TRY(operands_check_arrays(&plan->attention, &taken, error));
    TRY(run(&h, attention_chain, error));

cleanup:
    end(&h);
    return status;
}

clattn_status clattn_linear_host(clattn_context *ctx,
    const clattn_linear *linear, const clattn_linear_args *args,
    clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;
    clattn_linear_args taken;
    host_call h = {0};
    call *c = &h.call;

    TRY(clattn_linear_plan(&plan, ctx, linear, error));
    TRY(begin(&h, plan, OPERATION_LINEAR, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    TRY(refuse_workspace(&taken.workspace, error));
    c->count = operands_of_linear(c->list, &plan->linear, &taken);
    TRY(operands_check(c->list, c->count, OPERANDS_ON_HOST, error));
    TRY(run(&h, linear_chain, error));

cleanup:
    end(&h);
    return status;
}

clattn_status clattn_layer_host(clattn_context *ctx, const clattn_layer *layer,
    const clattn_layer_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;
    clattn_layer_args taken;
    clattn_attention_args inner;
    host_call h = {0};
    call *c = &h.call;

    memset(&inner, 0, sizeof inner);
    TRY(clattn_layer_plan(&plan, ctx, layer, error));
    TRY(begin(&h, plan, OPERATION_LAYER, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    if (taken.attention)
        TRY(problem_take_struct(&inner, sizeof inner, sizeof inner,
            taken.attention, "args.attention", error));
    TRY(refuse_workspace(&taken.workspace, error));
    c->dropout_seed = inner.dropout_seed;
    c->dropout_offset = inner.dropout_offset;
    c->count =
        operands_of_layer(c->list, &plan->layer, &plan->given, &taken, &inner);
    TRY(operands_check(c->list, c->count, OPERANDS_ON_HOST, error));
    TRY(operands_check_arrays(&plan->attention, &inner, error));
    TRY(run(&h, layer_chain, error));

cleanup:
    end(&h);
    return status;
}
