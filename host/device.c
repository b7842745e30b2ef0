/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c - asking OpenCL for platforms, devices and their limits.
 */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "hint.h"
#include "process.h"
#include "struct_size.h"
#include "system.h"
#include "utf8.h"

/*
 * Groups of one launch: x as far as a signed 32-bit count goes, y and z as far
 * as CUDA's grids go, which NVIDIA's OpenCL maps to; no query tells them.
 */
static const size_t MAX_GROUPS[3] = {0x7fffffff, 0xffff, 0xffff};

/* Known faults that no query tells; all parts of a row must match. */
typedef struct fault {
    const char *platform, *name;
    size_t max_iterations;
    bool hangs_on_user_events;
    const char *note;
} fault;

static const fault FAULTS[] = {
    /* LP_MAX_TGSI_LOOP_ITERATIONS of Mesa; seen with 22.3.6 */
    {"rusticl", "llvmpipe", 65535, false,
        "loops of a work-item end after 65,535 passes in all, silently; "
        "launches are split to stay below"},
    /* The thread that sets the event locks it twice; seen with 3.1 */
    {"Portable Computing Language", "basic-", 0, true,
        "clSetUserEventStatus does not return if a command waits for the "
        "event"},
};
static const fault NO_FAULT = {"", "", 0, false, ""};

/* Platforms whose compilers take __builtin_prefetch.  No query tells: oclgrind
   refuses the kernel, and rusticl ends the process. */
static const char *const PREFETCHING[] = {
    "Portable Computing Language", "Intel(R) OpenCL"};

static bool can_prefetch(const device_facts *facts)
{
    for (size_t i = 0; i < sizeof PREFETCHING / sizeof PREFETCHING[0]; ++i)
        if (strcmp(facts->platform, PREFETCHING[i]) == 0)
            return true;
    return false;
}

/* Intel's runtime for CPUs does not tell: then the CPU is this one. */
static bool has_fused_adds(const device_limits *limits, cl_device_fp_config f32)
{
    return (f32 & CL_FP_FMA) != 0 ||
           (limits->is_cpu && limits->native_width > 1 &&
               system_has_fused_adds());
}

/* Extensions of platforms whose compilers know a matrix unit's language: others
   might end the process where they meet it.  Whether a device has such a unit,
   and whether it multiplies right, is found out by trying. */
static const struct {
    const char *extension;
    unsigned unit;
} UNITS[] = {
    {"cl_nv_", UNITS_IN_PTX},
    {"cl_amd_", UNITS_IN_GCN},
    {"cl_intel_subgroup_matrix_multiply_accumulate", UNITS_IN_DPAS},
};

/* The list may be long; what cannot be told is no language. */
static unsigned units_of(cl_device_id id)
{
    size_t bytes = 0;
    unsigned units = 0;
    clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes);
    char *list = calloc(1, bytes + 1);
    if (list && clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, bytes, list, NULL) ==
                    CL_SUCCESS)
        for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; ++i)
            if (strstr(list, UNITS[i].extension))
                units |= UNITS[i].unit;
    free(list);
    return units;
}

static const fault *fault_of(const device_facts *facts)
{
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; ++i)
        if (strstr(facts->platform, FAULTS[i].platform) &&
            strstr(facts->name, FAULTS[i].name))
            return &FAULTS[i];
    return &NO_FAULT;
}

enum {
    TEXT_BYTES = 1024 /* more than any text of a query that we know */
};

/* Without surrounding blanks and control characters, cut to fit. */
static void trim(char *to, size_t capacity, const char *text)
{
    const char *begin = text + strspn(text, " \t");
    size_t length = strlen(begin);
    while (length > 0 && strchr(" \t\n", begin[length - 1]))
        --length;
    snprintf(to, capacity, "%.*s", (int)length, begin);
    utf8_clean(to);
}

/* A query's text; "" on failure. */
static cl_int query_text(
    cl_device_id id, cl_device_info what, char *text, size_t capacity)
{
    char all[TEXT_BYTES] = "";
    const cl_int code = clGetDeviceInfo(id, what, sizeof all - 1, all, NULL);
    trim(text, capacity, code == CL_SUCCESS ? all : "");
    return code;
}

