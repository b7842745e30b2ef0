/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_facts.c - reading them off the plan.
 */
#include "kernel_facts.h"

#include <stdio.h>

#include "planned.h"

_Static_assert((int)PLAN_KERNELS == (int)MAX_NEEDS, "room for all of a plan");

size_t kernel_facts_of(kernel_facts list[PLAN_KERNELS], const clattn_plan *plan)
{
    const choice *c =
        plan->operation == OPERATION_LINEAR ? &plan->project[0] : &plan->attend;
    size_t count = 0;
    for (size_t i = 0; i < c->p.n_needs && c->built[i] != NULL; ++i) {
        kernel_facts *k = &list[count++];
        snprintf(k->name, sizeof k->name, "%s", c->p.need[i].name);
        k->group = c->p.group_items[i];
        k->max_group = c->built[i]->max_group;
        k->local_bytes = c->built[i]->local_bytes;
        k->private_bytes = c->built[i]->private_bytes;
    }
    return count;
}
