/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_system.c - the C library's calls that can fail for want of space or
 * rights, as the program's own code makes them; and whose call one is.
 */
#define _GNU_SOURCE /* fopencookie, dl_iterate_phdr */
#include "shim_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Whose call it is ---------------------------------------------------------- */

/* Code of the program and of what it parses with. */
enum {
    MOST_RANGES = 8
};
static struct {
    uintptr_t begin, end;
} ranges[MOST_RANGES];
static size_t n_ranges;

/* The program comes first and has no name. */
static int note_code(struct dl_phdr_info *info, size_t bytes, void *state)
{
    (void)bytes;
    (void)state;
    if (info->dlpi_name[0] != '\0' && !strstr(info->dlpi_name, "libjansson"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && n_ranges < MOST_RANGES; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        ranges[n_ranges].begin = info->dlpi_addr + part->p_vaddr;
        ranges[n_ranges].end = ranges[n_ranges].begin + part->p_memsz;
        ++n_ranges;
    }
    return 0;
}

__attribute__((constructor(101))) static void note_all_code(void)
{
    dl_iterate_phdr(note_code, NULL);
}

bool shim_is_program(const void *caller)
{
    for (size_t i = 0; i < n_ranges; ++i)
        if ((uintptr_t)caller >= ranges[i].begin &&
            (uintptr_t)caller < ranges[i].end)
            return true;
    return false;
}

bool shim_fails(enum shim_point point)
{
    int code = 0;
    if (!shim_strikes(point, &code))
        return false;
    errno = code;
    return true;
}

#define FAILS(point) \
    (shim_is_program(__builtin_return_address(0)) && shim_fails(SHIM_##point))

/* ---- Files ------------------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
    int (*next)(const char *path, int flags, ...);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (FAILS(open))
        return -1;
    shim_next(&next, "open");
    return next(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char *path, int flags, ...)
{
    int (*next)(int folder, const char *path, int flags, ...);
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (FAILS(openat))
        return -1;
    shim_next(&next, "openat");
    return next(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
    __attribute__((alias("openat")));

int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *path, mode_t mode);
    if (FAILS(mkdir))
        return -1;
    shim_next(&next, "mkdir");
    return next(path, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *path, const char *mode);
    if (FAILS(fopen))
        return NULL;
    shim_next(&next, "fopen");
    return next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
    __attribute__((alias("fopen")));

int rename(const char *from, const char *to)
{
    int (*next)(const char *from, const char *to);
    if (FAILS(rename))
        return -1;
    shim_next(&next, "rename");
    return next(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    int (*next)(int, const char *, int, const char *);
    if (FAILS(renameat))
        return -1;
    shim_next(&next, "renameat");
    return next(from_folder, from, to_folder, to);
}

static ssize_t really_write(int fd, const void *bytes, size_t count)
{
    ssize_t (*next)(int fd, const void *bytes, size_t count);
    shim_next(&next, "write");
    return next(fd, bytes, count);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return FAILS(write) ? -1 : really_write(fd, bytes, count);
}

/* ---- Streams that are written ---------------------------------------------------- */

static ssize_t write_some(void *cookie, const char *bytes, size_t count)
{
    const int fd = (int)(intptr_t)cookie;
    ssize_t written = 0;
    if (!shim_fails(SHIM_write))
        written = really_write(fd, bytes, count);
    return written > 0 ? written : 0; /* what a cookie says of an error */
}

static int close_it(void *cookie)
{
    const int fd = (int)(intptr_t)cookie;
    const bool fail = shim_fails(SHIM_close);
    const int code = errno;
    const int closed = close(fd);
    if (!fail)
        return closed;
    errno = code;
    return -1;
}

static FILE *watched_stream(int fd, const char *mode)
{
    return fopencookie((void *)(intptr_t)fd, mode,
        (cookie_io_functions_t){.write = write_some, .close = close_it});
}

FILE *fdopen(int fd, const char *mode)
{
    FILE *(*next)(int fd, const char *mode);
    if (FAILS(fdopen))
        return NULL;
    if (shim_is_program(__builtin_return_address(0)) && strchr(mode, 'w') &&
        !strchr(mode, '+'))
        return watched_stream(fd, mode);
    shim_next(&next, "fdopen");
    return next(fd, mode);
}

void shim_watch_output(void)
{
    FILE *stream = watched_stream(STDOUT_FILENO, "w");
    if (!stream)
        abort();
    stdout = stream;
}
