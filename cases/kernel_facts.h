/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_facts.h - the kernels of a plan, with what the driver tells of them.
 */
#ifndef CLATTN_CASES_KERNEL_FACTS_H
#define CLATTN_CASES_KERNEL_FACTS_H

#include <stddef.h>

#include "clattn/clattn.h"

enum {
    PLAN_KERNELS = 4
};

typedef struct kernel_facts {
    char name[64];
    size_t group;         /* work-items that the plan gives a group */
    size_t max_group;     /* that the kernel as built takes */
    size_t local_bytes;   /* of a group */
    size_t private_bytes; /* of a work-item; 0 where the driver tells none */
} kernel_facts;

/* Of an attention or linear plan; returns how many, 0 if it launches none. */
size_t kernel_facts_of(
    kernel_facts list[PLAN_KERNELS], const clattn_plan *plan);

#endif
