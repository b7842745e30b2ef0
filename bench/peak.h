/* SPDX-License-Identifier: Apache-2.0
 *
 * peak.h - a probe of how many multiply-adds a device does in a second when
 * nothing else holds it up: all compute units, native vectors, no memory.
 */
#ifndef CLATTN_BENCH_PEAK_H
#define CLATTN_BENCH_PEAK_H

#include "clattn/clattn.h"

typedef struct peak {
    cl_program program;
    cl_kernel kernel;
    cl_mem sink;
    size_t width;  /* lanes of a vector */
    size_t group;  /* work-items of a group */
    size_t items;  /* of a launch, after peak_create */
    cl_int passes; /* of a work-item's loop */
    double best;   /* GFLOP/s, of all probes so far */
    double last;
} peak;

/* Builds, and sizes a probe so that starting a launch hardly shows in it.
   *p is to be destroyed also after a failure. */
clattn_status peak_create(peak *p, const clattn_context *ctx,
    cl_command_queue queue, clattn_error *error);
void peak_destroy(peak *p);

/* Probe once: p->last, and p->best if it is better. */
clattn_status peak_probe(peak *p, cl_command_queue queue, clattn_error *error);

#endif
