/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_stream.h - an .npy file read from front to back, so that a pipe serves as
 * well, with the file's size where there is one.
 */
#ifndef CLATTN_CLI_NPY_STREAM_H
#define CLATTN_CLI_NPY_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "failure.h"

typedef struct npy_stream {
    FILE *stream;
    const char *path;
    bool sized;     /* a regular file that tells its size */
    uint64_t bytes; /* that size */
    uint64_t at;
    failure *f;
} npy_stream;

/* path and f are kept.  Close in either case. */
bool npy_stream_open(npy_stream *s, const char *path, failure *f);
void npy_stream_close(npy_stream *s);

/* Read exactly `bytes`, or fail with what they were to be. */
bool npy_stream_take(npy_stream *s, void *to, size_t bytes, const char *what);

/* Bytes that follow, by the file's size; sized streams only. */
uint64_t npy_stream_rest(const npy_stream *s);

/* Read `bytes` of data, the file's last, into *data, which is the caller's to
   free in either case. */
bool npy_stream_data(npy_stream *s, char **data, size_t bytes);

#endif
