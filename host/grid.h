/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.h - a kernel launch as plain data, and a grid of groups walked in parts
 * that a device takes.  Says what to launch, launches nothing.
 */
#ifndef CLATTN_HOST_GRID_H
#define CLATTN_HOST_GRID_H

#include "clattn/clattn.h"
#include "device.h"
#include "params.h"

enum {
    MAX_LAUNCH_BUFFERS = 11
};

/* A place in a cl_mem, in elements. */
typedef struct region {
    cl_mem mem;
    size_t offset;
} region;

/* One clEnqueueNDRangeKernel: buffers first, then the parameters by value. */
typedef struct launch {
    size_t kernel; /* index into the proposal's need[] */
    cl_mem buffer[MAX_LAUNCH_BUFFERS];
    size_t n_buffers;
    const void *params;
    size_t params_bytes;
    size_t groups[3], local[3];
} launch;

/* Called for each launch in order; anything but CLATTN_OK ends the walk.  With
   NULL in its place a walk only counts, in arithmetic: state is a
   launch_count. */
typedef clattn_status launch_visitor(void *state, const launch *l);

typedef struct launch_count {
    size_t launches; /* SIZE_MAX: that or more */
    size_t times;    /* that the next grid is to be counted, first 1 */
} launch_count;

/* Of blocks of `step` up to `end`, how many from the one at `at` on are taken
   together: one by one, but all that are alike where they are only counted. */
size_t blocks_alike(launch_visitor *visit, size_t at, size_t step, size_t end);

typedef struct grid {
    size_t groups[3]; /* of the whole */
    size_t local[3];
    size_t origin_x;     /* the first group */
    size_t origin_z;     /* the first item and head */
    uint64_t group_work; /* multiply-adds of one group, at least 1 */
} grid;

/* `first` is where the launch's parameters keep the part's first groups. */
clattn_status grid_walk(const grid *g, const device_limits *limits, launch *l,
    whole first[3], launch_visitor *visit, void *state);

/* ceil(count / tile). */
size_t tiles(size_t count, size_t tile);
size_t smaller(size_t a, size_t b);

#endif
