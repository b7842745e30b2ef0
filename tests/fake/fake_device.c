/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_device.c - the one platform and device of the fake OpenCL, and what
 * their queries answer.
 */
#include "fake_parts.h"

#include <string.h>

fake_device fake_cpu(void)
{
    return (fake_device){
        .type = CL_DEVICE_TYPE_CPU,
        .platform = "fake",
        .name = "no device",
        .max_group = 4096,
        .max_group_dim = {4096, 4096, 4096},
        .kernel_group = 4096,
        .local_bytes = 512u << 10,
        .buffer_bytes = (cl_ulong)2 << 30,
        .native_width = 16,
        .address_bits = 64,
    };
}

fake_device fake_gpu(void)
{
    fake_device d = fake_cpu();
    d.type = CL_DEVICE_TYPE_GPU;
    d.max_group = d.kernel_group = 1024;
    d.max_group_dim[0] = d.max_group_dim[1] = 1024;
    d.max_group_dim[2] = 64;
    d.local_bytes = 48u << 10;
    d.native_width = 1;
    return d;
}

fake_device FAKE_DEVICE;

/* Their addresses are the handles. */
static char the_platform, the_device;

static cl_platform_id platform_handle(void)
{
    return (cl_platform_id)(void *)&the_platform;
}

cl_device_id fake_device_handle(void)
{
    return (cl_device_id)(void *)&the_device;
}

cl_int fake_answer(
    const void *from, size_t bytes, size_t room, void *to, size_t *needed)
{
    if (to && room < bytes)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

cl_int fake_answer_text(const char *text, size_t room, void *to, size_t *needed)
{
    return fake_answer(text, strlen(text) + 1, room, to, needed);
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms && room > 0)
        platforms[0] = platform_handle();
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
    size_t room, void *to, size_t *needed)
{
    (void)what;
    return platform == platform_handle()
               ? fake_answer_text(FAKE_DEVICE.platform, room, to, needed)
               : CL_INVALID_PLATFORM;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
    cl_uint room, cl_device_id *devices, cl_uint *count)
{
    (void)type;
    if (platform != platform_handle())
        return CL_INVALID_PLATFORM;
    if (devices && room > 0)
        devices[0] = fake_device_handle();
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room,
    void *to, size_t *needed)
{
    const fake_device *d = &FAKE_DEVICE;
    const cl_platform_id platform = platform_handle();
    const cl_ulong global_bytes = 8 * d->buffer_bytes;
    const cl_uint units = 2, clock = 1000;
    const cl_bool unified = d->type == CL_DEVICE_TYPE_CPU;
    const cl_device_fp_config fp_config = CL_FP_FMA | CL_FP_INF_NAN;

    if (device != fake_device_handle())
        return CL_INVALID_DEVICE;
    switch (what) {
    case CL_DEVICE_TYPE:
        return ANSWER(d->type);
    case CL_DEVICE_PLATFORM:
        return ANSWER(platform);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return ANSWER(units);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return ANSWER(clock);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return ANSWER(global_bytes);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return ANSWER(unified);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return ANSWER(d->max_group);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return ANSWER(d->max_group_dim);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return ANSWER(d->local_bytes);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return ANSWER(d->buffer_bytes);
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        return ANSWER(d->native_width);
    case CL_DEVICE_ADDRESS_BITS:
        return ANSWER(d->address_bits);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return ANSWER(fp_config);
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
        return fake_answer_text(d->name, room, to, needed);
    default:
        return CL_INVALID_VALUE;
    }
}
