/* SPDX-License-Identifier: Apache-2.0
 *
 * trust.h - what was found out about a device by trying: whether a matrix unit
 * multiplies right, and which kernels its compiler does not take.  Each once in
 * a context's life, and the first, which depends on device and driver alone,
 * on disk beyond.
 */
#ifndef CLATTN_HOST_TRUST_H
#define CLATTN_HOST_TRUST_H

#include <stdbool.h>

#include "program.h"

enum {
    TRUST_WHY = 240
};

typedef struct trust trust;

/* A small product, by mma_probe.cl. */
typedef struct unit_trial {
    kernel_need kernel;
    size_t items; /* of its group */
    size_t rows;  /* of q */
    int32_t dtype;
} unit_trial;

clattn_status trust_create(trust **out, clattn_error *error);
void trust_destroy(trust *t);

/* why: "" if the unit is right, else a sentence's end.  A failure is one of
   memory or of the device, and no verdict. */
clattn_status trust_unit(char why[TRUST_WHY], clattn_context *ctx,
    const unit_trial *trial, clattn_error *error);

/* That the compiler did not take a kernel, as *error says; and whether that is
   known. */
void trust_refused(char why[TRUST_WHY], clattn_context *ctx,
    const kernel_need *need, const clattn_error *error);
bool trust_knows_refused(
    char why[TRUST_WHY], clattn_context *ctx, const kernel_need *need);

#endif
