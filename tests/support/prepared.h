/* SPDX-License-Identifier: Apache-2.0
 *
 * prepared.h - an attention trial planned and in buffers, for tests that call
 * enqueue themselves.
 */
#ifndef CLATTN_TESTS_PREPARED_H
#define CLATTN_TESTS_PREPARED_H

#include "attention_trial.h"

typedef struct prepared {
    attention_trial trial;
    clattn_plan *plan;
    cl_mem buffers[ARENA_TENSORS]; /* one for each memory of the trial */
    clattn_attention_args args;
} prepared;

/* On the shared context; to be finished. */
void prepared_create(prepared *p, const attention_case *c);
void prepared_destroy(prepared *p);

/* Read the buffers back into the trial's memory. */
void prepared_fetch(const prepared *p);

/* After prepared_fetch: the outputs hold what the reference says. */
void prepared_check(const prepared *p);

#endif
