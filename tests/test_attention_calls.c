/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention_calls.c - enqueue as OpenCL programs use it: events, queues,
 * lifetimes and sub-buffers.
 */
#include <string.h>

#include "opencl.h"
#include "prepared.h"
#include "run.h"
#include "suite.h"

enum {
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

static clattn_status enqueue(const prepared *p, cl_event *event)
{
    return clattn_attention_enqueue(
        p->plan, opencl_get()->in_order, &p->args, 0, NULL, event, NULL);
}

/* ---- Events -------------------------------------------------------------- */

static const attention_case EVENTS[] = {
    {"work to do", {2, 4, 2, 7, 9, 9, 9}, .returns = BOTH},
    {"no items", {0, 4, 2, 7, 9, 9, 9}, .returns = BOTH},
    {"no heads", {2, 0, 1, 7, 9, 9, 9}, .returns = BOTH},
    {"no query rows", {2, 4, 2, 0, 9, 9, 9}, .returns = BOTH},
    {"no keys", {2, 4, 2, 7, 0, 9, 9}, .returns = BOTH},
};

static cl_int state_of(cl_event event)
{
    cl_int state = -9999;
    ck_assert_int_eq(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                         sizeof state, &state, NULL),
        CL_SUCCESS);
    return state;
}

START_TEST(the_event_waits_for_the_wait_list_even_with_nothing_to_do)
{
    const opencl *cl = opencl_get();
    const attention_case *c = &EVENTS[(size_t)_i / 2];
    cl_event event = NULL;
    cl_int code = CL_SUCCESS;
    prepared p;
    prepared_create(&p, c);
    cl_event gate = clCreateUserEvent(cl->cl, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(clattn_attention_enqueue(p.plan,
                         _i % 2 ? cl->out_of_order : cl->in_order, &p.args, 1,
                         &gate, &event, NULL),
        CLATTN_OK);
    ck_assert_ptr_nonnull(event);
    ck_assert_msg(state_of(event) > CL_COMPLETE,
        "%s: complete before what it waits for", c->about);
    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ck_assert(opencl_finish_event(event));
    clFinish(cl->out_of_order);
    clReleaseEvent(gate);
    prepared_fetch(&p);
    prepared_check(&p);
    prepared_destroy(&p);
}
END_TEST

START_TEST(neither_event_nor_wait_list_is_needed)
{
    for (size_t n = 0; n < COUNT(EVENTS); ++n) {
        prepared p;
        prepared_create(&p, &EVENTS[n]);
        ck_assert_int_eq(enqueue(&p, NULL), CLATTN_OK);
        prepared_fetch(&p); /* the queue is in order */
        prepared_check(&p);
        prepared_destroy(&p);
    }
}
END_TEST

/* Three calls of one plan at the same time, no order between them. */
START_TEST(one_plan_serves_calls_that_run_at_the_same_time)
{
    const opencl *cl = opencl_get();
    const attention_case c = {
        "at once", {2, 4, 2, 33, 40, 9, 9}, .returns = CLATTN_RETURN_LSE};
    cl_event done[3] = {NULL};
    prepared p[3];
    for (size_t n = 0; n < 3; ++n) {
        attention_case one = c;
        one.seed = n;
        prepared_create(&p[n], &one);
    }
    for (size_t n = 0; n < 3; ++n)
        ck_assert_int_eq(clattn_attention_enqueue(p[0].plan, cl->out_of_order,
                             &p[n].args, 0, NULL, &done[n], NULL),
            CLATTN_OK);
    for (size_t n = 0; n < 3; ++n) {
        ck_assert(opencl_finish_event(done[n]));
        prepared_fetch(&p[n]);
        prepared_check(&p[n]);
    }
    for (size_t n = 0; n < 3; ++n)
        prepared_destroy(&p[n]);
}
END_TEST

/* A context of its own, destroyed first; then the plan, with work in flight. */
START_TEST(context_and_plan_may_go_while_their_work_waits)
{
    const opencl *cl = opencl_get();
    clattn_context *ctx = NULL;
    clattn_plan *plan = NULL;
    cl_int code = CL_SUCCESS;
    cl_event event = NULL;
    prepared p;
    prepared_create(&p, &EVENTS[0]);
    ck_assert_int_eq(
        clattn_context_create_from_cl(&ctx, cl->cl, cl->device, NULL),
        CLATTN_OK);
    ck_assert_int_eq(
        clattn_attention_plan(&plan, ctx, &p.trial.problem, NULL), CLATTN_OK);
    clattn_context_destroy(ctx);
    cl_event gate = clCreateUserEvent(cl->cl, &code);
    ck_assert_int_eq(clattn_attention_enqueue(
                         plan, cl->in_order, &p.args, 1, &gate, &event, NULL),
        CLATTN_OK);
    clattn_plan_destroy(plan);
    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    ck_assert(opencl_finish_event(event));
    clReleaseEvent(gate);
    prepared_fetch(&p);
    prepared_check(&p);
    prepared_destroy(&p);
}
END_TEST

/* ---- Places -------------------------------------------------------------- */

/* The whole memory of `slot` in a sub-buffer of a larger buffer. */
static cl_mem sub_buffer(prepared *p, enum attention_slot slot)
{
    const size_t m = p->trial.memory.tensor[slot].memory;
    const arena_memory *memory = &p->trial.memory.memory[m];
    const cl_buffer_region region = {4096, memory->count * sizeof(float)};
    cl_int code = CL_SUCCESS;
    cl_mem whole = opencl_blank(region.origin + region.size);
    cl_mem part = clCreateSubBuffer(
        whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    clReleaseMemObject(whole);
    ck_assert_int_eq(clEnqueueWriteBuffer(opencl_get()->in_order, part, CL_TRUE,
                         0, region.size, memory->data, 0, NULL, NULL),
        CL_SUCCESS);
    clReleaseMemObject(p->buffers[m]);
    p->buffers[m] = part;
    return part;
}

START_TEST(sub_buffers_serve_as_any_tensor)
{
    prepared p;
    prepared_create(&p, &EVENTS[0]);
    for (size_t slot = SLOT_Q; slot <= SLOT_WEIGHTS; ++slot)
        sub_buffer(&p, slot);
    p.args = attention_trial_args(&p.trial, p.buffers);
    ck_assert_int_eq(enqueue(&p, NULL), CLATTN_OK);
    prepared_fetch(&p);
    prepared_check(&p);
    prepared_destroy(&p);
}
END_TEST

/* The values are unspecified, but no tensor is left. */
START_TEST(wild_arrays_in_device_memory_touch_nothing_else)
{
    const int32_t wild[] = {INT32_MIN, -1, 1000000, INT32_MAX};
    const attention_case c = {"wild", {4, 2, 1, 7, 9, 9, 9}, .causal = 1,
        .diagonal = CLATTN_OFFSET, .item_offsets = true, .key_lengths = true,
        .returns = BOTH};
    char why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    for (size_t b = 0; b < 4; ++b) {
        memcpy(arena_at(&trial.memory, SLOT_KEY_LENGTHS, 0, 0, 0, b), &wild[b],
            sizeof wild[b]);
        memcpy(arena_at(&trial.memory, SLOT_OFFSETS, 0, 0, 0, b), &wild[3 - b],
            sizeof wild[b]);
    }
    arena_remember(&trial.memory);
    ck_assert_int_eq(run_attention(&trial, RUN_ENQUEUE, &error), CLATTN_OK);
    ck_assert_msg(arena_unharmed(&trial.memory, why), "%s", why);
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("calls");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t,
        the_event_waits_for_the_wait_list_even_with_nothing_to_do, 0,
        2 * (int)COUNT(EVENTS));
    tcase_add_test(t, neither_event_nor_wait_list_is_needed);
    tcase_add_test(t, one_plan_serves_calls_that_run_at_the_same_time);
    tcase_add_test(t, context_and_plan_may_go_while_their_work_waits);
    tcase_add_test(t, sub_buffers_serve_as_any_tensor);
    tcase_add_test(t, wild_arrays_in_device_memory_touch_nothing_else);

    Suite *suite = suite_create("attention calls");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
