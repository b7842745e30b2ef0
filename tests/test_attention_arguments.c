/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention_arguments.c - enqueue with arguments that are wrong: named,
 * and nothing is enqueued.
 */
#include <stdio.h>
#include <string.h>

#include "opencl.h"
#include "prepared.h"
#include "run.h"
#include "suite.h"

enum {
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

static const attention_case RIGHT = {
    "right", {2, 4, 2, 7, 9, 9, 9}, .returns = BOTH};

typedef void spoil(clattn_attention_args *args);

static float some_floats[64];

static void no_q(clattn_attention_args *args)
{
    args->q.mem = NULL;
}

static void host_k(clattn_attention_args *args)
{
    args->k.host = some_floats;
}

static void no_weights(clattn_attention_args *args)
{
    args->weights.mem = NULL;
}

static void a_mask(clattn_attention_args *args)
{
    args->mask = args->q;
}

static void no_lengths(clattn_attention_args *args)
{
    args->key_lengths.mem = NULL;
}

static void lengths_twice(clattn_attention_args *args)
{
    args->key_lengths.host = some_floats;
}

static void q_too_far(clattn_attention_args *args)
{
    args->q.offset += 65;
}

static void q_past_everything(clattn_attention_args *args)
{
    args->q.offset = SIZE_MAX;
}

static void out_over_q(clattn_attention_args *args)
{
    args->out.mem = args->q.mem;
}

static void out_over_v(clattn_attention_args *args)
{
    args->out.mem = args->v.mem;
    args->out.offset = args->v.offset + 9;
}

static void lse_over_out(clattn_attention_args *args)
{
    args->lse = args->out;
}

/* Less than 64 bytes of a buffer; the table of items alone takes more. */
static void small_workspace(clattn_attention_args *args)
{
    size_t bytes = 0;
    ck_assert_int_eq(clGetMemObjectInfo(args->key_lengths.mem, CL_MEM_SIZE,
                         sizeof bytes, &bytes, NULL),
        CL_SUCCESS);
    args->workspace.mem = args->key_lengths.mem;
    args->workspace.offset = (bytes - 1) / 64 * 64;
}

static void odd_workspace(clattn_attention_args *args)
{
    args->workspace.mem = args->q.mem;
    args->workspace.offset = 4;
}

static void offset_of_no_workspace(clattn_attention_args *args)
{
    args->workspace.offset = 64;
}

static void workspace_of_the_host(clattn_attention_args *args)
{
    static float host[1];
    args->workspace.host = host;
}

static void no_struct_size(clattn_attention_args *args)
{
    args->struct_size = 0;
}

static const struct {
    const char *about, *names;
    spoil *spoil;
} WRONG[] = {
    {"q forgotten", "q.mem", no_q},
    {"k in host memory", "k.host", host_k},
    {"weights forgotten", "weights.mem", no_weights},
    {"a mask that the descriptor does not have", "mask", a_mask},
    {"lengths forgotten", "key_lengths", no_lengths},
    {"lengths given twice", "key_lengths", lengths_twice},
    {"an offset past the end", "q", q_too_far},
    {"an offset past all memory", "q.offset", q_past_everything},
    {"out is q", "out", out_over_q},
    {"out begins within v", "out", out_over_v},
    {"lse is out", "lse", lse_over_out},
    {"a workspace too small", "workspace", small_workspace},
    {"a workspace at an odd offset", "workspace.offset", odd_workspace},
    {"an offset of no workspace",
        "workspace.offset is 64, but must be 0 where workspace.mem is NULL",
        offset_of_no_workspace},
    {"a workspace of the host's", "workspace.host is set",
        workspace_of_the_host},
    {"struct_size forgotten", "struct_size", no_struct_size},
};

START_TEST(wrong_arguments_are_named_and_nothing_is_enqueued)
{
    const attention_case c = {"lengths", {2, 4, 2, 70, 90, 9, 9},
        .key_lengths = true, .returns = BOTH};
    clattn_error error;
    cl_event event = NULL;
    prepared p;
    prepared_create(&p, &c);
    WRONG[_i].spoil(&p.args);
    const clattn_status status = clattn_attention_enqueue(
        p.plan, opencl_get()->in_order, &p.args, 0, NULL, &event, &error);
    ck_assert_msg(status == CLATTN_INVALID, "%s: got \"%s\" (%s)",
        WRONG[_i].about, clattn_status_text(status), error.message);
    ck_assert_msg(strstr(error.message, WRONG[_i].names) != NULL,
        "%s: the message does not name %s: %s", WRONG[_i].about,
        WRONG[_i].names, error.message);
    ck_assert_ptr_null(event);
    prepared_fetch(&p);
    for (size_t m = 0; m < p.trial.memory.memories; ++m)
        ck_assert_mem_eq(p.trial.memory.memory[m].data,
            p.trial.memory.memory[m].before,
            p.trial.memory.memory[m].count * sizeof(float));
    prepared_destroy(&p);
}
END_TEST

START_TEST(wild_arrays_in_host_memory_are_refused_with_their_value)
{
    const int32_t wild[] = {-1, 10, INT32_MAX, INT32_MIN};
    const attention_case c = {
        "wild", {3, 2, 1, 7, 9, 9, 9}, .key_lengths = true, .returns = BOTH};
    clattn_error error;
    char value[20];
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    memcpy(arena_at(&trial.memory, SLOT_KEY_LENGTHS, 0, 0, 0, 2), &wild[_i],
        sizeof wild[_i]);
    arena_remember(&trial.memory);
    for (int way = RUN_HOST; way < RUN_WAYS; way += RUN_WORKSPACE) {
        ck_assert_int_eq(run_attention(&trial, way, &error), CLATTN_INVALID);
        snprintf(value, sizeof value, "%d", wild[_i]);
        ck_assert_msg(strstr(error.message, "key_lengths[2]") != NULL &&
                          strstr(error.message, value) != NULL,
            "%s", error.message);
    }
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(wrong_queues_and_wait_lists_are_refused)
{
    clattn_context *other = NULL;
    cl_int code = CL_SUCCESS;
    clattn_error error;
    prepared p;
    prepared_create(&p, &RIGHT);
    ck_assert_int_eq(clattn_attention_enqueue(NULL, opencl_get()->in_order,
                         &p.args, 0, NULL, NULL, &error),
        CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_enqueue(p.plan, NULL, &p.args, 0, NULL, NULL, &error),
        CLATTN_INVALID);
    ck_assert_int_eq(clattn_attention_enqueue(p.plan, opencl_get()->in_order,
                         NULL, 0, NULL, NULL, &error),
        CLATTN_INVALID);
    ck_assert_int_eq(clattn_attention_enqueue(p.plan, opencl_get()->in_order,
                         &p.args, 1, NULL, NULL, &error),
        CLATTN_INVALID);

    cl_event nothing = NULL;
    ck_assert_int_eq(clattn_attention_enqueue(p.plan, opencl_get()->in_order,
                         &p.args, 1, &nothing, NULL, &error),
        CLATTN_INVALID);
    ck_assert_msg(
        strstr(error.message, "wait_list[0]") != NULL, "%s", error.message);

    ck_assert_int_eq(clattn_context_create(&other, NULL, NULL), CLATTN_OK);
    cl_event foreign = clCreateUserEvent(clattn_context_cl(other), &code);
    ck_assert_int_eq(clattn_attention_enqueue(p.plan, opencl_get()->in_order,
                         &p.args, 1, &foreign, NULL, &error),
        CLATTN_INVALID);
    ck_assert_msg(
        strstr(error.message, "another context") != NULL, "%s", error.message);
    clReleaseEvent(foreign);
    cl_command_queue queue = clCreateCommandQueue(
        clattn_context_cl(other), clattn_context_device(other), 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(
        clattn_attention_enqueue(p.plan, queue, &p.args, 0, NULL, NULL, &error),
        CLATTN_INVALID);
    ck_assert_msg(strstr(error.message, "queue") != NULL, "%s", error.message);
    clReleaseCommandQueue(queue);
    clattn_context_destroy(other);
    prepared_destroy(&p);
}
END_TEST

START_TEST(a_plan_of_another_operation_is_refused)
{
    clattn_linear linear;
    clattn_plan *plan = NULL;
    clattn_error error;
    prepared p;
    prepared_create(&p, &RIGHT);
    clattn_linear_init(&linear, sizeof linear);
    linear.rows = linear.n_in = linear.n_out = 3;
    linear.dtype = CLATTN_F32;
    linear.weight_order = CLATTN_IN_OUT;
    ck_assert_int_eq(
        clattn_linear_plan(&plan, opencl_get()->ctx, &linear, NULL), CLATTN_OK);
    ck_assert_int_eq(clattn_attention_enqueue(plan, opencl_get()->in_order,
                         &p.args, 0, NULL, NULL, &error),
        CLATTN_INVALID);
    ck_assert_msg(strstr(error.message, "plan") != NULL, "%s", error.message);
    clattn_plan_destroy(plan);
    prepared_destroy(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("arguments");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t, wrong_arguments_are_named_and_nothing_is_enqueued, 0,
        (int)COUNT(WRONG));
    tcase_add_loop_test(
        t, wild_arrays_in_host_memory_are_refused_with_their_value, 0, 4);
    tcase_add_test(t, wrong_queues_and_wait_lists_are_refused);
    tcase_add_test(t, a_plan_of_another_operation_is_refused);

    Suite *suite = suite_create("attention arguments");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
