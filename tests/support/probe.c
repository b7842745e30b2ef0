/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.c - a piece of kernels/ alone.
 */
#include "probe.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "opencl.h"
#include "source.h"

static char *source_of(const char *const *pieces, const char *text)
{
    const char *directory = opencl_get()->ctx->env.kernel_dir;
    clattn_error error;
    char *all = calloc(1, 1);
    ck_assert_ptr_nonnull(all);
    for (; *pieces; ++pieces) {
        char *piece = NULL;
        ck_assert_msg(
            source_assemble(&piece, *pieces, directory, &error) == CLATTN_OK,
            "%s", error.message);
        all = realloc(all, strlen(all) + strlen(piece) + 2);
        ck_assert_ptr_nonnull(all);
        strcat(strcat(all, piece), "\n");
        free(piece);
    }
    all = realloc(all, strlen(all) + strlen(text) + 1);
    ck_assert_ptr_nonnull(all);
    return strcat(all, text);
}

static void fail_build(cl_program program)
{
    static char log[4000];
    clGetProgramBuildInfo(program, opencl_get()->device, CL_PROGRAM_BUILD_LOG,
        sizeof log - 1, log, NULL);
    ck_abort_msg("the probe did not compile: %s", log);
}

void probe_open(
    probe *p, const char *const *pieces, const char *options, const char *text)
{
    char all_options[600];
    char *source = source_of(pieces, text);
    const char *const sources = source;
    cl_int code = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(
        opencl_get()->cl, 1, (const char **)&sources, NULL, &code);
    free(source);
    ck_assert_int_eq(code, CL_SUCCESS);
    snprintf(all_options, sizeof all_options, "-cl-std=CL1.2 %s", options);
    if (clBuildProgram(program, 1, &opencl_get()->device, all_options, NULL,
            NULL) != CL_SUCCESS)
        fail_build(program);
    p->kernel = clCreateKernel(program, "probe", &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    clReleaseProgram(program);
}

void probe_close(probe *p)
{
    clReleaseKernel(p->kernel);
}

void probe_run(const probe *p, const probe_call *call)
{
    cl_mem mem[PROBE_BUFFERS];
    cl_uint n = 0;
    for (; n < PROBE_BUFFERS && call->buffer[n].data; ++n) {
        mem[n] = opencl_buffer(call->buffer[n].data, call->buffer[n].bytes);
        ck_assert_int_eq(
            clSetKernelArg(p->kernel, n, sizeof mem[n], &mem[n]), CL_SUCCESS);
    }
    if (call->params)
        ck_assert_int_eq(
            clSetKernelArg(p->kernel, n, call->params_bytes, call->params),
            CL_SUCCESS);
    ck_assert_int_eq(clEnqueueNDRangeKernel(opencl_get()->in_order, p->kernel,
                         2, NULL, call->global, NULL, 0, NULL, NULL),
        CL_SUCCESS);
    for (cl_uint i = 0; i < n; ++i) {
        opencl_read(mem[i], call->buffer[i].data, call->buffer[i].bytes);
        clReleaseMemObject(mem[i]);
    }
}
