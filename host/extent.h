/* SPDX-License-Identifier: Apache-2.0
 *
 * extent.h - arithmetic of sizes and strides that notices when it overflows.
 */
#ifndef CLATTN_HOST_EXTENT_H
#define CLATTN_HOST_EXTENT_H

#include <stdbool.h>
#include <stddef.h>

/* *result = a + b or a * b; false, and *result unspecified, if a size_t does
   not hold it.  result may point to a or b. */
bool size_add(size_t a, size_t b, size_t *result);
bool size_mul(size_t a, size_t b, size_t *result);

/* Elements from the first to the last of a strided box, both included; 0 if a
   size is 0.  False if a size_t does not hold it. */
bool extent_span(const size_t size[4], const size_t stride[4], size_t *span);

/*
 * Whether no two elements of a box, which has some, surely coincide: taken from the smallest
 * stride up, each steps over all that is below it.  Boxes that a layout in
 * memory gives pass; the rare others that happen to be free of collisions, as
 * strides 2 and 3 can be, do not.
 */
bool extent_apart(const size_t size[4], const size_t stride[4]);

#endif
