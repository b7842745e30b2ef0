/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c - the device of one command.
 */
#define _POSIX_C_SOURCE 200809L
#include "session.h"

#include <time.h>

#include "subject.h"
#include "text.h"

double clock_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

bool library_ok(clattn_status status, const clattn_error *error, failure *f)
{
    if (status == CLATTN_OK)
        return true;
    fail(f, "%s",
        error->message[0] ? error->message : clattn_status_text(status));
    f->no_memory = subject_lacks_memory(status, error);
    return false;
}

static void name_device(session *s)
{
    const cl_device_id id = clattn_context_device(s->ctx);
    char name[256] = "unnamed";
    char platform[128] = "";
    cl_platform_id of = NULL;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof of, &of, NULL);
    if (of)
        clGetPlatformInfo(
            of, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    snprintf(s->device, sizeof s->device, "%s (%s)", name, platform);
    text_clean(s->device);
}

bool session_open(session *s, const char *spec, failure *f)
{
    clattn_error error;
    *s = (session){0};
    const double start = clock_ms();
    if (!library_ok(clattn_context_create(&s->ctx, spec, &error), &error, f))
        return false;
    name_device(s);
    s->open_ms = clock_ms() - start;
    return true;
}

void session_close(session *s)
{
    clattn_context_destroy(s->ctx);
    s->ctx = NULL;
}

void session_print_device(FILE *to, const session *s)
{
    fprintf(to, "device    %s\n", s->device);
}

void session_print_time(FILE *to, const session *s)
{
    fprintf(to,
        "time      %.1f ms to open the device, %.1f ms to build the "
        "kernels, %.1f ms to run\n",
        s->open_ms, s->build_ms, s->run_ms);
}
