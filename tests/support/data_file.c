/* SPDX-License-Identifier: Apache-2.0
 *
 * data_file.c - .npy and .safetensors files of tests, byte for byte.
 */
#include "data_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scratch.h"

size_t npy_bytes(unsigned char *to, int version, const char *header,
    const char *data, size_t bytes)
{
    size_t length = strlen(header) + 1, at = 8;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        to[at++] = (unsigned char)(length >> (8 * i));
    at += (size_t)sprintf((char *)to + at, "%s\n", header);
    memcpy(to + at, data, bytes);
    return at + bytes;
}

const char *npy_file(
    char *path, int version, const char *header, const char *data, size_t bytes)
{
    unsigned char file[2000];
    return scratch_write(
        path, "a.npy", file, npy_bytes(file, version, header, data, bytes));
}

const char *safetensors_file(
    char *path, const char *header, const char *data, size_t bytes)
{
    unsigned char file[4000];
    const size_t length = strlen(header);
    for (int i = 0; i < 8; ++i)
        file[i] = (unsigned char)((uint64_t)length >> (8 * i));
    memcpy(file + 8, header, length);
    memcpy(file + 8 + length, data, bytes);
    return scratch_write(path, "a.safetensors", file, 8 + length + bytes);
}
