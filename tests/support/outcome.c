/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.c - a process that computes with the program cache, and what it did.
 */
#define _XOPEN_SOURCE 700
#include "outcome.h"

#include <check.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cache.h"
#include "clattn/clattn.h"
#include "kept.h"

/* ---- What a child does --------------------------------------------------- */

enum {
    FAILURE = 9, /* exit code */
    HEADS = 2,
    ROWS = 5,
    KEYS = 7,
    WIDTH = 8,
    ELEMENTS = HEADS * KEYS * WIDTH
};

static void describe(clattn_attention *problem, const char *kernel)
{
    clattn_attention_init(problem, sizeof *problem);
    problem->B = 1;
    problem->Hq = problem->Hkv = HEADS;
    problem->Lq = ROWS;
    problem->Lk = KEYS;
    problem->D = problem->Dv = WIDTH;
    problem->dtype = CLATTN_F32;
    problem->kernel = kernel;
}

/* Adds the bits of a row's output to the hash; false if it fails. */
static bool add_output(clattn_context *ctx, const char *kernel, sha256 *hash)
{
    float in[ELEMENTS], out[HEADS * ROWS * WIDTH];
    clattn_attention problem;
    clattn_error error;
    for (int i = 0; i < ELEMENTS; ++i)
        in[i] = (float)(i * i % 37) / 16.0f - 1.0f;
    describe(&problem, kernel);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.host = out},
        .q = {.host = in},
        .k = {.host = in},
        .v = {.host = in}};
    if (clattn_attention_supported(ctx, &problem, NULL) != CLATTN_OK)
        return true;
    if (clattn_attention_host(ctx, &problem, &args, &error) != CLATTN_OK) {
        printf("%s: %s\n", kernel, error.message);
        return false;
    }
    sha256_add(hash, out, sizeof out);
    return true;
}

/* The same of a matrix product by a row that needs one program. */
static bool add_product(clattn_context *ctx, sha256 *hash)
{
    float in[ELEMENTS], y[ROWS * KEYS];
    clattn_linear problem;
    clattn_error error;
    for (int i = 0; i < ELEMENTS; ++i)
        in[i] = (float)(i * i % 37) / 16.0f - 1.0f;
    clattn_linear_init(&problem, sizeof problem);
    problem.rows = ROWS;
    problem.n_in = WIDTH;
    problem.n_out = KEYS;
    problem.dtype = CLATTN_F32;
    problem.weight_order = CLATTN_IN_OUT;
    problem.kernel = "tiled4";
    const clattn_linear_args args = {.struct_size = sizeof args,
        .y = {.host = y},
        .x = {.host = in},
        .w = {.host = in}};
    if (clattn_linear_host(ctx, &problem, &args, &error) != CLATTN_OK) {
        printf("product: %s\n", error.message);
        return false;
    }
    sha256_add(hash, y, sizeof y);
    return true;
}

static bool add_outputs(clattn_context *ctx, const char *kernel, sha256 *hash)
{
    bool done = true;
    if (kernel != NULL)
        return strcmp(kernel, OUTCOME_PRODUCT) == 0
                   ? add_product(ctx, hash)
                   : add_output(ctx, kernel, hash);
    for (size_t i = 0; clattn_kernel_name(i) != NULL && done; ++i)
        done = add_output(ctx, clattn_kernel_name(i), hash);
    return done;
}

static int print_result(sha256 *hash)
{
    unsigned char digest[SHA256_BYTES];
    sha256_end(hash, digest);
    printf("result ");
    for (int i = 0; i < SHA256_BYTES; ++i)
        printf("%02x", digest[i]);
    printf("\n");
    return 0;
}

/* By one row on one context, or, if NULL, by all rows. */
static int child_compute(const char *kernel)
{
    clattn_context *ctx = NULL;
    clattn_error error;
    sha256 hash;
    sha256_begin(&hash);
    if (clattn_context_create(&ctx, NULL, &error) != CLATTN_OK) {
        printf("%s\n", error.message);
        return FAILURE;
    }
    const bool done = add_outputs(ctx, kernel, &hash);
    clattn_context_destroy(ctx);
    return done ? print_result(&hash) : FAILURE;
}

/* On three contexts, one after another. */
static int child_contexts(void)
{
    int code = 0;
    for (int i = 0; i < 3 && code == 0; ++i)
        code = child_compute(OUTCOME_PRODUCT);
    return code;
}

/* On the second of two devices of one context of the caller's. */
static int child_two_devices(void)
{
    cl_platform_id platform = NULL;
    cl_device_id devices[2] = {NULL, NULL};
    cl_uint count = 0;
    clattn_context *ctx = NULL;
    sha256 hash;
    sha256_begin(&hash);
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices, &count);
    cl_context cl = clCreateContext(NULL, 2, devices, NULL, NULL, NULL);
    if (count < 2 || cl == NULL ||
        clattn_context_create_from_cl(&ctx, cl, devices[1], NULL) != CLATTN_OK)
        return FAILURE;
    const bool done = add_product(ctx, &hash);
    clattn_context_destroy(ctx);
    clReleaseContext(cl);
    return done ? print_result(&hash) : FAILURE;
}

