/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - runs a trial in each way that the library can be called, on guarded
 * memory.  Afterwards the trial's memory holds what the call left behind.
 */
#ifndef CLATTN_TESTS_RUN_H
#define CLATTN_TESTS_RUN_H

#include "attention_trial.h"
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
 * Restores the trial's memory first.  A call that fails must have left all
 * memory alone; one that succeeds, its workspace's guard zones: else the test
 * fails.
 */
clattn_status run_attention(
    attention_trial *trial, enum run_way way, clattn_error *error);
clattn_status run_linear(
    linear_trial *trial, enum run_way way, clattn_error *error);
clattn_status run_layer(
    layer_trial *trial, enum run_way way, clattn_error *error);

#endif
