/* SPDX-License-Identifier: Apache-2.0
 *
 * trial_run.h - runs a trial in each way that the library can be called, on
 * guarded memory.  Afterwards the trial's memory holds what the call left
 * behind.
 */
#ifndef CLATTN_CASES_TRIAL_RUN_H
#define CLATTN_CASES_TRIAL_RUN_H

#include "attention_trial.h"
#include "device_queues.h"
#include "layer_case.h"
#include "linear_case.h"

enum run_way {
    RUN_HOST,         /* plain pointers */
    RUN_ENQUEUE,      /* buffers; the call allocates its workspace */
    RUN_WORKSPACE,    /* buffers and a guarded workspace of exact size */
    RUN_OUT_OF_ORDER, /* inputs arrive by events that complete after the call */
    RUN_WAYS
};

const char *run_way_name(enum run_way way);

/*
 * Restores the trial's memory first.  `broken` is "", or the sentence of what
 * the call did against its contract, whatever its status: a call that fails
 * must leave all memory alone; one that succeeds, its workspace's guard zones.
 */
clattn_status trial_run_attention(const device_queues *at,
    attention_trial *trial, enum run_way way, char broken[ARENA_TEXT],
    clattn_error *error);
clattn_status trial_run_linear(const device_queues *at, linear_trial *trial,
    enum run_way way, char broken[ARENA_TEXT], clattn_error *error);
clattn_status trial_run_layer(const device_queues *at, layer_trial *trial,
    enum run_way way, char broken[ARENA_TEXT], clattn_error *error);

#endif
