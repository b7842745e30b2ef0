/* SPDX-License-Identifier: Apache-2.0
 *
 * convert.h - elements of every float dtype to and from double.
 */
#ifndef CLATTN_HOST_CONVERT_H
#define CLATTN_HOST_CONVERT_H

#include "clattn/clattn.h"

/*
 * to[i] = element first + i of the array that begins at `from`, and back, with
 * i < count.  Widening is exact; narrowing rounds to nearest even once, straight
 * from the double; overflow gives infinity, NaN stays NaN.  dtype is F32, F16,
 * BF16 or F64.  The array needs no alignment,
 * and may be NULL where count is 0.
 */
void convert_load(
    double *to, const void *from, int32_t dtype, size_t first, size_t count);
void convert_store(
    void *to, int32_t dtype, size_t first, const double *from, size_t count);

#endif
