/* SPDX-License-Identifier: Apache-2.0
 *
 * system.c - what the library asks of the operating system and the processor:
 * environment, locks, files, standard error.  The rest is in process.c, folder.c
 * and held_signal.c.
 */
#define _GNU_SOURCE /* secure_getenv */
#include "system.h"

#include <errno.h>
#include <pthread.h>
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

/* Remember that a value has no effect: `allowed` says what would have. */
static void ignore(environment *env, const char *name, const char *allowed)
{
    if (env->ignored_count < MOST_IGNORED)
        snprintf(env->ignored[env->ignored_count++], sizeof env->ignored[0],
            "%s is '%.60s', which is ignored: %s", name, value_of(name),
            allowed);
}

static void read_text(
    environment *env, char *to, size_t capacity, const char *name)
{
    const char *value = value_of(name);
    char allowed[80];
    to[0] = '\0';
    if (strlen(value) < capacity) {
        strcpy(to, value);
        return;
    }
    snprintf(
        allowed, sizeof allowed, "it may have at most %zu bytes", capacity - 1);
    ignore(env, name, allowed);
}

/* The N of one "launch_work=N" of a list: digits only, not 0; 0 else. */
static uint64_t launch_work_of(const char *item)
{
    static const char KEY[] = "launch_work=";
    char *end = NULL;
    if (strncmp(item, KEY, sizeof KEY - 1) != 0)
        return 0;
    const char *digits = item + sizeof KEY - 1;
    const uint64_t value = strtoull(digits, &end, 10);
    const bool whole =
        *digits >= '0' && *digits <= '9' && (*end == '\0' || *end == ',');
    return whole ? value : 0;
}

static bool is_emulate_units(const char *item)
{
    static const char KEY[] = "emulate_units=1";
    const char after =
        strncmp(item, KEY, sizeof KEY - 1) == 0 ? item[sizeof KEY - 1] : 'x';
    return after == '\0' || after == ',';
}

/* The first item that is right counts; what is not is told. */
static void read_tuning(environment *env)
{
    const char *at = value_of("CLATTN_TUNING");
    bool told = false;
    env->launch_work = 0;
    env->emulates = false;
    for (; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
        const uint64_t work = launch_work_of(at);
        if (is_emulate_units(at)) {
            env->emulates = true; /* not told of: for tests alone */
            continue;
        }
        if (work != 0 && env->launch_work == 0)
            env->launch_work = work;
        if (work == 0 && !told)
            ignore(env, "CLATTN_TUNING",
                "only launch_work=N is allowed, N a whole number from 1 up");
        told = told || work == 0;
    }
}

/* MiB that built programs may take: a few hundred of them. */
#define CACHE_MIB 256

static void read_cache_limit(environment *env)
{
    const char *digits = value_of("CLATTN_CACHE_LIMIT");
    const bool number = *digits >= '0' && *digits <= '9';
    char *end = NULL;
    const uint64_t mib = number ? strtoull(digits, &end, 10) : 0;
    const bool fits = number && *end == '\0' && mib <= UINT64_MAX >> 20;
    env->cache_limit = (fits ? mib : CACHE_MIB) << 20;
    if (!fits && *digits != '\0')
        ignore(env, "CLATTN_CACHE_LIMIT",
            "only a whole number of MiB is allowed, 0 for no cache");
}

static bool cache_is_off(environment *env)
{
    const char *value = value_of("CLATTN_CACHE");
    if (*value != '\0' && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        ignore(
            env, "CLATTN_CACHE", "only 0, no program cache, and 1 are allowed");
    return strcmp(value, "0") == 0;
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

static void vendors_path(environment *env, char *to, size_t capacity)
{
    read_text(env, to, capacity, "OCL_ICD_VENDORS");
    if (to[0] == '\0')
        read_text(env, to, capacity, "OPENCL_VENDOR_PATH");
    if (to[0] == '\0')
        snprintf(to, capacity, "/etc/OpenCL/vendors");
}

void environment_read(environment *env)
{
    const char *verbose = value_of("CLATTN_VERBOSE");
    env->ignored_count = 0;
    read_text(env, env->device, sizeof env->device, "CLATTN_DEVICE");
    read_text(env, env->kernel, sizeof env->kernel, "CLATTN_KERNEL");
    read_text(env, env->disable, sizeof env->disable, "CLATTN_DISABLE");
    read_text(
        env, env->kernel_dir, sizeof env->kernel_dir, "CLATTN_KERNEL_DIR");
    env->verbose = verbose[0] != '\0' && strcmp(verbose, "0") != 0;
    vendors_path(env, env->vendors, sizeof env->vendors);
    cache_directory(env->cache_dir, sizeof env->cache_dir);
    read_cache_limit(env);
    if (cache_is_off(env) || env->cache_limit == 0)
        env->cache_dir[0] = '\0';
    read_tuning(env);
}

bool system_has_fused_adds(void)
{
#if defined(__x86_64__) || defined(__i386__)
    /* corei7 and corei7-avx: the only ones that it knows without */
    const char *target = value_of("CL_CONFIG_CPU_TARGET_ARCH");
    return __builtin_cpu_supports("fma") && strncmp(target, "corei7", 6) != 0;
#else
    return true;
#endif
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
