/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_opencl.c - the OpenCL functions that the library calls, for a device
 * that computes nothing.  Buffers that are made from host memory read all of
 * it, and reads of buffers write all of it, so that a sanitizer sees both.
 */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fake_parts.h"

/* ---- Objects ------------------------------------------------------------- */

enum kind {
    CONTEXT = 1,
    QUEUE,
    BUFFER,
    PROGRAM,
    KERNEL,
    EVENT
};

enum {
    MOST_ARGUMENTS = 16
};

typedef struct object {
    enum kind kind;
    atomic_uint references;
    const struct object *context; /* a buffer's or queue's */
    size_t bytes;                 /* a buffer's */
    cl_mem_flags flags;           /* a buffer's */
    /* A kernel's: which thread set each argument.  Not atomic, as with any
       driver: who calls has to see to it that threads take turns. */
    const void *setter[MOST_ARGUMENTS];
} object;

static atomic_size_t live, launches, mixed;

/* Its address names the thread. */
static _Thread_local char this_thread;

size_t fake_live(void)
{
    return live;
}

size_t fake_launches(void)
{
    return launches;
}

size_t fake_mixed(void)
{
    return mixed;
}

static object *make(
    enum kind kind, const void *context, size_t bytes, cl_int *code)
{
    object *o = calloc(1, sizeof *o);
    if (code)
        *code = o ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (!o)
        return NULL;
    o->kind = kind;
    atomic_init(&o->references, 1);
    o->context = context;
    o->bytes = bytes;
    ++live;
    return o;
}

static bool is(const void *handle, enum kind kind)
{
    return handle && ((const object *)handle)->kind == kind;
}

static cl_int let_go(void *handle, enum kind kind, cl_int wrong)
{
    object *o = handle;
    if (!is(handle, kind))
        return wrong;
    if (--o->references == 0) {
        free(o);
        --live;
    }
    return CL_SUCCESS;
}

/* A queue's or buffer's. */
static const void *context_of(const void *handle)
{
    return ((const object *)handle)->context;
}

/* ---- Contexts and queues ------------------------------------------------- */

cl_context clCreateContext(const cl_context_properties *properties,
    cl_uint count, const cl_device_id *devices,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
    void *data, cl_int *code)
{
    (void)properties, (void)count, (void)devices, (void)notify, (void)data;
    return (void *)make(CONTEXT, NULL, 0, code);
}

