/* SPDX-License-Identifier: Apache-2.0
 *
 * simt.h - what the rows in registers have in common, as kernels/simt.clh is
 * what their kernels have.
 */
#ifndef CLATTN_HOST_SIMT_H
#define CLATTN_HOST_SIMT_H

#include "plan.h"

enum {
    /* Of an item, in memory instead of registers: what drivers tell of kernels
       that spill nothing is less, and spills in the inner loop are more. */
    SPILLED_BYTES = 64
};

/* READ_STRIDE of the kernels: of rows in local memory, at least n. */
static inline size_t simt_read_stride(size_t n)
{
    return n / 4 % 2 ? n : n + 4;
}

#endif
