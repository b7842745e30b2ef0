/* SPDX-License-Identifier: Apache-2.0
 *
 * test_handed_large.c - what users of other attention libraries have met with
 * many heads, tensors of more than 2^31 elements and buffers that a device does
 * not have.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "extent.h"
#include "handed.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

/* ---- Many heads ------------------------------------------------------------------- */

static void check_many(size_t B, size_t H, const char *row)
{
    const attention_case c = {
        "more than 65535 heads", {B, H, H, 1, 1, 1, 1}, .returns = 0};
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    rows_take(&trial, row);
    for (size_t n = 0; n < B * H; ++n)
        *arena_at(&trial.memory, SLOT_V, n / H, n % H, 0, 0) = (float)(n % 7);
    arena_remember(&trial.memory);
    ck_assert_msg(run_attention(&trial, RUN_HOST, &error) == CLATTN_OK,
        "row %s: %s", handed_name(row), error.message);
    for (size_t n = 0; n < B * H; ++n)
        ck_assert_float_eq(
            *arena_at(&trial.memory, SLOT_OUT, n / H, n % H, 0, 0),
            (float)(n % 7));
    attention_trial_destroy(&trial);
}

START_TEST(there_may_be_65536_items_or_heads)
{
    check_many(65536, 1, handed_row(_i));
    check_many(1, 65536, handed_row(_i));
}
END_TEST

/* ---- Offsets beyond 31 bits ----------------------------------------------------------- */

START_TEST(the_last_of_many_elements_has_its_number)
{
    const size_t size[] = {400, 4, 10496, 128};
    const size_t stride[] = {4 * 10496 * 128, 10496 * 128, 128, 1};
    size_t span = 0;
    ck_assert(extent_span(size, stride, &span));
    ck_assert_uint_eq(span - 1, 2149580799);
}
END_TEST

/* The tensors of a call, one of which lies with its second item more than 2^31
   elements behind the first. */
enum {
    FAR_Q,
    FAR_K,
    FAR_V,
    FAR_OUT,
    FAR_MASK,
    FAR_TENSORS
};
static const char *const NAMES[] = {"q", "k", "v", "out", "mask"};

/* f16 by its bits: 1, 2, 3 and 4. */
static const uint16_t ONE_TO_FOUR[] = {0x3c00, 0x4000, 0x4200, 0x4400};

#define FAR_STRIDE (((size_t)1 << 31) + 64)

typedef struct far_tensor {
    size_t element, stride; /* bytes, elements */
    unsigned char *memory;  /* pages that nobody touches are never there */
    cl_mem buffer;
} far_tensor;

/* False where the device, or this machine, has no such buffer. */
static bool create_far(far_tensor *t)
{
    cl_int code = CL_SUCCESS;
    const size_t bytes = (t->stride + 64) * t->element;
    t->buffer = NULL;
    t->memory = calloc(bytes, 1);
    if (t->memory == NULL || bytes > opencl_get()->ctx->limits.max_buffer_bytes)
        return false;
    t->buffer = clCreateBuffer(opencl_get()->cl,
        CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, t->memory, &code);
    return code == CL_SUCCESS;
}

static void destroy_far(far_tensor *t)
{
    if (t->buffer != NULL)
        clReleaseMemObject(t->buffer);
    free(t->memory);
}

/* Two items of one query and two keys, D = Dv = 1, q = k = 0, values 1 and 2 in
   the first and 3 and 4 in the second, whose first key the mask hides. */
static clattn_status attend_far(far_tensor *t, const char *row)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    cl_event event = NULL;
    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = 2, a.Hq = a.Hkv = 1, a.Lq = 1, a.Lk = 2, a.D = a.Dv = 1;
    a.dtype = CLATTN_F16;
    a.kernel = row;
    clattn_tensor *const tensors[] = {&a.q, &a.k, &a.v, &a.out};
    for (size_t n = FAR_Q; n <= FAR_OUT; ++n)
        *tensors[n] =
            (clattn_tensor){.batch = t[n].stride, .head = 2, .row = 1};
    a.mask = (clattn_mask){.size = {2, 1, 1, 2},
        .stride = {t[FAR_MASK].stride, 2, 2, 1},
        .dtype = CLATTN_BOOL};
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.mem = t[FAR_OUT].buffer},
        .q = {.mem = t[FAR_Q].buffer},
        .k = {.mem = t[FAR_K].buffer},
        .v = {.mem = t[FAR_V].buffer},
        .mask = {.mem = t[FAR_MASK].buffer}};
    clattn_status status =
        clattn_attention_plan(&plan, opencl_get()->ctx, &a, &error);
    if (status == CLATTN_OK)
        status = clattn_attention_enqueue(
            plan, opencl_get()->in_order, &args, 0, NULL, &event, &error);
    ck_assert_msg(status == CLATTN_OK || status == CLATTN_UNSUPPORTED, "%s",
        error.message);
    if (status == CLATTN_OK)
        ck_assert(opencl_finish_event(event));
    clattn_plan_destroy(plan);
    return status;
}

