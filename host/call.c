/* SPDX-License-Identifier: Apache-2.0
 *
 * call.c - one enqueue: its plan, queue and operands checked, host arrays and
 * workspace in place; what all X_enqueue have in common.
 */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

enum {
    WORKSPACE_ALIGNMENT = 64
};

static clattn_status check_queue(
    const clattn_context *ctx, cl_command_queue queue, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_context cl = NULL;
    cl_device_id device = NULL;

    if (!queue)
        return error_set(error, CLATTN_INVALID, "queue is NULL");
    TRY(error_check_cl(error,
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof cl, &cl, NULL),
        "clGetCommandQueueInfo(CL_QUEUE_CONTEXT)"));
    TRY(error_check_cl(error,
        clGetCommandQueueInfo(
            queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL),
        "clGetCommandQueueInfo(CL_QUEUE_DEVICE)"));
    if (cl != ctx->cl || device != ctx->device)
        status = error_set(error, CLATTN_INVALID,
            "queue is of another %s than the plan",
            cl != ctx->cl ? "context" : "device");

cleanup:
    return status;
}

/*
 * What waits for an event that has failed already may wait for ever: PoCL 3.1
 * takes such a wait list and never ends the command.
 */
static clattn_status check_event(const clattn_context *ctx,
    const cl_event *wait_list, size_t i, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const cl_event event = wait_list[i];
    cl_context cl = NULL;
    cl_int state = CL_QUEUED;

    if (!event)
        return error_set(error, CLATTN_INVALID, "wait_list[%zu] is NULL", i);
    TRY(error_check_cl(error,
        clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof cl, &cl, NULL),
        "clGetEventInfo(CL_EVENT_CONTEXT)"));
    TRY(error_check_cl(error,
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
            &state, NULL),
        "clGetEventInfo(CL_EVENT_COMMAND_EXECUTION_STATUS)"));
    if (cl != ctx->cl)
        status = error_set(error, CLATTN_INVALID,
            "wait_list[%zu] is an event of another context than the plan", i);
    else if (state < 0) {
        status = error_set(error, CLATTN_DEVICE_ERROR,
            "wait_list[%zu] has failed: %s (%d)", i, error_cl_name(state),
            state);
        if (error)
            error->cl_code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }

cleanup:
    return status;
}

static clattn_status check_wait_list(const clattn_context *ctx,
    cl_uint num_wait, const cl_event *wait_list, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    if ((num_wait > 0) != (wait_list != NULL))
        return error_set(error, CLATTN_INVALID,
            "num_wait is %u, but wait_list is %sNULL", (unsigned)num_wait,
            wait_list ? "not " : "");
    for (cl_uint i = 0; i < num_wait; ++i)
        TRY(check_event(ctx, wait_list, i, error));

cleanup:
    return status;
}

clattn_status call_begin(call *c, const clattn_plan *plan,
    enum operation operation, cl_command_queue queue, cl_uint num_wait,
    const cl_event *wait_list, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    memset(c, 0, sizeof *c);
    error_none(error);
    if (!plan)
        return error_set(error, CLATTN_INVALID, "plan is NULL");
    if (plan->operation != operation)
        return error_set(error, CLATTN_INVALID, "plan is one of %s, not of %s",
            operation_name(plan->operation), operation_name(operation));
    TRY(context_check(plan->ctx, error));
    TRY(check_queue(plan->ctx, queue, error));
    TRY(check_wait_list(plan->ctx, num_wait, wait_list, error));
    c->plan = plan;
    c->chain.queue = queue;
    c->chain.num_wait = num_wait;
    c->chain.wait_list = wait_list;

cleanup:
    return status;
}

