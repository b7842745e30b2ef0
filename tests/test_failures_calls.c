/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures_calls.c - enqueues and host calls of each operation, while the
 * n-th call of OpenCL or of the C library fails, for every n.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "operation.h"
#include "rows.h"
#include "suite.h"
#include "walk.h"

static walk_count total;

/* What is called, and whether its outputs are right. */
static operation called;
static bool (*meets)(char why[ARENA_TEXT]);

static clattn_plan *plan;
static cl_mem buffers[ARENA_TENSORS];
static cl_event gate; /* that every enqueue waits for */
static cl_event event;

/* ---- Outputs --------------------------------------------------------------- */

/* As the header has it: after CLATTN_DEVICE_ERROR they are unspecified. */
static void check_memory(clattn_status status, const char *when)
{
    char why[ARENA_TEXT];
    arena *a = called.memory;
    if (status == CLATTN_OK)
        ck_assert_msg(meets(why), "%s: %s", when, why);
    else if (status != CLATTN_DEVICE_ERROR)
        for (size_t m = 0; m < a->memories; ++m)
            ck_assert_msg(memcmp(a->memory[m].data, a->memory[m].before,
                              a->memory[m].count * sizeof(float)) == 0,
                "%s: a call that failed wrote to memory %zu", when, m);
    arena_restore(a);
}

static void write_buffers(void)
{
    for (size_t m = 0; m < called.memory->memories; ++m) {
        const arena_memory *memory = &called.memory->memory[m];
        ck_assert_int_eq(
            clEnqueueWriteBuffer(opencl_get()->in_order, buffers[m], CL_TRUE, 0,
                memory->count * sizeof(float), memory->data, 0, NULL, NULL),
            CL_SUCCESS);
    }
}

static void check_buffers(clattn_status status, const char *when)
{
    clFinish(opencl_get()->in_order);
    for (size_t m = 0; m < called.memory->memories; ++m)
        opencl_read(buffers[m], called.memory->memory[m].data,
            called.memory->memory[m].count * sizeof(float));
    ck_assert_msg((event != NULL) == (status == CLATTN_OK),
        "%s: an event must exist exactly on success", when);
    check_memory(status, when);
    write_buffers();
}

/* ---- The two ways ------------------------------------------------------------ */

static clattn_status call_host(clattn_error *error)
{
    return called.host(opencl_get()->ctx, called.trial, error);
}

static void nothing(void)
{
}

static clattn_status call_enqueue(clattn_error *error)
{
    return called.enqueue(plan, opencl_get()->in_order, called.trial, buffers,
        (clattn_output){0}, &gate, &event, error);
}

static void release_event(void)
{
    if (event)
        clReleaseEvent(event);
    event = NULL;
}

static void take(const walk_deed *deed)
{
    const walk_count count = walk(deed);
    walk_add(&total, &count);
}

static void take_host(const char *about)
{
    char name[100];
    snprintf(name, sizeof name, "host call, %s", about);
    const walk_deed deed = {
        .name = name, .act = call_host, .check = check_memory, .undo = nothing};
    take(&deed);
}

static clattn_status call_reference(clattn_error *error)
{
    return called.reference(called.trial, error);
}

static void take_reference(const char *about)
{
    char name[100];
    snprintf(name, sizeof name, "reference, %s", about);
    const walk_deed deed = {.name = name,
        .act = call_reference,
        .check = check_memory,
        .undo = nothing};
    take(&deed);
}