/* Weights of q = 2 and k = 1, 0 at two scales. */
static int child_scales(void)
{
    static const float scales[2] = {1.0f, 0.5f};
    const float q = 2, k[2] = {1, 0};
    const bool reverse = getenv("TEST_REVERSE") != NULL;
    clattn_context *ctx = NULL;
    if (clattn_context_create(&ctx, NULL, NULL) != CLATTN_OK)
        return FAILURE;
    for (int i = 0; i < 2; ++i) {
        float out = 0;
        clattn_attention problem;
        describe(&problem, "");
        problem.Hq = problem.Hkv = problem.Lq = problem.D = problem.Dv = 1;
        problem.Lk = 2;
        problem.has_scale = 1;
        problem.scale = scales[reverse ? 1 - i : i];
        const clattn_attention_args args = {.struct_size = sizeof args,
            .out = {.host = &out},
            .q = {.host = &q},
            .k = {.host = k},
            .v = {.host = k}};
        if (clattn_attention_host(ctx, &problem, &args, NULL) != CLATTN_OK)
            return FAILURE;
        printf("%g gives %.6f\n", (double)problem.scale, (double)out);
    }
    clattn_context_destroy(ctx);
    return 0;
}

int outcome_child(const char *mode)
{
    if (strcmp(mode, "contexts") == 0)
        return child_contexts();
    if (strcmp(mode, "two_devices") == 0)
        return child_two_devices();
    if (strcmp(mode, "scales") == 0)
        return child_scales();
    return child_compute(strcmp(mode, "all") == 0 ? NULL : mode);
}

/* ---- What came of it ------------------------------------------------------ */

size_t outcome_lines(const char *text, const char *begin)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, begin)) != NULL; ++at)
        ++count;
    return count;
}

void outcome_judge(outcome *o, const char *output)
{
    const char *last = NULL;
    o->built = outcome_lines(output, "clattn: built ");
    o->loaded = outcome_lines(output, "clattn: loaded ");
    /* One line says where the cache is; notes are about something in it. */
    o->noted = outcome_lines(output, "clattn: program cache: ") -
               outcome_lines(output, "clattn: context on ");
    for (const char *at = output; (at = strstr(at, "result ")) != NULL; ++at)
        last = at + strlen("result ");
    snprintf(o->result, sizeof o->result, "%s", last != NULL ? last : "");
}

void outcome_environment(const char *home)
{
    char path[SCRATCH_PATH];
    setenv("XDG_CACHE_HOME", scratch_path(path, home), 1);
    setenv("POCL_CACHE_DIR", scratch_path(path, "pocl"), 1);
    mkdir(path, 0700);
    setenv("CLATTN_VERBOSE", "1", 1);
    setenv("CLATTN_CACHE", "1", 1);
    unsetenv("CLATTN_CACHE_LIMIT");
}

outcome outcome_run(const char *home, const char *mode, const char *variable)
{
    outcome o;
    const char *const environment[] = {variable, NULL};
    outcome_environment(home);
    o.child = child_run(mode, environment, OUTCOME_FOR_EVER);
    outcome_judge(&o, o.child.output);
    return o;
}

void outcome_expect(const outcome *o, const char *about, size_t built,
    size_t loaded, const char *result)
{
    ck_assert_msg(o->child.exit_code == 0, "%s: exit %d: %s", about,
        o->child.exit_code, o->child.output);
    ck_assert_msg(o->built == built && o->loaded == loaded,
        "%s: %zu built and %zu loaded, not %zu and %zu: %s", about, o->built,
        o->loaded, built, loaded, o->child.output);
    ck_assert_msg(strcmp(o->result, result) == 0, "%s: another result: %s",
        about, o->child.output);
}

outcome outcome_first(const char *home)
{
    const outcome o = outcome_run(home, OUTCOME_PRODUCT, NULL);
    outcome_expect(&o, "the first run", 1, 0, o.result);
    ck_assert_uint_eq(strlen(o.result), SHA256_TEXT - 1);
    ck_assert_uint_eq(o.noted, 0);
    return o;
}

/* ---- Files --------------------------------------------------------------- */

static void read_file(entry *e, const char *name)
{
    e->file = scratch_read(scratch_path(e->path, name), &e->bytes);
    ck_assert(e->file != NULL && e->bytes > KEPT_HEADER);
    const unsigned char *at = (const unsigned char *)e->file + 12;
    const size_t key_bytes = at[0] + 256u * at[1];
    e->key = strndup(e->file + KEPT_HEADER, key_bytes);
    e->data = e->file + KEPT_HEADER + key_bytes;
    e->data_bytes = e->bytes - KEPT_HEADER - key_bytes;
}

void entry_find(entry *e, const char *home, const char *words)
{
    char name[600];
    snprintf(name, sizeof name, "%s/clattn", home);
    DIR *files = opendir(scratch_path(e->folder, name));
    const struct dirent *next = NULL;
    bool found = false;
    while (!found && (next = readdir(files)) != NULL) {
        if (next->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/clattn/%s", home, next->d_name);
        read_file(e, name);
        found = strstr(e->key, words) != NULL;
        if (!found)
            entry_free(e);
    }
    closedir(files);
    ck_assert_msg(found, "%s: no file is of '%s'", home, words);
}

void entry_read(entry *e, const char *home)
{
    char name[300];
    snprintf(name, sizeof name, "%s/clattn", home);
    ck_assert_uint_eq(scratch_count(name), 1);
    entry_find(e, home, "");
}

void entry_free(entry *e)
{
    free(e->file);
    free(e->key);
}

void entry_store(const entry *e, const void *data, size_t bytes)
{
    char note[CACHE_NOTE];
    const cache c = {e->folder, (uint64_t)1 << 30};
    cache_store(&c, e->key, data, bytes, note);
    ck_assert_str_eq(note, "");
}
