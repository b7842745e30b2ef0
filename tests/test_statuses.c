/* SPDX-License-Identifier: Apache-2.0
 *
 * test_statuses.c - each status that a device brings about, its message, and
 * what a failure leaves behind.  Refused arguments are in other files.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "child.h"
#include "kernel_source.h"
#include "opencl.h"
#include "prepared.h"
#include "run.h"
#include "scratch.h"
#include "suite.h"

static const attention_case SMALL = {
    "small", {2, 4, 2, 7, 9, 9, 9}, .returns = CLATTN_RETURN_LSE};

/* ---- Texts --------------------------------------------------------------- */

START_TEST(each_status_has_a_sentence_of_its_own)
{
    for (int one = CLATTN_OK; one <= CLATTN_FORKED; ++one) {
        const char *text = clattn_status_text((clattn_status)one);
        ck_assert_uint_gt(strlen(text), 3);
        for (int other = CLATTN_OK; other < one; ++other)
            ck_assert_str_ne(text, clattn_status_text((clattn_status)other));
    }
    ck_assert_uint_gt(strlen(clattn_status_text((clattn_status)99)), 3);
    ck_assert_uint_gt(strlen(clattn_status_text((clattn_status)-1)), 3);
}
END_TEST

START_TEST(the_version_is_that_of_the_header)
{
    char text[40];
    ck_assert_uint_eq(clattn_version(), 10000 * CLATTN_VERSION_MAJOR +
                                            100 * CLATTN_VERSION_MINOR +
                                            CLATTN_VERSION_PATCH);
    snprintf(text, sizeof text, "%d.%d.%d", CLATTN_VERSION_MAJOR,
        CLATTN_VERSION_MINOR, CLATTN_VERSION_PATCH);
    ck_assert_msg(strstr(clattn_version_text(), text) != NULL,
        "'%s' does not hold %s", clattn_version_text(), text);
}
END_TEST

/* ---- CLATTN_OK ----------------------------------------------------------- */

START_TEST(success_empties_the_error)
{
    clattn_error error;
    attention_trial trial;
    memset(&error, 0x55, sizeof error);
    ck_assert(attention_trial_create(&trial, &SMALL));
    ck_assert_int_eq(run_attention(&trial, RUN_HOST, &error), CLATTN_OK);
    ck_assert_int_eq(error.status, CLATTN_OK);
    ck_assert_int_eq(error.cl_code, CL_SUCCESS);
    ck_assert_str_eq(error.message, "");
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- CLATTN_BUILD_FAILED ------------------------------------------------- */

/* A context whose kernels come from a folder in which all are broken. */
static clattn_context *broken_context(void)
{
    static const char text[] = "this is the broken part;\n";
    char folder[SCRATCH_PATH], name[SCRATCH_PATH], path[SCRATCH_PATH];
    clattn_context *ctx = NULL;
    mkdir(scratch_path(folder, "kernels"), 0700);
    mkdir(scratch_path(path, "kernels/mma"), 0700);
    for (const kernel_source *s = KERNEL_SOURCES; s->file; ++s) {
        snprintf(name, sizeof name, "kernels/%s", s->file);
        scratch_write(path, name, text, sizeof text - 1);
    }
    setenv("CLATTN_KERNEL_DIR", folder, 1);
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    unsetenv("CLATTN_KERNEL_DIR");
    return ctx;
}

START_TEST(a_kernel_that_does_not_compile_is_reported_with_its_log)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    attention_trial trial;
    clattn_context *ctx = broken_context();
    char log[4000], cut[11];
    ck_assert(attention_trial_create(&trial, &SMALL));
    ck_assert_uint_eq(clattn_context_build_log(ctx, NULL, 0), 1);

    ck_assert_int_eq(
        clattn_attention_supported(ctx, &trial.problem, &error), CLATTN_OK);
    ck_assert_int_eq(clattn_attention_plan(&plan, ctx, &trial.problem, &error),
        CLATTN_BUILD_FAILED);
    ck_assert_ptr_null(plan);
    ck_assert_msg(strstr(error.message, ".cl") != NULL, "%s", error.message);

    const size_t bytes = clattn_context_build_log(ctx, log, sizeof log);
    ck_assert_uint_gt(bytes, 11);
    ck_assert_msg(strstr(log, ".cl") != NULL, "%s", log);
    if (bytes <= sizeof log)
        ck_assert_uint_eq(strlen(log), bytes - 1);
    ck_assert_uint_eq(clattn_context_build_log(ctx, cut, sizeof cut), bytes);
    ck_assert_uint_eq(strlen(cut), 10);
    ck_assert_int_eq(strncmp(cut, log, 10), 0);
    attention_trial_destroy(&trial);
    clattn_context_destroy(ctx);
}
END_TEST

START_TEST(a_missing_kernel_file_is_named)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    attention_trial trial;
    clattn_context *ctx = NULL;
    ck_assert(attention_trial_create(&trial, &SMALL));
    setenv("CLATTN_KERNEL_DIR", "/nowhere", 1);
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    unsetenv("CLATTN_KERNEL_DIR");
    ck_assert_int_eq(clattn_attention_plan(&plan, ctx, &trial.problem, &error),
        CLATTN_BUILD_FAILED);
    ck_assert_msg(strstr(error.message, "/nowhere") != NULL &&
                      strstr(error.message, ".cl") != NULL,
        "%s", error.message);
    attention_trial_destroy(&trial);
    clattn_context_destroy(ctx);
}
END_TEST

/* ---- CLATTN_DEVICE_ERROR ------------------------------------------------- */

