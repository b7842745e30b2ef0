/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c - (kernel, options) -> built kernel, each built once per context
 * and kept for its life, and on disk beyond; and the log of the last build that
 * failed.
 */
#include "program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"
#include "context.h"
#include "error.h"
#include "hint.h"
#include "source.h"
#include "utf8.h"

/*
 * 1.2 is the baseline that every device takes.  No math options: they make
 * -inf and NaN undefined, and hidden keys need both.
 */
#define BASE_OPTIONS "-cl-std=CL1.2"

typedef struct cached_kernel {
    struct cached_kernel *next;
    kernel_need need;
    built_kernel built;
} cached_kernel;

struct program_cache {
    system_lock *lock; /* of all that follows, held while building */
    cached_kernel *kernels;
    char *log; /* of the last build that failed; NULL: none did */
};

clattn_status program_cache_create(program_cache **out, clattn_error *error)
{
    program_cache *cache = calloc(1, sizeof *cache);
    system_lock *lock = system_lock_create();
    if (!cache || !lock) {
        free(cache);
        system_lock_destroy(lock);
        return error_set(
            error, CLATTN_NO_MEMORY, "no memory for a program cache");
    }
    cache->lock = lock;
    *out = cache;
    return CLATTN_OK;
}

static void cached_kernel_destroy(cached_kernel *entry)
{
    if (!entry)
        return;
    if (entry->built.kernel)
        clReleaseKernel(entry->built.kernel);
    system_lock_destroy(entry->built.lock);
    free(entry);
}

void program_cache_destroy(program_cache *cache)
{
    if (!cache)
        return;
    while (cache->kernels) {
        cached_kernel *entry = cache->kernels;
        cache->kernels = entry->next;
        cached_kernel_destroy(entry);
    }
    free(cache->log);
    system_lock_destroy(cache->lock);
    free(cache);
}

size_t program_cache_log(program_cache *cache, char *text, size_t capacity)
{
    system_lock_take(cache->lock);
    const char *log = cache->log ? cache->log : "";
    const size_t bytes = strlen(log) + 1;
    if (capacity > 0)
        snprintf(text, capacity, "%s", log);
    system_lock_release(cache->lock);
    return bytes;
}

/* NULL if there is none or no memory for it. */
static char *read_log(cl_program program, cl_device_id device)
{
    size_t bytes = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL,
            &bytes) != CL_SUCCESS)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG,
                   bytes, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    if (log)
        utf8_clean_lines(log); /* it quotes options and names of folders */
    return log;
}

static bool names_an_error(const char *log)
{
    return log && strstr(log, "error");
}

/* The first line of a log that says error, else its first line, cut. */
static void first_error(char *text, size_t capacity, const char *log)
{
    const char *at = names_an_error(log) ? strstr(log, "error") : NULL;
    while (at && at > log && at[-1] != '\n')
        --at;
    if (!at)
        at = log ? log : "";
    const size_t length = strcspn(at, "\n");
    snprintf(text, capacity, "%.*s", (int)(length < 200 ? length : 200), at);
}

/* What the compiler says of a kernel; other codes are about the call. */
static bool is_about_the_kernel(cl_int code)
{
    return code == CL_BUILD_PROGRAM_FAILURE ||
           code == CL_INVALID_BUILD_OPTIONS ||
           code == CL_COMPILER_NOT_AVAILABLE;
}

/* `log` becomes the cache's. */
static clattn_status build_failed(clattn_context *ctx, char *log,
    const kernel_need *need, cl_int code, clattn_error *error)
{
    char line[201];
    first_error(line, sizeof line, log);
    const char *hint =
        names_an_error(log) ? "" : hint_no_build(ctx->facts.platform);
    /* The options are long, and at the end, where a message is cut. */
    error_set(error, CLATTN_BUILD_FAILED,
        "%s.cl did not compile on %.60s: clBuildProgram failed: %s (%d)"
        "%s%s%s%s; with '" BASE_OPTIONS " %s'",
        need->name, ctx->facts.name, error_cl_name(code), code,
        line[0] ? "; " : ", and the log is empty", line, hint[0] ? "; " : "",
        hint, need->options);
    if (error)
        error->cl_code = code;
    context_log(ctx, "build of %s.cl failed:\n%s", need->name, log ? log : "");
    free(ctx->programs->log);
    ctx->programs->log = log;
    return CLATTN_BUILD_FAILED;
}

/* A kernel that is looked for: what its program is made of. */
typedef struct kernel_recipe {
    const kernel_need *need;
    char options[400];
    char *source;
    char *key; /* under which the program is kept; NULL: it is not */
} kernel_recipe;

/*
 * A compiler that takes no kernel says what is wrong with it.  PoCL 3.1 may also
 * fail without a word where other processes build the same at that moment, each
 * removing the file that another has just written: then its files are there the
 * next time.  So one that names no error is asked once more.
 */
static cl_int build(cl_program program, clattn_context *ctx,
    const kernel_recipe *recipe, char **log)
{
    cl_int code = CL_SUCCESS;
    for (int attempt = 0; attempt < 2; ++attempt) {
        code = clBuildProgram(
            program, 1, &ctx->device, recipe->options, NULL, NULL);
        if (!is_about_the_kernel(code))
            break;
        free(*log);
        *log = read_log(program, ctx->device);
        if (code != CL_BUILD_PROGRAM_FAILURE || names_an_error(*log))
            break;
    }
    return code;
}

