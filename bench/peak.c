/* SPDX-License-Identifier: Apache-2.0
 *
 * peak.c - the kernel of the probe, and its size.
 */
#include "peak.h"

#include <stdio.h>

#include "error.h"
#include "ticks.h"

/*
 * A chain of dependent multiply-adds per accumulator.  12 chains hide a latency
 * of 4 to 6 cycles on two pipes, and with x and y they still fit the 16 vector
 * registers that the smallest of today's processors have.  x and y come from
 * the host and the sum is stored, so that nothing can be folded away; all
 * values stay near 1, where no number is subnormal.
 */
#define CHAINS 12

static const char SOURCE[] =
    "#define JOIN_(a, b) a##b\n"
    "#define JOIN(a, b) JOIN_(a, b)\n"
    "#if WIDTH == 1\n"
    "typedef float lanes;\n"
    "#define FIRST(v) (v)\n"
    "#else\n"
    "typedef JOIN(float, WIDTH) lanes;\n"
    "#define FIRST(v) ((v).s0 + (v).s1)\n"
    "#endif\n"
    "#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) "
    "F(6) F(7) F(8) F(9) F(10) F(11)\n"
    "#define START(i) lanes a##i = (lanes)(1.0f + i * 0.001f);\n"
    "#define STEP(i) a##i = a##i * x + y;\n"
    "#define SUM(i) sum += a##i;\n"
    "__kernel void probe(__global float *sink, int passes, float factor,\n"
    "    float term)\n"
    "{\n"
    "    const lanes x = (lanes)(factor);\n"
    "    const lanes y = (lanes)(term);\n"
    "    lanes sum = (lanes)(0.0f);\n"
    "    EACH(START)\n"
    "    for (int pass = 0; pass < passes; ++pass) {\n"
    "        EACH(STEP)\n"
    "    }\n"
    "    EACH(SUM)\n"
    "    sink[get_global_id(0)] = FIRST(sum);\n"
    "}\n";

enum {
    PASSES_FIRST = 256, /* for a device that emulates */
    PASSES_MAX = 16384, /* loops of some devices end at 65,535 passes */
    ITEMS_MAX = 1 << 20,
    GPU_GROUP = 256 /* work-items that fill a unit's lanes several times */
};

/* A launch takes 10 to 35 us to start; 1 % or so of this. */
static const double PROBE_MS = 2.5;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A vector type that OpenCL C has. */
static size_t legal_width(cl_uint native)
{
    size_t width = 1;
    while (2 * width <= native && width < 16)
        width *= 2;
    return width;
}

static clattn_status build(
    peak *p, cl_context cl, cl_device_id device, clattn_error *error)
{
    char options[64];
    const char *source = SOURCE;
    cl_int code = CL_SUCCESS;
    clattn_status status = CLATTN_OK;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DWIDTH=%zu", p->width);
    p->program = clCreateProgramWithSource(cl, 1, &source, NULL, &code);
    TRY(error_check_cl(
        error, code, "clCreateProgramWithSource of the peak probe"));
    code = clBuildProgram(p->program, 1, &device, options, NULL, NULL);
    TRY(error_check_cl(error, code, "clBuildProgram of the peak probe"));
    p->kernel = clCreateKernel(p->program, "probe", &code);
    TRY(error_check_cl(error, code, "clCreateKernel of the peak probe"));
    p->sink = clCreateBuffer(
        cl, CL_MEM_WRITE_ONLY, ITEMS_MAX * sizeof(cl_float), NULL, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer of the peak probe"));

cleanup:
    return status;
}

static clattn_status launch(
    const peak *p, cl_command_queue queue, double *ms, clattn_error *error)
{
    static const cl_float FACTOR = 0.999f;
    static const cl_float TERM = 0.001f;
    const double start = ticks_ms();
    cl_int code = clSetKernelArg(p->kernel, 0, sizeof p->sink, &p->sink);
    code |= clSetKernelArg(p->kernel, 1, sizeof p->passes, &p->passes);
    code |= clSetKernelArg(p->kernel, 2, sizeof FACTOR, &FACTOR);
    code |= clSetKernelArg(p->kernel, 3, sizeof TERM, &TERM);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(
            queue, p->kernel, 1, NULL, &p->items, &p->group, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clFinish(queue);
    *ms = ticks_ms() - start;
    return error_check_cl(error, code, "the peak probe");
}

/* Longer loops first, then more work-items, until a probe is long enough. */
static clattn_status size_probe(
    peak *p, cl_command_queue queue, clattn_error *error)
{
    double ms = 0.0;
    for (;;) {
        clattn_status status = launch(p, queue, &ms, error); /* warm up */
        if (status == CLATTN_OK)
            status = launch(p, queue, &ms, error);
        if (status != CLATTN_OK || ms >= PROBE_MS)
            return status;
        if (p->passes < PASSES_MAX)
            p->passes *= 2;
        else if (2 * p->items <= ITEMS_MAX)
            p->items *= 2;
        else
            return CLATTN_OK;
    }
}

clattn_status peak_create(peak *p, const clattn_context *ctx,
    cl_command_queue queue, clattn_error *error)
{
    const cl_device_id device = clattn_context_device(ctx);
    cl_uint units = 1;
    cl_uint native = 1;
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    size_t group = 1;
    clattn_status status = CLATTN_OK;
    *p = (peak){0};
    clGetDeviceInfo(
        device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof native,
        &native, NULL);
    clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    p->width = legal_width(native);
    TRY(build(p, clattn_context_cl(ctx), device, error));
    TRY(error_check_cl(error,
        clGetKernelWorkGroupInfo(p->kernel, device, CL_KERNEL_WORK_GROUP_SIZE,
            sizeof group, &group, NULL),
        "clGetKernelWorkGroupInfo of the peak probe"));
    p->group = type & CL_DEVICE_TYPE_CPU ? 1 : least(group, GPU_GROUP);
    /* Several groups a unit, so that a late one costs little. */
    p->items =
        least(8 * (size_t)units * p->group, ITEMS_MAX / p->group * p->group);
    p->passes = PASSES_FIRST;
    TRY(size_probe(p, queue, error));

cleanup:
    return status;
}

void peak_destroy(peak *p)
{
    if (p->sink)
        clReleaseMemObject(p->sink);
    if (p->kernel)
        clReleaseKernel(p->kernel);
    if (p->program)
        clReleaseProgram(p->program);
    *p = (peak){0};
}

clattn_status peak_probe(peak *p, cl_command_queue queue, clattn_error *error)
{
    double ms = 0.0;
    const clattn_status status = launch(p, queue, &ms, error);
    if (status != CLATTN_OK)
        return status;
    const double work =
        2.0 * CHAINS * (double)p->width * (double)p->items * p->passes;
    p->last = ms > 0.0 ? work / ms * 1e-6 : 0.0;
    if (p->last > p->best)
        p->best = p->last;
    return CLATTN_OK;
}
