/* SPDX-License-Identifier: Apache-2.0
 *
 * extent.c - arithmetic of sizes and strides that notices when it overflows.
 */
#include "extent.h"

#include <stdint.h>

bool size_add(size_t a, size_t b, size_t *result)
{
    if (a > SIZE_MAX - b)
        return false;
    *result = a + b;
    return true;
}

bool size_mul(size_t a, size_t b, size_t *result)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *result = a * b;
    return true;
}

bool extent_span(const size_t size[4], const size_t stride[4], size_t *span)
{
    *span = 0;
    for (int d = 0; d < 4; ++d)
        if (size[d] == 0)
            return true;

    size_t last = 0;
    for (int d = 0; d < 4; ++d) {
        size_t step = 0;
        if (!size_mul(size[d] - 1, stride[d], &step) ||
            !size_add(last, step, &last))
            return false;
    }
    return size_add(last, 1, span);
}

/* The dimension of smallest stride among those not yet taken that have more
   than one element; 4 if there is none. */
static int next_dimension(
    const size_t size[4], const size_t stride[4], const bool taken[4])
{
    int next = 4;
    for (int d = 0; d < 4; ++d)
        if (!taken[d] && size[d] > 1 && (next == 4 || stride[d] < stride[next]))
            next = d;
    return next;
}

bool extent_apart(const size_t size[4], const size_t stride[4])
{
    bool taken[4] = {false};
    size_t below = 0; /* the furthest element within the dimensions taken */

    for (;;) {
        const int d = next_dimension(size, stride, taken);
        size_t step = 0;
        if (d == 4)
            return true;
        if (stride[d] <= below || !size_mul(size[d] - 1, stride[d], &step) ||
            !size_add(below, step, &below))
            return false;
        taken[d] = true;
    }
}
