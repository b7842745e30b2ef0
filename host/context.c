/* SPDX-License-Identifier: Apache-2.0
 *
 * context.c - one device with its limits, environment and built kernels: the
 * only long-lived state.
 */
#include "context.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "process.h"
#include "program.h"
#include "trust.h"
#include "utf8.h"

/*
 * Multiply-adds of one launch, unless CLATTN_TUNING says otherwise: about a
 * second of the readable kernels on a slow GPU, below the few seconds after
 * which a display driver's watchdog ends a kernel.
 */
#define LAUNCH_WORK ((uint64_t)1 << 34)

/* The public handle with its reference count; plans hold references too. */
typedef struct counted_context {
    clattn_context context; /* first, so that one pointer serves for both */
    atomic_uint references;
} counted_context;

/* Takes over the caller's reference to cl. */
static clattn_status context_new(clattn_context **out, cl_context cl,
    cl_device_id device, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    counted_context *counted = calloc(1, sizeof *counted);
    if (!counted) {
        clReleaseContext(cl);
        return error_set(error, CLATTN_NO_MEMORY, "no memory for a context");
    }
    clattn_context *ctx = &counted->context;
    atomic_init(&counted->references, 1);
    ctx->cl = cl;
    ctx->device = device;
    environment_read(&ctx->env);
    TRY(device_query(device, &ctx->limits, &ctx->facts, error));
    ctx->limits.launch_work =
        ctx->env.launch_work ? ctx->env.launch_work : LAUNCH_WORK;
    ctx->limits.emulates = ctx->env.emulates;
    TRY(program_cache_create(&ctx->programs, error));
    TRY(trust_create(&ctx->trust, error));
    context_log(ctx, "context on %s: %s", ctx->facts.platform, ctx->facts.name);
    context_log(ctx, "program cache: %s",
        ctx->env.cache_dir[0] != '\0' ? ctx->env.cache_dir : "none");
    for (size_t i = 0; i < ctx->env.ignored_count; ++i)
        context_log(ctx, "%s", ctx->env.ignored[i]);
    *out = ctx;
    ctx = NULL;

cleanup:
    clattn_context_destroy(ctx);
    return status;
}

clattn_status clattn_context_create(
    clattn_context **out, const char *spec, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_device_id *ids = NULL;
    device_facts *facts = NULL;
    size_t count = 0, index = 0;
    environment env;
    passed_over passed;
    cl_int code = CL_SUCCESS;

    error_none(error);
    if (!out)
        return error_set(error, CLATTN_INVALID, "ctx is NULL");
    environment_read(&env);
    TRY(device_list(&ids, &facts, &count, &passed, error));
    status =
        device_choose(&index, facts, count, spec ? spec : env.device, error);
    if (status != CLATTN_OK) {
        passed_over_drivers(&passed, env.vendors);
        passed_over_tell(&passed, error);
        goto cleanup;
    }
    cl_context cl = clCreateContext(NULL, 1, &ids[index], NULL, NULL, &code);
    TRY(error_check_cl(error, code, "clCreateContext"));
    TRY(context_new(out, cl, ids[index], error));

cleanup:
    free(ids);
    free(facts);
    return status;
}

/* Whether the caller's context holds the device. */
static clattn_status check_device(
    cl_context cl, cl_device_id device, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_device_id *ids = NULL;
    size_t bytes = 0;

    TRY(error_check_cl(error,
        clGetContextInfo(cl, CL_CONTEXT_DEVICES, 0, NULL, &bytes),
        "clGetContextInfo(CL_CONTEXT_DEVICES)"));
    ids = malloc(bytes);
    if (!ids) {
        status = error_set(error, CLATTN_NO_MEMORY,
            "no memory for a list of %zu devices", bytes / sizeof *ids);
        goto cleanup;
    }
    TRY(error_check_cl(error,
        clGetContextInfo(cl, CL_CONTEXT_DEVICES, bytes, ids, NULL),
        "clGetContextInfo(CL_CONTEXT_DEVICES)"));
    for (size_t i = 0; i < bytes / sizeof *ids; ++i)
        if (ids[i] == device)
            goto cleanup;
    status = error_set(error, CLATTN_INVALID,
        "device is none of the %zu devices of the context cl",
        bytes / sizeof *ids);

cleanup:
    free(ids);
    return status;
}

clattn_status clattn_context_create_from_cl(clattn_context **out, cl_context cl,
    cl_device_id device, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    error_none(error);
    if (!out || !cl || !device)
        return error_set(error, CLATTN_INVALID, "%s is NULL",
            !out  ? "ctx"
            : !cl ? "cl"
                  : "device");
    if (!process_may_use_opencl())
        return error_set(error, CLATTN_FORKED,
            "this process was forked from one that used OpenCL");
    TRY(check_device(cl, device, error));
    TRY(error_check_cl(error, clRetainContext(cl), "clRetainContext"));
    TRY(context_new(out, cl, device, error));

cleanup:
    return status;
}

void context_retain(clattn_context *ctx)
{
    atomic_fetch_add(&((counted_context *)ctx)->references, 1);
}

void clattn_context_destroy(clattn_context *ctx)
{
    if (!ctx)
        return;
    counted_context *counted = (counted_context *)ctx;
    if (atomic_fetch_sub(&counted->references, 1) != 1)
        return;
    /* In a forked child the driver's objects are left alone: its locks may be
       held by threads that do not exist here. */
    if (process_may_use_opencl()) {
        program_cache_destroy(ctx->programs);
        trust_destroy(ctx->trust);
        clReleaseContext(ctx->cl);
    }
    free(counted);
}

cl_context clattn_context_cl(const clattn_context *ctx)
{
    return ctx ? ctx->cl : NULL;
}

cl_device_id clattn_context_device(const clattn_context *ctx)
{
    return ctx ? ctx->device : NULL;
}

clattn_status context_check(const clattn_context *ctx, clattn_error *error)
{
    if (!ctx)
        return error_set(error, CLATTN_INVALID, "ctx is NULL");
    if (!process_may_use_opencl())
        return error_set(error, CLATTN_FORKED,
            "the context was made before fork() and is lost in this process");
    return CLATTN_OK;
}

void context_log(const clattn_context *ctx, const char *format, ...)
{
    if (!ctx->env.verbose)
        return;
    char text[2000] = "clattn: ";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + 8, sizeof text - 8, format, arguments);
    va_end(arguments);
    utf8_clean_lines(text);
    system_print_line(text);
}

size_t clattn_context_build_log(
    clattn_context *ctx, char *text, size_t capacity_bytes)
{
    if (!ctx || (!text && capacity_bytes > 0))
        return 0;
    /* Its lock may be held by a thread that a forked child has not. */
    if (!process_may_use_opencl())
        return 0;
    return program_cache_log(ctx->programs, text, capacity_bytes);
}
