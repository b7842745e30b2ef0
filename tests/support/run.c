/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs a trial in each way that the library can be called.
 */
#include "run.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

enum {
    WORKSPACE_OFFSET = 64, /* the least alignment that is promised to work */
    WORKSPACE_GUARD = 256
};

/* How an operation is called, whatever it is. */
typedef struct operation {
    arena *memory;
    const void *trial;
    clattn_status (*host)(const void *trial, clattn_error *error);
    clattn_status (*plan)(
        clattn_plan **plan, const void *trial, clattn_error *error);
    clattn_status (*enqueue)(const clattn_plan *plan, cl_command_queue queue,
        const void *trial, const cl_mem *buffers, clattn_output workspace,
        const cl_event *wait, cl_event *event, clattn_error *error);
} operation;

const char *run_way_name(enum run_way way)
{
    static const char *const names[RUN_WAYS] = {"host", "enqueue",
        "enqueue with its own workspace", "enqueue out of order"};
    return names[way];
}

/* ---- Attention, linear and layer as operations --------------------------- */

static clattn_status attention_host(const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    return clattn_attention_host(
        opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status attention_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    return clattn_attention_plan(
        plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status attention_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_attention_args args = attention_trial_args(of, buffers);
    args.workspace = workspace;
    return clattn_attention_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

static clattn_status linear_host(const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    const clattn_linear_args args = linear_trial_args(trial, NULL);
    return clattn_linear_host(opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status linear_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    return clattn_linear_plan(plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status linear_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_linear_args args = linear_trial_args(of, buffers);
    args.workspace = workspace;
    return clattn_linear_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

static clattn_status layer_host(const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    clattn_attention_args inner;
    const clattn_layer_args args = layer_trial_args(trial, &inner, NULL);
    return clattn_layer_host(opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status layer_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    return clattn_layer_plan(plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status layer_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_attention_args inner;
    clattn_layer_args args = layer_trial_args(of, &inner, buffers);
    args.workspace = workspace;
    return clattn_layer_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

/* ---- The ways ------------------------------------------------------------ */

static void create_buffers(const arena *a, cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m)
        buffers[m] = opencl_buffer(
            a->memory[m].data, a->memory[m].count * sizeof(float));
}

/* Take back what the buffers hold, and release them. */
static void collect_buffers(arena *a, cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m) {
        opencl_read(
            buffers[m], a->memory[m].data, a->memory[m].count * sizeof(float));
        clReleaseMemObject(buffers[m]);
    }
}

static void check_workspace(cl_mem workspace, size_t bytes)
{
    const size_t size = WORKSPACE_OFFSET + bytes + WORKSPACE_GUARD;
    unsigned char *data = malloc(size);
    ck_assert_ptr_nonnull(data);
    opencl_read(workspace, data, size);
    for (size_t i = 0; i < size; ++i)
        if (i < WORKSPACE_OFFSET || i >= WORKSPACE_OFFSET + bytes)
            ck_assert_msg(data[i] == 0xff,
                "byte %zu of a workspace from %d to %zu was written", i,
                WORKSPACE_OFFSET, WORKSPACE_OFFSET + bytes);
    free(data);
}

/* In order: the queue itself makes the reads wait. */
static clattn_status enqueue_in_order(const operation *op,
    const clattn_plan *plan, bool own_workspace, const cl_mem *buffers,
    clattn_error *error)
{
    const size_t bytes = clattn_plan_workspace_bytes(plan);
    clattn_output workspace = {.mem = NULL};
    if (own_workspace) {
        workspace.mem =
            opencl_blank(WORKSPACE_OFFSET + bytes + WORKSPACE_GUARD);
        workspace.offset = WORKSPACE_OFFSET;
    }
    cl_event event = NULL;
    const clattn_status status = op->enqueue(plan, opencl_get()->in_order,
        op->trial, buffers, workspace, NULL, &event, error);
    if (status == CLATTN_OK)
        ck_assert_msg(opencl_finish_event(event), "the event reports failure");
    if (own_workspace) {
        check_workspace(workspace.mem, bytes);
        clReleaseMemObject(workspace.mem);
    }
    return status;
}

/* Buffers hold the pattern until a gate opens, which is after the call: work
   that does not wait reads NaN, work that blocks never returns. */
static clattn_status enqueue_out_of_order(const operation *op,
    const clattn_plan *plan, const cl_mem *buffers, clattn_error *error)
{
    const cl_command_queue queue = opencl_get()->out_of_order;
    const arena *a = op->memory;
    cl_event written[ARENA_TENSORS], ready = NULL, event = NULL;
    cl_int code = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(opencl_get()->cl, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    for (size_t m = 0; m < a->memories; ++m) {
        code = clEnqueueWriteBuffer(queue, buffers[m], CL_FALSE, 0,
            a->memory[m].count * sizeof(float), a->memory[m].before, 1, &gate,
            &written[m]);
        ck_assert_int_eq(code, CL_SUCCESS);
    }
    code = clEnqueueMarkerWithWaitList(
        queue, (cl_uint)a->memories, written, &ready);
    ck_assert_int_eq(code, CL_SUCCESS);

    const clattn_status status = op->enqueue(plan, queue, op->trial, buffers,
        (clattn_output){.mem = NULL}, &ready, &event, error);

    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    clFlush(queue);
    if (status == CLATTN_OK)
        ck_assert_msg(opencl_finish_event(event), "the event reports failure");
    clFinish(queue);
    for (size_t m = 0; m < a->memories; ++m)
        clReleaseEvent(written[m]);
    clReleaseEvent(ready);
    clReleaseEvent(gate);
    return status;
}

static clattn_status enqueue(
    const operation *op, enum run_way way, clattn_error *error)
{
    arena *a = op->memory;
    clattn_plan *plan = NULL;
    cl_mem buffers[ARENA_TENSORS];
    clattn_status status = op->plan(&plan, op->trial, error);
    ck_assert_msg((plan != NULL) == (status == CLATTN_OK),
        "a plan must exist exactly on success");
    if (status != CLATTN_OK)
        return status;

    if (way == RUN_OUT_OF_ORDER)
        for (size_t m = 0; m < a->memories; ++m)
            memset(a->memory[m].data, 0xff, a->memory[m].count * sizeof(float));
    create_buffers(a, buffers);
    status =
        way == RUN_OUT_OF_ORDER
            ? enqueue_out_of_order(op, plan, buffers, error)
            : enqueue_in_order(op, plan, way == RUN_WORKSPACE, buffers, error);
    clattn_plan_destroy(plan);
    collect_buffers(a, buffers);
    return status;
}

static clattn_status run(
    const operation *op, enum run_way way, clattn_error *error)
{
    arena_restore(op->memory);
    const clattn_status status =
        way == RUN_HOST ? op->host(op->trial, error) : enqueue(op, way, error);
    if (status != CLATTN_OK && status != CLATTN_DEVICE_ERROR)
        for (size_t m = 0; m < op->memory->memories; ++m)
            ck_assert_msg(
                memcmp(op->memory->memory[m].data, op->memory->memory[m].before,
                    op->memory->memory[m].count * sizeof(float)) == 0,
                "a call that failed wrote to memory %zu", m);
    return status;
}

clattn_status run_attention(
    attention_trial *trial, enum run_way way, clattn_error *error)
{
    const operation op = {&trial->memory, trial, attention_host, attention_plan,
        attention_enqueue};
    /* Half of the ways hand lengths over as host arrays. */
    trial->host_arrays = way == RUN_WORKSPACE;
    return run(&op, way, error);
}

clattn_status run_linear(
    linear_trial *trial, enum run_way way, clattn_error *error)
{
    const operation op = {
        &trial->memory, trial, linear_host, linear_plan, linear_enqueue};
    return run(&op, way, error);
}

clattn_status run_layer(
    layer_trial *trial, enum run_way way, clattn_error *error)
{
    const operation op = {
        &trial->memory, trial, layer_host, layer_plan, layer_enqueue};
    return run(&op, way, error);
}
