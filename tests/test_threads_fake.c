/* SPDX-License-Identifier: Apache-2.0
 *
 * test_threads_fake.c - threads that share contexts and plans, on an OpenCL that
 * computes nothing: all that the thread sanitizer sees here is the library's.
 */
#include "fake_opencl.h"
#include "legal.h"
#include "suite.h"
#include "team.h"

enum {
    CALLS = 200 /* of each thread */
};

/* ---- One of each --------------------------------------------------------- */

enum {
    PLANS = 3
};

static legal l;
static clattn_plan *plan[PLANS];

static void begin(void)
{
    FAKE_DEVICE = fake_cpu();
    legal_create(&l);
    ck_assert_int_eq(
        clattn_attention_plan(&plan[0], l.ctx, &l.attention, NULL), CLATTN_OK);
    ck_assert_int_eq(
        clattn_linear_plan(&plan[1], l.ctx, &l.linear, NULL), CLATTN_OK);
    ck_assert_int_eq(
        clattn_layer_plan(&plan[2], l.ctx, &l.layer, NULL), CLATTN_OK);
}

static void destroy_plans(void)
{
    for (size_t i = 0; i < PLANS; ++i)
        clattn_plan_destroy(plan[i]);
}

/* Nothing was mixed up, and nothing is left. */
static void end(void)
{
    legal_destroy(&l);
    ck_assert_uint_gt(fake_launches(), 0);
    ck_assert_uint_eq(fake_mixed(), 0);
    ck_assert_uint_eq(fake_live(), 0);
}

static cl_command_queue make_queue(void)
{
    return clCreateCommandQueue(
        clattn_context_cl(l.ctx), clattn_context_device(l.ctx), 0, NULL);
}

static void enqueue(team_member *m, cl_command_queue queue, size_t which)
{
    clattn_error error;
    cl_event event = NULL;
    cl_event *wanted = m->index % 2 ? &event : NULL;
    clattn_status status = CLATTN_OK;
    if (which == 0)
        status = clattn_attention_enqueue(
            plan[0], queue, &l.attention_mem, 0, NULL, wanted, &error);
    else if (which == 1)
        status = clattn_linear_enqueue(
            plan[1], queue, &l.linear_mem, 0, NULL, wanted, &error);
    else
        status = clattn_layer_enqueue(
            plan[2], queue, &l.layer_mem, 0, NULL, wanted, &error);
    if (status != CLATTN_OK)
        team_say(m, "plan %zu: %s", which, error.message);
    if (event)
        clReleaseEvent(event);
}

/* ---- Enqueues ------------------------------------------------------------ */

static void enqueue_all(team_member *m)
{
    cl_command_queue queue = make_queue();
    for (size_t n = 0; n < CALLS; ++n)
        enqueue(m, queue, n % PLANS);
    clReleaseCommandQueue(queue);
}

START_TEST(threads_share_plans_on_queues_of_their_own)
{
    begin();
    team_run(TEAM, enqueue_all, NULL);
    destroy_plans();
    end();
}
END_TEST

static void call_host(team_member *m)
{
    clattn_error error;
    for (size_t n = 0; n < CALLS; ++n)
        if (clattn_attention_host(
                l.ctx, &l.attention, &l.attention_host, &error) != CLATTN_OK)
            team_say(m, "%s", error.message);
}

/* Outputs are the threads' own in life; here nothing is computed, but the fake
   writes zeros to them. */
static void call_host_in_turn(team_member *m)
{
    if (m->index == 0)
        call_host(m);
    else
        enqueue_all(m);
}

START_TEST(a_host_call_shares_kernels_with_enqueues)
{
    begin();
    team_run(TEAM, call_host_in_turn, NULL);
    destroy_plans();
    end();
}
END_TEST

/* ---- Plans --------------------------------------------------------------- */

/* Of D from 1 on, so that each thread builds, finds what another has built, and
   waits for what another is building. */
static void make_plans(team_member *m)
{
    clattn_error error;
    for (size_t n = 0; n < CALLS; ++n) {
        clattn_plan *made = NULL;
        clattn_attention problem = l.attention;
        problem.D = 1 + n % 40;
        problem.kernel = m->index % 4 ? NULL : "materialised";
        if (clattn_attention_plan(&made, l.ctx, &problem, &error) != CLATTN_OK)
            team_say(m, "D = %zu: %s", problem.D, error.message);
        else if (!clattn_plan_describe(made)[0])
            team_say(m, "D = %zu: no description", problem.D);
        clattn_plan_destroy(made);
    }
}

