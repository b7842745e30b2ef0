/* SPDX-License-Identifier: Apache-2.0
 *
 * test_null_pointers.c - every public function with each of its pointers NULL
 * in turn: a status and the argument's name, nothing made, nothing lost.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fake_opencl.h"
#include "legal.h"
#include "suite.h"

static legal subject;

static void begin(void)
{
    FAKE_DEVICE = fake_cpu();
    legal_create(&subject);
}

static void end(void)
{
    legal_destroy(&subject);
    ck_assert_uint_eq(fake_live(), 0);
}

/* ---- The calls ----------------------------------------------------------- */

/* A call in which argument number `null`, counted from 0, is NULL; with any
   other number it is legal. */
typedef clattn_status a_call(int null, clattn_error *error);

#define GIVEN(number, pointer) (null == (number) ? NULL : (pointer))

static clattn_status device_count(int null, clattn_error *error)
{
    size_t count = 0;
    return clattn_device_count(GIVEN(0, &count), error);
}

static clattn_status device_get(int null, clattn_error *error)
{
    clattn_device device = {.struct_size = sizeof device};
    return clattn_device_get(GIVEN(0, &device), 0, error);
}

static clattn_status context_create(int null, clattn_error *error)
{
    clattn_context *ctx = NULL;
    const clattn_status status =
        clattn_context_create(GIVEN(0, &ctx), "0", error);
    clattn_context_destroy(ctx);
    return status;
}

static clattn_status context_create_from_cl(int null, clattn_error *error)
{
    clattn_context *ctx = NULL;
    const clattn_status status = clattn_context_create_from_cl(GIVEN(0, &ctx),
        GIVEN(1, clattn_context_cl(subject.ctx)),
        GIVEN(2, clattn_context_device(subject.ctx)), error);
    clattn_context_destroy(ctx);
    return status;
}

static clattn_status convert(int null, clattn_error *error)
{
    float to[3];
    const double from[3] = {0.0};
    return clattn_convert(GIVEN(0, to), CLATTN_F32, GIVEN(1, from), CLATTN_F64,
        sizeof to / sizeof to[0], error);
}

