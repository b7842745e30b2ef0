/* SPDX-License-Identifier: Apache-2.0
 *
 * stored.h - f32 arrays in .npy files, as the program's tests give and take
 * them.
 */
#ifndef CLATTN_TESTS_STORED_H
#define CLATTN_TESTS_STORED_H

#include "npy.h"
#include "program.h"

/* Any of f16, f32 and f64 as f32; the caller frees it. */
void stored_read_path(npy_array *array, const char *path);
/* Of the scratch folder. */
void stored_read(npy_array *array, const char *name);
void stored_write(
    const char *name, size_t rank, const size_t *size, const float *values);

/* An array as the only output. */
bool stored_alone(const char *path, const void *data, int32_t dtype,
    size_t rank, const size_t *size, failure *f);

/* Run the program, and fail unless it is done. */
void program_do(program_result *result, const char *const *arguments);

#endif
