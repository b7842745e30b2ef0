/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - trial_run.h on the shared context.
 */
#include "run.h"

#include <check.h>

#include "opencl.h"

clattn_status run_attention(
    attention_trial *trial, enum run_way way, clattn_error *error)
{
    char broken[ARENA_TEXT];
    const clattn_status status =
        trial_run_attention(opencl_get(), trial, way, broken, error);
    ck_assert_msg(broken[0] == '\0', "%s", broken);
    return status;
}

clattn_status run_linear(
    linear_trial *trial, enum run_way way, clattn_error *error)
{
    char broken[ARENA_TEXT];
    const clattn_status status =
        trial_run_linear(opencl_get(), trial, way, broken, error);
    ck_assert_msg(broken[0] == '\0', "%s", broken);
    return status;
}

clattn_status run_layer(
    layer_trial *trial, enum run_way way, clattn_error *error)
{
    char broken[ARENA_TEXT];
    const clattn_status status =
        trial_run_layer(opencl_get(), trial, way, broken, error);
    ck_assert_msg(broken[0] == '\0', "%s", broken);
    return status;
}