/* The same of a platform's name. */
static cl_int query_platform_name(
    cl_platform_id platform, char *name, size_t capacity)
{
    char all[TEXT_BYTES] = "";
    const cl_int code = clGetPlatformInfo(
        platform, CL_PLATFORM_NAME, sizeof all - 1, all, NULL);
    trim(name, capacity, code == CL_SUCCESS ? all : "");
    return code;
}

#define QUERY(id, what, to)                                                   \
    error_check_cl(error, clGetDeviceInfo(id, what, sizeof(to), &(to), NULL), \
        "clGetDeviceInfo(" #what ")")

static const char *kind_text(cl_device_type type)
{
    if (type & CL_DEVICE_TYPE_GPU)
        return "gpu";
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return "accelerator";
    return type & CL_DEVICE_TYPE_CPU ? "cpu" : "other";
}

static clattn_status query_facts(
    cl_device_id id, device_facts *facts, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_device_type type = 0;
    cl_platform_id platform = NULL;
    cl_uint units = 0, clock = 0;
    cl_ulong bytes = 0;
    cl_bool unified = CL_FALSE;

    memset(facts, 0, sizeof *facts);
    TRY(QUERY(id, CL_DEVICE_TYPE, type));
    TRY(QUERY(id, CL_DEVICE_PLATFORM, platform));
    TRY(QUERY(id, CL_DEVICE_MAX_COMPUTE_UNITS, units));
    TRY(QUERY(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, clock));
    TRY(QUERY(id, CL_DEVICE_GLOBAL_MEM_SIZE, bytes));
    TRY(QUERY(id, CL_DEVICE_HOST_UNIFIED_MEMORY, unified));

    /* Known faults go by these names: without them none would be seen. */
    TRY(error_check_cl(error,
        query_platform_name(platform, facts->platform, sizeof facts->platform),
        "clGetPlatformInfo(CL_PLATFORM_NAME)"));
    TRY(error_check_cl(error,
        query_text(id, CL_DEVICE_NAME, facts->name, sizeof facts->name),
        "clGetDeviceInfo(CL_DEVICE_NAME)"));
    strcpy(facts->kind, kind_text(type));
    facts->global_bytes = bytes;
    facts->speed = (uint64_t)units * (clock > 0 ? clock : 1);
    facts->unified_memory = unified == CL_TRUE;
    facts->faulty = fault_of(facts) != &NO_FAULT;

cleanup:
    return status;
}

static size_t to_size(cl_ulong value)
{
    return value < SIZE_MAX ? (size_t)value : SIZE_MAX;
}

static clattn_status query_limits(cl_device_id id, device_limits *limits,
    const device_facts *facts, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_ulong local = 0, buffer = 0;
    cl_uint width = 0, address_bits = 0;
    cl_device_fp_config f32 = 0;
    size_t dims[16] = {0};

    memset(limits, 0, sizeof *limits);
    TRY(QUERY(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, limits->max_group));
    TRY(QUERY(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, dims));
    TRY(QUERY(id, CL_DEVICE_LOCAL_MEM_SIZE, local));
    TRY(QUERY(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, buffer));
    TRY(QUERY(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, width));
    TRY(QUERY(id, CL_DEVICE_ADDRESS_BITS, address_bits));
    TRY(QUERY(id, CL_DEVICE_SINGLE_FP_CONFIG, f32));

    memcpy(limits->max_group_dim, dims, sizeof limits->max_group_dim);
    memcpy(limits->max_groups, MAX_GROUPS, sizeof limits->max_groups);
    limits->max_items =
        address_bits < 64 ? to_size(0xffffffffu) : to_size(CL_ULONG_MAX);
    limits->local_bytes = to_size(local);
    limits->max_buffer_bytes = to_size(buffer);
    limits->native_width = width > 0 ? width : 1;
    limits->is_cpu = strcmp(facts->kind, "cpu") == 0;
    limits->prefetches = can_prefetch(facts);
    limits->fused_adds = has_fused_adds(limits, f32);
    limits->max_iterations = fault_of(facts)->max_iterations;
    limits->user_events = !fault_of(facts)->hangs_on_user_events;
    limits->units = limits->is_cpu ? 0 : units_of(id);

cleanup:
    return status;
}

clattn_status device_query(cl_device_id id, device_limits *limits,
    device_facts *facts, clattn_error *error)
{
    device_facts own;
    clattn_status status = query_facts(id, facts ? facts : &own, error);
    if (status == CLATTN_OK && limits)
        status = query_limits(id, limits, facts ? facts : &own, error);
    return status;
}

/* What the loader answers where there is none: CL_PLATFORM_NOT_FOUND_KHR. */
#define NO_PLATFORM (-1001)

static clattn_status list_platforms(
    cl_platform_id **platforms, cl_uint *count, clattn_error *error)
{
    *platforms = NULL;
    *count = 0;
    if (!process_may_use_opencl())
        return error_set(error, CLATTN_FORKED,
            "this process was forked from one that used OpenCL, whose driver "
            "does not work here; fork before the first use, or use exec");
    const cl_int code = clGetPlatformIDs(0, NULL, count);
    if (code != CL_SUCCESS)
        *count = 0;
    if (*count == 0)
        return code == NO_PLATFORM
                   ? CLATTN_OK
                   : error_check_cl(error, code, "clGetPlatformIDs");
    *platforms = calloc(*count, sizeof **platforms);
    if (!*platforms)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for a list of %u platforms", (unsigned)*count);
    return error_check_cl(
        error, clGetPlatformIDs(*count, *platforms, NULL), "clGetPlatformIDs");
}

/* A platform that is passed over, or a device of it. */
static void pass_over(passed_over *passed, cl_platform_id platform, bool whole,
    const clattn_error *why)
{
    char name[128], text[400];
    query_platform_name(platform, name, sizeof name);
    const char *hint = whole ? hint_no_devices(name) : "";
    snprintf(text, sizeof text, "%.200s%s%s", why->message,
        hint[0] != '\0' ? ": " : "", hint);
    passed_over_add(passed, name[0] != '\0' ? name : "a platform", text);
    if (passed->cl_code == CL_SUCCESS)
        passed->cl_code = why->cl_code;
}

static cl_uint platform_devices(cl_platform_id platform, cl_device_id *ids,
    cl_uint room, passed_over *passed)
{
    cl_uint count = 0;
    clattn_error why;
    const cl_int code =
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, ids, &count);
    if (error_check_cl(&why, code, "clGetDeviceIDs") != CLATTN_OK)
        count = 0;
    else if (count == 0)
        error_set(&why, CLATTN_NO_DEVICE, "it has no devices");
    if (count == 0)
        pass_over(passed, platform, true, &why);
    return count;
}

