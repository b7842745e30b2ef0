/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_storage.h - tensors as the device is to store them: f32, f16 or bf16.
 */
#ifndef CLATTN_CLI_ATTEND_STORAGE_H
#define CLATTN_CLI_ATTEND_STORAGE_H

#include "failure.h"
#include "npy.h"

/*
 * Read and convert to `dtype`, a clattn_dtype, rounded once, to nearest even.
 * The rank must be from low to high.  A finite number beyond the dtype's range
 * is refused.  On false *array is empty.
 */
bool storage_read(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, int32_t dtype, size_t low, size_t high,
    failure *f);

#endif
