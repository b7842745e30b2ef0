/* SPDX-License-Identifier: Apache-2.0
 *
 * test_shrunken.c - devices that are small in one thing and in all: the same
 * results, or a refusal that names the limit.  The device is the one at hand,
 * and the shim makes it answer, and refuse, as a smaller one.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "shim.h"
#include "suite.h"

#define MIB ((cl_ulong)1 << 20)

/* `limit` is what a refusal must hold; NULL: nothing is to be refused. */
static const struct {
    const char *about;
    shim_device device;
    const char *limit;
} DEVICES[] = {
    {"groups of 64", {.gpu = true, .max_group = 64}, "the device has 64"},
    {"groups of 1", {.gpu = true, .max_group = 1}, "the device has 1"},
    {"32 KiB of local memory", {.gpu = true, .local_bytes = 32 << 10},
        "the device has 32768"},
    {"1 KiB of local memory", {.gpu = true, .local_bytes = 1 << 10},
        "the device has 1024"},
    {"no double", {.no_double = true}, NULL},
    {"buffers of 64 MiB", {.max_buffer_bytes = 64 * MIB}, NULL},
    {"buffers of 64 KiB", {.max_buffer_bytes = 64 << 10}, "65536"},
    {"OpenCL 1.2", {.only_1_2 = true}, NULL},
    {"all of it",
        {.gpu = true,
            .max_group = 1,
            .local_bytes = 1 << 10,
            .max_buffer_bytes = 64 * MIB,
            .no_double = true,
            .only_1_2 = true},
        "the device has 1"},
};

/* The context keeps what it has asked once. */
static void open_device(size_t which)
{
    shim_shrink(&DEVICES[which].device);
    opencl_open();
}

static void close_device(void)
{
    opencl_close();
    shim_shrink(NULL);
    ck_assert_uint_eq(shim_objects(), 0);
}

static size_t passed, refused;

/* Passes over a refusal for the device's sake. */
static void check_status(size_t which, const char *text, clattn_status status,
    const clattn_error *error)
{
    const char *limit = DEVICES[which].limit;
    if (status == CLATTN_UNSUPPORTED && limit) {
        ck_assert_msg(strstr(error->message, limit) != NULL,
            "%s: %s: no \"%s\" in: %s", DEVICES[which].about, text, limit,
            error->message);
        ++refused;
        return;
    }
    ck_assert_msg(status == CLATTN_OK, "%s: %s: %s", DEVICES[which].about, text,
        error->message);
    ++passed;
}

/* ---- The tables ------------------------------------------------------------- */

static void check_attention(
    size_t which, const attention_case *c, const char *kernel)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    attention_case_text(c, text);
    ck_assert(attention_trial_create(&trial, c));
    trial.problem.kernel = kernel;
    const clattn_status first =
        clattn_attention_supported(opencl_get()->ctx, &trial.problem, &error);
    const clattn_status status = run_attention(&trial, RUN_HOST, &error);
    ck_assert_msg(first == CLATTN_OK || status == first,
        "%s: %s: supported says %d, the call %d", DEVICES[which].about, text,
        first, status);
    check_status(which, text, status, &error);
    if (status == CLATTN_OK) {
        ck_assert_int_eq(
            attention_expect(&expected, &trial, &error), CLATTN_OK);
        ck_assert_msg(attention_meets(&expected, &trial, why), "%s: %s: %s",
            DEVICES[which].about, text, why);
        attention_expected_free(&expected);
    }
    attention_trial_destroy(&trial);
}

enum {
    STRIDE = 23, /* through the tables: some of each sweep */
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

static void check_linear(size_t which, linear_case c)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    linear_trial trial;
    expected y;
    linear_case_text(&c, text);
    ck_assert(linear_trial_create(&trial, &c));
    const clattn_status status = run_linear(&trial, RUN_HOST, &error);
    check_status(which, text, status, &error);
    if (status == CLATTN_OK) {
        ck_assert_int_eq(linear_expect(&y, &trial, &error), CLATTN_OK);
        ck_assert_msg(linear_meets(&y, &trial, why), "%s: %s: %s",
            DEVICES[which].about, text, why);
        expected_free(&y);
    }
    linear_trial_destroy(&trial);
}

static void check_layer(size_t which, layer_case c)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    layer_trial trial;
    layer_expected expected;
    layer_case_text(&c, text);
    ck_assert(layer_trial_create(&trial, &c));
    const clattn_status status = run_layer(&trial, RUN_HOST, &error);
    check_status(which, text, status, &error);
    if (status == CLATTN_OK) {
        ck_assert_int_eq(layer_expect(&expected, &trial, &error), CLATTN_OK);
        ck_assert_msg(layer_meets(&expected, &trial, why), "%s: %s: %s",
            DEVICES[which].about, text, why);
        layer_expected_free(&expected);
    }
    layer_trial_destroy(&trial);
}

