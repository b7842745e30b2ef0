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

enum {
    MAX_LINKS = 40, /* as Linux follows at most */
    MAX_NAMES = 100
};

struct output_file {
    FILE *stream;
    char *path;      /* as the caller wrote it, for messages */
    char *target;    /* after following links */
    char *temporary; /* NULL: the target is written directly */
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

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* `name` in the folder of `path`; an absolute name stays as it is. */
static char *beside(const char *path, const char *name)
{
    const char *slash = *name == '/' ? NULL : strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    size_t bytes = strlen(name) + 1;
    char *joined = malloc(folder + bytes);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, bytes);
    return joined;
}

/* Where a symbolic link leads in one step; NULL with errno. */
static char *read_link(const char *path, size_t bytes)
{
    char *name = malloc(bytes + 1);
    if (!name)
        return NULL;
    ssize_t length = readlink(path, name, bytes + 1);
    char *joined = NULL;
    if (length >= 0 && (size_t)length <= bytes) {
        name[length] = 0;
        joined = beside(path, name);
    }
    if (length > 0 && (size_t)length > bytes)
        errno = ENAMETOOLONG;
    free(name);
    return joined;
}

/* The name behind all links of the last component, existing or not, so that a
   rename replaces the file and not the link; NULL with errno. */
static char *follow_links(const char *path)
{
    struct stat status;
    char *current = copy_text(path);
    for (int i = 0; current; ++i) {
        if (lstat(current, &status) != 0 || !S_ISLNK(status.st_mode))
            return current;
        /* Links of /proc say a size of 0. */
        size_t bytes = status.st_size > 0 ? (size_t)status.st_size : 4096;
        char *next = i < MAX_LINKS ? read_link(current, bytes) : NULL;
        free(current);
        current = next;
    }
    return NULL;
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
    d->target = d->direct ? copy_text(path) : follow_links(path);
    return d->target || fail_errno(f, path);
}

/* A new file beside the target.  Not mkstemp: this way the process's umask and
   the folder's defaults give the permissions, as for any new file. */
static int create_temporary(char **name, const destination *d)
{
    char base[64];
    for (unsigned i = 0; i < MAX_NAMES; ++i) {
        snprintf(base, sizeof base, ".clattn-%ld-%u.tmp", (long)getpid(), i);
        *name = beside(d->target, base);
        int fd = *name ? open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                             d->mode)
                       : -1;
        if (fd >= 0)
            return fd;
        free(*name);
        *name = NULL;
        if (errno != EEXIST)
            break;
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
static int open_destination(char **temporary, const destination *d)
{
    if (d->direct)
        return open_direct(d);
    int fd = create_temporary(temporary, d);
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
    file->path = copy_text(path);
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

/* Whether all that was written has arrived; the stream is closed. */
static bool finish(output_file *file, failure *f)
{
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
    bool ok = finish(file, f);
    if (ok && file->temporary) {
        ok = rename(file->temporary, file->target) == 0 ||
             fail_errno(f, file->path);
        if (ok) {
            free(file->temporary);
            file->temporary = NULL;
        }
    }
    output_file_abandon(file);
    return ok;
}

void output_file_abandon(output_file *file)
{
    if (!file)
        return;
    if (file->stream)
        fclose(file->stream);
    if (file->temporary)
        unlink(file->temporary);
    free(file->path);
    free(file->target);
    free(file->temporary);
    free(file);
}

bool output_file_possible(const char *path, failure *f)
{
    destination d;
    char *temporary = NULL;
    bool ok = look_at(&d, path, f);
    /* A pipe must not be opened to ask: its reader would see the end. */
    if (ok && !d.direct) {
        int fd = create_temporary(&temporary, &d);
        ok = fd >= 0 || fail_errno(f, path);
        if (fd >= 0) {
            close(fd);
            unlink(temporary);
        }
    }
    free(temporary);
    free(d.target);
    return ok;
}
