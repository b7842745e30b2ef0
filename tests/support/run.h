/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - trial_run.h on the shared context; a call that breaks its contract
 * fails the test.
 */
#ifndef CLATTN_TESTS_RUN_H
#define CLATTN_TESTS_RUN_H

#include "trial_run.h"

clattn_status run_attention(
    attention_trial *trial, enum run_way way, clattn_error *error);
clattn_status run_linear(
    linear_trial *trial, enum run_way way, clattn_error *error);
clattn_status run_layer(
    layer_trial *trial, enum run_way way, clattn_error *error);

#endif
