/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl.c - one context and two queues for all tests of a program.
 */
#include "opencl.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static opencl shared;

static cl_command_queue queue_of(cl_command_queue_properties wanted)
{
    cl_command_queue_properties has = 0;
    cl_int code = clGetDeviceInfo(
        shared.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    cl_command_queue queue =
        clCreateCommandQueue(shared.cl, shared.device, wanted & has, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return queue;
}

void opencl_open(void)
{
    clattn_error error;
    const clattn_status status =
        clattn_context_create(&shared.ctx, NULL, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    shared.cl = clattn_context_cl(shared.ctx);
    shared.device = clattn_context_device(shared.ctx);
    shared.in_order = queue_of(0);
    shared.out_of_order = queue_of(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

void opencl_close(void)
{
    clReleaseCommandQueue(shared.in_order);
    clReleaseCommandQueue(shared.out_of_order);
    clattn_context_destroy(shared.ctx);
    shared = (opencl){.ctx = NULL};
}

const opencl *opencl_get(void)
{
    return &shared;
}

cl_mem opencl_buffer(const void *data, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    cl_mem buffer =
        clCreateBuffer(shared.cl, CL_MEM_READ_WRITE, bytes, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    code = clEnqueueWriteBuffer(
        shared.in_order, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    ck_assert_int_eq(code, CL_SUCCESS);
    return buffer;
}

cl_mem opencl_blank(size_t bytes)
{
    void *data = malloc(bytes);
    ck_assert_ptr_nonnull(data);
    memset(data, 0xff, bytes);
    cl_mem buffer = opencl_buffer(data, bytes);
    free(data);
    return buffer;
}

void opencl_read(cl_mem buffer, void *data, size_t bytes)
{
    ck_assert_int_eq(clEnqueueReadBuffer(shared.in_order, buffer, CL_TRUE, 0,
                         bytes, data, 0, NULL, NULL),
        CL_SUCCESS);
}

bool opencl_finish_event(cl_event event)
{
    cl_int state = CL_QUEUED;
    clWaitForEvents(1, &event);
    const cl_int code = clGetEventInfo(
        event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    clReleaseEvent(event);
    return code == CL_SUCCESS && state == CL_COMPLETE;
}
