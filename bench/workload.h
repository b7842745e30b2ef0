/* SPDX-License-Identifier: Apache-2.0
 *
 * workload.h - a case made concrete on a device: its plan, and buffers full of
 * drawn numbers.
 */
#ifndef CLATTN_BENCH_WORKLOAD_H
#define CLATTN_BENCH_WORKLOAD_H

#include "bench_case.h"

typedef struct workload workload;

/* Plans, and unless the case only plans, allocates and fills.  What the library
   refuses is CLATTN_UNSUPPORTED with its sentence. */
clattn_status workload_create(workload **made, clattn_context *ctx,
    cl_command_queue queue, const bench_case *c, clattn_error *error);
void workload_destroy(workload *w);

/* The work once, from the call to its end. */
clattn_status workload_run(
    const workload *w, cl_command_queue queue, clattn_error *error);

/* Enqueue alone: the work may run on. */
clattn_status workload_enqueue(
    const workload *w, cl_command_queue queue, clattn_error *error);

const clattn_plan *workload_plan(const workload *w);

#endif