#define QUERY(mem, what, to)                                    \
    error_check_cl(error,                                       \
        clGetMemObjectInfo(mem, what, sizeof(to), &(to), NULL), \
        "clGetMemObjectInfo(" #what ")")

/* Of a sub-buffer, what its buffer may hold: some drivers do not tell what it
   inherits. */
static clattn_status access_flags(
    cl_mem_flags *flags, cl_mem mem, cl_mem parent, clattn_error *error)
{
    const cl_mem_flags access =
        CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    clattn_status status = CLATTN_OK;
    TRY(QUERY(mem, CL_MEM_FLAGS, *flags));
    if (parent && (*flags & access) == 0)
        TRY(QUERY(parent, CL_MEM_FLAGS, *flags));

cleanup:
    return status;
}

/* What OpenCL leaves undefined in place of refusing it: kernels that write to
   memory that is for reading only, or the reverse. */
static clattn_status check_access(
    const operand *op, cl_mem parent, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_mem_flags flags = 0;
    TRY(access_flags(&flags, op->at.mem, parent, error));
    if (op->output && (flags & CL_MEM_READ_ONLY))
        status = error_set(error, CLATTN_INVALID,
            "%s is written, but its buffer is CL_MEM_READ_ONLY", op->name);
    else if ((!op->output || op->read_back) && (flags & CL_MEM_WRITE_ONLY))
        status = error_set(error, CLATTN_INVALID,
            "%s is %sread, but its buffer is CL_MEM_WRITE_ONLY", op->name,
            op->output ? "also " : "");

cleanup:
    return status;
}

static clattn_status check_buffer(
    const operand *op, const clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_context cl = NULL;
    cl_mem_object_type type = 0;
    TRY(QUERY(op->at.mem, CL_MEM_CONTEXT, cl));
    TRY(QUERY(op->at.mem, CL_MEM_TYPE, type));
    if (type != CL_MEM_OBJECT_BUFFER)
        status = error_set(error, CLATTN_INVALID,
            "%s is an image or pipe (CL_MEM_TYPE 0x%x), but must be a buffer",
            op->name, (unsigned)type);
    else if (cl != ctx->cl)
        status = error_set(error, CLATTN_INVALID,
            "%s is a buffer of another context than the plan", op->name);

cleanup:
    return status;
}

/* Where a cl_mem begins within the buffer that owns the memory. */
static clattn_status resolve(
    operand *op, const clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_mem parent = NULL;
    size_t bytes = 0, begin = 0;

    if (!op->wanted && op->at.mem) { /* refused by its name, wherever it is */
        op->space = (const void *)op->at.mem;
        return CLATTN_OK;
    }
    if (!op->at.mem) /* a host array, placed when listed, or not given */
        return CLATTN_OK;
    TRY(check_buffer(op, ctx, error));
    TRY(QUERY(op->at.mem, CL_MEM_SIZE, bytes));
    TRY(QUERY(op->at.mem, CL_MEM_ASSOCIATED_MEMOBJECT, parent));
    TRY(check_access(op, parent, error));
    if (parent)
        TRY(QUERY(op->at.mem, CL_MEM_OFFSET, begin));
    op->space = parent ? (const void *)parent : (const void *)op->at.mem;
    op->capacity = begin + bytes;
    /* Saturated: an offset past everything fits nowhere and is refused. */
    op->begin = op->at.offset > (SIZE_MAX - begin) / op->element
                    ? SIZE_MAX
                    : begin + op->at.offset * op->element;

cleanup:
    return status;
}

/* The workspace is listed, but only a plan knows its size. */
static void want_workspace(call *c)
{
    for (size_t i = 0; i < c->count; ++i) {
        operand *op = &c->list[i];
        if (strcmp(op->name, "workspace") == 0 && op->at.mem) {
            op->wanted = true;
            op->size[3] = c->plan->workspace_bytes;
        }
    }
}

clattn_status call_check(
    call *c, const clattn_output *workspace, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    want_workspace(c);
    if (workspace->host)
        return error_set(error, CLATTN_INVALID,
            "workspace.host is set, but a workspace is device memory: "
            "workspace.mem");
    if (!workspace->mem && workspace->offset != 0)
        return error_set(error, CLATTN_INVALID,
            "workspace.offset is %zu, but must be 0 where workspace.mem is NULL",
            workspace->offset);
    if (workspace->offset % WORKSPACE_ALIGNMENT != 0)
        return error_set(error, CLATTN_INVALID,
            "workspace.offset is %zu bytes, but must be a multiple of %d",
            workspace->offset, WORKSPACE_ALIGNMENT);
    for (size_t i = 0; i < c->count; ++i)
        TRY(resolve(&c->list[i], c->plan->ctx, error));
    TRY(operands_check(c->list, c->count, OPERANDS_ON_DEVICE, error));
    c->workspace = (region){workspace->mem, workspace->offset};

cleanup:
    return status;
}

clattn_status call_buffer(cl_mem *out, call *c, cl_mem_flags flags,
    size_t bytes, const void *content, clattn_error *error)
{
    cl_int code = CL_SUCCESS;
    /* OpenCL only reads it: its type is not const for CL_MEM_USE_HOST_PTR. */
    void *host = (void *)(uintptr_t)content;
    const cl_mem mem =
        clCreateBuffer(c->plan->ctx->cl, flags, bytes, host, &code);
    if (code != CL_SUCCESS)
        return error_check_cl(error, code, "clCreateBuffer");
    c->made[c->n_made++] = mem;
    *out = mem;
    return CLATTN_OK;
}

clattn_status call_prepare(call *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    for (size_t i = 0; i < c->count; ++i) {
        operand *op = &c->list[i];
        const size_t bytes = operand_span(op) * op->element;
        if (!op->array || !op->at.host || bytes == 0)
            continue;
        const char *first =
            (const char *)op->at.host + op->at.offset * op->element;
        TRY(call_buffer(&op->at.mem, c, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
            bytes, first, error));
        op->at.offset = 0;
    }
    if (!c->workspace.mem && c->plan->workspace_bytes > 0)
        TRY(call_buffer(&c->workspace.mem, c,
            CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, c->plan->workspace_bytes,
            NULL, error));

cleanup:
    return status;
}

region call_region(const call *c, const char *name)
{
    for (size_t i = 0; i < c->count; ++i)
        if (strcmp(c->list[i].name, name) == 0)
            return (region){c->list[i].at.mem, c->list[i].at.offset};
    return (region){NULL, 0};
}

attention_regions call_attention_regions(const call *c, bool within_layer)
{
    attention_regions r = {0};
    const struct {
        const char *name;
        region *at;
    } parts[] = {
        {"q", &r.q},
        {"k", &r.k},
        {"v", &r.v},
        {"out", &r.out},
        {"lse", &r.lse},
        {"weights", &r.weights},
        {"mask", &r.mask},
        {"sinks", &r.sinks},
        {"query_lengths", &r.query_lengths},
        {"key_lengths", &r.key_lengths},
        {"query_starts", &r.query_starts},
        {"key_starts", &r.key_starts},
        {"diagonal_offsets", &r.diagonals},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", within_layer ? "attention." : "",
            parts[i].name);
        *parts[i].at = call_region(c, name);
    }
    r.slopes.mem = c->plan->slopes;
    r.dropout_seed = c->dropout_seed;
    r.dropout_offset = c->dropout_offset;
    return r;
}

region call_scratch(const call *c, size_t offset_bytes, size_t element)
{
    return (region){
        c->workspace.mem, (c->workspace.offset + offset_bytes) / element};
}

void call_end(call *c)
{
    chain_drop(&c->chain);
    for (size_t i = 0; i < c->n_made; ++i)
        clReleaseMemObject(c->made[i]);
    c->n_made = 0;
}