/* Append a platform's devices whose facts can be read. */
static clattn_status append_devices(cl_platform_id platform, cl_device_id **ids,
    device_facts **facts, size_t *count, passed_over *passed,
    clattn_error *error)
{
    const cl_uint more = platform_devices(platform, NULL, 0, passed);
    if (more == 0)
        return CLATTN_OK;
    cl_device_id *all_ids = realloc(*ids, (*count + more) * sizeof **ids);
    if (all_ids)
        *ids = all_ids;
    device_facts *all = realloc(*facts, (*count + more) * sizeof **facts);
    if (all)
        *facts = all;
    if (!all_ids || !all)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for a list of %zu devices", *count + more);

    const cl_uint got = platform_devices(platform, *ids + *count, more, passed);
    size_t kept = *count;
    for (cl_uint i = 0; i < got && i < more; ++i) {
        clattn_error why;
        (*ids)[kept] = (*ids)[*count + i];
        if (query_facts((*ids)[kept], &(*facts)[kept], &why) == CLATTN_OK)
            ++kept;
        else
            pass_over(passed, platform, false, &why);
    }
    *count = kept;
    return CLATTN_OK;
}

clattn_status device_list(cl_device_id **ids, device_facts **facts,
    size_t *count, passed_over *passed, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_platform_id *platforms = NULL;
    cl_uint n_platforms = 0;

    *ids = NULL;
    *facts = NULL;
    *count = 0;
    *passed = (passed_over){.cl_code = CL_SUCCESS};
    TRY(list_platforms(&platforms, &n_platforms, error));
    passed->platforms = n_platforms;
    for (cl_uint i = 0; i < n_platforms; ++i)
        TRY(append_devices(platforms[i], ids, facts, count, passed, error));

cleanup:
    free(platforms);
    if (status != CLATTN_OK) {
        free(*ids);
        free(*facts);
        *ids = NULL;
        *facts = NULL;
        *count = 0;
    }
    return status;
}

