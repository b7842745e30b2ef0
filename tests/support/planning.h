/* SPDX-License-Identifier: Apache-2.0
 *
 * planning.h - planning on devices that exist nowhere: a problem, limits and
 * wishes, and what the planner makes of them.
 */
#ifndef CLATTN_TESTS_PLANNING_H
#define CLATTN_TESTS_PLANNING_H

/* Before the test's own headers: the host's program.h, not theirs. */
#include "plan.h"

typedef struct planning {
    clattn_attention given;
    device_limits limits;
    row_wishes wishes;
    char others[600]; /* of planning_only */

    /* What came of it. */
    clattn_attention problem; /* given, completed */
    proposal p;
    declined_rows declined;
    clattn_error error;
} planning;

/* A CPU with vectors of 16 floats, and a GPU of usual size. */
device_limits planning_cpu(void);
device_limits planning_gpu(void);

/* B 2, Hq 4, Hkv 2, Lq 70, Lk 90, D 64, Dv 48 in f32 on that CPU. */
planning planning_start(void);

/* Completes the problem, which must be legal, and plans it. */
clattn_status planning_run(planning *s);

/* Switches off every row whose name does not begin so. */
void planning_only(planning *s, const char *prefix);

/* The number after "-Dname=" among the options of the proposal's kernel number
   `need`; fails where there is none. */
size_t planning_option(const planning *s, size_t need, const char *name);

#endif
