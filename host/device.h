/* SPDX-License-Identifier: Apache-2.0
 *
 * device.h - the flat list of all devices, the choice of one, and what a plan
 * needs to know of it as a plain struct.
 */
#ifndef CLATTN_HOST_DEVICE_H
#define CLATTN_HOST_DEVICE_H

#include <stdbool.h>

#include "clattn/clattn.h"
#include "passed_over.h"

/* Languages of matrix units. */
enum matrix_unit {
    UNITS_IN_PTX = 1,
    UNITS_IN_GCN = 2,
    UNITS_IN_DPAS = 4
};

/* All that decisions depend on. */
typedef struct device_limits {
    bool is_cpu;
    size_t max_group;        /* work-items of a group, over all dimensions */
    size_t max_group_dim[3]; /* and in each */
    size_t max_groups[3];    /* groups of one launch in each dimension */
    size_t max_items;        /* work-items of one launch */
    size_t local_bytes;
    size_t max_buffer_bytes;
    size_t native_width;   /* f32 lanes; 1: scalar */
    size_t max_iterations; /* loop passes of one work-item; 0: no limit */
    bool prefetches;       /* its compiler takes clang's builtin for it */
    bool fused_adds;       /* fma() is an instruction, no call */
    bool user_events;      /* commands may wait for one */
    uint64_t launch_work;  /* multiply-adds of one launch; 0: no limit */
    unsigned units; /* kinds of matrix unit whose language its compiler may
                          know: a matrix_unit each; not that there is one */
    bool emulates;  /* matrix units are emulated, on any device: for tests */
} device_limits;

/* What the choice of a device depends on. */
typedef struct device_facts {
    char platform[128];
    char kind[16]; /* "gpu", "accelerator", "cpu" or "other" */
    char name[256];
    uint64_t global_bytes;
    uint64_t speed;      /* compute units x clock in MHz */
    bool unified_memory; /* shares the host's memory */
    bool faulty;         /* a known fault, worked around: chosen last */
} device_facts;

/* One query of a device; `limits` and `facts` may be NULL. */
clattn_status device_query(cl_device_id id, device_limits *limits,
    device_facts *facts, clattn_error *error);

/* All devices of all platforms.  *ids and *facts are the caller's to free;
   none is CLATTN_OK and *count 0.  What fails is passed over: *passed says why,
   but for drivers that do not load. */
clattn_status device_list(cl_device_id **ids, device_facts **facts,
    size_t *count, passed_over *passed, clattn_error *error);

/*
 * The index that a spec chooses among facts[count]; see clattn_context_create
 * for what a spec is.  An empty spec is any.  Pure arithmetic on text.
 */
clattn_status device_choose(size_t *index, const device_facts *facts,
    size_t count, const char *spec, clattn_error *error);

/* CLATTN_NO_DEVICE for what is past the list's end: `asked` begins its
   sentence, as "device index is 7".  Of an empty list it says what to install. */
clattn_status device_beyond(
    const char *asked, size_t count, clattn_error *error);

#endif
