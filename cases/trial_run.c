/* SPDX-License-Identifier: Apache-2.0
 *
 * trial_run.c - runs a trial in each way that the library can be called.
 */
#include "trial_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "operation.h"

enum {
    WORKSPACE_OFFSET = 64, /* the least alignment that is promised to work */
    WORKSPACE_GUARD = 256
};

/* One call on its way. */
typedef struct running {
    const operation *op;
    const device_queues *at;
    char *broken;
    cl_mem buffer[ARENA_TENSORS];
    clattn_plan *plan;
    clattn_status said; /* by the library, as against the steps around it */
} running;

const char *run_way_name(enum run_way way)
{
    static const char *const names[RUN_WAYS] = {"host", "enqueue",
        "enqueue with its own workspace", "enqueue out of order"};
    return names[way];
}

/* ---- Buffers ------------------------------------------------------------ */

static size_t bytes_of(const arena *a, size_t m)
{
    return a->memory[m].count * sizeof(float);
}

/* A buffer that holds a copy; NULL with *status after a failure. */
static cl_mem make_buffer(const device_queues *at, void *data, size_t bytes,
    clattn_status *status, clattn_error *error)
{
    cl_int code = CL_SUCCESS;
    const cl_mem buffer = clCreateBuffer(
        at->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &code);
    *status = error_check_cl(error, code, "clCreateBuffer");
    return buffer;
}

static clattn_status read_buffer(const device_queues *at, cl_mem buffer,
    void *data, size_t bytes, clattn_error *error)
{
    return error_check_cl(error,
        clEnqueueReadBuffer(
            at->in_order, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL),
        "clEnqueueReadBuffer");
}

/* What the memories hold, or the pattern of what is yet to come. */
static clattn_status create_buffers(running *r, bool blank, clattn_error *error)
{
    const arena *a = r->op->memory;
    clattn_status status = CLATTN_OK;
    for (size_t m = 0; m < a->memories && status == CLATTN_OK; ++m) {
        if (blank)
            memset(a->memory[m].data, 0xff, bytes_of(a, m));
        r->buffer[m] = make_buffer(
            r->at, a->memory[m].data, bytes_of(a, m), &status, error);
    }
    return status;
}

/* Take back what the buffers hold.  The call's own status stays. */
static clattn_status collect_buffers(
    running *r, clattn_status status, clattn_error *error)
{
    const arena *a = r->op->memory;
    for (size_t m = 0; m < a->memories; ++m) {
        clattn_error why;
        const clattn_status read = read_buffer(
            r->at, r->buffer[m], a->memory[m].data, bytes_of(a, m), &why);
        if (status == CLATTN_OK && read != CLATTN_OK) {
            status = read;
            if (error)
                *error = why;
        }
    }
    return status;
}

static void release_buffers(running *r)
{
    for (size_t m = 0; m < r->op->memory->memories; ++m)
        if (r->buffer[m])
            clReleaseMemObject(r->buffer[m]);
}

/* ---- A workspace of exact size ------------------------------------------ */

static clattn_status make_workspace(
    running *r, clattn_output *workspace, clattn_error *error)
{
    const size_t size = WORKSPACE_OFFSET +
                        clattn_plan_workspace_bytes(r->plan) + WORKSPACE_GUARD;
    clattn_status status = CLATTN_NO_MEMORY;
    unsigned char *data = malloc(size);
    if (!data)
        return error_set(
            error, status, "no memory for a workspace of %zu bytes", size);
    memset(data, 0xff, size);
    workspace->mem = make_buffer(r->at, data, size, &status, error);
    workspace->offset = WORKSPACE_OFFSET;
    free(data);
    return status;
}

static clattn_status check_workspace(
    const running *r, cl_mem workspace, clattn_error *error)
{
    const size_t end = WORKSPACE_OFFSET + clattn_plan_workspace_bytes(r->plan);
    const size_t size = end + WORKSPACE_GUARD;
    unsigned char *data = malloc(size);
    if (!data)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for a workspace of %zu bytes", size);
    const clattn_status status =
        read_buffer(r->at, workspace, data, size, error);
    for (size_t i = 0; i < size && status == CLATTN_OK; ++i)
        if ((i < WORKSPACE_OFFSET || i >= end) && data[i] != 0xff)
            snprintf(r->broken, ARENA_TEXT,
                "byte %zu of a workspace from %d to %zu was written", i,
                WORKSPACE_OFFSET, end);
    free(data);
    return status;
}

/* ---- The ways ----------------------------------------------------------- */

/* In order: the queue itself makes the reads wait. */
static clattn_status enqueue_in_order(
    running *r, bool own_workspace, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_output workspace = {.mem = NULL};
    cl_event event = NULL;
    if (own_workspace)
        TRY(make_workspace(r, &workspace, error));
    r->said = r->op->enqueue(r->plan, r->at->in_order, r->op->trial, r->buffer,
        workspace, NULL, &event, error);
    TRY(r->said);
    TRY(device_queues_finish(event, error));
    if (own_workspace)
        TRY(check_workspace(r, workspace.mem, error));

cleanup:
    if (workspace.mem)
        clReleaseMemObject(workspace.mem);
    return status;
}

