/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.c - a private folder of files: what the program cache asks of the
 * operating system.
 */
#define _XOPEN_SOURCE 700 /* openat and its like */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "error.h"
#include "held_signal.h"

#define TEMPORARY "tmp-"

enum {
    MAX_TEMPORARY = 100 /* names tried; taken ones are left by killed processes
                           that had our id */
};

static void say(char why[FOLDER_WORDS], const char *words)
{
    snprintf(why, FOLDER_WORDS, "%s", words);
}

/* "verb: what errno means". */
static void say_error(char why[FOLDER_WORDS], const char *verb)
{
    char words[64];
    error_errno_text(words, sizeof words);
    snprintf(why, FOLDER_WORDS, "%s: %s", verb, words);
}

/* ---- The folder ---------------------------------------------------------- */

/* Only as far as two folders go: a home that is missing is not made up. */
static void make_folder(const char *path)
{
    char above[1024];
    const char *slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) < sizeof above) {
        snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
        mkdir(above, 0700);
    }
    mkdir(path, 0700);
}

/* Whether only this user can have written what `status` is about. */
static bool is_private(const struct stat *status, char why[FOLDER_WORDS])
{
    if (status->st_uid != geteuid())
        say(why, "belongs to another user");
    else if (status->st_mode & (S_IWGRP | S_IWOTH))
        say(why, "may be written by other users");
    else
        return true;
    return false;
}

bool folder_open(folder *f, const char *path, bool make, char why[FOLDER_WORDS])
{
    struct stat status;
    why[0] = '\0';
    if (make)
        make_folder(path);
    f->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (f->fd < 0) {
        if (make || errno != ENOENT)
            say_error(why, "cannot be opened as a folder");
        return false;
    }
    if (fstat(f->fd, &status) == 0 && is_private(&status, why))
        return true;
    folder_close(f);
    return false;
}

void folder_close(folder *f)
{
    close(f->fd);
    f->fd = -1;
}

/* ---- Reading ------------------------------------------------------------- */

static bool is_trusted(int fd, uint64_t most, size_t *bytes, char *why)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        say_error(why, "cannot be read");
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        say(why, "is no regular file");
        return false;
    }
    if ((uint64_t)status.st_size > most) {
        say(why, "is too large");
        return false;
    }
    *bytes = (size_t)status.st_size;
    return is_private(&status, why);
}

static bool read_all(int fd, unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t step = read(fd, data + at, bytes - at);
        if (step <= 0 && !(step < 0 && errno == EINTR))
            return false;
        at += step > 0 ? (size_t)step : 0;
    }
    return true;
}

unsigned char *folder_read(const folder *f, const char *name, uint64_t most,
    size_t *bytes, char why[FOLDER_WORDS])
{
    unsigned char *data = NULL;
    why[0] = '\0';
    /* Without waiting: it may be a pipe. */
    const int fd =
        openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT)
            say_error(why, "cannot be opened");
        return NULL;
    }
    if (is_trusted(fd, most, bytes, why)) {
        data = malloc(*bytes + 1);
        if (!data || !read_all(fd, data, *bytes)) {
            say(why, data ? "cannot be read" : "does not fit into memory");
            free(data);
            data = NULL;
        }
    }
    close(fd);
    return data;
}

/* ---- Writing ------------------------------------------------------------- */

static bool write_part(int fd, const folder_part *part)
{
    const unsigned char *data = part->data;
    for (size_t at = 0; at < part->bytes;) {
        const ssize_t step = write(fd, data + at, part->bytes - at);
        if (step == 0)
            errno = EIO; /* some file systems say nothing at all */
        if (step == 0 || (step < 0 && errno != EINTR))
            return false;
        at += step > 0 ? (size_t)step : 0;
    }
    return true;
}

/* Past the process's limit of file sizes (ulimit -f) it fails with EFBIG. */
static bool write_parts(int fd, const folder_part *parts, size_t n_parts)
{
    held_signal limit;
    bool written = true;
    held_signal_begin(&limit, SIGXFSZ);
    for (size_t i = 0; i < n_parts && written; ++i)
        written = write_part(fd, &parts[i]);
    held_signal_end(&limit);
    return written;
}

/* A new empty file and its name; -1 if there is none. */
static int open_temporary(const folder *f, char name[FOLDER_NAME])
{
    for (int n = 0; n < MAX_TEMPORARY; ++n) {
        snprintf(name, FOLDER_NAME, TEMPORARY "%ld-%d", (long)getpid(), n);
        const int fd = openat(f->fd, name,
            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* No fsync: after a power failure a file may hold anything, and who reads it
   has to find that out anyway. */
bool folder_write(const folder *f, const char *name, const folder_part *parts,
    size_t n_parts, char why[FOLDER_WORDS])
{
    char temporary[FOLDER_NAME];
    const int fd = open_temporary(f, temporary);
    why[0] = '\0';
    if (fd < 0) {
        say_error(why, "cannot be made");
        return false;
    }
    bool done = write_parts(fd, parts, n_parts);
    if (!done)
        say_error(why, "cannot be written");
    /* Where a disk's quota is counted late, this is where it shows. */
    if (close(fd) != 0 && done) {
        say_error(why, "cannot be written");
        done = false;
    }
    if (done && renameat(f->fd, temporary, f->fd, name) != 0) {
        say_error(why, "cannot be put in place");
        done = false;
    }
    if (!done)
        unlinkat(f->fd, temporary, 0);
    return done;
}

bool folder_is_temporary(const char *name)
{
    return strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0;
}

void folder_remove(const folder *f, const char *name)
{
    unlinkat(f->fd, name, 0);
}

void folder_touch(const folder *f, const char *name)
{
    utimensat(f->fd, name, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- Listing ------------------------------------------------------------- */

/* False: no memory.  The name fits. */
static bool append(folder_file **files, size_t *count, const char *name,
    const struct stat *status)
{
    /* Room doubles whenever the count reaches a power of two. */
    if ((*count & (*count - 1)) == 0) {
        const size_t room = *count > 0 ? 2 * *count : 1;
        folder_file *larger = realloc(*files, room * sizeof **files);
        if (!larger)
            return false;
        *files = larger;
    }
    folder_file *file = &(*files)[(*count)++];
    memcpy(file->name, name, strlen(name) + 1);
    file->bytes = (uint64_t)status->st_size;
    file->changed_s = status->st_mtim.tv_sec;
    file->changed_ns = status->st_mtim.tv_nsec;
    return true;
}

static bool append_all(DIR *entries, folder_file **files, size_t *count)
{
    for (const struct dirent *e; (e = readdir(entries)) != NULL;) {
        struct stat status;
        /* One that is gone by now counts no more; long names are not ours. */
        if (strlen(e->d_name) < FOLDER_NAME &&
            fstatat(dirfd(entries), e->d_name, &status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(status.st_mode) &&
            !append(files, count, e->d_name, &status))
            return false;
    }
    return true;
}

bool folder_list(const folder *f, folder_file **files, size_t *count)
{
    *files = NULL;
    *count = 0;
    /* A descriptor of its own: reading moves its place. */
    const int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    const bool whole = append_all(entries, files, count);
    closedir(entries);
    if (!whole) {
        free(*files);
        *files = NULL;
        *count = 0;
    }
    return whole;
}

int64_t folder_now(void)
{
    return (int64_t)time(NULL);
}