/* What a call waits for fails later: the call's event says so. */
START_TEST(a_failed_wait_shows_in_the_event)
{
    const opencl *cl = opencl_get();
    cl_event event = NULL;
    cl_int code = CL_SUCCESS, state = CL_QUEUED;
    prepared p;
    prepared_create(&p, &SMALL);
    cl_event gate = clCreateUserEvent(cl->cl, &code);
    cl_command_queue queue = clCreateCommandQueue(cl->cl, cl->device, 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_int_eq(clattn_attention_enqueue(
                         p.plan, queue, &p.args, 1, &gate, &event, NULL),
        CLATTN_OK);
    clSetUserEventStatus(gate, -5);
    clWaitForEvents(1, &event);
    clGetEventInfo(
        event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    ck_assert_msg(state < 0, "the event's status is %d", state);
    clReleaseEvent(event);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
    prepared_destroy(&p);
}
END_TEST

/* ---- CLATTN_NO_MEMORY ---------------------------------------------------- */

/* Little more address space than is in use, then a problem that needs more. */
static int child_memory(void)
{
    clattn_error error = {.message = ""};
    clattn_context *ctx = NULL;
    clattn_linear problem;
    const size_t rows = 1u << 16, width = 1u << 10; /* 256 MiB */
    float *x = calloc(rows * width, sizeof *x);
    float *w = calloc(width * width, sizeof *w);
    float *y = calloc(rows * width, sizeof *y);
    if (x == NULL || w == NULL || y == NULL ||
        clattn_context_create(&ctx, NULL, &error) != CLATTN_OK)
        return 100;
    clattn_linear_init(&problem, sizeof problem);
    problem.rows = rows;
    problem.n_in = problem.n_out = width;
    problem.dtype = CLATTN_F32;
    problem.weight_order = CLATTN_OUT_IN;

    clattn_plan *plan = NULL;
    clattn_status status = clattn_linear_plan(&plan, ctx, &problem, &error);
    if (status != CLATTN_OK)
        return 101;
    const struct rlimit little = {100u << 20, 100u << 20};
    setrlimit(RLIMIT_AS, &little);
    const clattn_linear_args args = {.struct_size = sizeof args,
        .y = {.host = y},
        .x = {.host = x},
        .w = {.host = w}};
    status = clattn_linear_host(ctx, &problem, &args, &error);
    printf("%s\n", error.message);
    clattn_plan_destroy(plan);
    clattn_context_destroy(ctx);
    free(x);
    free(w);
    free(y);
    return status;
}

START_TEST(memory_that_runs_out_is_a_status)
{
    const char *const environment[] = {"CLATTN_TEST=memory", NULL};
    const child_result child = child_run("memory", environment, 60);
    ck_assert_msg(child.exit_code == CLATTN_NO_MEMORY, "exit %d: %s",
        child.exit_code, child.output);
    ck_assert_msg(child.output[0] != '\n', "no message");
}
END_TEST

/* ---- Builds -------------------------------------------------------------- */

/* Plans of many shapes on one context; the parent counts what was built. */
static int child_builds(void)
{
    clattn_context *ctx = NULL;
    if (clattn_context_create(&ctx, NULL, NULL) != CLATTN_OK)
        return 100;
    for (size_t i = 0; i < 40; ++i) {
        clattn_attention problem;
        clattn_plan *plan = NULL;
        clattn_attention_init(&problem, sizeof problem);
        problem.B = 1 + i % 3;
        problem.Hkv = 1 + i % 2;
        problem.Hq = problem.Hkv * (1 + i % 4);
        problem.Lq = 1 + 5 * i;
        problem.Lk = 1 + 3 * i;
        problem.D = problem.Dv = 16;
        problem.dtype = CLATTN_F32;
        problem.has_scale = 1;
        problem.scale = (float)i;
        if (clattn_attention_plan(&plan, ctx, &problem, NULL) != CLATTN_OK)
            return 101;
        clattn_plan_destroy(plan);
    }
    clattn_context_destroy(ctx);
    return 0;
}

START_TEST(lengths_batches_heads_and_scale_build_nothing_twice)
{
    const char *const environment[] = {
        "CLATTN_VERBOSE=1", "CLATTN_CACHE=0", NULL};
    const child_result child = child_run("builds", environment, 60);
    size_t built = 0;
    ck_assert_msg(
        child.exit_code == 0, "exit %d: %s", child.exit_code, child.output);
    for (const char *at = child.output; (at = strstr(at, "built ")) != NULL;
         ++at) {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        ck_assert_msg(strstr(at + 1, line) == NULL, "twice: %s", line);
        ++built;
    }
    ck_assert_msg(built >= 1 && built <= 3, "%zu programs were built: %s",
        built, child.output);
}
END_TEST

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "memory") == 0)
        return child_memory();
    if (strcmp(mode, "builds") == 0)
        return child_builds();

    TCase *t = tcase_create("statuses");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, each_status_has_a_sentence_of_its_own);
    tcase_add_test(t, the_version_is_that_of_the_header);
    tcase_add_test(t, success_empties_the_error);
    tcase_add_test(t, a_kernel_that_does_not_compile_is_reported_with_its_log);
    tcase_add_test(t, a_missing_kernel_file_is_named);
    tcase_add_test(t, a_failed_wait_shows_in_the_event);
    tcase_add_test(t, memory_that_runs_out_is_a_status);
    tcase_add_test(t, lengths_batches_heads_and_scale_build_nothing_twice);

    Suite *suite = suite_create("statuses");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
