/* SPDX-License-Identifier: Apache-2.0
 *
 * system.c - what the library asks of the operating system: environment,
 * process, locks, files, standard error.  The rest is in folder.c and
 * held_signal.c.
 */
#define _GNU_SOURCE /* secure_getenv */
#include "system.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "held_signal.h"

/* "" if it is unset. */
static const char *value_of(const char *name)
{
    const char *value = secure_getenv(name);
    return value ? value : "";
}

static void read_text(char *to, size_t capacity, const char *name)
{
    const char *value = value_of(name);
    to[0] = '\0';
    if (strlen(value) < capacity)
        strcpy(to, value);
}

/* The N of "...,key=N,...": digits only; 0 if it is not there. */
static uint64_t tuning_value(const char *list, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        char *end = NULL;
        const char *digits = at + length + 1;
        const uint64_t value = strtoull(digits, &end, 10);
        const bool whole =
            *digits >= '0' && *digits <= '9' && (*end == '\0' || *end == ',');
        return whole ? value : 0;
    }
    return 0;
}

/* MiB that built programs may take: a few hundred of them. */
#define CACHE_MIB 256

static uint64_t cache_limit(void)
{
    const char *digits = value_of("CLATTN_CACHE_LIMIT");
    char *end = NULL;
    if (*digits < '0' || *digits > '9')
        return (uint64_t)CACHE_MIB << 20;
    const uint64_t mib = strtoull(digits, &end, 10);
    return (*end == '\0' && mib <= UINT64_MAX >> 20 ? mib : CACHE_MIB) << 20;
}

static void cache_directory(char *to, size_t capacity)
{
    const char *base = value_of("XDG_CACHE_HOME");
    const char *rest = "/clattn";
    if (*base == '\0') {
        base = value_of("HOME");
        rest = "/.cache/clattn";
    }
    const int length =
        *base == '/' ? snprintf(to, capacity, "%s%s", base, rest) : -1;
    if (length < 0 || (size_t)length >= capacity)
        to[0] = '\0';
}

static void vendors_path(char *to, size_t capacity)
{
    read_text(to, capacity, "OCL_ICD_VENDORS");
    if (to[0] == '\0')
        read_text(to, capacity, "OPENCL_VENDOR_PATH");
    if (to[0] == '\0')
        snprintf(to, capacity, "/etc/OpenCL/vendors");
}

void environment_read(environment *env)
{
    char cache[16], verbose[16], tuning[256];
    read_text(env->device, sizeof env->device, "CLATTN_DEVICE");
    read_text(env->kernel, sizeof env->kernel, "CLATTN_KERNEL");
    read_text(env->disable, sizeof env->disable, "CLATTN_DISABLE");
    read_text(env->kernel_dir, sizeof env->kernel_dir, "CLATTN_KERNEL_DIR");
    read_text(cache, sizeof cache, "CLATTN_CACHE");
    read_text(verbose, sizeof verbose, "CLATTN_VERBOSE");
    read_text(tuning, sizeof tuning, "CLATTN_TUNING");
    env->verbose = verbose[0] != '\0' && strcmp(verbose, "0") != 0;
    vendors_path(env->vendors, sizeof env->vendors);
    cache_directory(env->cache_dir, sizeof env->cache_dir);
    env->cache_limit = cache_limit();
    if (strcmp(cache, "0") == 0 || env->cache_limit == 0)
        env->cache_dir[0] = '\0';
    env->launch_work = tuning_value(tuning, "launch_work");
}

bool process_may_use_opencl(void)
{
    static atomic_long first = 0;
    long none = 0;
    const long self = (long)getpid();
    return atomic_compare_exchange_strong(&first, &none, self) || none == self;
}

struct system_lock {
    pthread_mutex_t mutex;
};

system_lock *system_lock_create(void)
{
    system_lock *lock = malloc(sizeof *lock);
    if (lock && pthread_mutex_init(&lock->mutex, NULL) != 0) {
        free(lock);
        lock = NULL;
    }
    return lock;
}

void system_lock_destroy(system_lock *lock)
{
    if (lock)
        pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void system_lock_take(system_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void system_lock_release(system_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

static char *read_stream(FILE *stream)
{
    size_t length = 0, capacity = 1 << 14;
    char *text = malloc(capacity + 1);
    while (text) {
        length += fread(text + length, 1, capacity - length, stream);
        if (length < capacity)
            break;
        capacity *= 2;
        char *larger = realloc(text, capacity + 1);
        if (!larger)
            free(text);
        text = larger;
    }
    if (text && ferror(stream)) {
        free(text);
        text = NULL;
    }
    if (text)
        text[length] = '\0';
    return text;
}

char *system_read_file(const char *directory, const char *name)
{
    char path[1024];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return NULL;
    char *text = read_stream(stream);
    const int code = errno;
    fclose(stream);
    errno = code;
    return text;
}

void system_print_line(const char *text)
{
    held_signal broken_pipe;
    held_signal_begin(&broken_pipe, SIGPIPE);
    fprintf(stderr, "%s\n", text);
    held_signal_end(&broken_pipe);
}