static void enqueue_or_make(team_member *m)
{
    if (m->index % 2)
        enqueue_all(m);
    else
        make_plans(m);
}

START_TEST(plans_come_and_go_while_others_enqueue)
{
    begin();
    team_run(TEAM, enqueue_or_make, NULL);
    destroy_plans();
    end();
}
END_TEST

/* ---- Builds that fail ---------------------------------------------------- */

static void fail_or_read(team_member *m)
{
    clattn_plan *made = NULL;
    clattn_error error;
    char text[100];
    for (size_t n = 0; n < CALLS; ++n) {
        clattn_attention problem = l.attention;
        problem.softcap = 1; /* a program that is not there yet */
        if (m->index % 2)
            clattn_context_build_log(l.ctx, text, sizeof text);
        else if (clattn_attention_plan(&made, l.ctx, &problem, &error) !=
                 CLATTN_BUILD_FAILED)
            team_say(m, "status %d: %s", (int)error.status, error.message);
    }
}

START_TEST(the_log_is_read_while_builds_fail)
{
    char text[100];
    begin();
    FAKE_DEVICE.refuses_to_build = true;
    team_run(TEAM, fail_or_read, NULL);
    ck_assert_uint_eq(
        clattn_context_build_log(l.ctx, text, sizeof text), sizeof "error: no");
    ck_assert_str_eq(text, "error: no");
    destroy_plans();
    FAKE_DEVICE.refuses_to_build = false;
    team_run(1, call_host, NULL);
    end();
}
END_TEST

/* ---- Contexts ------------------------------------------------------------ */

static void make_contexts(team_member *m)
{
    clattn_error error;
    for (size_t n = 0; n < CALLS; ++n) {
        clattn_context *ctx = NULL;
        clattn_plan *made = NULL;
        size_t count = 0;
        clattn_device_count(&count, NULL);
        if (clattn_context_create(&ctx, NULL, &error) != CLATTN_OK ||
            clattn_linear_plan(&made, ctx, &l.linear, &error) != CLATTN_OK)
            team_say(m, "%zu devices: %s", count, error.message);
        if (n % 2)
            clattn_plan_destroy(made);
        clattn_context_destroy(ctx);
        if (n % 2 == 0)
            clattn_plan_destroy(made);
    }
}

/* The first use of OpenCL in this process, by all at once. */
START_TEST(threads_make_contexts_at_the_same_time)
{
    FAKE_DEVICE = fake_cpu();
    clattn_linear_init(&l.linear, sizeof l.linear);
    l.linear.rows = l.linear.n_in = l.linear.n_out = 1;
    l.linear.dtype = CLATTN_F32;
    l.linear.weight_order = CLATTN_IN_OUT;
    team_run(TEAM, make_contexts, NULL);
    ck_assert_uint_eq(fake_live(), 0);
}
END_TEST

/* ---- The last to go ------------------------------------------------------ */

/* A plan for each thread; the context's owner is one of them. */
static void let_go(team_member *m)
{
    clattn_plan **plans = m->state;
    if (m->index == TEAM)
        clattn_context_destroy(l.ctx);
    else
        clattn_plan_destroy(plans[m->index]);
}

START_TEST(whoever_goes_last_takes_the_context_along)
{
    for (size_t n = 0; n < CALLS; ++n) {
        clattn_plan *plans[TEAM] = {NULL};
        begin();
        destroy_plans();
        for (size_t i = 0; i < TEAM; ++i)
            ck_assert_int_eq(
                clattn_attention_plan(&plans[i], l.ctx, &l.attention, NULL),
                CLATTN_OK);
        team_run(TEAM + 1, let_go, plans);
        l.ctx = NULL;
        legal_destroy(&l);
        ck_assert_uint_eq(fake_live(), 0);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("threads");
    tcase_set_timeout(t, 0);
    tcase_add_test(t, threads_make_contexts_at_the_same_time);
    tcase_add_test(t, threads_share_plans_on_queues_of_their_own);
    tcase_add_test(t, a_host_call_shares_kernels_with_enqueues);
    tcase_add_test(t, plans_come_and_go_while_others_enqueue);
    tcase_add_test(t, the_log_is_read_while_builds_fail);
    tcase_add_test(t, whoever_goes_last_takes_the_context_along);

    Suite *suite = suite_create("threads on a fake OpenCL");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
