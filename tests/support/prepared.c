/* SPDX-License-Identifier: Apache-2.0
 *
 * prepared.c - an attention trial planned and in buffers.
 */
#include "prepared.h"

#include <check.h>

#include "attention_expected.h"
#include "opencl.h"

void prepared_create(prepared *p, const attention_case *c)
{
    clattn_error error;
    ck_assert(attention_trial_create(&p->trial, c));
    const clattn_status status = clattn_attention_plan(
        &p->plan, opencl_get()->ctx, &p->trial.problem, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    const arena *a = &p->trial.memory;
    for (size_t m = 0; m < a->memories; ++m)
        p->buffers[m] = opencl_buffer(
            a->memory[m].data, a->memory[m].count * sizeof(float));
    p->args = attention_trial_args(&p->trial, p->buffers);
}

void prepared_fetch(const prepared *p)
{
    const arena *a = &p->trial.memory;
    for (size_t m = 0; m < a->memories; ++m)
        opencl_read(p->buffers[m], a->memory[m].data,
            a->memory[m].count * sizeof(float));
}

void prepared_destroy(prepared *p)
{
    for (size_t m = 0; m < p->trial.memory.memories; ++m)
        clReleaseMemObject(p->buffers[m]);
    clattn_plan_destroy(p->plan);
    attention_trial_destroy(&p->trial);
}

void prepared_check(const prepared *p)
{
    char why[ARENA_TEXT];
    clattn_error error;
    attention_expected expected;
    ck_assert_int_eq(attention_expect(&expected, &p->trial, &error), CLATTN_OK);
    ck_assert_msg(attention_meets(&expected, &p->trial, why), "%s", why);
    attention_expected_free(&expected);
}