static void take_enqueue(const char *about)
{
    char name[100];
    clattn_error error;
    const arena *a = called.memory;
    snprintf(name, sizeof name, "enqueue, %s", about);
    const walk_deed deed = {.name = name,
        .act = call_enqueue,
        .check = check_buffers,
        .undo = release_event};
    ck_assert_msg(called.plan(&plan, opencl_get()->ctx, called.trial, &error) ==
                      CLATTN_OK,
        "%s", error.message);
    for (size_t m = 0; m < a->memories; ++m)
        buffers[m] = opencl_buffer(
            a->memory[m].data, a->memory[m].count * sizeof(float));
    gate = clCreateUserEvent(opencl_get()->cl, NULL);
    ck_assert_int_eq(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    take(&deed);
    clReleaseEvent(gate);
    for (size_t m = 0; m < a->memories; ++m)
        clReleaseMemObject(buffers[m]);
    clattn_plan_destroy(plan);
    plan = NULL;
}

/* Kernels are built before: test_failures.c has the failures of that.  The
   context and all that it keeps are gone afterwards. */
static void take_both(const char *about)
{
    clattn_error error;
    opencl_open();
    arena_remember(called.memory);
    ck_assert_msg(
        called.host(opencl_get()->ctx, called.trial, &error) == CLATTN_OK,
        "%s: %s", about, error.message);
    arena_restore(called.memory);
    take_host(about);
    take_enqueue(about);
    opencl_close();
    ck_assert_uint_eq(shim_objects(), 0);
}

/* ---- Attention ------------------------------------------------------------------ */

static attention_trial attention;
static attention_expected attention_wanted;

static bool attention_is_right(char why[ARENA_TEXT])
{
    return attention_meets(&attention_wanted, &attention, why);
}

enum {
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

/* Two outputs with gaps that are copied row by row; lengths, slopes, a table of
   items; packed outputs that go to the device and back; nothing to launch. */
static const struct {
    attention_case of;
    const char *kernel;
} ATTENTION[] = {
    {{"fused, gaps", {2, 2, 1, 5, 6, 4, 4}, .layout = LAYOUT_PADDED,
         .returns = CLATTN_RETURN_LSE},
        "fused"},
    {{"weights", {2, 2, 1, 5, 6, 4, 4}, .diagonal = CLATTN_TOP_LEFT,
         .alibi = true, .key_lengths = true, .returns = BOTH},
        "lanes_weights"},
    {{"tiled", {2, 2, 1, 5, 6, 4, 4}, .key_lengths = true, .returns = BOTH},
        "tiled4"},
    {{"packed", {2, 2, 1, 5, 6, 4, 4}, .query_starts = true, .key_starts = true,
         .returns = CLATTN_RETURN_LSE},
        NULL},
    {{"no rows", {2, 2, 1, 0, 6, 4, 4}, .returns = CLATTN_RETURN_LSE}, NULL},
};

START_TEST(attention_survives_each_failure)
{
    clattn_error error;
    ck_assert(attention_trial_create(&attention, &ATTENTION[_i].of));
    attention.problem.kernel = rows_or_choice(ATTENTION[_i].kernel);
    attention.host_arrays = true; /* enqueue makes buffers of them */
    ck_assert_int_eq(
        attention_expect(&attention_wanted, &attention, &error), CLATTN_OK);
    called = operation_attention(&attention);
    meets = attention_is_right;
    take_both(ATTENTION[_i].of.about);
    if (ATTENTION[_i].of.size.Lq > 0) /* else it asks for nothing */
        take_reference(ATTENTION[_i].of.about);
    attention_expected_free(&attention_wanted);
    attention_trial_destroy(&attention);
}
END_TEST

/* ---- Layers ------------------------------------------------------------------------ */

static layer_trial layer;
static layer_expected layer_wanted;

static bool layer_is_right(char why[ARENA_TEXT])
{
    return layer_meets(&layer_wanted, &layer, why);
}

static const layer_case LAYERS[] = {
    {"layer", {2, 2, 1, 4, 4, 4, 4, 6, 0, 0, 5}, CLATTN_OUT_IN,
        CLATTN_BIAS_Q | CLATTN_PROJECT_OUT | CLATTN_BIAS_O, .returns = 0},
    {"layer, all kept", {2, 2, 2, 4, 5, 4, 4, 6, 3, 0, 5}, CLATTN_IN_OUT,
        CLATTN_PROJECT_OUT | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT, .returns = BOTH,
        .key_lengths = true},
};

START_TEST(a_layer_survives_each_failure)
{
    clattn_error error;
    ck_assert(layer_trial_create(&layer, &LAYERS[_i]));
    ck_assert_int_eq(layer_expect(&layer_wanted, &layer, &error), CLATTN_OK);
    called = operation_layer(&layer);
    meets = layer_is_right;
    take_both(LAYERS[_i].about);
    take_reference(LAYERS[_i].about);
    layer_expected_free(&layer_wanted);
    layer_trial_destroy(&layer);
}
END_TEST

/* ---- Linear ------------------------------------------------------------------------ */

static linear_trial linear;
static expected linear_wanted;

static bool linear_is_right(char why[ARENA_TEXT])
{
    return linear_meets(&linear_wanted, &linear, why);
}

START_TEST(a_projection_survives_each_failure)
{
    clattn_error error;
    linear_case c = {"linear", 5, 7, 3, CLATTN_OUT_IN, true, true, 0};
    if (_i > 0) {
        c.about = "linear, no rows";
        c.rows = 0;
    }
    ck_assert(linear_trial_create(&linear, &c));
    ck_assert_int_eq(linear_expect(&linear_wanted, &linear, &error), CLATTN_OK);
    called = operation_linear(&linear);
    meets = linear_is_right;
    take_both(c.about);
    take_reference(c.about);
    expected_free(&linear_wanted);
    linear_trial_destroy(&linear);
}
END_TEST

/* ---- In all ------------------------------------------------------------------------ */

START_TEST(nothing_is_left)
{
    printf("in all: %zu failures walked, %zu of them harmless\n", total.walked,
        total.harmless);
    ck_assert_uint_gt(total.walked, 1000);
    ck_assert_uint_eq(shim_objects(), 0);
    ck_assert_uint_eq(shim_strays(), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("calls");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(
        t, attention_survives_each_failure, 0, (int)COUNT(ATTENTION));
    tcase_add_loop_test(t, a_layer_survives_each_failure, 0, COUNT(LAYERS));
    tcase_add_loop_test(t, a_projection_survives_each_failure, 0, 2);
    tcase_add_test(t, nothing_is_left);

    Suite *suite = suite_create("failures of calls");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