clattn_status clattn_device_count(size_t *count, clattn_error *error)
{
    cl_device_id *ids = NULL;
    device_facts *facts = NULL;
    size_t found = 0;
    passed_over passed;
    error_none(error);
    if (!count)
        return error_set(error, CLATTN_INVALID, "count is NULL");
    const clattn_status status =
        device_list(&ids, &facts, &found, &passed, error);
    if (status == CLATTN_OK)
        *count = found;
    free(ids);
    free(facts);
    return status;
}

size_t clattn_devices_passed_over(char *text, size_t capacity_bytes)
{
    cl_device_id *ids = NULL;
    device_facts *facts = NULL;
    size_t count = 0;
    environment env;
    passed_over passed;
    if (!text && capacity_bytes > 0)
        return 0;
    environment_read(&env);
    if (device_list(&ids, &facts, &count, &passed, NULL) == CLATTN_OK)
        passed_over_drivers(&passed, env.vendors);
    if (capacity_bytes > 0)
        snprintf(text, capacity_bytes, "%s", passed.text);
    free(ids);
    free(facts);
    return passed.length + 1;
}

/* All but struct_size, is_default and what the caller's struct lacks. */
static clattn_status describe(clattn_device *device, cl_device_id id,
    const device_facts *facts, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    device_limits limits;
    cl_uint units = 0, clock = 0;

    TRY(query_limits(id, &limits, facts, error));
    TRY(QUERY(id, CL_DEVICE_MAX_COMPUTE_UNITS, units));
    TRY(QUERY(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, clock));
    device->id = id;
    device->global_bytes = facts->global_bytes;
    device->max_buffer_bytes = limits.max_buffer_bytes;
    device->local_bytes = limits.local_bytes;
    device->max_group = limits.max_group;
    device->compute_units = units;
    device->clock_mhz = clock;
    device->native_width = (uint32_t)limits.native_width;
    device->unified_memory = facts->unified_memory;
    strcpy(device->kind, facts->kind);
    strcpy(device->platform, facts->platform);
    strcpy(device->name, facts->name);
    query_text(id, CL_DEVICE_VENDOR, device->vendor, sizeof device->vendor);
    query_text(id, CL_DRIVER_VERSION, device->driver, sizeof device->driver);
    query_text(id, CL_DEVICE_VERSION, device->version, sizeof device->version);
    query_text(id, CL_DEVICE_OPENCL_C_VERSION, device->c_version,
        sizeof device->c_version);
    snprintf(device->note, sizeof device->note, "%s", fault_of(facts)->note);

cleanup:
    return status;
}

clattn_status clattn_device_get(
    clattn_device *device, size_t index, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_device_id *ids = NULL;
    device_facts *facts = NULL;
    size_t count = 0, best = 0;
    environment env;
    passed_over passed;
    clattn_device full;

    error_none(error);
    if (!device)
        return error_set(error, CLATTN_INVALID, "device is NULL");
    TRY(struct_size_check(
        "device", device->struct_size, sizeof full, sizeof full, error));
    TRY(device_list(&ids, &facts, &count, &passed, error));
    if (index >= count) {
        char asked[50];
        snprintf(asked, sizeof asked, "device index is %zu", index);
        status = device_beyond(asked, count, error);
        environment_read(&env);
        passed_over_drivers(&passed, env.vendors);
        passed_over_tell(&passed, error);
        goto cleanup;
    }

    memset(&full, 0, sizeof full);
    full.struct_size = device->struct_size;
    TRY(describe(&full, ids[index], &facts[index], error));
    environment_read(&env);
    full.is_default =
        device_choose(&best, facts, count, env.device, NULL) == CLATTN_OK &&
        best == index;
    *device = full;

cleanup:
    free(ids);
    free(facts);
    return status;
}
