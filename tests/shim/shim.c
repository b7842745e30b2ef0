/* SPDX-License-Identifier: Apache-2.0
 *
 * shim.c - which call is to fail, what was called, and which objects are alive.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "shim_parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(name) #name,
static const char *const NAMES[SHIM_POINTS] = {
    SHIM_OPENCL(NAME) SHIM_SYSTEM(NAME)};

const char *shim_name(enum shim_point point)
{
    return NAMES[point];
}

bool shim_is_opencl(enum shim_point point)
{
    return point < SHIM_malloc;
}

void shim_next(void *to, const char *name)
{
    if (shim_instead(to, name))
        return;
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "shim: nothing behind %s\n", name);
        abort();
    }
    /* ISO C has no conversion from void * to a function's pointer. */
    memcpy(to, &function, sizeof function);
}

/* ---- The n-th failure ------------------------------------------------------ */

/* Atomic: a driver's threads call malloc too. */
static atomic_bool armed, struck;
static atomic_size_t calls[SHIM_POINTS];
static enum shim_point fail_point;
static size_t fail_call;
static int fail_code;

void shim_arm(enum shim_point point, size_t n, int code)
{
    for (int i = 0; i < SHIM_POINTS; ++i)
        atomic_store(&calls[i], 0);
    fail_point = point;
    fail_call = n;
    fail_code = code;
    atomic_store(&struck, false);
    atomic_store(&armed, true);
}

bool shim_disarm(void)
{
    atomic_store(&armed, false);
    return atomic_load(&struck);
}

size_t shim_calls(enum shim_point point)
{
    return atomic_load(&calls[point]);
}

bool shim_is_armed(void)
{
    return atomic_load(&armed);
}

bool shim_strikes(enum shim_point point, int *code)
{
    if (!atomic_load(&armed))
        return false;
    const size_t call = atomic_fetch_add(&calls[point], 1) + 1;
    if (point != fail_point || call != fail_call)
        return false;
    atomic_store(&struck, true);
    *code = fail_code;
    return true;
}

/* ---- Objects ----------------------------------------------------------------- */

enum {
    MOST_OBJECTS = 4096
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct {
    const void *object; /* NULL: free */
    enum shim_kind kind;
    size_t references;
} alive[MOST_OBJECTS];
static size_t references[SHIM_KINDS], strays;

/* The object's entry, or a free one for NULL; MOST_OBJECTS if there is none. */
static size_t find(const void *object)
{
    size_t i = 0;
    while (i < MOST_OBJECTS && alive[i].object != object)
        ++i;
    return i;
}

static void add(enum shim_kind kind, const void *object)
{
    size_t i = find(object);
    if (i == MOST_OBJECTS)
        i = find(NULL);
    if (i == MOST_OBJECTS) {
        fprintf(stderr, "shim: more than %d objects\n", MOST_OBJECTS);
        abort();
    }
    alive[i].object = object;
    alive[i].kind = kind;
    ++alive[i].references;
    ++references[kind];
}

void shim_keep(enum shim_kind kind, const void *object)
{
    pthread_mutex_lock(&lock);
    if (object)
        add(kind, object);
    pthread_mutex_unlock(&lock);
}

static void remove_one(const void *object)
{
    const size_t i = find(object);
    if (i == MOST_OBJECTS) {
        ++strays;
        return;
    }
    --references[alive[i].kind];
    if (--alive[i].references == 0)
        alive[i].object = NULL;
}

void shim_drop(const void *object)
{
    pthread_mutex_lock(&lock);
    if (object)
        remove_one(object);
    pthread_mutex_unlock(&lock);
}

size_t shim_objects_of(enum shim_kind kind)
{
    pthread_mutex_lock(&lock);
    const size_t count = references[kind];
    pthread_mutex_unlock(&lock);
    return count;
}

size_t shim_objects(void)
{
    size_t count = 0;
    for (int kind = 0; kind < SHIM_KINDS; ++kind)
        count += shim_objects_of((enum shim_kind)kind);
    return count;
}

size_t shim_strays(void)
{
    pthread_mutex_lock(&lock);
    const size_t count = strays;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- Steered by the environment ------------------------------------------- */

static char report_path[1024];

/* "NAME:N:CODE"; what cannot be read ends the process, lest a test that means
   nothing passes. */
static void arm_by_text(const char *text)
{
    const size_t length = strcspn(text, ":");
    unsigned long n = 0;
    int code = 0;
    for (int i = 0; i < SHIM_POINTS; ++i)
        if (strlen(NAMES[i]) == length &&
            strncmp(NAMES[i], text, length) == 0 &&
            sscanf(text + length, ":%lu:%d", &n, &code) == 2) {
            shim_arm((enum shim_point)i, n, code);
            return;
        }
    fprintf(stderr, "shim: CLATTN_SHIM=%s is no NAME:N:CODE\n", text);
    abort();
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("CLATTN_SHIM");
    const char *path = getenv("CLATTN_SHIM_REPORT");
    if (!text || !path)
        return;
    snprintf(report_path, sizeof report_path, "%s", path);
    shim_watch_output();
    arm_by_text(text);
}

__attribute__((destructor)) static void end(void)
{
    if (report_path[0] == '\0')
        return;
    const bool came_about = shim_disarm();
    FILE *report = fopen(report_path, "w");
    if (!report)
        abort();
    fprintf(report, "struck %d\nobjects %zu\nstrays %zu\nblocks %zu\n",
        came_about, shim_objects(), shim_strays(), shim_blocks());
    for (int i = 0; i < SHIM_POINTS; ++i)
        fprintf(
            report, "calls %s %zu\n", NAMES[i], shim_calls((enum shim_point)i));
    fclose(report);
}
