/* SPDX-License-Identifier: Apache-2.0
 *
 * choose.h - propose a row, build its kernels, accept them or take the next
 * row: the loop that joins plan and program.
 */
#ifndef CLATTN_HOST_CHOOSE_H
#define CLATTN_HOST_CHOOSE_H

#include "context.h"
#include "plan.h"

/* A decision with its kernels, which the context owns. */
typedef struct choice {
    proposal p;
    const built_kernel *built[MAX_NEEDS];
    declined_rows declined;
} choice;

/* compile false: only propose, as clattn_X_supported does. */
clattn_status choose_attention(choice *c, clattn_context *ctx,
    const clattn_attention *attention, bool compile, clattn_error *error);
clattn_status choose_matmul(choice *c, clattn_context *ctx,
    const matmul_job *job, const char *kernel, const char *disable,
    bool compile, clattn_error *error);

#endif
