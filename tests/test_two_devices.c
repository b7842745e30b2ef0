/* SPDX-License-Identifier: Apache-2.0
 *
 * test_two_devices.c - a context of the caller's with two devices: a context of
 * ours on each, at work at the same time, and queues and buffers of one where
 * the other's are wanted.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "suite.h"
#include "team.h"

enum {
    DEVICES = 2
};

static cl_context cl;
static cl_device_id device[DEVICES];
static clattn_context *ctx[DEVICES];
static job jobs[TEAM];

static const job_case CALLS[] = {
    {{"shared", {2, 4, 2, 9, 13, 8, 8}, .key_lengths = true}, NULL, false},
    {{"shared", {2, 4, 2, 9, 13, 8, 8}, .key_lengths = true}, "materialised",
        false},
    {.layer = true},
};

/* The devices of the first platform that has two. */
static void find_devices(void)
{
    cl_platform_id platform[16] = {NULL};
    cl_uint platforms = 0, count = 0;
    ck_assert_int_eq(clGetPlatformIDs(16, platform, &platforms), CL_SUCCESS);
    for (cl_uint i = 0; i < platforms && count < DEVICES; ++i)
        if (clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_ALL, DEVICES, device,
                &count) != CL_SUCCESS)
            count = 0;
    ck_assert_msg(count >= DEVICES, "these tests need PoCL and two devices");
}

