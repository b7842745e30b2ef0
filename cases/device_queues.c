/* SPDX-License-Identifier: Apache-2.0
 *
 * device_queues.c - making and releasing them.
 */
#include "device_queues.h"

#include "context.h"
#include "error.h"

static clattn_status open_queue(cl_command_queue *to, const device_queues *q,
    cl_command_queue_properties wanted, clattn_error *error)
{
    cl_command_queue_properties has = 0;
    cl_int code = clGetDeviceInfo(
        q->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof has, &has, NULL);
    if (code == CL_SUCCESS)
        *to = clCreateCommandQueue(q->cl, q->device, wanted & has, &code);
    return error_check_cl(error, code, "clCreateCommandQueue");
}

clattn_status device_queues_open(
    device_queues *q, clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    *q = (device_queues){.ctx = ctx,
        .cl = clattn_context_cl(ctx),
        .device = clattn_context_device(ctx),
        .user_events = ctx->limits.user_events};
    TRY(open_queue(&q->in_order, q, 0, error));
    TRY(open_queue(
        &q->out_of_order, q, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, error));

cleanup:
    return status;
}

void device_queues_close(device_queues *q)
{
    if (q->in_order)
        clReleaseCommandQueue(q->in_order);
    if (q->out_of_order)
        clReleaseCommandQueue(q->out_of_order);
    *q = (device_queues){.ctx = NULL};
}

clattn_status device_queues_finish(cl_event event, clattn_error *error)
{
    cl_int state = CL_QUEUED;
    clWaitForEvents(1, &event);
    cl_int code = clGetEventInfo(
        event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    clReleaseEvent(event);
    if (code == CL_SUCCESS && state < 0)
        code = state;
    return error_check_cl(error, code, "the work that was enqueued");
}
