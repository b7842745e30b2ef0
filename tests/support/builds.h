/* SPDX-License-Identifier: Apache-2.0
 *
 * builds.h - which programs a problem comes to, on the shared context.
 */
#ifndef CLATTN_TESTS_BUILDS_H
#define CLATTN_TESTS_BUILDS_H

#include <stddef.h>

#include "clattn/clattn.h"

enum {
    BUILDS_OF_PROBLEM = 8
};

/* The kernels that the problem's plan is made of, built; the library keeps
   them.  0 where no row takes the problem. */
size_t builds_kernels(
    cl_kernel kernels[BUILDS_OF_PROBLEM], const clattn_attention *problem);

/* Take note of them, and how many different ones that were. */
void builds_note(const clattn_attention *problem);
size_t builds_count(void);

#endif
