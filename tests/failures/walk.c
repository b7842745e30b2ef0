/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.c - one deed done over and over, each time with another call of it
 * failing.
 */
#include "walk.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codes.h"
#include "error.h"

/* One failure to bring about. */
typedef struct strike {
    const walk_deed *deed;
    enum shim_point point;
    size_t n;
    int code;
    char text[200]; /* for messages */
} strike;

static strike strike_of(
    const walk_deed *deed, enum shim_point point, size_t n, int code)
{
    strike s = {deed, point, n, code, ""};
    snprintf(s.text, sizeof s.text, "%s, call %zu of %s fails with %s",
        deed->name, n, shim_name(point),
        shim_is_opencl(point) ? error_cl_name(code) : strerror(code));
    return s;
}

static bool is_release(enum shim_point point)
{
    return strncmp(shim_name(point), "clRelease", strlen("clRelease")) == 0;
}

/* Kernels that are on the queue already, the failed one not among them. */
static bool work_is_queued(enum shim_point failed)
{
    return shim_calls(SHIM_clEnqueueNDRangeKernel) >
           (failed == SHIM_clEnqueueNDRangeKernel);
}

/* While devices are listed one that fails is passed over. */
static bool is_listing(enum shim_point failed)
{
    return (failed == SHIM_clGetDeviceIDs || failed == SHIM_clGetDeviceInfo ||
               failed == SHIM_clGetPlatformInfo) &&
           shim_calls(SHIM_clGetPlatformIDs) > 0 &&
           shim_calls(SHIM_clCreateContext) == 0;
}

/* A machine without platforms is no failure of a call. */
static bool is_absence(const strike *s)
{
    return s->point == SHIM_clGetPlatformIDs && s->code == NO_PLATFORM;
}

/* A compiler that names no error is asked once more, and then has built. */
static bool is_silence(const strike *s)
{
    return s->point == SHIM_clBuildProgram &&
           s->code == CL_BUILD_PROGRAM_FAILURE;
}

static clattn_status owed(const strike *s)
{
    if (is_absence(s) || is_listing(s->point))
        return CLATTN_NO_DEVICE;
    if (work_is_queued(s->point) && !s->deed->tries)
        return CLATTN_DEVICE_ERROR;
    return codes_status(s->point, s->code);
}

static void check_message(const strike *s, const clattn_error *error)
{
    const char *call =
        shim_is_opencl(s->point) ? shim_name(s->point) : "memory";
    ck_assert_msg(strstr(error->message, call) != NULL, "%s: no %s in \"%s\"",
        s->text, call, error->message);
    if (!shim_is_opencl(s->point))
        return;
    ck_assert_msg(strstr(error->message, error_cl_name(s->code)) != NULL &&
                      strstr(error->message, "unknown") == NULL,
        "%s: the code is not named in \"%s\"", s->text, error->message);
    ck_assert_msg(error->cl_code == s->code, "%s: cl_code is %d", s->text,
        (int)error->cl_code);
}

/* Whether it did no harm. */
static bool judge(
    const strike *s, clattn_status status, const clattn_error *error)
{
    const walk_deed *deed = s->deed;
    const bool may = is_release(s->point) || is_silence(s) ||
                     (deed->harmless && deed->harmless(s->point));
    ck_assert_msg(error->status == (int32_t)status,
        "%s: returned %d, error says %d", s->text, status, (int)error->status);
    if (may && status == deed->returns)
        return true;
    const bool right = status == owed(s) ||
                       (is_listing(s->point) && status == deed->once_listed);
    ck_assert_msg(right, "%s: \"%s\" is owed, but it is \"%s\": %s", s->text,
        clattn_status_text(owed(s)), clattn_status_text(status),
        error->message);
    if (!is_absence(s))
        check_message(s, error);
    return false;
}

static void check_outputs(
    const walk_deed *deed, clattn_status status, const char *when)
{
    if (deed->check)
        deed->check(status, when);
}