static clattn_status build_program(cl_program *out, clattn_context *ctx,
    const kernel_recipe *recipe, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;
    char *log = NULL;
    const char *text = recipe->source;
    cl_program program =
        clCreateProgramWithSource(ctx->cl, 1, &text, NULL, &code);

    TRY(error_check_cl(error, code, "clCreateProgramWithSource"));
    code = build(program, ctx, recipe, &log);
    if (is_about_the_kernel(code)) {
        status = build_failed(ctx, log, recipe->need, code, error);
        log = NULL;
        goto cleanup;
    }
    TRY(error_check_cl(error, code, "clBuildProgram"));
    context_log(
        ctx, "built %s.cl with '%s'", recipe->need->name, recipe->options);
    *out = program;
    program = NULL;

cleanup:
    if (program)
        clReleaseProgram(program);
    free(log);
    return status;
}

static clattn_status query_kernel(
    built_kernel *built, cl_device_id device, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_ulong local = 0, private_bytes = 0;

    TRY(error_check_cl(error,
        clGetKernelWorkGroupInfo(built->kernel, device,
            CL_KERNEL_WORK_GROUP_SIZE, sizeof built->max_group,
            &built->max_group, NULL),
        "clGetKernelWorkGroupInfo(CL_KERNEL_WORK_GROUP_SIZE)"));
    TRY(error_check_cl(error,
        clGetKernelWorkGroupInfo(built->kernel, device,
            CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL),
        "clGetKernelWorkGroupInfo(CL_KERNEL_LOCAL_MEM_SIZE)"));
    TRY(error_check_cl(error,
        clGetKernelWorkGroupInfo(built->kernel, device,
            CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_bytes, &private_bytes,
            NULL),
        "clGetKernelWorkGroupInfo(CL_KERNEL_PRIVATE_MEM_SIZE)"));
    built->local_bytes = (size_t)local;
    built->private_bytes = (size_t)private_bytes;

cleanup:
    return status;
}

/* Of a built program; the kernel keeps it. */
static clattn_status create_kernel(built_kernel *built, clattn_context *ctx,
    cl_program program, const char *name, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;

    cl_kernel kernel = clCreateKernel(program, name, &code);
    TRY(error_check_cl(error, code, "clCreateKernel"));
    built->kernel = kernel;
    TRY(query_kernel(built, ctx->device, error));
    return CLATTN_OK;

cleanup:
    if (kernel)
        clReleaseKernel(kernel);
    built->kernel = NULL;
    return status;
}

/* False: it is not there, or the driver takes it no more. */
static bool load_kernel(
    built_kernel *built, clattn_context *ctx, const kernel_recipe *recipe)
{
    cl_program program = binary_load(ctx, recipe->key, recipe->options);
    if (!program)
        return false;
    const char *name = recipe->need->name;
    const bool loaded =
        create_kernel(built, ctx, program, name, NULL) == CLATTN_OK;
    if (loaded)
        context_log(ctx, "loaded %s.cl with '%s'", name, recipe->options);
    else
        binary_forget(ctx, recipe->key);
    clReleaseProgram(program);
    return loaded;
}

static clattn_status compile_kernel(built_kernel *built, clattn_context *ctx,
    const kernel_recipe *recipe, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_program program = NULL;

    TRY(build_program(&program, ctx, recipe, error));
    TRY(create_kernel(built, ctx, program, recipe->need->name, error));
    binary_store(ctx, recipe->key, program);

cleanup:
    if (program)
        clReleaseProgram(program);
    return status;
}

static clattn_status make_kernel(built_kernel *built, clattn_context *ctx,
    const kernel_need *need, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    kernel_recipe recipe = {.need = need};
    char file[64];

    snprintf(file, sizeof file, "%s.cl", need->name);
    snprintf(recipe.options, sizeof recipe.options, BASE_OPTIONS " %s",
        need->options);
    TRY(source_assemble(&recipe.source, file, ctx->env.kernel_dir, error));
    recipe.key = binary_key(ctx, need->name, recipe.options, recipe.source);
    if (!load_kernel(built, ctx, &recipe))
        TRY(compile_kernel(built, ctx, &recipe, error));

cleanup:
    free(recipe.source);
    free(recipe.key);
    return status;
}

static clattn_status build_kernel(cached_kernel **out, clattn_context *ctx,
    const kernel_need *need, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cached_kernel *entry = calloc(1, sizeof *entry);

    if (entry)
        entry->built.lock = system_lock_create();
    if (!entry || !entry->built.lock) {
        status = error_set(error, CLATTN_NO_MEMORY, "no memory for a kernel");
        goto cleanup;
    }
    entry->need = *need;
    TRY(make_kernel(&entry->built, ctx, need, error));
    *out = entry;
    entry = NULL;

cleanup:
    cached_kernel_destroy(entry);
    return status;
}

static cached_kernel *find(const program_cache *cache, const kernel_need *need)
{
    for (cached_kernel *entry = cache->kernels; entry; entry = entry->next)
        if (strcmp(entry->need.name, need->name) == 0 &&
            strcmp(entry->need.options, need->options) == 0)
            return entry;
    return NULL;
}

clattn_status program_get(const built_kernel **built, clattn_context *ctx,
    const kernel_need *need, clattn_error *error)
{
    program_cache *cache = ctx->programs;
    clattn_status status = CLATTN_OK;

    system_lock_take(cache->lock);
    cached_kernel *entry = find(cache, need);
    if (!entry) {
        TRY(build_kernel(&entry, ctx, need, error));
        entry->next = cache->kernels;
        cache->kernels = entry;
    }
    *built = &entry->built;

cleanup:
    system_lock_release(cache->lock);
    return status;
}