static void put(const far_tensor *t, size_t element, const void *value)
{
    ck_assert_int_eq(
        clEnqueueWriteBuffer(opencl_get()->in_order, t->buffer, CL_TRUE,
            element * t->element, t->element, value, 0, NULL, NULL),
        CL_SUCCESS);
}

static uint16_t get_out(const far_tensor *t, size_t element)
{
    uint16_t value = 0;
    ck_assert_int_eq(
        clEnqueueReadBuffer(opencl_get()->in_order, t->buffer, CL_TRUE,
            element * t->element, t->element, &value, 0, NULL, NULL),
        CL_SUCCESS);
    return value;
}

static void check_far(far_tensor *t, const char *row)
{
    const unsigned char yes = 1;
    for (size_t n = 0; n < 4; ++n) {
        put(&t[FAR_V], n / 2 * t[FAR_V].stride + n % 2, &ONE_TO_FOUR[n]);
        if (n != 2)
            put(&t[FAR_MASK], n / 2 * t[FAR_MASK].stride + n % 2, &yes);
    }
    if (attend_far(t, row) == CLATTN_UNSUPPORTED)
        return;
    ck_assert_uint_eq(get_out(&t[FAR_OUT], 0), 0x3e00); /* (1 + 2) / 2 */
    ck_assert_uint_eq(get_out(&t[FAR_OUT], t[FAR_OUT].stride), 0x4400);
}

/* The planner's choice and each row that takes it; each tensor in turn. */
START_TEST(an_item_may_lie_beyond_two_to_the_31_elements)
{
    far_tensor t[FAR_TENSORS];
    bool created = true;
    for (size_t n = 0; n < FAR_TENSORS; ++n) {
        t[n].element = n == FAR_MASK ? 1 : 2;
        t[n].stride = n == (size_t)_i ? FAR_STRIDE : 32;
        created = create_far(&t[n]) && created;
    }
    if (!created)
        printf("%s beyond 2^31 elements is too large for this device\n",
            NAMES[_i]);
    for (int row = 0; created && row < handed_count(1); ++row)
        check_far(t, handed_row(row));
    for (size_t n = 0; n < FAR_TENSORS; ++n)
        destroy_far(&t[n]);
}
END_TEST

/* ---- Buffers beyond the device's ------------------------------------------------------- */

START_TEST(a_buffer_larger_than_the_device_has_is_refused_with_both_sizes)
{
    const attention_case c = {
        "a cache", {1, 1, 1, 1, 1088, 1, 1}, .returns = 0};
    clattn_context *ctx = opencl_get()->ctx;
    const size_t limit = ctx->limits.max_buffer_bytes;
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &c));
    ctx->limits.max_buffer_bytes = 4096;
    const clattn_status status = run_attention(&trial, RUN_HOST, &error);
    ctx->limits.max_buffer_bytes = limit;
    ck_assert_int_eq(status, CLATTN_UNSUPPORTED);
    ck_assert_msg(strstr(error.message, "4352") != NULL &&
                      strstr(error.message, "4096") != NULL,
        "%s", error.message);
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("large");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, there_may_be_65536_items_or_heads, 0, handed_count(1));
    tcase_add_test(t, the_last_of_many_elements_has_its_number);
    tcase_add_loop_test(
        t, an_item_may_lie_beyond_two_to_the_31_elements, 0, FAR_TENSORS);
    tcase_add_test(
        t, a_buffer_larger_than_the_device_has_is_refused_with_both_sizes);

    Suite *suite = suite_create("handed large");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
