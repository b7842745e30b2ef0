/* SPDX-License-Identifier: Apache-2.0
 *
 * enqueue_cost.c - host time of an enqueue, beside that of the launch alone.
 */
#include "error.h"
#include "measure.h"
#include "plan_words.h"
#include "ticks.h"
#include "workload.h"

enum {
    CALLS = 301,
    BUFFERS = 5 /* as many as an attention kernel has: drivers look at each */
};

/* Small, so that the device is idle again when the next call comes. */
static const bench_case SMALL = {
    .name = "enqueue", .B = 1, .H = 1, .L = 32, .D = 32};

static const char SOURCE[] =
    "__kernel void nothing(__global float *a, __global const float *b,\n"
    "    __global const float *c, __global const float *d,\n"
    "    __global float *e)\n"
    "{\n"
    "    a[0] = 0.0f;\n"
    "}\n";

/* ---- The launch alone --------------------------------------------------- */

typedef struct launch {
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
} launch;

static clattn_status launch_create(
    launch *l, const clattn_context *ctx, clattn_error *error)
{
    const cl_context cl = clattn_context_cl(ctx);
    const cl_device_id device = clattn_context_device(ctx);
    const char *source = SOURCE;
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;
    l->program = clCreateProgramWithSource(cl, 1, &source, NULL, &code);
    TRY(error_check_cl(error, code, "clCreateProgramWithSource"));
    code = clBuildProgram(l->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    TRY(error_check_cl(error, code, "clBuildProgram of an empty kernel"));
    l->kernel = clCreateKernel(l->program, "nothing", &code);
    TRY(error_check_cl(error, code, "clCreateKernel of an empty kernel"));
    l->buffer =
        clCreateBuffer(cl, CL_MEM_READ_WRITE, sizeof(cl_float), NULL, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer"));
    for (cl_uint i = 0; i < BUFFERS; i++) {
        code = clSetKernelArg(l->kernel, i, sizeof l->buffer, &l->buffer);
        TRY(error_check_cl(error, code, "clSetKernelArg"));
    }

cleanup:
    return status;
}

static void launch_destroy(launch *l)
{
    if (l->buffer)
        clReleaseMemObject(l->buffer);
    if (l->kernel)
        clReleaseKernel(l->kernel);
    if (l->program)
        clReleaseProgram(l->program);
}

/* ---- Both, in turn ------------------------------------------------------ */

static clattn_status time_launches(double *us, const launch *l, size_t launches,
    cl_command_queue queue, clattn_error *error)
{
    static const size_t ONE = 1;
    cl_int code = CL_SUCCESS;
    const double start = ticks_ms();
    for (size_t i = 0; i < launches && code == CL_SUCCESS; i++)
        code = clEnqueueNDRangeKernel(
            queue, l->kernel, 1, NULL, &ONE, &ONE, 0, NULL, NULL);
    *us = 1e3 * (ticks_ms() - start);
    if (code == CL_SUCCESS)
        code = clFinish(queue);
    return error_check_cl(error, code, "clEnqueueNDRangeKernel");
}

static clattn_status time_call(double *us, const workload *work,
    cl_command_queue queue, clattn_error *error)
{
    const double start = ticks_ms();
    const clattn_status status = workload_enqueue(work, queue, error);
    *us = 1e3 * (ticks_ms() - start);
    if (status != CLATTN_OK)
        return status;
    return error_check_cl(error, clFinish(queue), "clFinish");
}

static clattn_status time_both(enqueue_cost *cost, const workload *work,
    const launch *l, cl_command_queue queue, clattn_error *error)
{
    double call[CALLS];
    double alone[CALLS];
    clattn_status status = CLATTN_OK;
    cost->launches = plan_launches(clattn_plan_describe(workload_plan(work)));
    TRY(workload_run(work, queue, error)); /* warm up */
    TRY(time_launches(&alone[0], l, cost->launches, queue, error));
    for (size_t i = 0; i < CALLS; i++) {
        TRY(time_launches(&alone[i], l, cost->launches, queue, error));
        TRY(time_call(&call[i], work, queue, error));
    }
    cost->call_us = median_of(call, CALLS);
    cost->launch_us = median_of(alone, CALLS);

cleanup:
    return status;
}

clattn_status bench_enqueue_cost(
    bench_report *report, clattn_context *ctx, clattn_error *error)
{
    launch l = {0};
    workload *work = NULL;
    cl_int code = CL_SUCCESS;
    clattn_status status = CLATTN_OK;
    cl_command_queue queue = clCreateCommandQueue(
        clattn_context_cl(ctx), clattn_context_device(ctx), 0, &code);
    TRY(error_check_cl(error, code, "clCreateCommandQueue"));
    TRY(launch_create(&l, ctx, error));
    TRY(workload_create(&work, ctx, queue, &SMALL, error));
    TRY(time_both(&report->enqueue, work, &l, queue, error));
    report->has_enqueue = true;

cleanup:
    workload_destroy(work);
    launch_destroy(&l);
    if (queue)
        clReleaseCommandQueue(queue);
    return status;
}
