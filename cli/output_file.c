/* SPDX-License-Identifier: Apache-2.0
 *
 * output_file.c - files that appear whole or not at all.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "temporary.h"

enum {
    MAX_NAMES = 100
};

struct output_file {
    FILE *stream;
    char *path;          /* as the caller wrote it, for messages */
    char *target;        /* after following links */
    temporary temporary; /* none: the target is written directly */
};

/* What `path` leads to, looked at and not changed. */
typedef struct destination {
    char *target;
    bool exists;
    bool direct;    /* no regular file, or standard output */
    bool is_stdout; /* the file behind descriptor 1, whatever its name */
    mode_t mode;
} destination;

static bool fail_errno(failure *f, const char *path)
{
    return fail(f, "%s: cannot be written: %s", path, strerror(errno));
}

static bool is_stdout(const struct stat *status)
{
    struct stat out;
    return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == status->st_dev &&
           out.st_ino == status->st_ino;
}

static bool look_at_existing(
    destination *d, const struct stat *status, const char *path, failure *f)
{
    if (S_ISDIR(status->st_mode))
        return fail(f, "%s: is a folder, but a file is to be written", path);
    d->exists = true;
    d->is_stdout = is_stdout(status);
    d->direct = d->is_stdout || !S_ISREG(status->st_mode);
    d->mode = status->st_mode & 0777;
    if (!d->is_stdout && access(path, W_OK) != 0)
        return fail_errno(f, path);
    return true;
}

/* d->target is the caller's to free in either case. */
static bool look_at(destination *d, const char *path, failure *f)
{
    struct stat status;
    *d = (destination){.mode = 0666};
    size_t length = strlen(path);
    if (length == 0)
        return fail(f, "the name of an output file is empty");
    if (stat(path, &status) == 0) {
        if (!look_at_existing(d, &status, path, f))
            return false;
    } else if (errno != ENOENT) {
        return fail_errno(f, path);
    }
    if (!d->exists && path[length - 1] == '/')
        return fail(f, "%s: names a folder, but a file is to be written", path);
    d->target = d->direct ? place_copy(path) : place_of(path);
    return d->target || fail_errno(f, path);
}

/* A new file beside the target.  Not mkstemp: this way the process's umask and
   the folder's defaults give the permissions, as for any new file. */
static int create_temporary(temporary *t, const destination *d)
{
    char base[64];
    for (unsigned i = 0; i < MAX_NAMES; ++i) {
        snprintf(base, sizeof base, ".clattn-%ld-%u.tmp", (long)getpid(), i);
        char *name = place_beside(d->target, base);
        int fd = name ? temporary_create(t, name, d->mode) : -1;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int open_direct(const destination *d)
{
    if (!d->is_stdout)
        return open(d->target, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    fflush(stdout); /* what was printed so far comes first */
    return dup(STDOUT_FILENO);
}

/* A descriptor for what `d` says, or -1 with errno. */
static int open_destination(temporary *t, const destination *d)
{
    if (d->direct)
        return open_direct(d);
    int fd = create_temporary(t, d);
    /* A replaced file keeps its permissions, which umask does not touch; a file
       system without permissions cannot do that. */
    if (fd >= 0 && d->exists)
        (void)!fchmod(fd, d->mode);
    return fd;
}

/* Takes d->target over; NULL with errno. */
static output_file *file_create(destination *d, const char *path)
{
    output_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->path = place_copy(path);
    int fd = file->path ? open_destination(&file->temporary, d) : -1;
    file->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file->stream) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        output_file_abandon(file);
        errno = code;
        return NULL;
    }
    file->target = d->target;
    d->target = NULL;
    return file;
}

output_file *output_file_open(const char *path, failure *f)
{
    destination d;
    output_file *file = NULL;
    if (look_at(&d, path, f)) {
        file = file_create(&d, path);
        if (!file)
            fail_errno(f, path);
    }
    free(d.target);
    return file;
}

FILE *output_file_stream(output_file *file)
{
    return file->stream;
}

bool output_file_finish(output_file *file, failure *f)
{
    if (!file->stream)
        return true;
    bool written = !ferror(file->stream);
    bool flushed = fflush(file->stream) == 0;
    int code = errno;
    if (fclose(file->stream) != 0 && flushed) {
        flushed = false;
        code = errno;
    }
    file->stream = NULL;
    errno = code;
    if (!flushed)
        return fail_errno(f, file->path);
    /* Of an earlier write only the fact is known, its errno is gone. */
    return written ||
           fail(f,
               "%s: cannot be written: not all bytes were taken, perhaps "
               "for lack of space",
               file->path);
}

bool output_file_commit(output_file *file, failure *f)
{
    bool ok = output_file_finish(file, f);
    if (ok && file->temporary.path)
        ok = temporary_rename(&file->temporary, file->target) ||
             fail_errno(f, file->path);
    output_file_abandon(file);
    return ok;
}

void output_file_abandon(output_file *file)
{
    if (!file)
        return;
    if (file->stream)
        fclose(file->stream);
    temporary_remove(&file->temporary);
    free(file->path);
    free(file->target);
    free(file);
}

bool output_file_possible(const char *path, failure *f)
{
    destination d;
    temporary asked = {NULL, NULL};
    bool ok = look_at(&d, path, f);
    /* A pipe must not be opened to ask: its reader would see the end. */
    if (ok && !d.direct) {
        int fd = create_temporary(&asked, &d);
        ok = fd >= 0 || fail_errno(f, path);
        if (fd >= 0)
            close(fd);
        temporary_remove(&asked);
    }
    free(d.target);
    return ok;
}
