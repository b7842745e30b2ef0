/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures.c - listing devices, making contexts and plans, while the n-th
 * call of OpenCL or of the C library fails, for every n.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>

#include "opencl.h"
#include "operation.h"
#include "suite.h"
#include "walk.h"

static walk_count total;

static void take(const walk_deed *deed)
{
    const walk_count count = walk(deed);
    walk_add(&total, &count);
}

/* ---- Devices and contexts ---------------------------------------------------- */

/* A failure would be made good by another device. */
static void leave_one_device(void)
{
    size_t count = 0;
    cl_platform_id platform = NULL;
    opencl_open();
    clGetDeviceInfo(opencl_get()->device, CL_DEVICE_PLATFORM, sizeof platform,
        &platform, NULL);
    opencl_close();
    shim_only_platform(platform);
    clattn_device_count(&count, NULL);
    ck_assert_msg(
        count == 1, "a platform with one device is needed, not %zu", count);
}

static clattn_status list_devices(clattn_error *error)
{
    clattn_device device = {.struct_size = sizeof device};
    return clattn_device_get(&device, 0, error);
}

static void nothing(void)
{
}

/* Texts that nothing depends on stay empty. */
static bool is_about_texts(enum shim_point point)
{
    return point == SHIM_clGetDeviceInfo;
}

START_TEST(a_list_of_devices)
{
    const walk_deed deed = {.name = "list of devices",
        .act = list_devices,
        .undo = nothing,
        .harmless = is_about_texts,
        .once_listed = CLATTN_NO_MEMORY};
    take(&deed);
}
END_TEST

static clattn_context *context;

static clattn_status make_context(clattn_error *error)
{
    return clattn_context_create(&context, NULL, error);
}

static void destroy_context(void)
{
    clattn_context_destroy(context);
    context = NULL;
}

START_TEST(a_context_of_its_own)
{
    const walk_deed deed = {
        .name = "context", .act = make_context, .undo = destroy_context};
    take(&deed);
}
END_TEST

static clattn_status make_context_from_cl(clattn_error *error)
{
    return clattn_context_create_from_cl(
        &context, opencl_get()->cl, opencl_get()->device, error);
}

START_TEST(a_context_from_the_callers)
{
    const walk_deed deed = {.name = "context from the caller's",
        .prepare = opencl_open,
        .act = make_context_from_cl,
        .undo = destroy_context,
        .clear = opencl_close};
    take(&deed);
}
END_TEST

/* ---- Plans ------------------------------------------------------------------- */

static operation planned;
static clattn_plan *plan;

static clattn_status make_plan(clattn_error *error)
{
    return planned.plan(&plan, opencl_get()->ctx, planned.trial, error);
}

static void destroy_plan(void)
{
    clattn_plan_destroy(plan);
    plan = NULL;
}

/* Builds are many and take long, so nothing is compiled: every kernel is built
   and run in test_failures_calls.c. */
static void take_plan(walk_deed deed, enum shim_compiler compiler)
{
    if (!deed.prepare)
        deed.prepare = opencl_open;
    deed.act = make_plan;
    deed.undo = destroy_plan;
    deed.clear = opencl_close;
    shim_compile(compiler);
    take(&deed);
    shim_compile(SHIM_COMPILER_REAL);
}

static const attention_case SLOPES = {"slopes and lengths",
    {2, 4, 2, 7, 9, 9, 9}, .diagonal = CLATTN_TOP_LEFT, .alibi = true,
    .key_lengths = true, .returns = CLATTN_RETURN_LSE};

/* A log that cannot be read is empty. */
static bool is_about_logs(enum shim_point point)
{
    return point == SHIM_clGetProgramBuildInfo || point == SHIM_calloc;
}

static void open_with_files(void)
{
    setenv("CLATTN_KERNEL_DIR", CLATTN_SOURCE_DIR "/kernels", 1);
    opencl_open();
    unsetenv("CLATTN_KERNEL_DIR");
}

