/* SPDX-License-Identifier: Apache-2.0
 *
 * tensors.h - .safetensors files for tests, written from a table.
 */
#ifndef CLATTN_TESTS_TENSORS_H
#define CLATTN_TESTS_TENSORS_H

#include <stddef.h>

/* An f32 tensor; a NULL name ends a table. */
typedef struct tensor_row {
    const char *name;
    size_t rank;
    size_t size[3];
    float first;
} tensor_row;

/* Element i of a tensor. */
typedef float tensor_fill(const tensor_row *row, size_t i);

/* In the scratch folder; `path` as for scratch_path.  `metadata` is what stands
   between the braces of __metadata__; NULL: none.  Without `fill` element i is
   first + i. */
const char *tensors_write(char *path, const char *name, const tensor_row *rows,
    const char *metadata, tensor_fill *fill);

#endif
