/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures_run.c - `run` of CLATTN_PROGRAM, while the n-th call of OpenCL
 * or of the C library fails, for every n: it says so and ends, and leaves whole
 * files or none.  What each of OpenCL's codes comes to is in test_failures.c
 * and test_failures_calls.c.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "program.h"
#include "scratch.h"
#include "shim.h"
#include "stored.h"
#include "suite.h"
#include "tensors.h"

#ifndef CLATTN_PRELOAD
#error "CLATTN_PRELOAD is where the shim lies"
#endif

/* ---- One run ----------------------------------------------------------------- */

enum {
    WIDTH = 4,
    LENGTH = 3
};

static const char *const OUTPUTS[] = {"y.npy", "weights.npy"};

/* What an undisturbed run leaves in them. */
static struct {
    char *bytes;
    size_t count;
} whole[COUNT(OUTPUTS)];

static program_result got;

/* What the shim tells of a run. */
typedef struct report {
    int struck;
    size_t objects, strays, blocks;
    size_t calls[SHIM_POINTS];
} report;

/* After a crash there is none. */
static bool read_report(report *r, const char *path)
{
    FILE *file = fopen(path, "r");
    memset(r, 0, sizeof *r);
    if (!file)
        return false;
    bool whole_report =
        fscanf(file, "struck %d objects %zu strays %zu blocks %zu ", &r->struck,
            &r->objects, &r->strays, &r->blocks) == 4;
    for (int p = 0; p < SHIM_POINTS; ++p)
        whole_report &= fscanf(file, "calls %*s %zu ", &r->calls[p]) == 1;
    fclose(file);
    return whole_report;
}

static void run(report *r, enum shim_point point, size_t n, int code)
{
    static const char *const arguments[] = {"run", "--model",
        "@model.safetensors", "--input", "@x.npy", "--heads", "1", "--output",
        "@y.npy", "--attention", "@weights.npy", NULL};
    char what[100], to[SCRATCH_PATH + 30], path[SCRATCH_PATH];
    snprintf(
        what, sizeof what, "CLATTN_SHIM=%s:%zu:%d", shim_name(point), n, code);
    snprintf(
        to, sizeof to, "CLATTN_SHIM_REPORT=%s", scratch_path(path, "report"));
    const char *const environment[] = {
        "LD_PRELOAD=" CLATTN_PRELOAD, "CLATTN_CACHE=0", what, to, NULL};
    program_run(&got, arguments, environment);
    ck_assert_msg(read_report(r, scratch_path(path, "report")),
        "%s: no report; exit code %d: %s", what, got.code, got.err);
    unlink(path);
}

/* ---- What it leaves ------------------------------------------------------------ */

/* Takes the outputs away; how many there were, each whole. */
static size_t take_outputs(const char *when)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(OUTPUTS); ++i) {
        char path[SCRATCH_PATH];
        size_t bytes = 0;
        char *left = scratch_read(scratch_path(path, OUTPUTS[i]), &bytes);
        if (!left)
            continue;
        ck_assert_msg(
            bytes == whole[i].count && memcmp(left, whole[i].bytes, bytes) == 0,
            "%s: %s is not whole", when, OUTPUTS[i]);
        free(left);
        unlink(path);
        ++count;
    }
    return count;
}

static void make_inputs(void)
{
    static const tensor_row ROWS[] = {{"W_Q", 2, {WIDTH, WIDTH}, -1.5f},
        {"W_K", 2, {WIDTH, WIDTH}, -2.0f}, {"W_V", 2, {WIDTH, WIDTH}, 0.5f},
        {NULL, 0, {0}, 0}};
    float x[LENGTH * WIDTH];
    char path[SCRATCH_PATH];
    report r;
    for (size_t i = 0; i < COUNT(x); ++i)
        x[i] = 0.01f * (float)(i % 5);
    tensors_write(path, "model.safetensors", ROWS, NULL, NULL);
    stored_write("x.npy", 2, (const size_t[]){LENGTH, WIDTH}, x);
    run(&r, SHIM_malloc, 0, 0);
    ck_assert_msg(got.code == 0, "%s", got.err);
    for (size_t i = 0; i < COUNT(OUTPUTS); ++i) {
        whole[i].bytes =
            scratch_read(scratch_path(path, OUTPUTS[i]), &whole[i].count);
        ck_assert_ptr_nonnull(whole[i].bytes);
    }
    ck_assert_uint_eq(take_outputs("undisturbed"), COUNT(OUTPUTS));
}

