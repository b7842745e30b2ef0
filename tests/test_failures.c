/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures.c - listing devices, making contexts and plans, while the n-th
 * call of OpenCL or of the C library fails, for every n.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kernel_source.h"
#include "opencl.h"
#include "operation.h"
#include "scratch.h"
#include "suite.h"
#include "walk.h"

static walk_count total;

static void take(const walk_deed *deed)
{
    const walk_count count = walk(deed);
    walk_add(&total, &count);
}

/* ---- Devices and contexts ---------------------------------------------------- */

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
        .harmless = is_about_texts};
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
    return planned.plan(&plan, planned.trial, error);
}

static void destroy_plan(void)
{
    clattn_plan_destroy(plan);
    plan = NULL;
}

static void take_plan(
    const char *name, clattn_status returns, void (*open)(void))
{
    const walk_deed deed = {.name = name,
        .returns = returns,
        .prepare = open,
        .act = make_plan,
        .undo = destroy_plan,
        .clear = opencl_close};
    take(&deed);
}

static const attention_case SLOPES = {"slopes and lengths",
    {2, 4, 2, 7, 9, 9, 9}, .diagonal = CLATTN_TOP_LEFT, .alibi = true,
    .key_lengths = true, .returns = CLATTN_RETURN_LSE};

static void take_attention_plan(const char *name, const char *kernel,
    clattn_status returns, void (*open)(void))
{
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &SLOPES));
    trial.problem.kernel = kernel;
    planned = operation_attention(&trial);
    take_plan(name, returns, open);
    attention_trial_destroy(&trial);
}

START_TEST(a_plan_of_attention)
{
    take_attention_plan("plan, fused", "fused", CLATTN_OK, opencl_open);
    take_attention_plan("plan, tiled", "tiled4", CLATTN_OK, opencl_open);
}
END_TEST

START_TEST(a_plan_of_a_layer)
{
    const layer_case c = layer_case_at(4);
    layer_trial trial;
    ck_assert(layer_trial_create(&trial, &c));
    planned = operation_layer(&trial);
    take_plan("plan, layer", CLATTN_OK, opencl_open);
    layer_trial_destroy(&trial);
}
END_TEST

START_TEST(a_plan_of_a_projection)
{
    const linear_case c = linear_case_at(8);
    linear_trial trial;
    ck_assert(linear_trial_create(&trial, &c));
    planned = operation_linear(&trial);
    take_plan("plan, linear", CLATTN_OK, opencl_open);
    linear_trial_destroy(&trial);
}
END_TEST

/* ---- Sources out of a folder ---------------------------------------------------- */

static void open_with(const char *folder)
{
    setenv("CLATTN_KERNEL_DIR", folder, 1);
    opencl_open();
    unsetenv("CLATTN_KERNEL_DIR");
}

static void open_with_files(void)
{
    open_with(CLATTN_SOURCE_DIR "/kernels");
}

START_TEST(a_plan_from_files)
{
    take_attention_plan(
        "plan, sources in files", "fused", CLATTN_OK, open_with_files);
}
END_TEST

static void open_with_broken_files(void)
{
    char folder[SCRATCH_PATH];
    open_with(scratch_path(folder, "kernels"));
}

/* The log of a build that failed is read while other things fail too. */
START_TEST(a_plan_whose_kernels_do_not_compile)
{
    static const char text[] = "this is the broken part;\n";
    char path[SCRATCH_PATH], name[SCRATCH_PATH];
    mkdir(scratch_path(path, "kernels"), 0700);
    for (const kernel_source *s = KERNEL_SOURCES; s->file; ++s) {
        snprintf(name, sizeof name, "kernels/%s", s->file);
        scratch_write(path, name, text, sizeof text - 1);
    }
    take_attention_plan("plan, broken kernels", "fused", CLATTN_BUILD_FAILED,
        open_with_broken_files);
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
    TCase *t = tcase_create("failures");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, a_list_of_devices);
    tcase_add_test(t, a_context_of_its_own);
    tcase_add_test(t, a_context_from_the_callers);
    tcase_add_test(t, a_plan_of_attention);
    tcase_add_test(t, a_plan_of_a_layer);
    tcase_add_test(t, a_plan_of_a_projection);
    tcase_add_test(t, a_plan_from_files);
    tcase_add_test(t, a_plan_whose_kernels_do_not_compile);
    tcase_add_test(t, nothing_is_left);

    Suite *suite = suite_create("failures");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