static void check_objects(
    const strike *s, size_t now, size_t before, const char *when)
{
    ck_assert_msg(now == before, "%s: %s there are %zu objects instead of %zu",
        s->text, when, now, before);
    ck_assert_msg(shim_strays() == 0,
        "%s: %s %zu objects were released that were not alive", s->text, when,
        shim_strays());
}

/* A context keeps the kernels that were built before the failure. */
static size_t objects_of_a_call(void)
{
    return shim_objects() - shim_objects_of(SHIM_KERNEL);
}

/* The same deed on the same context, undisturbed. */
static void check_again(const strike *s)
{
    clattn_error error;
    const clattn_status status = s->deed->act(&error);
    ck_assert_msg(status == s->deed->returns, "%s: afterwards: %s", s->text,
        error.message);
    check_outputs(s->deed, status, s->text);
    s->deed->undo();
}

/* False if there are not so many calls. */
static bool take_one(const strike *s, walk_count *count)
{
    const walk_deed *deed = s->deed;
    clattn_error error;
    const size_t nothing = shim_objects(), blocks = shim_blocks();
    if (deed->prepare)
        deed->prepare();
    const size_t prepared = objects_of_a_call();

    memset(&error, 0x55, sizeof error);
    shim_arm(s->point, s->n, s->code);
    const clattn_status status = deed->act(&error);
    const bool struck = shim_disarm();
    if (struck) {
        ++count->walked;
        count->harmless += judge(s, status, &error);
    } else {
        ck_assert_msg(
            status == deed->returns, "%s: %s", deed->name, error.message);
    }
    check_outputs(deed, status, s->text);
    if (struck && status != CLATTN_OK)
        check_objects(s, objects_of_a_call(), prepared, "after it");
    deed->undo();
    if (struck)
        check_again(s);
    if (deed->clear)
        deed->clear();
    check_objects(s, shim_objects(), nothing, "in the end");
    ck_assert_msg(shim_blocks() == blocks, "%s: %zu blocks of memory are lost",
        s->text, shim_blocks() - blocks);
    return struck;
}

/* Every call with one code, then the first with every other. */
static void take_point(
    const walk_deed *deed, enum shim_point point, walk_count *count)
{
    const bool opencl = shim_is_opencl(point);
    const int any = opencl ? ANY_CALL_FAILS_WITH : ENOMEM;
    bool struck = true;
    for (size_t n = 1; struck; ++n) {
        const strike s = strike_of(deed, point, n, any);
        struck = take_one(&s, count);
    }
    for (const cl_int *code = codes_of(point); *code != CL_SUCCESS; ++code) {
        const strike s = strike_of(deed, point, 1, *code);
        ck_assert_msg(take_one(&s, count), "%s: it is not called", s.text);
    }
}

/* Which entry points there are, by an undisturbed run. */
static void look(const walk_deed *deed, bool called[SHIM_POINTS])
{
    clattn_error error;
    if (deed->prepare)
        deed->prepare();
    shim_arm(SHIM_POINTS, 0, 0);
    const clattn_status status = deed->act(&error);
    shim_disarm();
    ck_assert_msg(status == deed->returns, "%s: %s", deed->name, error.message);
    for (int p = 0; p < SHIM_POINTS; ++p)
        called[p] = shim_calls((enum shim_point)p) > 0;
    check_outputs(deed, status, deed->name);
    deed->undo();
    if (deed->clear)
        deed->clear();
}

walk_count walk(const walk_deed *deed)
{
    walk_count count = {0, 0, 0};
    bool called[SHIM_POINTS];
    look(deed, called);
    for (int p = 0; p < SHIM_POINTS; ++p)
        if (called[p]) {
            ++count.entry_points;
            take_point(deed, (enum shim_point)p, &count);
        }
    ck_assert_msg(count.walked > 0, "%s: the shim saw no call", deed->name);
    printf("%s: %zu entry points, %zu failures, %zu of them harmless\n",
        deed->name, count.entry_points, count.walked, count.harmless);
    return count;
}

void walk_add(walk_count *total, const walk_count *more)
{
    total->entry_points += more->entry_points;
    total->walked += more->walked;
    total->harmless += more->harmless;
}
