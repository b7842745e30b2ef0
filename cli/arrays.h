/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.h - f32 arrays of the commands: read from .npy, made for results, and
 * their shapes.
 */
#ifndef CLATTN_CLI_ARRAYS_H
#define CLATTN_CLI_ARRAYS_H

#include "failure.h"
#include "npy.h"
#include "outputs.h"

/* Memory for `count` floats; NULL with a message that names `what` where the
   machine has less. */
float *floats_make(size_t count, const char *what, failure *f);

/* An f32 array of that shape, not initialised; npy_free frees it. */
bool array_make(npy_array *array, size_t rank, const size_t *size,
    const char *what, failure *f);

/* Whether a file's rank is from low to high. */
bool array_check_rank(const npy_array *array, const char *path, size_t low,
    size_t high, failure *f);

/* Read and convert to f32; the rank must be from low to high. */
bool array_read(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, size_t low, size_t high, failure *f);

/* Whether --read-bf16, where it is given, had something to read. */
bool array_check_bf16(bool found, enum npy_two_bytes two_bytes, failure *f);

/* Write as one of the outputs, if path is not NULL. */
bool array_write(
    outputs *to, const char *path, const npy_array *array, failure *f);

#endif
