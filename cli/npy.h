/* SPDX-License-Identifier: Apache-2.0
 *
 * npy.h - arrays in numpy's .npy files, versions 1 to 3.  Format:
 * numpy.lib.format in numpy's reference.
 */
#ifndef CLATTN_CLI_NPY_H
#define CLATTN_CLI_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "outputs.h"

enum {
    NPY_MAX_RANK = 8
};

/* An array in C order and native byte order, whatever the file had. */
typedef struct npy_array {
    size_t rank;
    size_t size[NPY_MAX_RANK];
    size_t count;  /* elements: the product of the sizes, 1 for rank 0 */
    int32_t dtype; /* a clattn_dtype: F32, F16, BF16, F64, BOOL */
    bool was_bf16; /* the file's elements were V2 or u2, and taken as bf16 */
    void *data;
} npy_array;

/* How 2-byte elements that numpy has no name for (V2) or that are unsigned
   integers (u2) are to be taken. */
enum npy_two_bytes {
    NPY_NO_BF16,
    NPY_AS_BF16
};

/*
 * Read f2, f4, f8, bool, and bf16 where told so.  V2 and u2 without being told
 * are refused with a hint at `--read-bf16`, whole numbers always.  Big-endian
 * and Fortran order are converted.  Sizes are checked against the file's before
 * anything is allocated; a pipe is read as it comes.  The data must end where
 * the file does.  On false *array is empty and needs no freeing.
 */
bool npy_read(npy_array *array, const char *path, enum npy_two_bytes two_bytes,
    failure *f);

/* Of what may be bool as well: refused whole numbers are told how to become
   that. */
bool npy_read_mask(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, failure *f);

/* Read whole numbers of any width (i1 to i8, u1 to u8) that fit an int32;
   *values is the caller's to free, NULL on false.  Any rank, count elements in
   C order.  Floating point is refused even if whole. */
bool npy_read_int32(
    int32_t **values, size_t *count, const char *path, failure *f);

/* Convert to f32 in place, from F16, BF16 (exact) or F64 (rounded); bool and
   what is beyond the range of f32 are refused with `path` in the message. */
bool npy_to_f32(npy_array *array, const char *path, failure *f);

void npy_free(npy_array *array); /* empty afterwards; NULL is a no-op */

/* Write version 1.0, little-endian, C order, as one of the outputs.  dtype:
   F32, F16, F64. */
bool npy_write(outputs *to, const char *path, const void *data, int32_t dtype,
    size_t rank, const size_t *size, failure *f);

/* "(2, 14, 384)", for messages; text holds at least 200 bytes. */
const char *npy_shape_text(char *text, size_t rank, const size_t *size);

#endif