/* Nothing is refused where the planner chooses, but what no buffer can hold. */
START_TEST(the_planners_choice_is_right)
{
    const size_t which = (size_t)_i;
    open_device(which);
    passed = refused = 0;
    for (size_t i = 0; i < attention_case_count(); i += STRIDE) {
        const attention_case c = attention_case_at(i);
        check_attention(which, &c, NULL);
    }
    for (size_t i = 0; i < linear_case_count(); i += STRIDE / 2)
        check_linear(which, linear_case_at(i));
    for (size_t i = 0; i < layer_case_count(); i += STRIDE / 4)
        check_layer(which, layer_case_at(i));
    printf("%s, the planner's choice: %zu cases right, %zu refused\n",
        DEVICES[which].about, passed, refused);
    ck_assert_msg(refused == 0 || DEVICES[which].device.max_buffer_bytes > 0,
        "%s: %zu refused", DEVICES[which].about, refused);
    close_device();
}
END_TEST

static const attention_case EACH[] = {
    {"each row", {2, 4, 2, 17, 19, 9, 9}, .causal = 1,
        .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true, .returns = BOTH},
    {"each row, wide", {1, 2, 1, 5, 40, 70, 64}, .returns = CLATTN_RETURN_LSE},
};

/* On a device of that kind with no limit, a row may not do such problems. */
static bool row_takes(const attention_case *c, const char *row)
{
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, c));
    trial.problem.kernel = row;
    const clattn_status status =
        clattn_attention_supported(opencl_get()->ctx, &trial.problem, &error);
    attention_trial_destroy(&trial);
    return status == CLATTN_OK;
}

START_TEST(each_row_is_right_or_names_the_limit)
{
    const size_t which = (size_t)_i;
    bool takes[COUNT(EACH)][32] = {{false}};
    const size_t rows = (size_t)rows_count();
    ck_assert_uint_le(rows, 32);
    const shim_device *d = &DEVICES[which].device;
    const shim_device large = {.gpu = d->gpu};
    shim_shrink(&large);
    opencl_open();
    for (size_t i = 0; i < COUNT(EACH); ++i)
        for (size_t row = 0; row < rows; ++row)
            takes[i][row] = row_takes(&EACH[i], rows_row(row));
    opencl_close();

    open_device(which);
    passed = refused = 0;
    for (size_t i = 0; i < COUNT(EACH); ++i)
        for (size_t row = 0; row < rows; ++row)
            if (takes[i][row])
                check_attention(which, &EACH[i], rows_row(row));
    printf("%s, row by row: %zu cases right, %zu refused\n",
        DEVICES[which].about, passed, refused);
    ck_assert_uint_gt(passed, 0);
    if (d->max_group == 1 || d->local_bytes == 1 << 10)
        ck_assert_msg(refused > 0, "%s: none", DEVICES[which].about);
    close_device();
}
END_TEST

/* ---- Buffers ------------------------------------------------------------------ */

enum {
    MANY = 4100 /* squared and in f32 more than 64 MiB */
};

static size_t device_named(const char *about)
{
    size_t i = 0;
    while (strcmp(DEVICES[i].about, about) != 0)
        ++i;
    return i;
}

START_TEST(scores_larger_than_a_buffer_are_cut)
{
    const attention_case c = {
        .about = "many scores", .size = {1, 1, 1, MANY, MANY, 2, 2}};
    open_device(device_named("buffers of 64 MiB"));
    check_attention(device_named("buffers of 64 MiB"), &c, "materialised");
    close_device();
}
END_TEST

START_TEST(a_tensor_larger_than_a_buffer_is_refused)
{
    clattn_error error;
    clattn_attention problem;
    const size_t bytes = (size_t)MANY * MANY * sizeof(float);
    float *small = calloc(MANY, sizeof *small);
    float *weights = calloc(1, bytes); /* its pages are never touched */
    ck_assert(small && weights);
    clattn_attention_init(&problem, sizeof problem);
    problem.B = problem.Hq = problem.Hkv = problem.D = problem.Dv = 1;
    problem.Lq = problem.Lk = MANY;
    problem.dtype = CLATTN_F32;
    problem.flags = CLATTN_RETURN_WEIGHTS;
    float *out = calloc(MANY, sizeof *out);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .q = {.host = small},
        .k = {.host = small},
        .v = {.host = small},
        .out = {.host = out},
        .weights = {.host = weights}};

    open_device(device_named("buffers of 64 MiB"));
    const clattn_status status =
        clattn_attention_host(opencl_get()->ctx, &problem, &args, &error);
    ck_assert_msg(
        status == CLATTN_UNSUPPORTED, "%d: %s", status, error.message);
    ck_assert_msg(strstr(error.message, "weights") != NULL &&
                      strstr(error.message, "67108864") != NULL,
        "%s", error.message);
    close_device();
    free(out);
    free(weights);
    free(small);
}
END_TEST

int main(void)
{
    /* What one device has built is nothing to the next. */
    setenv("CLATTN_CACHE", "0", 1);
    TCase *t = tcase_create("shrunken");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(
        t, the_planners_choice_is_right, 0, (int)COUNT(DEVICES));
    tcase_add_loop_test(
        t, each_row_is_right_or_names_the_limit, 0, (int)COUNT(DEVICES));
    tcase_add_test(t, scores_larger_than_a_buffer_are_cut);
    tcase_add_test(t, a_tensor_larger_than_a_buffer_is_refused);

    Suite *suite = suite_create("shrunken devices");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
