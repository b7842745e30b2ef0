/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_device.c - devices that look smaller than they are: what they answer,
 * and what they then must refuse.
 */
#include "shim_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static shim_device shrunken;

void shim_shrink(const shim_device *device)
{
    shrunken = device ? *device : (shim_device){0};
}

static cl_platform_id only;

void shim_only_platform(cl_platform_id platform)
{
    only = platform;
}

/* ---- Answers ----------------------------------------------------------------- */

/* Nothing newer has a number between these. */
enum {
    LAST_OF_1_2 = 0x1049, /* CL_DEVICE_PRINTF_BUFFER_SIZE */
    FIRST_OF_VENDORS = 0x2000
};

cl_int shim_refuse_query(cl_device_info what)
{
    const bool newer = what > LAST_OF_1_2 && what < FIRST_OF_VENDORS;
    return shrunken.only_1_2 && newer ? CL_INVALID_VALUE : CL_SUCCESS;
}

void shim_platforms_answer(
    cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    if (only && platforms && room > 0)
        platforms[0] = only;
    if (only && count)
        *count = 1;
}

static void limit_size(size_t *value, size_t limit)
{
    if (limit > 0 && *value > limit)
        *value = limit;
}

static void limit_long(cl_ulong *value, cl_ulong limit)
{
    if (limit > 0 && *value > limit)
        *value = limit;
}

/* The first digits of a text such as "OpenCL 3.0 PoCL 3.1". */
static void replace_version(char *text)
{
    char *at = strpbrk(text, "0123456789");
    if (at && at[1] == '.' && isdigit((unsigned char)at[2]))
        memcpy(at, "1.2", 3);
}

/* A word out of a list, by blanks. */
static void replace_word(char *list, const char *word)
{
    char *at = strstr(list, word);
    if (at)
        memset(at, ' ', strlen(word));
}

static void no_double(cl_device_info what, void *value)
{
    switch (what) {
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        memset(value, 0, sizeof(cl_device_fp_config));
        break;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
        memset(value, 0, sizeof(cl_uint));
        break;
    case CL_DEVICE_EXTENSIONS:
        replace_word(value, "cl_khr_fp64");
        break;
    }
}

/* The claimed ones behind the others, in whose room they may not fit. */
static void claim_extensions(size_t bytes, char *value, size_t *bytes_out)
{
    const size_t more = strlen(shrunken.claimed_extensions) + 1;
    if (bytes_out)
        *bytes_out += more;
    char *end = value ? memchr(value, '\0', bytes) : NULL;
    if (end && (size_t)(end - value) + more + 1 <= bytes)
        snprintf(end, more + 1, " %s", shrunken.claimed_extensions);
}

void shim_device_answer(
    cl_device_info what, size_t bytes, void *value, size_t *bytes_out)
{
    if (what == CL_DEVICE_EXTENSIONS && shrunken.claimed_extensions)
        claim_extensions(bytes, value, bytes_out);
    if (!value)
        return;
    if (shrunken.no_double)
        no_double(what, value);
    switch (what) {
    case CL_DEVICE_TYPE:
        if (shrunken.gpu)
            *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
        break;
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT:
        if (shrunken.gpu)
            *(cl_uint *)value = 1;
        break;
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        limit_size(value, shrunken.max_group);
        break;
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        for (size_t d = 0; d < 3 && (d + 1) * sizeof(size_t) <= bytes; ++d)
            limit_size((size_t *)value + d, shrunken.max_group);
        break;
    case CL_DEVICE_LOCAL_MEM_SIZE:
        limit_long(value, shrunken.local_bytes);
        if (shrunken.claimed_local_bytes > 0)
            *(cl_ulong *)value = shrunken.claimed_local_bytes;
        break;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        limit_long(value, shrunken.max_buffer_bytes);
        break;
    case CL_DEVICE_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
        if (shrunken.only_1_2)
            replace_version(value);
        break;
    }
}

void shim_kernel_answer(cl_kernel_work_group_info what, void *value)
{
    if (value && what == CL_KERNEL_WORK_GROUP_SIZE)
        limit_size(value, shrunken.max_group);
    if (value && what == CL_KERNEL_PRIVATE_MEM_SIZE &&
        shrunken.private_bytes > 0)
        *(cl_ulong *)value = shrunken.private_bytes;
}

/* A copy of a program's text, which lives until the next, with every `find`
   replaced. */
static const char *replaced(const char *text)
{
    static char copy[1 << 18];
    size_t used = 0;
    const size_t find = strlen(shrunken.find);
    for (const char *at = text; *at != '\0' && used < sizeof copy - 256;) {
        const bool found = strncmp(at, shrunken.find, find) == 0;
        used += (size_t)snprintf(copy + used, 256, "%.*s",
            found ? (int)strlen(shrunken.instead) : 1,
            found ? shrunken.instead : at);
        at += found ? find : 1;
    }
    return copy;
}

/* ---- Refusals ------------------------------------------------------------------ */

cl_int shim_refuse_buffer(size_t bytes)
{
    const cl_ulong most = shrunken.max_buffer_bytes;
    return most > 0 && bytes > most ? CL_INVALID_BUFFER_SIZE : CL_SUCCESS;
}

cl_int shim_refuse_source(cl_uint count, const char **text)
{
    (void)count;
    if (shrunken.find)
        text[0] = replaced(text[0]);
    return shrunken.no_double && shim_uses_double(text[0])
               ? CL_INVALID_OPERATION
               : CL_SUCCESS;
}

/* A device of 1.2 builds 1.2 and less. */
cl_int shim_refuse_options(const char *options)
{
    const char *standard = options ? strstr(options, "-cl-std=") : NULL;
    if (!shrunken.only_1_2 || !standard ||
        strncmp(standard, "-cl-std=CL1.", strlen("-cl-std=CL1.")) == 0)
        return CL_SUCCESS;
    return CL_INVALID_BUILD_OPTIONS;
}

static bool uses_too_much_local(cl_command_queue queue, cl_kernel kernel)
{
    cl_device_id device = NULL;
    cl_ulong bytes = 0;
    if (shrunken.local_bytes == 0)
        return false;
    cl_int(CL_API_CALL * queue_info)(
        cl_command_queue, cl_command_queue_info, size_t, void *, size_t *);
    cl_int(CL_API_CALL * kernel_info)(cl_kernel, cl_device_id,
        cl_kernel_work_group_info, size_t, void *, size_t *);
    shim_next(&queue_info, "clGetCommandQueueInfo");
    shim_next(&kernel_info, "clGetKernelWorkGroupInfo");
    queue_info(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    kernel_info(
        kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return bytes > shrunken.local_bytes;
}

cl_int shim_refuse_launch(cl_command_queue queue, cl_kernel kernel,
    cl_uint dimensions, const size_t *local)
{
    size_t items = 1;
    for (cl_uint d = 0; local && d < dimensions; ++d)
        items *= local[d];
    if (shrunken.max_group > 0 && items > shrunken.max_group)
        return CL_INVALID_WORK_GROUP_SIZE;
    return uses_too_much_local(queue, kernel) ? CL_OUT_OF_RESOURCES
                                              : CL_SUCCESS;
}