/* ---- Failures ------------------------------------------------------------------- */

static bool is_memory(enum shim_point point)
{
    return point == SHIM_malloc || point == SHIM_calloc ||
           point == SHIM_realloc || point == SHIM_strdup;
}

/* What the message must hold: the call, the lack, or why not.  Of a write that
   fails only the fact is known in the end. */
static const char *owed_word(enum shim_point point)
{
    if (shim_is_opencl(point))
        return shim_name(point);
    if (is_memory(point))
        return "memory";
    return point == SHIM_write || point == SHIM_close ? "written"
                                                      : strerror(ENOSPC);
}

/* They tell of what is gone. */
static bool is_release(enum shim_point point)
{
    return strncmp(shim_name(point), "clRelease", strlen("clRelease")) == 0;
}

/* A platform is asked for its devices twice if it has any. */
enum {
    ONE_PLATFORM = 2
};

static size_t walked, harmless, unsaid, asked_for_devices;

/* Some of these: texts of the device are for the summary alone, a platform that
   does not list its devices matters if there is no other, and jansson does
   without /dev/urandom. */
static bool may_go_unsaid(enum shim_point point)
{
    return point == SHIM_clGetDeviceInfo || point == SHIM_clGetPlatformInfo ||
           (point == SHIM_clGetDeviceIDs && asked_for_devices > ONE_PLATFORM) ||
           point == SHIM_open;
}

static void judge(enum shim_point point, const report *r, const char *when)
{
    const size_t files = scratch_count("");
    const size_t outputs = take_outputs(when);
    ck_assert_msg(
        scratch_count("") + outputs == files && scratch_count("") == 2,
        "%s: %zu files are left beside outputs and inputs", when,
        scratch_count("") - 2);
    ck_assert_msg(r->objects == 0 && r->strays == 0,
        "%s: %zu objects are alive at the end, %zu were released that were not",
        when, r->objects, r->strays);
    ck_assert_msg(
        r->blocks == 0, "%s: %zu blocks of memory are lost", when, r->blocks);
    if (got.code == 0 && (is_release(point) || may_go_unsaid(point))) {
        ck_assert_msg(outputs == COUNT(OUTPUTS), "%s: exit code 0", when);
        ++harmless;
        unsaid += !is_release(point);
        return;
    }
    ck_assert_msg(
        got.code == 1, "%s: exit code %d: %s", when, got.code, got.err);
    ck_assert_msg(strncmp(got.err, "clattn: ", 8) == 0 &&
                      strstr(got.err, owed_word(point)) != NULL,
        "%s: no \"%s\" in: %s", when, owed_word(point), got.err);
}

/* An error of the kind that each may meet. */
static int code_of(enum shim_point point)
{
    if (shim_is_opencl(point))
        return ANY_CALL_FAILS_WITH;
    return is_memory(point) ? ENOMEM : ENOSPC;
}

static void take_point(enum shim_point point, size_t calls)
{
    for (size_t n = 1; n <= calls; ++n) {
        char when[100];
        report r;
        snprintf(
            when, sizeof when, "call %zu of %s fails", n, shim_name(point));
        run(&r, point, n, code_of(point));
        ck_assert_msg(r.struck, "%s: it was not made", when);
        judge(point, &r, when);
        ++walked;
    }
}

START_TEST(each_failure_is_said_and_leaves_whole_files_or_none)
{
    size_t points = 0;
    report undisturbed;
    make_inputs();
    run(&undisturbed, SHIM_malloc, 0, 0);
    take_outputs("undisturbed");
    asked_for_devices = undisturbed.calls[SHIM_clGetDeviceIDs];
    for (int p = 0; p < SHIM_POINTS; ++p) {
        points += undisturbed.calls[p] > 0;
        take_point((enum shim_point)p, undisturbed.calls[p]);
    }
    ck_assert_msg(unsaid <= 4 * asked_for_devices / ONE_PLATFORM,
        "%zu failures went unsaid", unsaid);
    printf("clattn run: %zu entry points, %zu failures, %zu of them harmless\n",
        points, walked, harmless);
    ck_assert_uint_gt(walked, 200);
    run(&undisturbed, SHIM_malloc, 0, 0);
    ck_assert_int_eq(got.code, 0);
    ck_assert_uint_eq(take_outputs("in the end"), COUNT(OUTPUTS));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("run");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, each_failure_is_said_and_leaves_whole_files_or_none);
    Suite *suite = suite_create("failures of clattn run");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