cl_int clRetainContext(cl_context context)
{
    object *o = (void *)context;
    if (!is(o, CONTEXT))
        return CL_INVALID_CONTEXT;
    ++o->references;
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context)
{
    return let_go(context, CONTEXT, CL_INVALID_CONTEXT);
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room,
    void *to, size_t *needed)
{
    const cl_device_id device = fake_device_handle();
    if (!is(context, CONTEXT))
        return CL_INVALID_CONTEXT;
    return what == CL_CONTEXT_DEVICES ? ANSWER(device) : CL_INVALID_VALUE;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
    cl_command_queue_properties properties, cl_int *code)
{
    (void)device, (void)properties;
    return (void *)make(QUEUE, context, 0, code);
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    return let_go(queue, QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what,
    size_t room, void *to, size_t *needed)
{
    const cl_device_id device = fake_device_handle();
    if (!is(queue, QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (what == CL_QUEUE_CONTEXT)
        return ANSWER(((const object *)queue)->context);
    return what == CL_QUEUE_DEVICE ? ANSWER(device) : CL_INVALID_VALUE;
}

cl_int clFinish(cl_command_queue queue)
{
    return is(queue, QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

/* ---- Buffers ------------------------------------------------------------- */

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
    void *host, cl_int *code)
{
    const volatile char *from = host;
    if (bytes == 0 || bytes > FAKE_DEVICE.buffer_bytes) {
        *code = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    for (size_t i = 0; (flags & CL_MEM_COPY_HOST_PTR) && i < bytes; ++i)
        (void)from[i];
    object *buffer = make(BUFFER, context, bytes, code);
    if (buffer)
        buffer->flags = flags;
    return (void *)buffer;
}

cl_int clReleaseMemObject(cl_mem mem)
{
    return let_go(mem, BUFFER, CL_INVALID_MEM_OBJECT);
}

cl_int clGetMemObjectInfo(
    cl_mem mem, cl_mem_info what, size_t room, void *to, size_t *needed)
{
    const object *o = (const void *)mem;
    const cl_mem parent = NULL;
    const size_t origin = 0;
    const cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    if (!is(o, BUFFER))
        return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_CONTEXT:
        return ANSWER(o->context);
    case CL_MEM_TYPE:
        return ANSWER(type);
    case CL_MEM_FLAGS:
        return ANSWER(o->flags);
    case CL_MEM_SIZE:
        return ANSWER(o->bytes);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ANSWER(parent);
    case CL_MEM_OFFSET:
        return ANSWER(origin);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocks,
    size_t at, size_t bytes, void *to, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event)
{
    (void)queue, (void)blocks, (void)num_wait, (void)wait_list, (void)event;
    if (!is(mem, BUFFER) || at + bytes > ((const object *)(void *)mem)->bytes)
        return CL_INVALID_VALUE;
    memset(to, 0, bytes);
    return CL_SUCCESS;
}

/* ---- Programs and kernels ------------------------------------------------ */

cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
    const char **texts, const size_t *lengths, cl_int *code)
{
    (void)count, (void)texts, (void)lengths;
    return (void *)make(PROGRAM, context, 0, code);
}

cl_int clBuildProgram(cl_program program, cl_uint count,
    const cl_device_id *devices, const char *options,
    void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    (void)count, (void)devices, (void)options, (void)notify, (void)data;
    if (!is(program, PROGRAM))
        return CL_INVALID_PROGRAM;
    return FAKE_DEVICE.refuses_to_build ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device,
    cl_program_build_info what, size_t room, void *to, size_t *needed)
{
    (void)program, (void)device, (void)what;
    const char *log =
        FAKE_DEVICE.build_log ? FAKE_DEVICE.build_log : "error: no";
    return fake_answer_text(
        FAKE_DEVICE.refuses_to_build ? log : "", room, to, needed);
}

/* No program has a binary, and no binary is one. */
cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room,
    void *to, size_t *needed)
{
    (void)what, (void)room, (void)to, (void)needed;
    return is(program, PROGRAM) ? CL_INVALID_VALUE : CL_INVALID_PROGRAM;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count,
    const cl_device_id *devices, const size_t *lengths,
    const unsigned char **binaries, cl_int *status, cl_int *code)
{
    (void)context, (void)count, (void)devices, (void)lengths, (void)binaries;
    if (status)
        *status = CL_INVALID_BINARY;
    if (code)
        *code = CL_INVALID_BINARY;
    return NULL;
}

cl_int clReleaseProgram(cl_program program)
{
    return let_go(program, PROGRAM, CL_INVALID_PROGRAM);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    (void)name;
    return (void *)make(KERNEL, program, 0, code);
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    return let_go(kernel, KERNEL, CL_INVALID_KERNEL);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
    cl_kernel_work_group_info what, size_t room, void *to, size_t *needed)
{
    const cl_ulong bytes = 0;
    (void)device;
    if (!is(kernel, KERNEL))
        return CL_INVALID_KERNEL;
    return what == CL_KERNEL_WORK_GROUP_SIZE ? ANSWER(FAKE_DEVICE.kernel_group)
                                             : ANSWER(bytes);
}

cl_int clSetKernelArg(
    cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    (void)bytes, (void)value;
    if (!is(kernel, KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= MOST_ARGUMENTS)
        return CL_INVALID_ARG_INDEX;
    ((object *)(void *)kernel)->setter[index] = &this_thread;
    sched_yield(); /* the moment for another thread to come between */
    return CL_SUCCESS;
}

/* Whether each argument was set by the thread that launches. */
static bool is_own(const object *kernel)
{
    for (size_t i = 0; i < MOST_ARGUMENTS; ++i)
        if (kernel->setter[i] && kernel->setter[i] != &this_thread)
            return false;
    return true;
}

/* ---- Events -------------------------------------------------------------- */

/* Refuses what a device would: groups too large, and launches of nothing. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
    cl_uint dimensions, const size_t *offset, const size_t *global,
    const size_t *local, cl_uint num_wait, const cl_event *wait_list,
    cl_event *event)
{
    size_t group = 1;
    (void)offset, (void)num_wait, (void)wait_list;
    if (!is(queue, QUEUE) || !is(kernel, KERNEL))
        return CL_INVALID_COMMAND_QUEUE;
    for (cl_uint d = 0; d < dimensions; ++d) {
        if (local[d] == 0 || local[d] > FAKE_DEVICE.max_group_dim[d])
            return CL_INVALID_WORK_ITEM_SIZE;
        if (global[d] == 0 || global[d] % local[d] != 0)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        group *= local[d];
    }
    if (group > FAKE_DEVICE.max_group || group > FAKE_DEVICE.kernel_group)
        return CL_INVALID_WORK_GROUP_SIZE;
    ++launches;
    mixed += !is_own((const void *)kernel);
    if (event)
        *event = (void *)make(EVENT, context_of(queue), 0, NULL);
    return CL_SUCCESS;
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event)
{
    (void)num_wait, (void)wait_list;
    if (!is(queue, QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    *event = (void *)make(EVENT, context_of(queue), 0, NULL);
    return CL_SUCCESS;
}

/* All are of the queue's context, and complete. */
cl_int clGetEventInfo(
    cl_event event, cl_event_info what, size_t room, void *to, size_t *needed)
{
    const cl_int state = CL_COMPLETE;
    if (!is(event, EVENT))
        return CL_INVALID_EVENT;
    if (what == CL_EVENT_CONTEXT)
        return ANSWER(((const object *)(void *)event)->context);
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? ANSWER(state)
                                                     : CL_INVALID_VALUE;
}

cl_int clReleaseEvent(cl_event event)
{
    return let_go(event, EVENT, CL_INVALID_EVENT);
}
