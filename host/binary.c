/* SPDX-License-Identifier: Apache-2.0
 *
 * binary.c - built programs that outlive the process.  No failure in here is
 * one of the caller's: it costs a build from source.
 */
#include "binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "sha256.h"

static cache cache_of(const clattn_context *ctx)
{
    return (cache){
        .folder = ctx->env.cache_dir, .limit_bytes = ctx->env.cache_limit};
}

static void say(const clattn_context *ctx, const char *note)
{
    if (note[0] != '\0')
        context_log(ctx, "program cache: %s", note);
}

/* ---- The key ------------------------------------------------------------- */

/* What tells one compiler, and what it compiles for, from another. */
static const struct {
    const char *label;
    bool of_platform; /* else of the device */
    cl_uint what;
} TEXTS[] = {
    {"platform", true, CL_PLATFORM_NAME},
    {"platform version", true, CL_PLATFORM_VERSION},
    {"device", false, CL_DEVICE_NAME},
    {"vendor", false, CL_DEVICE_VENDOR},
    {"driver", false, CL_DRIVER_VERSION},
    {"version", false, CL_DEVICE_VERSION},
    {"language", false, CL_DEVICE_OPENCL_C_VERSION},
    {"extensions", false, CL_DEVICE_EXTENSIONS},
};

/* A text that grows; NULL once something could not be told. */
static void add_line(char **key, const char *label, const char *value)
{
    if (!*key)
        return;
    const size_t length = strlen(*key);
    const size_t more =
        value ? strlen(label) + strlen(value) + sizeof ": \n" : 0;
    char *larger = value ? realloc(*key, length + more) : NULL;
    if (larger)
        snprintf(larger + length, more, "%s: %s\n", label, value);
    else
        free(*key);
    *key = larger;
}

static cl_int ask(
    size_t row, cl_device_id device, size_t room, void *value, size_t *bytes)
{
    const cl_uint what = TEXTS[row].what;
    cl_platform_id platform = NULL;
    if (!TEXTS[row].of_platform)
        return clGetDeviceInfo(device, what, room, value, bytes);
    const cl_int code = clGetDeviceInfo(
        device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    return code != CL_SUCCESS
               ? code
               : clGetPlatformInfo(platform, what, room, value, bytes);
}

static void add_text(char **key, size_t row, cl_device_id device)
{
    size_t bytes = 0;
    char *text = NULL;
    if (ask(row, device, 0, NULL, &bytes) == CL_SUCCESS)
        text = calloc(1, bytes + 1);
    const bool told = text && ask(row, device, bytes, text, NULL) == CL_SUCCESS;
    add_line(key, TEXTS[row].label, told ? text : NULL);
    free(text);
}

/* Processors of one name differ where a virtual machine hides some of what they
   can do, and devices where the driver's environment shrinks them. */
static void add_limits(char **key, const device_limits *limits)
{
    char text[100];
    snprintf(text, sizeof text, "width %zu, group %zu, local %zu",
        limits->native_width, limits->max_group, limits->local_bytes);
    add_line(key, "limits", text);
}

char *binary_key(const clattn_context *ctx, const char *name,
    const char *options, const char *source)
{
    char digest[SHA256_TEXT];
    if (ctx->env.cache_dir[0] == '\0')
        return NULL;
    char *key = calloc(1, 1);
    add_line(&key, "library", clattn_version_text());
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; ++i)
        add_text(&key, i, ctx->device);
    add_limits(&key, &ctx->limits);
    add_line(&key, "kernel", name);
    add_line(&key, "options", options);
    sha256_text(digest, source, strlen(source));
    add_line(&key, "source", digest);
    if (!key)
        say(ctx, "what the program depends on cannot be told");
    return key;
}

/* ---- Binaries ------------------------------------------------------------ */

