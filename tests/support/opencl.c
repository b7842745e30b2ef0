/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl.c - one context and two queues for all tests of a program.
 */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>

static opencl shared;

void opencl_open(void)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    clattn_status status = clattn_context_create(&ctx, NULL, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    status = device_queues_open(&shared, ctx, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

void opencl_close(void)
{
    clattn_context *ctx = shared.ctx;
    device_queues_close(&shared);
    clattn_context_destroy(ctx);
}

const opencl *opencl_get(void)
{
    return &shared;
}

TCase *opencl_cases(const char *name, double seconds)
{
    TCase *t = tcase_create(name);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, seconds);
    return t;
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
    return device_queues_finish(event, NULL) == CLATTN_OK;
}
