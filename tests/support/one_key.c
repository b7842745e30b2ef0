/* SPDX-License-Identifier: Apache-2.0
 *
 * one_key.c - the smallest problem: one key returns its value.
 */
#include "one_key.h"

void one_key_problem(clattn_attention *problem)
{
    clattn_attention_init(problem, sizeof *problem);
    problem->B = problem->Hq = problem->Hkv = 1;
    problem->Lq = problem->Lk = problem->D = problem->Dv = 1;
    problem->dtype = CLATTN_F32;
}

bool one_key_works(clattn_context *ctx)
{
    const float q = 1, k = 2, v = 3;
    float out = 0;
    clattn_attention problem;
    one_key_problem(&problem);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.host = &out},
        .q = {.host = &q},
        .k = {.host = &k},
        .v = {.host = &v}};
    return clattn_attention_host(ctx, &problem, &args, NULL) == CLATTN_OK &&
           out == v;
}
