/* SPDX-License-Identifier: Apache-2.0
 *
 * bandwidth.h - a probe of how fast a device reads its memory: one buffer that
 * is larger than caches, read once by all compute units.
 */
#ifndef CLATTN_BENCH_BANDWIDTH_H
#define CLATTN_BENCH_BANDWIDTH_H

#include "clattn/clattn.h"

/* The best of several reads, in GB/s. */
clattn_status bandwidth_measure(
    double *best, const clattn_context *ctx, clattn_error *error);

#endif
