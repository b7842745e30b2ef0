/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_write.c - arrays into numpy's .npy files; shapes as numpy prints them.
 */
#include "npy.h"

#include <stdio.h>
#include <string.h>

#include "clattn/clattn.h"

const char *npy_shape_text(char *text, size_t rank, const size_t *size)
{
    size_t at = (size_t)sprintf(text, "(");
    for (size_t i = 0; i < rank; ++i)
        at += (size_t)sprintf(text + at, i ? ", %zu" : "%zu", size[i]);
    sprintf(text + at, rank == 1 ? ",)" : ")");
    return text;
}

/* The data's begin is a multiple of 64, as the format asks. */
static size_t make_start(
    char start[512], const char *code, size_t rank, const size_t *size)
{
    char shape[200];
    size_t at = (size_t)snprintf(start + 10, 502,
        "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }", code,
        npy_shape_text(shape, rank, size));
    size_t total = (10 + at + 1 + 63) / 64 * 64;
    memset(start + 10 + at, ' ', total - 10 - at);
    start[total - 1] = '\n';
    memcpy(start, "\x93NUMPY\1", 8);
    start[8] = (char)((total - 10) & 0xff);
    start[9] = (char)((total - 10) >> 8);
    return total;
}

bool npy_write(outputs *to, const char *path, const void *data, int32_t dtype,
    size_t rank, const size_t *size, failure *f)
{
    char start[512];
    const char *code = dtype == CLATTN_F16   ? "f2"
                       : dtype == CLATTN_F64 ? "f8"
                                             : "f4";
    size_t bytes = (size_t)(code[1] - '0');
    for (size_t i = 0; i < rank; ++i)
        bytes *= size[i];
    output_file *file = output_file_open(path, f);
    if (!file)
        return false;
    FILE *stream = output_file_stream(file);
    fwrite(start, 1, make_start(start, code, rank, size), stream);
    if (bytes)
        fwrite(data, 1, bytes, stream);
    return outputs_take(to, file, f);
}
