/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_compiler.c - a compiler that takes no time: programs that are never
 * built, and kernels that are never to be launched.
 */
#include "shim_parts.h"

#include <string.h>

static enum shim_compiler compiler;

void shim_compile(enum shim_compiler kind)
{
    compiler = kind;
}

static const char LOG[] = "shim.cl:1:1: error: nothing can be compiled\n";

static cl_int CL_API_CALL build(cl_program program, cl_uint count,
    const cl_device_id *devices, const char *options,
    void(CL_CALLBACK *notify)(cl_program program, void *state), void *state)
{
    (void)program, (void)count, (void)devices, (void)options;
    (void)notify, (void)state;
    return compiler == SHIM_COMPILER_NONE ? CL_SUCCESS
                                          : CL_BUILD_PROGRAM_FAILURE;
}

static cl_int CL_API_CALL build_info(cl_program program, cl_device_id device,
    cl_program_build_info what, size_t bytes, void *value, size_t *bytes_out)
{
    (void)program, (void)device, (void)what;
    const char *log = compiler == SHIM_COMPILER_SILENT ? "" : LOG;
    const size_t all = strlen(log) + 1;
    if (value)
        memcpy(value, log, bytes < all ? bytes : all);
    if (bytes_out)
        *bytes_out = all;
    return CL_SUCCESS;
}

/* Kernels are the addresses of these, in turn: to allocate them would count. */
static char tokens[4096];
static size_t next_token;

static cl_kernel CL_API_CALL create(
    cl_program program, const char *name, cl_int *code_out)
{
    (void)program, (void)name;
    if (code_out)
        *code_out = CL_SUCCESS;
    return (cl_kernel)(void *)&tokens[next_token++ % sizeof tokens];
}

/* No limit that a plan would stumble over. */
static cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_device_id device,
    cl_kernel_work_group_info what, size_t bytes, void *value,
    size_t *bytes_out)
{
    (void)kernel, (void)device, (void)bytes_out;
    memset(value, 0, bytes);
    if (what == CL_KERNEL_WORK_GROUP_SIZE)
        *(size_t *)value = 4096;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release(cl_kernel kernel)
{
    (void)kernel;
    return CL_SUCCESS;
}

/* Any type of function will do until it is called as what it is. */
typedef void function(void);

static const struct {
    const char *name;
    function *instead;
} INSTEAD[] = {
    {"clBuildProgram", (function *)build},
    {"clGetProgramBuildInfo", (function *)build_info},
    {"clCreateKernel", (function *)create},
    {"clGetKernelWorkGroupInfo", (function *)kernel_info},
    {"clReleaseKernel", (function *)release},
};

bool shim_instead(void *to, const char *name)
{
    if (compiler == SHIM_COMPILER_REAL)
        return false;
    for (size_t i = 0; i < sizeof INSTEAD / sizeof INSTEAD[0]; ++i)
        if (strcmp(name, INSTEAD[i].name) == 0) {
            memcpy(to, &INSTEAD[i].instead, sizeof INSTEAD[i].instead);
            return true;
        }
    return false;
}
