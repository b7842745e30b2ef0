/* SPDX-License-Identifier: Apache-2.0
 *
 * codes.c - what each OpenCL call may return when it fails, as the standard
 * lists it, and the status that the library owes for it.
 */
#include "codes.h"

#include <stdbool.h>

/* Nearly every call may return these two. */
#define SHORT CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY

/* OpenCL 1.2, revision 19, chapters 4 and 5, and the loader's extension. */
static const cl_int CODES[SHIM_POINTS][MOST_CODES] = {
    [SHIM_clGetPlatformIDs] = {CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY,
        NO_PLATFORM},
    [SHIM_clGetPlatformInfo] = {CL_INVALID_PLATFORM, CL_INVALID_VALUE,
        CL_OUT_OF_HOST_MEMORY},
    [SHIM_clGetDeviceIDs] = {CL_INVALID_PLATFORM, CL_INVALID_DEVICE_TYPE,
        CL_INVALID_VALUE, CL_DEVICE_NOT_FOUND, SHORT},
    [SHIM_clGetDeviceInfo] = {CL_INVALID_DEVICE, CL_INVALID_VALUE, SHORT},
    [SHIM_clCreateContext] = {CL_INVALID_PLATFORM, CL_INVALID_PROPERTY,
        CL_INVALID_VALUE, CL_INVALID_DEVICE, CL_DEVICE_NOT_AVAILABLE, SHORT},
    [SHIM_clRetainContext] = {CL_INVALID_CONTEXT, SHORT},
    [SHIM_clReleaseContext] = {CL_INVALID_CONTEXT, SHORT},
    [SHIM_clGetContextInfo] = {CL_INVALID_CONTEXT, CL_INVALID_VALUE, SHORT},
    [SHIM_clCreateCommandQueue] = {CL_INVALID_CONTEXT, CL_INVALID_DEVICE,
        CL_INVALID_VALUE, CL_INVALID_QUEUE_PROPERTIES, SHORT},
    [SHIM_clReleaseCommandQueue] = {CL_INVALID_COMMAND_QUEUE, SHORT},
    [SHIM_clGetCommandQueueInfo] = {CL_INVALID_COMMAND_QUEUE, CL_INVALID_VALUE,
        SHORT},
    [SHIM_clCreateBuffer] = {CL_INVALID_CONTEXT, CL_INVALID_VALUE,
        CL_INVALID_BUFFER_SIZE, CL_INVALID_HOST_PTR,
        CL_MEM_OBJECT_ALLOCATION_FAILURE, SHORT},
    [SHIM_clReleaseMemObject] = {CL_INVALID_MEM_OBJECT, SHORT},
    [SHIM_clGetMemObjectInfo] = {CL_INVALID_VALUE, CL_INVALID_MEM_OBJECT,
        SHORT},
    [SHIM_clCreateProgramWithSource] = {CL_INVALID_CONTEXT, CL_INVALID_VALUE,
        SHORT},
    [SHIM_clCreateProgramWithBinary] = {CL_INVALID_CONTEXT, CL_INVALID_VALUE,
        CL_INVALID_DEVICE, CL_INVALID_BINARY, SHORT},
    [SHIM_clBuildProgram] = {CL_INVALID_PROGRAM, CL_INVALID_VALUE,
        CL_INVALID_DEVICE, CL_INVALID_BINARY, CL_INVALID_BUILD_OPTIONS,
        CL_COMPILER_NOT_AVAILABLE, CL_BUILD_PROGRAM_FAILURE,
        CL_INVALID_OPERATION, SHORT},
    [SHIM_clReleaseProgram] = {CL_INVALID_PROGRAM, SHORT},
    [SHIM_clGetProgramInfo] = {CL_INVALID_VALUE, CL_INVALID_PROGRAM,
        CL_INVALID_PROGRAM_EXECUTABLE, SHORT},
    [SHIM_clGetProgramBuildInfo] = {CL_INVALID_DEVICE, CL_INVALID_VALUE,
        CL_INVALID_PROGRAM, SHORT},
    [SHIM_clCreateKernel] = {CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE,
        CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_DEFINITION, CL_INVALID_VALUE,
        SHORT},
    [SHIM_clReleaseKernel] = {CL_INVALID_KERNEL, SHORT},
    [SHIM_clGetKernelWorkGroupInfo] = {CL_INVALID_DEVICE, CL_INVALID_VALUE,
        CL_INVALID_KERNEL, SHORT},
    [SHIM_clSetKernelArg] = {CL_INVALID_KERNEL, CL_INVALID_ARG_INDEX,
        CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT, CL_INVALID_SAMPLER,
        CL_INVALID_ARG_SIZE, SHORT},
    [SHIM_clEnqueueNDRangeKernel] = {CL_INVALID_PROGRAM_EXECUTABLE,
        CL_INVALID_COMMAND_QUEUE, CL_INVALID_KERNEL, CL_INVALID_CONTEXT,
        CL_INVALID_KERNEL_ARGS, CL_INVALID_WORK_DIMENSION,
        CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_OFFSET,
        CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
        CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_INVALID_IMAGE_SIZE,
        CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_MEM_OBJECT_ALLOCATION_FAILURE,
        CL_INVALID_EVENT_WAIT_LIST, SHORT},
    [SHIM_clEnqueueMarkerWithWaitList] = {CL_INVALID_COMMAND_QUEUE,
        CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, SHORT},
    [SHIM_clEnqueueReadBuffer] = {CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
        CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_INVALID_EVENT_WAIT_LIST,
        CL_MISALIGNED_SUB_BUFFER_OFFSET,
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_OPERATION, SHORT},
    [SHIM_clEnqueueWriteBuffer] = {CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
        CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_INVALID_EVENT_WAIT_LIST,
        CL_MISALIGNED_SUB_BUFFER_OFFSET,
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_OPERATION, SHORT},
    [SHIM_clGetEventInfo] = {CL_INVALID_VALUE, CL_INVALID_EVENT, SHORT},
    [SHIM_clReleaseEvent] = {CL_INVALID_EVENT, SHORT},
    [SHIM_clFinish] = {CL_INVALID_COMMAND_QUEUE, SHORT},
};

const cl_int *codes_of(enum shim_point point)
{
    return CODES[point];
}

static bool is_shortage(cl_int code)
{
    return code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY ||
           code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

/* The compiler's own answers; others say that it was not asked rightly. */
static bool is_about_the_kernel(cl_int code)
{
    return code == CL_BUILD_PROGRAM_FAILURE ||
           code == CL_COMPILER_NOT_AVAILABLE ||
           code == CL_INVALID_BUILD_OPTIONS;
}

clattn_status codes_status(enum shim_point point, cl_int code)
{
    if (point >= SHIM_malloc || is_shortage(code))
        return CLATTN_NO_MEMORY;
    if (point == SHIM_clBuildProgram && is_about_the_kernel(code))
        return CLATTN_BUILD_FAILED;
    return CLATTN_DEVICE_ERROR;
}