/* What attention, linear and layer have in common. */
#define CALLS(X)                                                              \
    static clattn_status X##_supported(int null, clattn_error *error)         \
    {                                                                         \
        return clattn_##X##_supported(                                        \
            GIVEN(0, subject.ctx), GIVEN(1, &subject.X), error);              \
    }                                                                         \
                                                                              \
    static clattn_status X##_plan(int null, clattn_error *error)              \
    {                                                                         \
        clattn_plan *plan = NULL;                                             \
        const clattn_status status = clattn_##X##_plan(GIVEN(0, &plan),       \
            GIVEN(1, subject.ctx), GIVEN(2, &subject.X), error);              \
        ck_assert_int_eq(status == CLATTN_OK, plan != NULL);                  \
        clattn_plan_destroy(plan);                                            \
        return status;                                                        \
    }                                                                         \
                                                                              \
    static clattn_status X##_enqueue(int null, clattn_error *error)           \
    {                                                                         \
        clattn_plan *plan = NULL;                                             \
        cl_event before = NULL, event = NULL;                                 \
        clEnqueueMarkerWithWaitList(subject.queue, 0, NULL, &before);         \
        ck_assert_int_eq(                                                     \
            clattn_##X##_plan(&plan, subject.ctx, &subject.X, NULL),          \
            CLATTN_OK);                                                       \
        const clattn_status status = clattn_##X##_enqueue(GIVEN(0, plan),     \
            GIVEN(1, subject.queue), GIVEN(2, &subject.X##_mem), 1,           \
            GIVEN(3, &before), GIVEN(4, &event), error);                      \
        ck_assert_int_eq(status == CLATTN_OK && null != 4, event != NULL);    \
        if (event)                                                            \
            clReleaseEvent(event);                                            \
        clReleaseEvent(before);                                               \
        clattn_plan_destroy(plan);                                            \
        return status;                                                        \
    }                                                                         \
                                                                              \
    static clattn_status X##_host(int null, clattn_error *error)              \
    {                                                                         \
        return clattn_##X##_host(GIVEN(0, subject.ctx), GIVEN(1, &subject.X), \
            GIVEN(2, &subject.X##_host), error);                              \
    }                                                                         \
                                                                              \
    static clattn_status X##_reference(int null, clattn_error *error)         \
    {                                                                         \
        return clattn_##X##_reference(                                        \
            GIVEN(0, &subject.X), GIVEN(1, &subject.X##_host), error);        \
    }

CALLS(attention)
CALLS(linear)
CALLS(layer)

/* ---- NULL ---------------------------------------------------------------- */

#define ROWS(X)                                                    \
    {X##_supported, {"ctx", #X}}, {X##_plan, {"plan", "ctx", #X}}, \
        {X##_enqueue, {"plan", "queue", "args", "wait_list"}},     \
        {X##_host, {"ctx", #X, "args"}},                           \
    {                                                              \
        X##_reference,                                             \
        {                                                          \
#X, "args"                                             \
        }                                                          \
    }

static const struct {
    a_call *call;
    const char *names[4]; /* of the pointers that may not be NULL */
} ALL[] = {
    {device_count, {"count"}},
    {device_get, {"device"}},
    {context_create, {"ctx"}},
    {context_create_from_cl, {"ctx", "cl", "device"}},
    {convert, {"to", "from"}},
    ROWS(attention),
    ROWS(linear),
    ROWS(layer),
};

START_TEST(each_null_is_refused_by_its_name)
{
    ALL[_i].call(-1, NULL); /* so that the context has its kernels */
    for (int null = 0; null < 4 && ALL[_i].names[null]; ++null) {
        const char *name = ALL[_i].names[null];
        clattn_error error;
        const size_t live = fake_live();
        char words[40];
        snprintf(words, sizeof words, "%s is NULL", name);
        memset(&error, 0x55, sizeof error);

        const clattn_status got = ALL[_i].call(null, &error);
        ck_assert_msg(got == CLATTN_INVALID && error.status == (int32_t)got,
            "row %d, %s NULL: %s", _i, name, clattn_status_text(got));
        ck_assert_msg(strstr(error.message, words) != NULL,
            "row %d: \"%s\" has no \"%s\"", _i, error.message, words);
        ck_assert_uint_eq(fake_live(), live);
        ck_assert_int_eq(ALL[_i].call(null, NULL), got);
    }
}
END_TEST

START_TEST(with_all_pointers_the_calls_are_legal)
{
    clattn_error error;
    const clattn_status got = ALL[_i].call(-1, &error);
    ck_assert_msg(got == CLATTN_OK, "row %d: %s", _i, error.message);
    ck_assert_int_eq(ALL[_i].call(-1, NULL), CLATTN_OK);
}
END_TEST

START_TEST(an_event_may_be_null)
{
    ck_assert_int_eq(attention_enqueue(4, NULL), CLATTN_OK);
    ck_assert_int_eq(linear_enqueue(4, NULL), CLATTN_OK);
    ck_assert_int_eq(layer_enqueue(4, NULL), CLATTN_OK);
}
END_TEST

START_TEST(what_returns_no_status_answers_null_with_nothing)
{
    clattn_context_destroy(NULL);
    clattn_plan_destroy(NULL);
    clattn_attention_init(NULL, sizeof(clattn_attention));
    clattn_linear_init(NULL, sizeof(clattn_linear));
    clattn_layer_init(NULL, sizeof(clattn_layer));
    ck_assert_ptr_null(clattn_context_cl(NULL));
    ck_assert_ptr_null(clattn_context_device(NULL));
    ck_assert_uint_eq(clattn_devices_passed_over(NULL, 1), 0);
    ck_assert_uint_ge(clattn_devices_passed_over(NULL, 0), 1);
    ck_assert_uint_eq(clattn_context_build_log(NULL, NULL, 0), 0);
    ck_assert_uint_eq(clattn_context_build_log(subject.ctx, NULL, 1), 0);
    ck_assert_uint_eq(clattn_context_build_log(subject.ctx, NULL, 0), 1);
    ck_assert_ptr_null(clattn_plan_describe(NULL));
    ck_assert_uint_eq(clattn_plan_workspace_bytes(NULL), 0);
    ck_assert_ptr_null(clattn_kernel_name(SIZE_MAX));
}
END_TEST

/* ---- What structs point to ----------------------------------------------- */

START_TEST(a_layer_without_its_attention_is_refused)
{
    clattn_error error;
    subject.layer.attention = NULL;
    ck_assert_int_eq(layer_supported(-1, &error), CLATTN_INVALID);
    ck_assert_msg(strstr(error.message, "attention is NULL") != NULL, "%s",
        error.message);
    ck_assert_int_eq(layer_reference(-1, NULL), CLATTN_INVALID);
}
END_TEST

/* Where the args of a call hold its tensors. */
typedef struct tensors {
    a_call *on_device, *on_host, *reference;
    void *mem, *host;
    size_t first, end; /* offsets of the first and behind the last */
} tensors;

static void check_tensor(
    const tensors *t, size_t offset, a_call *call, void *args)
{
    const clattn_output nowhere = {0};
    clattn_output kept;
    clattn_error error;
    memcpy(&kept, (char *)args + offset, sizeof kept);
    memcpy((char *)args + offset, &nowhere, sizeof nowhere);
    const bool was_given = kept.mem || kept.host;
    const clattn_status got = call(-1, &error);
    ck_assert_msg(got == (was_given ? CLATTN_INVALID : CLATTN_OK),
        "offset %zu of %zu: %s: %s", offset, t->end, clattn_status_text(got),
        error.message);
    ck_assert_msg(!was_given || strstr(error.message, "is NULL") != NULL, "%s",
        error.message);
    memcpy((char *)args + offset, &kept, sizeof kept);
}

#define TENSORS(X, first, after)                                   \
    {                                                              \
        X##_enqueue, X##_host, X##_reference, &subject.X##_mem,    \
            &subject.X##_host, offsetof(clattn_##X##_args, first), \
            offsetof(clattn_##X##_args, after)                     \
    }

START_TEST(each_tensor_that_is_asked_for_may_not_be_null)
{
    const tensors all[] = {
        TENSORS(attention, out, workspace),
        TENSORS(linear, y, workspace),
        TENSORS(layer, y, workspace),
    };
    for (size_t i = 0; i < COUNT(all); ++i) {
        const tensors *t = &all[i];
        for (size_t at = t->first; at < t->end; at += sizeof(clattn_input)) {
            check_tensor(t, at, t->on_device, t->mem);
            check_tensor(t, at, t->on_host, t->host);
            check_tensor(t, at, t->reference, t->host);
        }
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("null");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(
        t, with_all_pointers_the_calls_are_legal, 0, (int)COUNT(ALL));
    tcase_add_loop_test(
        t, each_null_is_refused_by_its_name, 0, (int)COUNT(ALL));
    tcase_add_test(t, an_event_may_be_null);
    tcase_add_test(t, what_returns_no_status_answers_null_with_nothing);
    tcase_add_test(t, a_layer_without_its_attention_is_refused);
    tcase_add_test(t, each_tensor_that_is_asked_for_may_not_be_null);

    Suite *suite = suite_create("null pointers");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
