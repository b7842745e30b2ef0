/* SPDX-License-Identifier: Apache-2.0
 *
 * test_build_refused.c - what a caller is told when a driver's compiler takes no
 * kernel, by its log and without one, and that the next build may succeed; and
 * how often it is asked.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_trial.h"
#include "hint.h"
#include "opencl.h"
#include "shim.h"
#include "suite.h"

static const attention_case PROBLEM = {
    "one key", {1, 1, 1, 1, 1, 4, 4}, .returns = CLATTN_RETURN_LSE};

static const struct {
    enum shim_compiler compiler;
    const char *words, *log;
} REFUSALS[] = {
    {SHIM_COMPILER_FAILS, "error: nothing can be compiled",
        "shim.cl:1:1: error: nothing can be compiled\n"},
    {SHIM_COMPILER_SILENT, "the log is empty", ""},
};

/* Where no error is told, what the platform may lack, if that is known. */
static void check_hint(const clattn_error *error, bool silent)
{
    char platform[201] = "";
    cl_platform_id of = NULL;
    clGetDeviceInfo(
        opencl_get()->device, CL_DEVICE_PLATFORM, sizeof of, &of, NULL);
    clGetPlatformInfo(of, CL_PLATFORM_NAME, 200, platform, NULL);
    const char *hint = hint_no_build(platform);
    ck_assert_msg(
        hint[0] == '\0' || (strstr(error->message, hint) != NULL) == silent,
        "%s: %s", platform, error->message);
}

static void check_message(const clattn_error *error, const char *words)
{
    char device[201] = "";
    clGetDeviceInfo(opencl_get()->device, CL_DEVICE_NAME, 200, device, NULL);
    device[60] = '\0'; /* as long as it is told */
    const char *const told[] = {".cl did not compile on ",
        "; with '-cl-std=CL1.2 -D", device,
        "clBuildProgram failed: CL_BUILD_PROGRAM_FAILURE (-11)", words};
    ck_assert_int_eq(error->cl_code, CL_BUILD_PROGRAM_FAILURE);
    for (size_t i = 0; i < COUNT(told); ++i)
        ck_assert_msg(strstr(error->message, told[i]) != NULL,
            "no \"%s\" in: %s", told[i], error->message);
}

START_TEST(a_build_that_fails_is_told_with_options_device_and_code)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    attention_trial trial;
    char log[200] = "";
    clattn_context *ctx = NULL;
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    ck_assert(attention_trial_create(&trial, &PROBLEM));
    shim_compile(REFUSALS[_i].compiler);
    ck_assert_int_eq(clattn_attention_plan(&plan, ctx, &trial.problem, &error),
        CLATTN_BUILD_FAILED);
    check_message(&error, REFUSALS[_i].words);
    check_hint(&error, REFUSALS[_i].compiler == SHIM_COMPILER_SILENT);
    ck_assert_uint_eq(clattn_context_build_log(ctx, log, sizeof log),
        strlen(REFUSALS[_i].log) + 1);
    ck_assert_str_eq(log, REFUSALS[_i].log);

    shim_compile(SHIM_COMPILER_NONE);
    ck_assert_msg(
        clattn_attention_plan(&plan, ctx, &trial.problem, &error) == CLATTN_OK,
        "afterwards: %s", error.message);
    clattn_plan_destroy(plan);
    attention_trial_destroy(&trial);
    clattn_context_destroy(ctx);
    shim_compile(SHIM_COMPILER_REAL);
}
END_TEST

/* One that says nothing may have met another process: it is asked once more. */
static const struct {
    enum shim_compiler compiler;
    size_t failing; /* the call that fails; 0: all do */
    clattn_status status;
    size_t calls;
} ASKED[] = {
    {SHIM_COMPILER_REAL, 1, CLATTN_OK, 2},
    {SHIM_COMPILER_SILENT, 0, CLATTN_BUILD_FAILED, 2},
    {SHIM_COMPILER_FAILS, 0, CLATTN_BUILD_FAILED, 1},
};

START_TEST(a_compiler_that_names_no_error_is_asked_twice)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    clattn_context *ctx = NULL;
    clattn_linear product;
    clattn_linear_init(&product, sizeof product);
    product.rows = product.n_in = product.n_out = 1;
    product.dtype = CLATTN_F32;
    product.weight_order = CLATTN_IN_OUT;
    product.kernel = "tiled4";
    setenv("CLATTN_CACHE", "0", 1);
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    unsetenv("CLATTN_CACHE");
    shim_compile(ASKED[_i].compiler);
    shim_arm(SHIM_clBuildProgram, ASKED[_i].failing, CL_BUILD_PROGRAM_FAILURE);
    ck_assert_msg(
        clattn_linear_plan(&plan, ctx, &product, &error) == ASKED[_i].status,
        "%s", error.message);
    shim_disarm();
    ck_assert_uint_eq(shim_calls(SHIM_clBuildProgram), ASKED[_i].calls);
    shim_compile(SHIM_COMPILER_REAL);
    clattn_plan_destroy(plan);
    clattn_context_destroy(ctx);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("build refused");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t,
        a_build_that_fails_is_told_with_options_device_and_code, 0,
        (int)COUNT(REFUSALS));
    tcase_add_loop_test(
        t, a_compiler_that_names_no_error_is_asked_twice, 0, (int)COUNT(ASKED));
    Suite *suite = suite_create("build refused");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
