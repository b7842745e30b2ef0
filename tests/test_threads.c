/* SPDX-License-Identifier: Apache-2.0
 *
 * test_threads.c - threads that share contexts and plans on a real driver, and
 * the bits that they compute.
 */
#include "job.h"
#include "one_key.h"
#include "opencl.h"
#include "suite.h"
#include "team.h"

/* ---- One plan ------------------------------------------------------------ */

#define SHAPE                                                          \
    {                                                                  \
        "shared", {2, 4, 2, 9, 13, 8, 8}, .key_lengths = true,         \
                                          .returns = CLATTN_RETURN_LSE \
    }

/* One launch a call, several with scores and weights in between, and a whole
   layer. */
static const job_case SHARED[] = {
    {SHAPE, NULL, false},
    {SHAPE, "materialised", false},
    {SHAPE, "lanes_weights", false},
    {.layer = true},
};

static void share_plan(team_member *m)
{
    const job *jobs = m->state;
    const job *own = &jobs[m->index];
    char why[ARENA_TEXT] = "";
    for (size_t n = 0; n < suite_count(60, 1000); ++n)
        if (!job_works(own, jobs[0].plan, own->queue, why))
            team_say(m, "call %zu: %s", n, why);
}

START_TEST(threads_share_one_plan_on_queues_of_their_own)
{
    static job jobs[TEAM];
    for (size_t i = 0; i < TEAM; ++i)
        job_create(&jobs[i], opencl_get()->ctx, &SHARED[_i], i);
    team_run(TEAM, share_plan, jobs);
    for (size_t i = 0; i < TEAM; ++i)
        job_destroy(&jobs[i]);
}
END_TEST

/* ---- Eight shapes -------------------------------------------------------- */

/* Of few programs, so that all threads want the same kernels with arguments of
   their own. */
static job_case shape(size_t i)
{
    const job_case c = {.attention = {"a shape of its own",
                            {1 + i % 2, 4, 2, 3 + 5 * i, 4 + 7 * i, 8, 8},
                            .returns = CLATTN_RETURN_LSE},
        .kernel = i % 2 ? "materialised" : NULL};
    return c;
}

static void call_own(team_member *m)
{
    const job *own = (const job *)m->state + m->index;
    char why[ARENA_TEXT] = "";
    for (size_t n = 0; n < suite_count(200, 2000); ++n)
        if (!job_works(own, own->plan, own->queue, why))
            team_say(m, "call %zu: %s", n, why);
}

START_TEST(threads_with_shapes_of_their_own_are_not_mixed_up)
{
    static job jobs[TEAM];
    for (size_t i = 0; i < TEAM; ++i) {
        const job_case c = shape(i);
        job_create(&jobs[i], opencl_get()->ctx, &c, i);
    }
    team_run(TEAM, call_own, jobs);
    for (size_t i = 0; i < TEAM; ++i)
        job_destroy(&jobs[i]);
}
END_TEST

/* ---- Plans that come and go ---------------------------------------------- */

/* Half of them enqueue; the others plan what is built, and now and then what
   has yet to be. */
static void call_or_plan(team_member *m)
{
    const job *own = (const job *)m->state + m->index;
    clattn_error error;
    if (m->index % 2) {
        call_own(m);
        return;
    }
    for (size_t n = 0; n < suite_count(200, 2000); ++n) {
        clattn_plan *plan = NULL;
        clattn_attention problem = own->attention.problem;
        problem.kernel = "tiled1";
        problem.k.row = problem.v.row = problem.q.row = problem.out.row = 0;
        problem.D = problem.Dv = n % 50 ? 8 : 16 + m->index + n / 50;
        if (clattn_attention_plan(&plan, opencl_get()->ctx, &problem, &error) !=
            CLATTN_OK)
            team_say(m, "plan %zu: %s", n, error.message);
        clattn_plan_destroy(plan);
    }
}

START_TEST(plans_come_and_go_while_others_enqueue)
{
    static job jobs[TEAM];
    for (size_t i = 0; i < TEAM; ++i) {
        const job_case c = shape(i);
        job_create(&jobs[i], opencl_get()->ctx, &c, i);
    }
    team_run(TEAM, call_or_plan, jobs);
    for (size_t i = 0; i < TEAM; ++i)
        job_destroy(&jobs[i]);
}
END_TEST

/* ---- Contexts that come and go ------------------------------------------- */

static void make_contexts(team_member *m)
{
    const opencl *cl = opencl_get();
    clattn_error error;
    for (size_t n = 0; n < suite_count(2, 20); ++n) {
        clattn_context *ctx = NULL;
        const clattn_status status =
            n % 2 ? clattn_context_create(&ctx, NULL, &error)
                  : clattn_context_create_from_cl(
                        &ctx, cl->cl, cl->device, &error);
        if (status != CLATTN_OK)
            team_say(m, "context %zu: %s", n, error.message);
        else if (!one_key_works(ctx))
            team_say(m, "context %zu computes something else", n);
        clattn_context_destroy(ctx);
    }
}

START_TEST(threads_have_contexts_of_their_own)
{
    team_run(TEAM, make_contexts, NULL);
}
END_TEST

/* ---- Work in flight ------------------------------------------------------ */

/* A round of a thread: enqueue, and let go of the plan, perhaps the last of its
   context, and the queue at once. */
static void leave_in_flight(team_member *m)
{
    const opencl *cl = opencl_get();
    const job *own = (const job *)m->state + m->index;
    clattn_error error = {.message = "OpenCL failed"};
    char why[ARENA_TEXT] = "";
    for (size_t n = 0; n < suite_count(20, 400); ++n) {
        clattn_plan *plan = NULL;
        cl_event event = NULL;
        cl_command_queue queue =
            clCreateCommandQueue(cl->cl, cl->device, 0, NULL);
        job_reset(own);
        clattn_status status =
            own->op.plan(&plan, cl->ctx, own->op.trial, &error);
        if (status == CLATTN_OK)
            status = job_enqueue(own, plan, queue, NULL, &event, &error);
        clattn_plan_destroy(plan);
        clFlush(queue);
        clReleaseCommandQueue(queue);
        if (status != CLATTN_OK || !opencl_finish_event(event))
            team_say(m, "round %zu: %s", n, error.message);
        else if (!job_is_right(own, why))
            team_say(m, "round %zu: %s", n, why);
    }
}

START_TEST(plans_and_queues_go_while_their_work_is_in_flight)
{
    static job jobs[TEAM];
    for (size_t i = 0; i < TEAM; ++i)
        job_create(&jobs[i], opencl_get()->ctx, &SHARED[i % COUNT(SHARED)], i);
    team_run(TEAM, leave_in_flight, jobs);
    for (size_t i = 0; i < TEAM; ++i)
        job_destroy(&jobs[i]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("threads");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, threads_share_one_plan_on_queues_of_their_own, 0,
        (int)COUNT(SHARED));
    tcase_add_test(t, threads_with_shapes_of_their_own_are_not_mixed_up);
    tcase_add_test(t, plans_come_and_go_while_others_enqueue);
    tcase_add_test(t, threads_have_contexts_of_their_own);
    tcase_add_test(t, plans_and_queues_go_while_their_work_is_in_flight);

    Suite *suite = suite_create("threads");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
