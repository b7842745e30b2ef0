/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_stream.c - an .npy file read from front to back, so that a pipe serves as
 * well, with the file's size where there is one.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "npy_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the file's size is unknown, memory grows with what has arrived, so that
   a false shape cannot ask for all of it. */
#define FIRST_BYTES ((size_t)1 << 20)

bool npy_stream_open(npy_stream *s, const char *path, failure *f)
{
    struct stat status;
    *s = (npy_stream){.path = path, .f = f};
    s->stream = fopen(path, "rb");
    if (!s->stream || fstat(fileno(s->stream), &status) != 0)
        return fail(f, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(f, "%s: is a folder, not an .npy file", path);
    /* Files of /proc are regular and say 0. */
    s->sized = S_ISREG(status.st_mode) && status.st_size > 0;
    s->bytes = (uint64_t)status.st_size;
    return true;
}

void npy_stream_close(npy_stream *s)
{
    if (s->stream)
        fclose(s->stream);
    s->stream = NULL;
}

uint64_t npy_stream_rest(const npy_stream *s)
{
    return s->bytes > s->at ? s->bytes - s->at : 0;
}

bool npy_stream_take(npy_stream *s, void *to, size_t bytes, const char *what)
{
    size_t got = fread(to, 1, bytes, s->stream);
    s->at += got;
    if (got == bytes)
        return true;
    if (ferror(s->stream))
        return fail(s->f, "%s: cannot be read: %s", s->path, strerror(errno));
    if (s->at == 0)
        return fail(s->f, "%s: is empty, not an .npy file", s->path);
    return fail(s->f, "%s: ends after %" PRIu64 " bytes, within %s", s->path,
        s->at, what);
}

/* Append to *data, which has `got` of `bytes`, up to `capacity`. */
static bool read_up_to(
    npy_stream *s, char **data, size_t got, size_t capacity, size_t bytes)
{
    char *larger = realloc(*data, capacity ? capacity : 1);
    if (!larger)
        return fail_memory(s->f, "%s: no memory for %zu bytes", s->path, bytes);
    *data = larger;
    return npy_stream_take(s, larger + got, capacity - got, "the data");
}

bool npy_stream_data(npy_stream *s, char **data, size_t bytes)
{
    size_t got = 0;
    size_t capacity = s->sized || bytes < FIRST_BYTES ? bytes : FIRST_BYTES;
    for (;;) {
        if (!read_up_to(s, data, got, capacity, bytes))
            return false;
        got = capacity;
        if (got == bytes)
            break;
        capacity = bytes / 2 < got ? bytes : 2 * got;
    }
    if (getc(s->stream) != EOF)
        return fail(s->f,
            "%s: %zu bytes of data are needed, but there are more", s->path,
            bytes);
    return true;
}
