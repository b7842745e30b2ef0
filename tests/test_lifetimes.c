/* SPDX-License-Identifier: Apache-2.0
 *
 * test_lifetimes.c - calls of several launches on queues of both kinds: what
 * they wait for, what becomes of them when that fails, and everything released
 * while they are in flight.
 */
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "opencl.h"
#include "rows.h"
#include "suite.h"

/* Calls that need several kernels, with intermediate tensors in a workspace. */
#define SHAPE                                                                  \
    {                                                                          \
        "several launches", {2, 4, 2, 9, 70, 8, 8},                            \
            .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true, \
            .returns = CLATTN_RETURN_LSE                                       \
    }
static const job_case CALLS[] = {
    {SHAPE, "materialised", false},
    {SHAPE, "lanes_weights", false},
    {SHAPE, NULL, false},
    {.layer = true},
};

static job j;

static void begin(int index)
{
    job_create(&j, opencl_get()->ctx, &CALLS[index], 1);
}

static cl_event make_gate(void)
{
    cl_int code = CL_SUCCESS;
    cl_event gate = clCreateUserEvent(opencl_get()->cl, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return gate;
}

/* Out of order where the device can. */
static cl_command_queue make_queue(clattn_context *ctx, bool in_order)
{
    const cl_device_id device = clattn_context_device(ctx);
    cl_command_queue_properties has = 0;
    clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL);
    cl_command_queue queue =
        clCreateCommandQueue(clattn_context_cl(ctx), device,
            in_order ? 0 : has & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    ck_assert_ptr_nonnull(queue);
    return queue;
}

static void open_gate(cl_event gate, cl_int status)
{
    ck_assert_int_eq(clSetUserEventStatus(gate, status), CL_SUCCESS);
    clReleaseEvent(gate);
}

/* ---- Order --------------------------------------------------------------- */

/* Inputs that arrive behind a gate; *ready when all have. */
static void write_behind(cl_command_queue queue, cl_event gate, cl_event *ready)
{
    const arena *a = j.op.memory;
    cl_event written[ARENA_TENSORS] = {NULL};
    for (size_t m = 0; m < a->memories; ++m)
        ck_assert_int_eq(
            clEnqueueWriteBuffer(queue, j.buffer[m], CL_FALSE, 0,
                job_bytes(&j, m), a->memory[m].before, 1, &gate, &written[m]),
            CL_SUCCESS);
    ck_assert_int_eq(clEnqueueMarkerWithWaitList(
                         queue, (cl_uint)a->memories, written, ready),
        CL_SUCCESS);
    for (size_t m = 0; m < a->memories; ++m)
        clReleaseEvent(written[m]);
}

static void blank_inputs(void)
{
    static const unsigned char poison = 0xff;
    ck_assert_int_eq(job_reset(&j), CL_SUCCESS);
    for (size_t m = 0; m < j.op.memory->memories; ++m)
        clEnqueueFillBuffer(j.queue, j.buffer[m], &poison, 1, 0,
            job_bytes(&j, m), 0, NULL, NULL);
    ck_assert_int_eq(clFinish(j.queue), CL_SUCCESS);
}

enum {
    TIMES = 100
};

/* Inputs, intermediates and outputs are NaN until the gate opens: a launch that
   does not wait for the one before, or an event that covers but a part, shows.
   Two calls are under way, since a queue of one may run them in order. */
START_TEST(launches_wait_for_each_other_out_of_order)
{
    const cl_command_queue queue = opencl_get()->out_of_order;
    char why[ARENA_TEXT] = "";
    begin(_i);
    for (int n = 0; n < TIMES; ++n) {
        cl_event ready = NULL, first = NULL, event = NULL;
        clattn_error error;
        blank_inputs();
        cl_event gate = make_gate();
        write_behind(queue, gate, &ready);
        ck_assert_msg(
            job_enqueue(&j, j.plan, queue, &ready, &first, &error) == CLATTN_OK,
            "%s", error.message);
        ck_assert_msg(
            job_enqueue(&j, j.plan, queue, &first, &event, &error) == CLATTN_OK,
            "%s", error.message);
        open_gate(gate, CL_COMPLETE);
        ck_assert_int_eq(clFlush(queue), CL_SUCCESS);
        ck_assert(opencl_finish_event(event));
        ck_assert_msg(job_is_right(&j, why), "time %d: %s", n, why);
        clReleaseEvent(first);
        clReleaseEvent(ready);
    }
    job_destroy(&j);
}
END_TEST

/* ---- Failures that come later -------------------------------------------- */

/* PoCL 3.1 ends the process itself where an event fails for which some seven
   commands wait in turn: a layer, the last of CALLS, on readable kernels. */
static int calls_that_fail(void)
{
    const bool short_layer = rows_or_choice("matmul_lanes") != NULL;
    return (int)COUNT(CALLS) - (short_layer ? 0 : 1);
}

/* After what it waits for has failed, a call's event tells, nothing was
   written, and the context goes on. */
START_TEST(an_event_that_fails_fails_the_call_and_no_other)
{
    cl_event event = NULL;
    clattn_error error;
    char why[ARENA_TEXT] = "";
    begin(_i / 2);
    cl_command_queue queue = make_queue(opencl_get()->ctx, _i % 2);
    ck_assert_int_eq(job_reset(&j), CL_SUCCESS);
    cl_event gate = make_gate();
    ck_assert_msg(
        job_enqueue(&j, j.plan, queue, &gate, &event, &error) == CLATTN_OK,
        "%s", error.message);
    open_gate(gate, -7);
    ck_assert_msg(!opencl_finish_event(event), "a call that succeeded");
    ck_assert_msg(job_is_untouched(&j, why), "%s", why);
    clReleaseCommandQueue(queue);
    ck_assert_msg(job_works(&j, j.plan, j.queue, why), "afterwards: %s", why);
    job_destroy(&j);
}
END_TEST

/* A driver may take such an event, and its command never ends. */
START_TEST(an_event_that_has_failed_already_is_refused)
{
    cl_event event = NULL;
    clattn_error error;
    char why[ARENA_TEXT] = "";
    begin(_i);
    ck_assert_int_eq(job_reset(&j), CL_SUCCESS);
    cl_event gate = make_gate();
    clRetainEvent(gate);
    open_gate(gate, -7);
    cl_command_queue queue = make_queue(opencl_get()->ctx, true);
    const clattn_status status =
        job_enqueue(&j, j.plan, queue, &gate, &event, &error);
    ck_assert_msg(
        status == CLATTN_DEVICE_ERROR && event == NULL &&
            error.cl_code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
            strstr(error.message, "wait_list[0]") != NULL,
        "status %d: %s", (int)status, error.message);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
    ck_assert_msg(job_is_untouched(&j, why), "%s", why);
    ck_assert_msg(job_works(&j, j.plan, j.queue, why), "afterwards: %s", why);
    job_destroy(&j);
}
END_TEST

/* ---- Everything goes ----------------------------------------------------- */

/* All outputs into host memory, once `after` has come. */
static cl_event read_behind(
    cl_command_queue queue, cl_event after, float *const to[ARENA_TENSORS])
{
    const size_t memories = j.op.memory->memories;
    cl_event got[ARENA_TENSORS] = {NULL}, all = NULL;
    for (size_t m = 0; m < memories; ++m)
        ck_assert_int_eq(clEnqueueReadBuffer(queue, j.buffer[m], CL_FALSE, 0,
                             job_bytes(&j, m), to[m], 1, &after, &got[m]),
            CL_SUCCESS);
    ck_assert_int_eq(
        clEnqueueMarkerWithWaitList(queue, (cl_uint)memories, got, &all),
        CL_SUCCESS);
    for (size_t m = 0; m < memories; ++m)
        clReleaseEvent(got[m]);
    return all;
}

static void release_all(clattn_context *ctx, cl_command_queue queue)
{
    clattn_context_destroy(ctx);
    clattn_plan_destroy(j.plan);
    j.plan = NULL;
    for (size_t m = 0; m < j.op.memory->memories; ++m) {
        clReleaseMemObject(j.buffer[m]);
        j.buffer[m] = NULL;
    }
    clReleaseMemObject(j.workspace.mem);
    j.workspace.mem = NULL;
    clFlush(queue);
    clReleaseCommandQueue(queue);
    clReleaseCommandQueue(j.queue);
    j.queue = NULL;
}

/* Nothing is left of the program's but an event and memory for the results. */
START_TEST(everything_goes_while_work_is_in_flight)
{
    clattn_context *ctx = NULL;
    clattn_error error;
    cl_event event = NULL;
    float *copy[ARENA_TENSORS] = {NULL};
    char why[ARENA_TEXT] = "";
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    job_create(&j, ctx, &CALLS[_i / 2], 1);
    for (size_t m = 0; m < j.op.memory->memories; ++m)
        copy[m] = calloc(1, job_bytes(&j, m));
    cl_command_queue queue = make_queue(ctx, _i % 2);
    cl_event gate = clCreateUserEvent(clattn_context_cl(ctx), NULL);
    ck_assert_int_eq(job_reset(&j), CL_SUCCESS);
    ck_assert_msg(
        job_enqueue(&j, j.plan, queue, &gate, &event, &error) == CLATTN_OK,
        "%s", error.message);
    cl_event all = read_behind(queue, event, copy);
    clReleaseEvent(event);
    release_all(ctx, queue);
    open_gate(gate, CL_COMPLETE);
    ck_assert(opencl_finish_event(all));
    ck_assert_msg(job_holds(&j, copy, why), "%s", why);
    for (size_t m = 0; m < j.op.memory->memories; ++m)
        free(copy[m]);
    job_destroy(&j);
}
END_TEST

/* ---- Workspaces in one buffer -------------------------------------------- */

/* Two calls at the same time, each with a part of one buffer: at an offset, and
   in a sub-buffer. */
START_TEST(workspaces_may_be_parts_of_one_buffer)
{
    const opencl *cl = opencl_get();
    static job other;
    char why[ARENA_TEXT] = "";
    cl_event done[2] = {NULL, NULL};
    clattn_error error;
    begin(_i);
    job_create(&other, cl->ctx, &CALLS[_i], 2);
    const size_t bytes = clattn_plan_workspace_bytes(j.plan) + 1;
    const size_t half = (bytes + 4095) / 4096 * 4096;
    cl_mem whole = opencl_blank(2 * half);
    const cl_buffer_region region = {half, half};
    cl_mem part = clCreateSubBuffer(
        whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    ck_assert_ptr_nonnull(part);
    clReleaseMemObject(j.workspace.mem);
    clReleaseMemObject(other.workspace.mem);
    j.workspace = (clattn_output){.mem = whole};
    other.workspace = (clattn_output){.mem = part};
    const job *const both[2] = {&j, &other};
    for (int n = 0; n < TIMES / 4; ++n) {
        for (int i = 0; i < 2; ++i)
            ck_assert_int_eq(job_reset(both[i]), CL_SUCCESS);
        cl_event gate = make_gate();
        for (int i = 0; i < 2; ++i)
            ck_assert_msg(job_enqueue(both[i], both[i]->plan, cl->out_of_order,
                              &gate, &done[i], &error) == CLATTN_OK,
                "%s", error.message);
        open_gate(gate, CL_COMPLETE);
        ck_assert_int_eq(clFlush(cl->out_of_order), CL_SUCCESS);
        for (int i = 0; i < 2; ++i) {
            ck_assert(opencl_finish_event(done[i]));
            ck_assert_msg(job_is_right(both[i], why), "call %d: %s", i, why);
        }
    }
    job_destroy(&j);
    job_destroy(&other);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("lifetimes");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, launches_wait_for_each_other_out_of_order, 0, (int)COUNT(CALLS));
    tcase_add_loop_test(t, an_event_that_fails_fails_the_call_and_no_other, 0,
        2 * calls_that_fail());
    tcase_add_loop_test(
        t, an_event_that_has_failed_already_is_refused, 0, (int)COUNT(CALLS));
    tcase_add_loop_test(
        t, everything_goes_while_work_is_in_flight, 0, 2 * (int)COUNT(CALLS));
    tcase_add_loop_test(
        t, workspaces_may_be_parts_of_one_buffer, 0, (int)COUNT(CALLS));

    Suite *suite = suite_create("lifetimes");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
