/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures_cache.c - plans whose programs go to disk and come from there,
 * while the n-th call of OpenCL or of the C library fails, for every n: a miss
 * at worst, and the kernels are right.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "operation.h"
#include "rows.h"
#include "scratch.h"
#include "suite.h"
#include "walk.h"

static attention_trial trial;
static attention_expected wanted;
static clattn_plan *plan;

static clattn_status make_plan(clattn_error *error)
{
    return clattn_attention_plan(
        &plan, opencl_get()->ctx, &trial.problem, error);
}

static void destroy_plan(void)
{
    clattn_plan_destroy(plan);
    plan = NULL;
}

/* What the context holds now is run, from wherever it came. */
static void check_kernels(clattn_status status, const char *when)
{
    char why[ARENA_TEXT];
    clattn_error error;
    const operation called = operation_attention(&trial);
    if (status != CLATTN_OK)
        return;
    ck_assert_msg(
        called.host(opencl_get()->ctx, called.trial, &error) == CLATTN_OK,
        "%s: %s", when, error.message);
    ck_assert_msg(attention_meets(&wanted, &trial, why), "%s: %s", when, why);
    arena_restore(&trial.memory);
}

/* The cache may be missed, and what fails is else said as ever. */
static bool any(enum shim_point point)
{
    (void)point;
    return true;
}

static void open_on(const char *folder)
{
    char path[SCRATCH_PATH];
    setenv("XDG_CACHE_HOME", scratch_path(path, folder), 1);
    setenv("CLATTN_CACHE", "1", 1);
    unsetenv("CLATTN_CACHE_LIMIT");
    opencl_open();
}

static void open_on_an_empty_folder(void)
{
    static unsigned number = 0;
    char folder[40];
    snprintf(folder, sizeof folder, "cold%u", number++);
    open_on(folder);
}

/* A failure before may have cost the entry. */
static void open_on_a_full_folder(void)
{
    open_on("warm");
    ck_assert_int_eq(make_plan(NULL), CLATTN_OK);
    destroy_plan();
    opencl_close();
    open_on("warm");
}

static void take(const char *name, void (*open)(void), enum shim_point seen)
{
    const walk_deed deed = {.name = name,
        .prepare = open,
        .act = make_plan,
        .check = check_kernels,
        .undo = destroy_plan,
        .clear = opencl_close,
        .harmless = any};
    const walk_count count = walk(&deed);
    open();
    shim_arm(SHIM_POINTS, 0, 0);
    ck_assert_int_eq(make_plan(NULL), CLATTN_OK);
    shim_disarm();
    ck_assert_msg(shim_calls(seen) > 0, "%s: no %s", name, shim_name(seen));
    destroy_plan();
    opencl_close();
    ck_assert_uint_gt(count.harmless, 10);
    ck_assert_uint_eq(shim_objects(), 0);
}

START_TEST(programs_go_to_disk)
{
    take("program cache, store", open_on_an_empty_folder, SHIM_renameat);
}
END_TEST

START_TEST(programs_come_from_disk)
{
    take("program cache, load", open_on_a_full_folder,
        SHIM_clCreateProgramWithBinary);
}
END_TEST

static void make_trial(void)
{
    const attention_case c = {.about = "cache", .size = {1, 1, 1, 2, 3, 2, 2}};
    clattn_error error;
    scratch_begin();
    ck_assert(attention_trial_create(&trial, &c));
    trial.problem.kernel = rows_or_choice("fused");
    ck_assert_int_eq(attention_expect(&wanted, &trial, &error), CLATTN_OK);
}

static void free_trial(void)
{
    attention_expected_free(&wanted);
    attention_trial_destroy(&trial);
    scratch_end();
}

int main(void)
{
    TCase *t = tcase_create("cache");
    tcase_add_unchecked_fixture(t, make_trial, free_trial);
    tcase_set_timeout(t, 600);
    tcase_add_test(t, programs_go_to_disk);
    tcase_add_test(t, programs_come_from_disk);

    Suite *suite = suite_create("failures of the program cache");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