/* The inputs, behind a gate if there is one; *ready when all have arrived. */
static cl_int write_behind(const running *r, cl_event gate, cl_event *ready)
{
    const cl_command_queue queue = r->at->out_of_order;
    const arena *a = r->op->memory;
    cl_event written[ARENA_TENSORS] = {NULL};
    cl_int code = CL_SUCCESS;
    for (size_t m = 0; m < a->memories && code == CL_SUCCESS; ++m)
        code = clEnqueueWriteBuffer(queue, r->buffer[m], CL_FALSE, 0,
            bytes_of(a, m), a->memory[m].before, gate ? 1 : 0,
            gate ? &gate : NULL, &written[m]);
    if (code == CL_SUCCESS)
        code = clEnqueueMarkerWithWaitList(
            queue, (cl_uint)a->memories, written, ready);
    for (size_t m = 0; m < a->memories; ++m)
        if (written[m])
            clReleaseEvent(written[m]);
    return code;
}

/* Buffers hold the pattern until a gate opens, which is after the call: work
   that does not wait reads NaN, work that blocks never returns.  Where nothing
   can wait for a gate there is none, and the events alone are tried. */
static clattn_status enqueue_out_of_order(running *r, clattn_error *error)
{
    const cl_command_queue queue = r->at->out_of_order;
    cl_event ready = NULL, event = NULL, gate = NULL;
    cl_int code = CL_SUCCESS;
    if (r->at->user_events)
        gate = clCreateUserEvent(r->at->cl, &code);
    clattn_status status = error_check_cl(error, code, "clCreateUserEvent");
    if (status != CLATTN_OK)
        return status;
    status = error_check_cl(
        error, write_behind(r, gate, &ready), "clEnqueueWriteBuffer");
    if (status == CLATTN_OK)
        status = r->said = r->op->enqueue(r->plan, queue, r->op->trial,
            r->buffer, (clattn_output){.mem = NULL}, &ready, &event, error);
    if (gate)
        code = clSetUserEventStatus(gate, CL_COMPLETE);
    clFlush(queue);
    if (status == CLATTN_OK)
        status = device_queues_finish(event, error);
    if (status == CLATTN_OK)
        status = error_check_cl(error, code, "clSetUserEventStatus");
    clFinish(queue);
    if (ready)
        clReleaseEvent(ready);
    if (gate)
        clReleaseEvent(gate);
    return status;
}

static clattn_status enqueue(running *r, enum run_way way, clattn_error *error)
{
    const bool later = way == RUN_OUT_OF_ORDER;
    clattn_status status = r->said =
        r->op->plan(&r->plan, r->at->ctx, r->op->trial, error);
    if ((r->plan != NULL) != (status == CLATTN_OK))
        snprintf(r->broken, ARENA_TEXT,
            "there is %s plan, but the status says \"%s\"",
            r->plan ? "a" : "no", clattn_status_text(status));
    if (status != CLATTN_OK || !r->plan)
        goto cleanup;
    TRY(create_buffers(r, later, error));
    status = later ? enqueue_out_of_order(r, error)
                   : enqueue_in_order(r, way == RUN_WORKSPACE, error);
    status = collect_buffers(r, status, error);

cleanup:
    release_buffers(r);
    clattn_plan_destroy(r->plan);
    return status;
}

/* A call that is refused has touched nothing. */
static void check_untouched(const running *r)
{
    const arena *a = r->op->memory;
    for (size_t m = 0; m < a->memories; ++m)
        if (memcmp(a->memory[m].data, a->memory[m].before, bytes_of(a, m)) != 0)
            snprintf(r->broken, ARENA_TEXT,
                "a call that failed wrote to memory %zu", m);
}

static clattn_status run(const device_queues *at, const operation *op,
    enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    running r = {.op = op, .at = at, .broken = broken};
    broken[0] = '\0';
    arena_restore(op->memory);
    clattn_status status = CLATTN_OK;
    if (way == RUN_HOST)
        status = r.said = op->host(at->ctx, op->trial, error);
    else
        status = enqueue(&r, way, error);
    if (r.said != CLATTN_OK && r.said != CLATTN_DEVICE_ERROR)
        check_untouched(&r);
    return status;
}

clattn_status trial_run_attention(const device_queues *at,
    attention_trial *trial, enum run_way way, char broken[ARENA_TEXT],
    clattn_error *error)
{
    const operation op = operation_attention(trial);
    /* Half of the ways hand lengths over as host arrays. */
    trial->host_arrays = way == RUN_WORKSPACE;
    return run(at, &op, way, broken, error);
}

clattn_status trial_run_linear(const device_queues *at, linear_trial *trial,
    enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    const operation op = operation_linear(trial);
    return run(at, &op, way, broken, error);
}

clattn_status trial_run_layer(const device_queues *at, layer_trial *trial,
    enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    const operation op = operation_layer(trial);
    return run(at, &op, way, broken, error);
}