/* NULL: the driver declines it. */
static cl_program create(
    const clattn_context *ctx, const unsigned char *data, size_t bytes)
{
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(
        ctx->cl, 1, &ctx->device, &bytes, &data, &status, &code);
    if (program && (code != CL_SUCCESS || status != CL_SUCCESS)) {
        clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

cl_program binary_load(
    const clattn_context *ctx, const char *key, const char *options)
{
    const cache c = cache_of(ctx);
    char note[CACHE_NOTE];
    size_t bytes = 0;
    if (!key)
        return NULL;
    unsigned char *data = cache_load(&c, key, &bytes, note);
    say(ctx, note);
    if (!data)
        return NULL;
    cl_program program = create(ctx, data, bytes);
    free(data);
    if (program && clBuildProgram(program, 1, &ctx->device, options, NULL,
                       NULL) == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    binary_forget(ctx, key);
    return NULL;
}

/* How many binaries a program has room for; 0: it cannot be told. */
static size_t count_slots(cl_program program)
{
    size_t bytes = 0;
    const cl_int code =
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, 0, NULL, &bytes);
    return code == CL_SUCCESS ? bytes / sizeof(size_t) : 0;
}

/*
 * Which of them is that of the context's device; `slots` if it cannot be told.
 * There is one for each device of the program, that is of the cl_context, in
 * the order of CL_PROGRAM_DEVICES, whether it was built for or not.  PoCL 3.1
 * has only one, for it counts those that it was built for.
 */
static size_t find_slot(
    const clattn_context *ctx, cl_program program, size_t slots)
{
    size_t at = slots, bytes = 0;
    if (slots == 1)
        return 0;
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, 0, NULL, &bytes) !=
            CL_SUCCESS ||
        bytes != slots * sizeof(cl_device_id))
        return slots;
    cl_device_id *ids = malloc(bytes);
    if (ids && clGetProgramInfo(
                   program, CL_PROGRAM_DEVICES, bytes, ids, NULL) == CL_SUCCESS)
        for (at = 0; at < slots && ids[at] != ctx->device; ++at)
            ;
    free(ids);
    return at;
}

/* The binary in one of several slots, the caller's to free, or NULL. */
static unsigned char *read_slot(
    cl_program program, size_t at, size_t slots, size_t *bytes)
{
    unsigned char *data = NULL;
    size_t *sizes = calloc(slots, sizeof *sizes);
    unsigned char **wanted = calloc(slots, sizeof *wanted); /* NULL: not */
    if (sizes && wanted &&
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
            slots * sizeof *sizes, sizes, NULL) == CL_SUCCESS &&
        sizes[at] > 0)
        wanted[at] = data = malloc(sizes[at]);
    if (data) {
        *bytes = sizes[at];
        if (clGetProgramInfo(program, CL_PROGRAM_BINARIES,
                slots * sizeof *wanted, wanted, NULL) != CL_SUCCESS) {
            free(data);
            data = NULL;
        }
    }
    free(sizes);
    free(wanted);
    return data;
}

static unsigned char *read_binary(
    const clattn_context *ctx, cl_program program, size_t *bytes)
{
    const size_t slots = count_slots(program);
    const size_t at = find_slot(ctx, program, slots);
    return at < slots ? read_slot(program, at, slots, bytes) : NULL;
}

void binary_store(
    const clattn_context *ctx, const char *key, cl_program program)
{
    const cache c = cache_of(ctx);
    char note[CACHE_NOTE];
    size_t bytes = 0;
    if (!key)
        return;
    unsigned char *data = read_binary(ctx, program, &bytes);
    if (data) {
        cache_store(&c, key, data, bytes, note);
        say(ctx, note);
    } else {
        say(ctx, "the driver gives no binary");
    }
    free(data);
}

/* ---- Texts --------------------------------------------------------------- */

bool binary_recall(
    const clattn_context *ctx, const char *key, char *text, size_t capacity)
{
    const cache c = cache_of(ctx);
    char note[CACHE_NOTE];
    size_t bytes = 0;
    if (!key)
        return false;
    unsigned char *data = cache_load(&c, key, &bytes, note);
    say(ctx, note);
    const bool found =
        data && bytes > 0 && bytes <= capacity && data[bytes - 1] == '\0';
    if (found)
        memcpy(text, data, bytes);
    free(data);
    return found;
}

void binary_note(const clattn_context *ctx, const char *key, const char *text)
{
    const cache c = cache_of(ctx);
    char note[CACHE_NOTE];
    if (!key)
        return;
    cache_store(&c, key, text, strlen(text) + 1, note);
    say(ctx, note);
}

/* ---- Forgetting ---------------------------------------------------------- */

void binary_forget(const clattn_context *ctx, const char *key)
{
    const cache c = cache_of(ctx);
    if (!key)
        return;
    cache_remove(&c, key);
    say(ctx, "the driver does not take what it made; it is built again");
}
