/* SPDX-License-Identifier: Apache-2.0
 *
 * hollow_driver.c - an OpenCL driver with a platform and nothing behind it, as
 * Mesa's are where there is no GPU: HOLLOW_DEVICES says by which code devices
 * are not found, or "0" that finding none is a success, HOLLOW_NAME what the
 * platform calls itself.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <stdlib.h>
#include <string.h>

#include <CL/cl_icd.h>

static cl_int CL_API_CALL platform_info(cl_platform_id platform,
    cl_platform_info what, size_t room, void *value, size_t *bytes)
{
    const char *name = getenv("HOLLOW_NAME");
    const char *text = what == CL_PLATFORM_PROFILE   ? "FULL_PROFILE"
                       : what == CL_PLATFORM_VERSION ? "OpenCL 1.2"
                       : what == CL_PLATFORM_NAME
                           ? name ? name : "Hollow\tPlatform"
                       : what == CL_PLATFORM_VENDOR         ? "clattn's tests"
                       : what == CL_PLATFORM_EXTENSIONS     ? "cl_khr_icd"
                       : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "HOLLOW"
                                                            : NULL;
    (void)platform;
    if (!text || (value && room <= strlen(text)))
        return CL_INVALID_VALUE;
    if (value)
        strcpy(value, text);
    if (bytes)
        *bytes = strlen(text) + 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform,
    cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *count)
{
    const char *code = getenv("HOLLOW_DEVICES");
    (void)platform;
    (void)type;
    (void)room;
    (void)ids;
    if (count)
        *count = 0;
    return code ? atoi(code) : CL_DEVICE_NOT_FOUND;
}

static cl_icd_dispatch dispatch = {
    .clGetPlatformInfo = platform_info, .clGetDeviceIDs = device_ids};

struct _cl_platform_id {
    cl_icd_dispatch *dispatch; /* first, where the loader looks for it */
};

static struct _cl_platform_id hollow = {&dispatch};

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(
    cl_uint room, cl_platform_id *platforms, cl_uint *count);

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clIcdGetPlatformIDsKHR(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms && room > 0)
        platforms[0] = &hollow;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

/* What a loader asks for by name. */
__attribute__((visibility("default"))) CL_API_ENTRY void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name)
{
    union {
        void(CL_API_CALL *function)(void);
        void *address;
    } found = {NULL};
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        found.function = (void(CL_API_CALL *)(void))clIcdGetPlatformIDsKHR;
    else if (strcmp(name, "clGetPlatformInfo") == 0)
        found.function = (void(CL_API_CALL *)(void))platform_info;
    return found.address;
}
