/* SPDX-License-Identifier: Apache-2.0
 *
 * bandwidth.c - the kernel of the probe, and its size.
 */
#include "bandwidth.h"

#include <stdbool.h>

#include "error.h"
#include "ticks.h"

/*
 * A work-item adds up `count` vectors, `step` apart: on a CPU one behind the
 * other, so that a core reads a stretch of its own; on other devices those of
 * neighbouring work-items lie side by side.  The sum is stored, so that no read
 * can be left out.
 */
static const char SOURCE[] =
    "__kernel void read_all(__global const float8 *from,\n"
    "    __global float *sink, int count, int item, int step)\n"
    "{\n"
    "    const size_t id = get_global_id(0);\n"
    "    float8 sum = (float8)(0.0f);\n"
    "    for (int i = 0; i < count; ++i)\n"
    "        sum += from[id * item + (size_t)i * step];\n"
    "    sink[id] = sum.s0 + sum.s1 + sum.s2 + sum.s3 + sum.s4 + sum.s5 +\n"
    "        sum.s6 + sum.s7;\n"
    "}\n";

enum {
    VECTOR = 32,  /* bytes */
    COUNT = 4096, /* vectors of an item; loops of some devices end at 65,535 */
    GROUP = 64,   /* work-items, but 1 on a CPU */
    READS = 7,
    ITEMS_MOST = 2048 /* 256 MiB, more than caches hold */
};

typedef struct probe {
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem from, sink;
    size_t items, group;
    cl_int item, step;
} probe;

static void destroy(probe *p)
{
    if (p->from)
        clReleaseMemObject(p->from);
    if (p->sink)
        clReleaseMemObject(p->sink);
    if (p->kernel)
        clReleaseKernel(p->kernel);
    if (p->program)
        clReleaseProgram(p->program);
    if (p->queue)
        clReleaseCommandQueue(p->queue);
}

/* As many items as fit a quarter of the largest buffer. */
static void size_probe(probe *p, cl_device_id device)
{
    cl_ulong most = 0;
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    size_t group = 1;
    clGetDeviceInfo(
        device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(
        device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    const bool cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    p->group = cpu || group < GROUP ? 1 : GROUP;
    p->items = ITEMS_MOST;
    while (p->items > p->group && p->items * COUNT * VECTOR > most / 4)
        p->items /= 2;
    p->item = cpu ? COUNT : 1;
    p->step = cpu ? 1 : (cl_int)p->items;
}

static clattn_status create(
    probe *p, cl_context cl, cl_device_id device, clattn_error *error)
{
    const char *source = SOURCE;
    const cl_float zero = 0.0f;
    const cl_int count = COUNT;
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;
    const size_t bytes = p->items * COUNT * VECTOR;
    p->queue = clCreateCommandQueue(cl, device, 0, &code);
    TRY(error_check_cl(error, code, "clCreateCommandQueue"));
    p->program = clCreateProgramWithSource(cl, 1, &source, NULL, &code);
    TRY(error_check_cl(error, code, "clCreateProgramWithSource"));
    code = clBuildProgram(p->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    TRY(error_check_cl(error, code, "clBuildProgram of the bandwidth probe"));
    p->kernel = clCreateKernel(p->program, "read_all", &code);
    TRY(error_check_cl(error, code, "clCreateKernel of the bandwidth probe"));
    p->from = clCreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer of the bandwidth probe"));
    p->sink = clCreateBuffer(
        cl, CL_MEM_READ_WRITE, p->items * sizeof zero, NULL, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer of the bandwidth probe"));
    code = clEnqueueFillBuffer(
        p->queue, p->from, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    code |= clSetKernelArg(p->kernel, 0, sizeof p->from, &p->from);
    code |= clSetKernelArg(p->kernel, 1, sizeof p->sink, &p->sink);
    code |= clSetKernelArg(p->kernel, 2, sizeof count, &count);
    code |= clSetKernelArg(p->kernel, 3, sizeof p->item, &p->item);
    code |= clSetKernelArg(p->kernel, 4, sizeof p->step, &p->step);
    TRY(error_check_cl(error, code, "the bandwidth probe"));

cleanup:
    return status;
}

static clattn_status read_once(const probe *p, double *ms, clattn_error *error)
{
    const double start = ticks_ms();
    cl_int code = clEnqueueNDRangeKernel(
        p->queue, p->kernel, 1, NULL, &p->items, &p->group, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(p->queue);
    *ms = ticks_ms() - start;
    return error_check_cl(error, code, "the bandwidth probe");
}

clattn_status bandwidth_measure(
    double *best, const clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    double ms = 0.0;
    probe p = {.queue = NULL};
    *best = 0.0;
    size_probe(&p, clattn_context_device(ctx));
    const double bytes = (double)p.items * COUNT * VECTOR;
    TRY(create(&p, clattn_context_cl(ctx), clattn_context_device(ctx), error));
    TRY(read_once(&p, &ms, error)); /* warm up */
    for (int n = 0; n < READS; ++n) {
        TRY(read_once(&p, &ms, error));
        if (ms > 0.0 && bytes / ms * 1e-6 > *best)
            *best = bytes / ms * 1e-6;
    }

cleanup:
    destroy(&p);
    return status;
}
