/* SPDX-License-Identifier: Apache-2.0
 *
 * error.c - statuses: their sentences, and filling a caller's clattn_error.
 */
#define _XOPEN_SOURCE 700 /* POSIX's strerror_r */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

static const char *const STATUS_TEXT[] = {
    [CLATTN_OK] = "done",
    [CLATTN_INVALID] = "an argument breaks its contract",
    [CLATTN_UNSUPPORTED] = "legal, but beyond this device or this version",
    [CLATTN_NO_DEVICE] = "no OpenCL device, or none that was asked for",
    [CLATTN_NO_MEMORY] = "the host or the device could not allocate",
    [CLATTN_BUILD_FAILED] = "a kernel did not compile on this device",
    [CLATTN_DEVICE_ERROR] = "an OpenCL call failed",
    [CLATTN_FORKED] = "OpenCL was used before fork() and is lost here",
};

const char *clattn_status_text(clattn_status status)
{
    const size_t count = sizeof STATUS_TEXT / sizeof STATUS_TEXT[0];
    return (size_t)status < count ? STATUS_TEXT[status] : "unknown status";
}

clattn_status error_none(clattn_error *error)
{
    if (error) {
        error->status = CLATTN_OK;
        error->cl_code = CL_SUCCESS;
        error->message[0] = '\0';
    }
    return CLATTN_OK;
}

clattn_status error_set(
    clattn_error *error, clattn_status status, const char *format, ...)
{
    if (error) {
        error->status = (int32_t)status;
        error->cl_code = CL_SUCCESS;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
        utf8_clean(error->message); /* users' and drivers' texts are in it */
    }
    return status;
}

clattn_status error_pass(clattn_error *error, const clattn_error *from)
{
    if (error)
        *error = *from;
    return (clattn_status)from->status;
}

void error_errno_text(char *words, size_t capacity)
{
    const int code = errno;
    if (strerror_r(code, words, capacity) != 0)
        snprintf(words, capacity, "error %d", code);
}

static bool is_allocation_failure(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
           code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
}

clattn_status error_check_cl(clattn_error *error, cl_int code, const char *call)
{
    if (code == CL_SUCCESS)
        return CLATTN_OK;
    const clattn_status status =
        is_allocation_failure(code) ? CLATTN_NO_MEMORY : CLATTN_DEVICE_ERROR;
    error_set(
        error, status, "%s failed: %s (%d)", call, error_cl_name(code), code);
    if (error)
        error->cl_code = code;
    return status;
}

clattn_status error_after_work(clattn_error *error)
{
    if (error)
        error->status = CLATTN_DEVICE_ERROR;
    return CLATTN_DEVICE_ERROR;
}

#define NAME(code)  \
    {               \
        code, #code \
    }

static const struct {
    cl_int code;
    const char *name;
} CL_NAMES[] = {
    NAME(CL_SUCCESS),
    NAME(CL_DEVICE_NOT_FOUND),
    NAME(CL_DEVICE_NOT_AVAILABLE),
    NAME(CL_COMPILER_NOT_AVAILABLE),
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAME(CL_OUT_OF_RESOURCES),
    NAME(CL_OUT_OF_HOST_MEMORY),
    NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAME(CL_MEM_COPY_OVERLAP),
    NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAME(CL_BUILD_PROGRAM_FAILURE),
    NAME(CL_MAP_FAILURE),
    NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAME(CL_COMPILE_PROGRAM_FAILURE),
    NAME(CL_LINKER_NOT_AVAILABLE),
    NAME(CL_LINK_PROGRAM_FAILURE),
    NAME(CL_INVALID_VALUE),
    NAME(CL_INVALID_DEVICE_TYPE),
    NAME(CL_INVALID_PLATFORM),
    NAME(CL_INVALID_DEVICE),
    NAME(CL_INVALID_CONTEXT),
    NAME(CL_INVALID_QUEUE_PROPERTIES),
    NAME(CL_INVALID_COMMAND_QUEUE),
    NAME(CL_INVALID_HOST_PTR),
    NAME(CL_INVALID_MEM_OBJECT),
    NAME(CL_INVALID_IMAGE_SIZE),
    NAME(CL_INVALID_SAMPLER),
    NAME(CL_INVALID_BINARY),
    NAME(CL_INVALID_BUILD_OPTIONS),
    NAME(CL_INVALID_PROGRAM),
    NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    NAME(CL_INVALID_KERNEL_NAME),
    NAME(CL_INVALID_KERNEL_DEFINITION),
    NAME(CL_INVALID_KERNEL),
    NAME(CL_INVALID_ARG_INDEX),
    NAME(CL_INVALID_ARG_VALUE),
    NAME(CL_INVALID_ARG_SIZE),
    NAME(CL_INVALID_KERNEL_ARGS),
    NAME(CL_INVALID_WORK_DIMENSION),
    NAME(CL_INVALID_WORK_GROUP_SIZE),
    NAME(CL_INVALID_WORK_ITEM_SIZE),
    NAME(CL_INVALID_GLOBAL_OFFSET),
    NAME(CL_INVALID_EVENT_WAIT_LIST),
    NAME(CL_INVALID_EVENT),
    NAME(CL_INVALID_OPERATION),
    NAME(CL_INVALID_BUFFER_SIZE),
    NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    NAME(CL_INVALID_PROPERTY),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

const char *error_cl_name(cl_int code)
{
    for (size_t i = 0; i < sizeof CL_NAMES / sizeof CL_NAMES[0]; ++i)
        if (CL_NAMES[i].code == code)
            return CL_NAMES[i].name;
    return "unknown code";
}
