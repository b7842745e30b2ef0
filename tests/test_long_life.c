/* SPDX-License-Identifier: Apache-2.0
 *
 * test_long_life.c - what a service does for months, on a real driver: the
 * process does not grow, and where the driver keeps something of its own, the
 * shim tells that none of it is ours.
 */
#include <stdio.h>

#include "job.h"
#include "one_key.h"
#include "opencl.h"
#include "resident.h"
#include "shim.h"
#include "suite.h"

enum {
    IN_FLIGHT = 32 /* calls between two waits */
};

static clattn_status last;
static job j;

/* ---- Counting ------------------------------------------------------------ */

static size_t objects_before;

static void begin(void)
{
    last = CLATTN_OK;
    objects_before = shim_objects();
    shim_arm(SHIM_malloc, 0, 0); /* none fails; all are counted */
}

/* Every object and every block of memory has been given back. */
static void end(const char *about)
{
    shim_disarm();
    ck_assert_msg(last == CLATTN_OK, "%s: status %d", about, (int)last);
    ck_assert_msg(shim_objects() == objects_before, "%s: %zu objects, not %zu",
        about, shim_objects(), objects_before);
    ck_assert_msg(shim_blocks() == 0, "%s: %zu blocks", about, shim_blocks());
    ck_assert_uint_eq(shim_strays(), 0);
}

static void stays_flat(const char *about, size_t times, void (*deed)(void))
{
    begin();
    const double growth = resident_growth(times, deed);
    end(about);
    printf("%s, %zu times: %+.2f %% from a tenth on\n", about, times,
        100 * growth);
    ck_assert_msg(
        growth <= RESIDENT_FLAT, "%s: grows by %.1f %%", about, 100 * growth);
}

/* ---- Enqueues ------------------------------------------------------------ */

/* By one launch, and by several with a workspace.  With arrays on the host, of
   which each call makes buffers, as it makes its workspace. */
static const job_case CALLS[] = {
    {{"one launch", {2, 2, 1, 2, 3, 4, 4}, .key_lengths = true}, NULL, false},
    {{"several launches", {2, 2, 1, 2, 3, 4, 4}, .key_lengths = true,
         .diagonal = CLATTN_TOP_LEFT, .alibi = true},
        "materialised", false},
};

/* Every other call asks for an event. */
static void enqueue(void)
{
    static size_t n;
    cl_event event = NULL;
    const clattn_status status =
        j.op.enqueue(j.plan, j.queue, j.op.trial, j.buffer,
            (clattn_output){.mem = NULL}, NULL, n % 2 ? &event : NULL, NULL);
    if (status != CLATTN_OK)
        last = status;
    if (event)
        clReleaseEvent(event);
    if (n++ % IN_FLIGHT == 0)
        clFinish(j.queue);
}

START_TEST(enqueues_leave_nothing)
{
    char why[ARENA_TEXT] = "";
    job_create(&j, opencl_get()->ctx, &CALLS[_i], 1);
    j.attention.host_arrays = true;
    stays_flat(CALLS[_i].attention.about, suite_count(5000, 100000), enqueue);
    ck_assert_int_eq(clFinish(j.queue), CL_SUCCESS);
    ck_assert_msg(job_is_right(&j, why), "%s", why);
    job_destroy(&j);
}
END_TEST

static void call_host(void)
{
    if (!one_key_works(opencl_get()->ctx))
        last = CLATTN_DEVICE_ERROR;
}

START_TEST(host_calls_leave_nothing)
{
    call_host(); /* builds */
    stays_flat("host calls", suite_count(500, 20000), call_host);
}
END_TEST

/* ---- Plans --------------------------------------------------------------- */

static void make_plan(void)
{
    clattn_plan *plan = NULL;
    const clattn_status status =
        j.op.plan(&plan, opencl_get()->ctx, j.op.trial, NULL);
    if (status != CLATTN_OK)
        last = status;
    clattn_plan_destroy(plan);
}

START_TEST(plans_leave_nothing)
{
    job_create(&j, opencl_get()->ctx, &CALLS[_i], 1);
    stays_flat(CALLS[_i].attention.about, suite_count(2000, 20000), make_plan);
    job_destroy(&j);
}
END_TEST

/* ---- Contexts ------------------------------------------------------------ */

static void make_context(void)
{
    clattn_context *ctx = NULL;
    const clattn_status status = clattn_context_create(&ctx, NULL, NULL);
    if (status != CLATTN_OK)
        last = status;
    clattn_context_destroy(ctx);
}

START_TEST(contexts_leave_nothing)
{
    stays_flat("contexts", suite_count(200, 1000), make_context);
}
END_TEST

static void use_context(void)
{
    clattn_context *ctx = NULL;
    const clattn_status status = clattn_context_create(&ctx, NULL, NULL);
    if (status != CLATTN_OK || !one_key_works(ctx))
        last = CLATTN_DEVICE_ERROR;
    clattn_context_destroy(ctx);
}

/* Each builds its program and launches it.  PoCL 3.1 keeps up to some KiB at
   each of these first launches, by the same calls without us too, so the process
   is not held to its size: what we asked for, of OpenCL and of the C library, is
   back. */
START_TEST(contexts_that_are_used_leave_nothing_of_ours)
{
    const size_t times = suite_count(20, 1000);
    begin();
    const double growth = resident_growth(times, use_context);
    end("used contexts");
    printf("used contexts, %zu times: %+.2f %% from a tenth on\n", times,
        100 * growth);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("long life");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, enqueues_leave_nothing, 0, (int)COUNT(CALLS));
    tcase_add_test(t, host_calls_leave_nothing);
    tcase_add_loop_test(t, plans_leave_nothing, 0, (int)COUNT(CALLS));
    tcase_add_test(t, contexts_leave_nothing);
    tcase_add_test(t, contexts_that_are_used_leave_nothing_of_ours);

    Suite *suite = suite_create("long life");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