static void begin(void)
{
    clattn_error error;
    cl_int code = CL_SUCCESS;
    find_devices();
    cl = clCreateContext(NULL, DEVICES, device, NULL, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    for (size_t i = 0; i < DEVICES; ++i)
        ck_assert_msg(clattn_context_create_from_cl(
                          &ctx[i], cl, device[i], &error) == CLATTN_OK,
            "%s", error.message);
}

/* The caller's own reference goes first. */
static void end(void)
{
    clReleaseContext(cl);
    for (size_t i = 0; i < DEVICES; ++i)
        clattn_context_destroy(ctx[i]);
}

/* ---- Both at work -------------------------------------------------------- */

START_TEST(each_context_is_on_its_own_device)
{
    for (size_t i = 0; i < DEVICES; ++i) {
        ck_assert_ptr_eq(clattn_context_device(ctx[i]), device[i]);
        ck_assert_ptr_eq(clattn_context_cl(ctx[i]), cl);
    }
}
END_TEST

static void work(team_member *m)
{
    const job *own = &jobs[m->index];
    char why[ARENA_TEXT] = "";
    for (size_t n = 0; n < suite_count(50, 500); ++n)
        if (!job_works(own, own->plan, own->queue, why))
            team_say(m, "device %zu, call %zu: %s", m->index % DEVICES, n, why);
}

START_TEST(both_devices_work_at_the_same_time)
{
    for (size_t i = 0; i < TEAM; ++i)
        job_create(&jobs[i], ctx[i % DEVICES], &CALLS[_i], i);
    team_run(TEAM, work, NULL);
    for (size_t i = 0; i < TEAM; ++i)
        job_destroy(&jobs[i]);
}
END_TEST

/* Buffers belong to the context, not to a device. */
START_TEST(buffers_go_from_one_device_to_the_other)
{
    char why[ARENA_TEXT] = "";
    clattn_plan *other = NULL;
    job *j = &jobs[0];
    job_create(j, ctx[0], &CALLS[_i], 1);
    cl_command_queue queue = clCreateCommandQueue(cl, device[1], 0, NULL);
    ck_assert_int_eq(j->op.plan(&other, ctx[1], j->op.trial, NULL), CLATTN_OK);
    ck_assert_uint_ge(clattn_plan_workspace_bytes(j->plan),
        clattn_plan_workspace_bytes(other));
    for (int n = 0; n < 20; ++n) {
        ck_assert_msg(job_works(j, other, queue, why), "second: %s", why);
        ck_assert_msg(job_works(j, j->plan, j->queue, why), "first: %s", why);
    }
    clattn_plan_destroy(other);
    clReleaseCommandQueue(queue);
    job_destroy(j);
}
END_TEST

/* ---- What belongs to another --------------------------------------------- */

static void expect_refusal(
    const job *j, cl_command_queue queue, const char *first, const char *second)
{
    clattn_error error;
    cl_event event = NULL;
    char why[ARENA_TEXT] = "";
    const clattn_status status =
        job_enqueue(j, j->plan, queue, NULL, &event, &error);
    ck_assert_msg(status == CLATTN_INVALID && event == NULL &&
                      strstr(error.message, first) != NULL &&
                      strstr(error.message, second) != NULL,
        "status %d: %s", (int)status, error.message);
    clFinish(queue);
    ck_assert_msg(job_is_untouched(j, why), "%s", why);
}

START_TEST(a_queue_of_another_device_or_context_is_refused)
{
    job *j = &jobs[0];
    cl_context apart = clCreateContext(NULL, 1, &device[0], NULL, NULL, NULL);
    cl_command_queue other = clCreateCommandQueue(cl, device[1], 0, NULL);
    cl_command_queue foreign = clCreateCommandQueue(apart, device[0], 0, NULL);
    job_create(j, ctx[0], &CALLS[_i], 1);
    ck_assert_int_eq(job_reset(j), CL_SUCCESS);
    expect_refusal(j, other, "queue", "another device");
    expect_refusal(j, foreign, "queue", "another context");
    job_destroy(j);
    clReleaseCommandQueue(foreign);
    clReleaseCommandQueue(other);
    clReleaseContext(apart);
}
END_TEST

START_TEST(a_buffer_of_another_context_is_refused)
{
    job *j = &jobs[0];
    cl_context apart = clCreateContext(NULL, 1, &device[0], NULL, NULL, NULL);
    job_create(j, ctx[0], &CALLS[_i], 1);
    ck_assert_int_eq(job_reset(j), CL_SUCCESS);
    cl_mem own = j->workspace.mem;
    cl_mem foreign =
        clCreateBuffer(apart, CL_MEM_READ_WRITE, 1 << 20, NULL, NULL);
    j->workspace.mem = foreign;
    expect_refusal(j, j->queue, "workspace", "another context");
    j->workspace.mem = own;
    job_destroy(j);
    clReleaseMemObject(foreign);
    clReleaseContext(apart);
}
END_TEST

/* A device of one context is none of another's. */
START_TEST(a_device_that_the_context_has_not_is_refused)
{
    clattn_error error;
    clattn_context *none = NULL;
    cl_context apart = clCreateContext(NULL, 1, &device[0], NULL, NULL, NULL);
    ck_assert_int_eq(
        clattn_context_create_from_cl(&none, apart, device[1], &error),
        CLATTN_INVALID);
    ck_assert_ptr_null(none);
    ck_assert_msg(strstr(error.message, "device") != NULL, "%s", error.message);
    clReleaseContext(apart);
}
END_TEST

int main(void)
{
    setenv("POCL_DEVICES", "pthread basic", 1);
    TCase *t = tcase_create("two devices");
    tcase_add_unchecked_fixture(t, begin, end);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, each_context_is_on_its_own_device);
    tcase_add_loop_test(
        t, both_devices_work_at_the_same_time, 0, (int)COUNT(CALLS));
    tcase_add_loop_test(
        t, buffers_go_from_one_device_to_the_other, 0, (int)COUNT(CALLS));
    tcase_add_loop_test(t, a_queue_of_another_device_or_context_is_refused, 0,
        (int)COUNT(CALLS));
    tcase_add_loop_test(
        t, a_buffer_of_another_context_is_refused, 0, (int)COUNT(CALLS));
    tcase_add_test(t, a_device_that_the_context_has_not_is_refused);

    Suite *suite = suite_create("two devices");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
