/* SPDX-License-Identifier: Apache-2.0
 *
 * data_file.h - .npy and .safetensors files of tests, byte for byte.
 */
#ifndef CLATTN_TESTS_DATA_FILE_H
#define CLATTN_TESTS_DATA_FILE_H

#include <stddef.h>

/* A literal that may hold zeros, as data and bytes. */
#define BYTES(literal) (literal), sizeof(literal) - 1

/* A header of .npy without its newline. */
#define NPY_HEADER(descr, order, shape) \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

/* One entry of a .safetensors header. */
#define TENSOR(name, dtype, shape, offsets)                  \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape \
    ",\"data_offsets\":" offsets "}"

/* The f32 of small whole numbers. */
#define ONE   "\x00\x00\x80\x3f"
#define TWO   "\x00\x00\x00\x40"
#define THREE "\x00\x00\x40\x40"
#define FOUR  "\x00\x00\x80\x40"
#define FIVE  "\x00\x00\xa0\x40"
#define SIX   "\x00\x00\xc0\x40"

/* Magic, version, length, header, newline, data; returns the bytes. */
size_t npy_bytes(unsigned char *to, int version, const char *header,
    const char *data, size_t bytes);

/* The same as a.npy in the scratch folder: 2000 bytes at most.  path and the
   result as for scratch_write. */
const char *npy_file(char *path, int version, const char *header,
    const char *data, size_t bytes);

/* Length, header and data as a.safetensors: 4000 bytes at most. */
const char *safetensors_file(
    char *path, const char *header, const char *data, size_t bytes);

#endif