START_TEST(a_plan_of_attention)
{
    const walk_deed fused = {.name = "plan, fused"};
    const walk_deed tiled = {.name = "plan, tiled"};
    const walk_deed files = {
        .name = "plan, sources in files", .prepare = open_with_files};
    const walk_deed broken = {.name = "plan, broken kernels",
        .returns = CLATTN_BUILD_FAILED,
        .harmless = is_about_logs};
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &SLOPES));
    planned = operation_attention(&trial);
    take_plan(fused, SHIM_COMPILER_NONE);
    take_plan(files, SHIM_COMPILER_NONE);
    take_plan(broken, SHIM_COMPILER_FAILS);
    trial.problem.kernel = "tiled4";
    take_plan(tiled, SHIM_COMPILER_NONE);
    attention_trial_destroy(&trial);
}
END_TEST

/* Emulated: a driver that fails in the product that is tried first leaves the
   plan to the next row, and the unit to the next plan; without memory nothing is
   remembered of it. */
static void open_with_units(void)
{
    setenv("CLATTN_TUNING", "emulate_units=1", 1);
    opencl_open();
    unsetenv("CLATTN_TUNING");
}

static bool is_about_trials(enum shim_point point)
{
    return point == SHIM_clBuildProgram || point == SHIM_clSetKernelArg ||
           point == SHIM_clEnqueueNDRangeKernel ||
           point == SHIM_clEnqueueReadBuffer || point == SHIM_calloc ||
           point == SHIM_malloc || point == SHIM_realloc;
}

START_TEST(a_plan_that_tries_a_matrix_unit)
{
    static const attention_case c = {"16-bit weights", {1, 2, 1, 5, 7, 16, 8},
        .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_F16, CLATTN_F16, 0},
        .precision = CLATTN_PRECISION_STORAGE};
    const walk_deed deed = {.name = "plan, matrix unit",
        .prepare = open_with_units,
        .tries = true,
        .harmless = is_about_trials};
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    planned = operation_attention(&trial);
    trial.problem.disable = "lanes,lanes_weights";
    take_plan(deed, SHIM_COMPILER_REAL);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(a_plan_of_a_layer)
{
    const walk_deed deed = {.name = "plan, layer"};
    const layer_case c = layer_case_at(4);
    layer_trial trial;
    ck_assert(layer_trial_create(&trial, &c));
    planned = operation_layer(&trial);
    take_plan(deed, SHIM_COMPILER_NONE);
    layer_trial_destroy(&trial);
}
END_TEST

START_TEST(a_plan_of_a_projection)
{
    const walk_deed deed = {.name = "plan, linear"};
    const linear_case c = linear_case_at(8);
    linear_trial trial;
    ck_assert(linear_trial_create(&trial, &c));
    planned = operation_linear(&trial);
    take_plan(deed, SHIM_COMPILER_NONE);
    linear_trial_destroy(&trial);
}
END_TEST

/* ---- In all ------------------------------------------------------------------------ */

START_TEST(nothing_is_left)
{
    printf("in all: %zu failures walked, %zu of them harmless\n", total.walked,
        total.harmless);
    ck_assert_uint_gt(total.walked, 300);
    ck_assert_uint_eq(shim_objects(), 0);
    ck_assert_uint_eq(shim_strays(), 0);
}
END_TEST

int main(void)
{
    setenv("CLATTN_CACHE", "0", 1); /* builds are to be seen */
    TCase *t = tcase_create("failures");
    tcase_add_unchecked_fixture(t, leave_one_device, NULL);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, a_list_of_devices);
    tcase_add_test(t, a_context_of_its_own);
    tcase_add_test(t, a_context_from_the_callers);
    tcase_add_test(t, a_plan_of_attention);
    tcase_add_test(t, a_plan_that_tries_a_matrix_unit);
    tcase_add_test(t, a_plan_of_a_layer);
    tcase_add_test(t, a_plan_of_a_projection);
    tcase_add_test(t, nothing_is_left);

    Suite *suite = suite_create("failures");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
