/* SPDX-License-Identifier: Apache-2.0
 *
 * launches.h - the sequence of kernel launches that a proposal stands for,
 * walked in order.  Says what to launch, launches nothing.
 */
#ifndef CLATTN_HOST_LAUNCHES_H
#define CLATTN_HOST_LAUNCHES_H

#include "plan.h"

/* A place in a cl_mem, in elements. */
typedef struct region {
    cl_mem mem;
    size_t offset;
} region;

typedef struct matmul_regions {
    region a, b, bias, c;
} matmul_regions;

typedef struct attention_regions {
    region q, k, v, out, lse;
    region scores; /* weights or workspace */
    region lengths, diagonals;
} attention_regions;

/* One clEnqueueNDRangeKernel: buffers first, then the parameters by value. */
typedef struct launch {
    size_t kernel; /* index into the proposal's need[] */
    cl_mem buffer[5];
    size_t n_buffers;
    const void *params;
    size_t params_bytes;
    size_t groups[3], local[3];
} launch;

/* Called for each launch in order; anything but CLATTN_OK ends the walk. */
typedef clattn_status launch_visitor(void *state, const launch *l);

clattn_status walk_attention(const proposal *p,
    const clattn_attention *attention, const device_limits *limits,
    const attention_regions *regions, launch_visitor *visit, void *state);
clattn_status walk_matmul(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state);

size_t count_attention_launches(const proposal *p,
    const clattn_attention *attention, const device_limits *limits);
size_t count_matmul_launches(
    const proposal *p, const matmul_job *job, const device_limits *limits);

#endif
