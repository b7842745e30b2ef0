/* SPDX-License-Identifier: Apache-2.0
 *
 * test_host_call.c - what the host calls refuse that an enqueue takes.
 */
#include <string.h>

#include "fake_opencl.h"
#include "legal.h"
#include "suite.h"

static legal subject;

static clattn_status attention(cl_mem workspace, clattn_error *error)
{
    clattn_attention_args args = subject.attention_host;
    args.workspace.mem = workspace;
    return clattn_attention_host(subject.ctx, &subject.attention, &args, error);
}

static clattn_status linear(cl_mem workspace, clattn_error *error)
{
    clattn_linear_args args = subject.linear_host;
    args.workspace.mem = workspace;
    return clattn_linear_host(subject.ctx, &subject.linear, &args, error);
}

static clattn_status layer(cl_mem workspace, clattn_error *error)
{
    clattn_layer_args args = subject.layer_host;
    args.workspace.mem = workspace;
    return clattn_layer_host(subject.ctx, &subject.layer, &args, error);
}

static clattn_status (*const CALLS[])(cl_mem, clattn_error *) = {
    attention, linear, layer};

START_TEST(a_workspace_is_refused_as_a_host_call_brings_its_own)
{
    clattn_error error;
    FAKE_DEVICE = fake_cpu();
    legal_create(&subject);
    ck_assert_msg(CALLS[_i](NULL, &error) == CLATTN_OK, "%s", error.message);
    ck_assert_int_eq(CALLS[_i](subject.mem[0], &error), CLATTN_INVALID);
    ck_assert_msg(strstr(error.message, "a host call brings its own") != NULL,
        "%s", error.message);
    legal_destroy(&subject);
    ck_assert_uint_eq(fake_live(), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("host call");
    tcase_add_loop_test(t, a_workspace_is_refused_as_a_host_call_brings_its_own,
        0, (int)COUNT(CALLS));
    Suite *suite = suite_create("host call");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
