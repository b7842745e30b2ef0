/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_opencl.c - OpenCL's entry points: each fails if it is its turn, refuses
 * what a shrunken device would, and keeps count of objects.
 */
/* clCreateCommandQueue is what a device of OpenCL 1.2 has. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "shim_parts.h"

/* Whether the program calls, and it is this call's turn to fail. */
#define STRIKES(name)                                \
    (shim_is_program(__builtin_return_address(0)) && \
        shim_strikes(SHIM_##name, &code))

/* A call that returns its code: `refusal` is CL_SUCCESS or why the device will
   not; `then` is done with `code` after the call. */
#define CODE_AND(name, parameters, arguments, refusal, then) \
    CL_API_ENTRY cl_int CL_API_CALL name parameters          \
    {                                                        \
        cl_int code = CL_SUCCESS;                            \
        cl_int(CL_API_CALL *next) parameters;                \
        if (STRIKES(name))                                   \
            return code;                                     \
        code = refusal;                                      \
        if (code != CL_SUCCESS)                              \
            return code;                                     \
        shim_next(&next, #name);                             \
        code = next arguments;                               \
        then;                                                \
        return code;                                         \
    }

#define CODE(name, parameters, arguments) \
    CODE_AND(name, parameters, arguments, CL_SUCCESS, (void)0)

/* A call that returns a new object. */
#define CREATE_UNLESS(name, kind, type, parameters, arguments, refusal) \
    CL_API_ENTRY type CL_API_CALL name parameters                       \
    {                                                                   \
        cl_int code = CL_SUCCESS;                                       \
        type(CL_API_CALL *next) parameters;                             \
        if (!STRIKES(name))                                             \
            code = refusal;                                             \
        if (code != CL_SUCCESS) {                                       \
            if (code_out)                                               \
                *code_out = code;                                       \
            return NULL;                                                \
        }                                                               \
        shim_next(&next, #name);                                        \
        const type object = next arguments;                             \
        shim_keep(SHIM_##kind, object);                                 \
        return object;                                                  \
    }

#define CREATE(name, kind, type, parameters, arguments) \
    CREATE_UNLESS(name, kind, type, parameters, arguments, CL_SUCCESS)

/* The object is gone, whatever is said of it. */
#define RELEASE(name, type)                           \
    CL_API_ENTRY cl_int CL_API_CALL name(type object) \
    {                                                 \
        cl_int code = CL_SUCCESS;                     \
        cl_int(CL_API_CALL *next)(type);              \
        const bool fails = STRIKES(name);             \
        shim_drop(object);                            \
        shim_next(&next, #name);                      \
        const cl_int real = next(object);             \
        return fails ? code : real;                   \
    }

#define KEEP_EVENT                   \
    if (event && code == CL_SUCCESS) \
    shim_keep(SHIM_EVENT, *event)

/* ---- Platforms and devices -------------------------------------------------- */

CODE_AND(clGetPlatformIDs,
    (cl_uint room, cl_platform_id *platforms, cl_uint *count),
    (room, platforms, count), CL_SUCCESS,
    if (code == CL_SUCCESS) shim_platforms_answer(room, platforms, count))

CODE(clGetPlatformInfo,
    (cl_platform_id platform, cl_platform_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (platform, what, bytes, value, bytes_out))

CODE(clGetDeviceIDs,
    (cl_platform_id platform, cl_device_type type, cl_uint room,
        cl_device_id *devices, cl_uint *count),
    (platform, type, room, devices, count))

CODE_AND(clGetDeviceInfo,
    (cl_device_id device, cl_device_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (device, what, bytes, value, bytes_out), shim_refuse_query(what),
    if (code == CL_SUCCESS) shim_device_answer(what, bytes, value, bytes_out))

/* ---- Contexts and queues ------------------------------------------------------ */

CREATE(clCreateContext, CONTEXT, cl_context,
    (const cl_context_properties *properties, cl_uint count,
        const cl_device_id *devices,
        void(CL_CALLBACK *notify)(
            const char *text, const void *more, size_t bytes, void *state),
        void *state, cl_int *code_out),
    (properties, count, devices, notify, state, code_out))

CODE_AND(clRetainContext, (cl_context context), (context), CL_SUCCESS,
    if (code == CL_SUCCESS) shim_keep(SHIM_CONTEXT, context))

RELEASE(clReleaseContext, cl_context)

CODE(clGetContextInfo,
    (cl_context context, cl_context_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (context, what, bytes, value, bytes_out))

CREATE(clCreateCommandQueue, QUEUE, cl_command_queue,
    (cl_context context, cl_device_id device,
        cl_command_queue_properties properties, cl_int *code_out),
    (context, device, properties, code_out))

RELEASE(clReleaseCommandQueue, cl_command_queue)

CODE(clGetCommandQueueInfo,
    (cl_command_queue queue, cl_command_queue_info what, size_t bytes,
        void *value, size_t *bytes_out),
    (queue, what, bytes, value, bytes_out))

/* ---- Buffers -------------------------------------------------------------------- */

CREATE_UNLESS(clCreateBuffer, BUFFER, cl_mem,
    (cl_context context, cl_mem_flags flags, size_t bytes, void *host,
        cl_int *code_out),
    (context, flags, bytes, host, code_out), shim_refuse_buffer(bytes))

CREATE(clCreateSubBuffer, BUFFER, cl_mem,
    (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
        const void *info, cl_int *code_out),
    (buffer, flags, type, info, code_out))

RELEASE(clReleaseMemObject, cl_mem)

CODE(clGetMemObjectInfo,
    (cl_mem memory, cl_mem_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (memory, what, bytes, value, bytes_out))

/* ---- Programs and kernels ------------------------------------------------------- */

CREATE_UNLESS(clCreateProgramWithSource, PROGRAM, cl_program,
    (cl_context context, cl_uint count, const char **text,
        const size_t *lengths, cl_int *code_out),
    (context, count, text, lengths, code_out), shim_refuse_source(count, text))

CREATE(clCreateProgramWithBinary, PROGRAM, cl_program,
    (cl_context context, cl_uint count, const cl_device_id *devices,
        const size_t *lengths, const unsigned char **binaries, cl_int *states,
        cl_int *code_out),
    (context, count, devices, lengths, binaries, states, code_out))

CODE_AND(clBuildProgram,
    (cl_program program, cl_uint count, const cl_device_id *devices,
        const char *options,
        void(CL_CALLBACK *notify)(cl_program program, void *state),
        void *state),
    (program, count, devices, options, notify, state),
    shim_refuse_options(options), (void)0)

RELEASE(clReleaseProgram, cl_program)

CODE(clGetProgramInfo,
    (cl_program program, cl_program_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (program, what, bytes, value, bytes_out))

CODE(clGetProgramBuildInfo,
    (cl_program program, cl_device_id device, cl_program_build_info what,
        size_t bytes, void *value, size_t *bytes_out),
    (program, device, what, bytes, value, bytes_out))

CREATE(clCreateKernel, KERNEL, cl_kernel,
    (cl_program program, const char *name, cl_int *code_out),
    (program, name, code_out))

RELEASE(clReleaseKernel, cl_kernel)

CODE_AND(clGetKernelWorkGroupInfo,
    (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
        size_t bytes, void *value, size_t *bytes_out),
    (kernel, device, what, bytes, value, bytes_out), CL_SUCCESS,
    if (code == CL_SUCCESS) shim_kernel_answer(what, value))

CODE(clSetKernelArg,
    (cl_kernel kernel, cl_uint index, size_t bytes, const void *value),
    (kernel, index, bytes, value))

/* ---- Work -------------------------------------------------------------------------- */

CODE_AND(clEnqueueNDRangeKernel,
    (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
        const size_t *offset, const size_t *global, const size_t *local,
        cl_uint n_wait, const cl_event *wait, cl_event *event),
    (queue, kernel, dimensions, offset, global, local, n_wait, wait, event),
    shim_refuse_launch(queue, kernel, dimensions, local), KEEP_EVENT)

CODE_AND(clEnqueueMarkerWithWaitList,
    (cl_command_queue queue, cl_uint n_wait, const cl_event *wait,
        cl_event *event),
    (queue, n_wait, wait, event), CL_SUCCESS, KEEP_EVENT)

CODE_AND(clEnqueueReadBuffer,
    (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
        size_t bytes, void *to, cl_uint n_wait, const cl_event *wait,
        cl_event *event),
    (queue, buffer, blocks, offset, bytes, to, n_wait, wait, event), CL_SUCCESS,
    KEEP_EVENT)

CODE_AND(clEnqueueWriteBuffer,
    (cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
        size_t bytes, const void *from, cl_uint n_wait, const cl_event *wait,
        cl_event *event),
    (queue, buffer, blocks, offset, bytes, from, n_wait, wait, event),
    CL_SUCCESS, KEEP_EVENT)

CREATE(clCreateUserEvent, EVENT, cl_event,
    (cl_context context, cl_int *code_out), (context, code_out))

CODE(clGetEventInfo,
    (cl_event event, cl_event_info what, size_t bytes, void *value,
        size_t *bytes_out),
    (event, what, bytes, value, bytes_out))

RELEASE(clReleaseEvent, cl_event)

CODE(clFinish, (cl_command_queue queue), (queue))
