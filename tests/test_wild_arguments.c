/* SPDX-License-Identifier: Apache-2.0
 *
 * test_wild_arguments.c - struct sizes, offsets, counts and enums that no
 * caller means, in every call that takes them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

static void check_named(const char *what, clattn_status got,
    clattn_status wanted, const clattn_error *error, const char *word)
{
    ck_assert_msg(got == wanted, "%s: %s: %s", what, clattn_status_text(got),
        error->message);
    ck_assert_msg(strstr(error->message, word) != NULL,
        "%s: \"%s\" has no \"%s\"", what, error->message, word);
}

/* ---- The calls ----------------------------------------------------------- */

/* On the subject's structs, in every way that reads args. */
typedef clattn_status a_call(
    const void *problem, const void *args, clattn_error *error);

#define CALLS(X)                                                     \
    static clattn_status X##_on_host(                                \
        const void *problem, const void *args, clattn_error *error)  \
    {                                                                \
        return clattn_##X##_host(subject.ctx, problem, args, error); \
    }                                                                \
    static clattn_status X##_reference(                              \
        const void *problem, const void *args, clattn_error *error)  \
    {                                                                \
        return clattn_##X##_reference(problem, args, error);         \
    }                                                                \
    static clattn_status X##_on_device(                              \
        const void *problem, const void *args, clattn_error *error)  \
    {                                                                \
        clattn_plan *plan = NULL;                                    \
        clattn_status status =                                       \
            clattn_##X##_plan(&plan, subject.ctx, problem, error);   \
        if (status == CLATTN_OK)                                     \
            status = clattn_##X##_enqueue(                           \
                plan, subject.queue, args, 0, NULL, NULL, error);    \
        clattn_plan_destroy(plan);                                   \
        return status;                                               \
    }

CALLS(attention)
CALLS(linear)
CALLS(layer)

typedef struct target {
    const char *name;
    const void *problem;
    size_t problem_bytes, args_bytes;
    const void *on_host, *on_device; /* args */
    size_t first, end;               /* where args hold tensors */
    a_call *call[3];                 /* host, reference, device */
} target;

#define TARGET(X, first, after)                                        \
    {                                                                  \
#X, &subject.X, sizeof(clattn_##X), sizeof(clattn_##X##_args), \
            &subject.X##_host, &subject.X##_mem,                       \
            offsetof(clattn_##X##_args, first),                        \
            offsetof(clattn_##X##_args, after),                        \
        {                                                              \
            X##_on_host, X##_reference, X##_on_device                  \
        }                                                              \
    }

static const target TARGETS[] = {
    TARGET(attention, out, workspace),
    TARGET(linear, y, workspace),
    TARGET(layer, y, workspace),
};

/* ---- struct_size --------------------------------------------------------- */

enum {
    MARGIN = 1 << 13
};

/* A copy of a struct of `bytes` that says it has `size`, with room for it. */
static void *resized(const void *from, size_t bytes, size_t size)
{
    char *copy = calloc(1, bytes + MARGIN);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, from, bytes);
    memcpy(copy, &size, sizeof size);
    return copy;
}

/* By how much a size is off, and what becomes of it. */
static const struct {
    const char *about;
    size_t size;
    size_t beyond; /* added to the struct's own, if size is 0 */
    clattn_status status;
} SIZES[] = {
    {"one byte", 1, 0, CLATTN_INVALID},
    {"a size alone", sizeof(size_t), 0, CLATTN_INVALID},
    {"all", SIZE_MAX, 0, CLATTN_INVALID},
    {"2^32", (size_t)1 << 32, 0, CLATTN_INVALID},
    {"one less", 0, SIZE_MAX, CLATTN_INVALID},
    {"the struct's own", 0, 0, CLATTN_OK},
    {"eight more, all 0", 0, 8, CLATTN_OK},
    {"a page more, all 0", 0, 4096, CLATTN_OK},
    {"beyond any version", 0, 4097, CLATTN_INVALID},
};

static void check_sizes(const target *t, size_t row)
{
    for (int way = 0; way < 3; ++way) {
        const void *args = way < 2 ? t->on_host : t->on_device;
        const size_t own = t->problem_bytes, own_args = t->args_bytes;
        const size_t size = SIZES[row].size;
        void *problem =
            resized(t->problem, own, size ? size : own + SIZES[row].beyond);
        void *other =
            resized(args, own_args, size ? size : own_args + SIZES[row].beyond);
        const char *about = SIZES[row].about;
        const char *word = SIZES[row].status == CLATTN_OK ? "" : "struct_size";
        clattn_error error;
        clattn_status got = t->call[way](problem, args, &error);
        check_named(about, got, SIZES[row].status, &error, word);
        got = t->call[way](t->problem, other, &error);
        check_named(about, got, SIZES[row].status, &error, word);
        free(problem);
        free(other);
    }
}

START_TEST(struct_sizes_are_those_of_a_version)
{
    for (size_t i = 0; i < COUNT(TARGETS); ++i)
        check_sizes(&TARGETS[i], (size_t)_i);
}
END_TEST

START_TEST(a_struct_size_of_0_is_refused_everywhere)
{
    clattn_error error;
    clattn_device device = {.struct_size = 0};
    subject.inside.struct_size = 0;
    check_named("layer",
        layer_on_host(&subject.layer, &subject.layer_host, &error),
        CLATTN_INVALID, &error, "attention.struct_size is 0");
    subject.inside.struct_size = sizeof subject.inside;
    check_named("device", clattn_device_get(&device, 0, &error), CLATTN_INVALID,
        &error, "struct_size is 0");
    device.struct_size = sizeof device - 1;
    check_named("device", clattn_device_get(&device, 0, &error), CLATTN_INVALID,
        &error, "struct_size");
    for (size_t i = 0; i < COUNT(TARGETS); ++i) {
        const target *t = &TARGETS[i];
        void *problem = resized(t->problem, t->problem_bytes, 0);
        void *args = resized(t->on_host, t->args_bytes, 0);
        check_named(t->name, t->call[0](problem, t->on_host, &error),
            CLATTN_INVALID, &error, "struct_size is 0");
        check_named(t->name, t->call[0](t->problem, args, &error),
            CLATTN_INVALID, &error, "args.struct_size is 0");
        free(problem);
        free(args);
    }
}
END_TEST

START_TEST(what_a_newer_version_asks_for_is_not_ignored)
{
    for (size_t i = 0; i < COUNT(TARGETS); ++i) {
        const target *t = &TARGETS[i];
        char *problem =
            resized(t->problem, t->problem_bytes, t->problem_bytes + 8);
        clattn_error error;
        problem[t->problem_bytes + 7] = 1;
        check_named(t->name, t->call[1](problem, t->on_host, &error),
            CLATTN_UNSUPPORTED, &error, "struct_size");
        free(problem);
    }
}
END_TEST

/* Only what is said to be there is written; a size that none can have leaves
   a struct that is refused. */
START_TEST(init_writes_no_more_than_it_is_given)
{
    static const size_t GIVEN[] = {0, 8, 16, 100};
    unsigned char bytes[sizeof(clattn_layer)];
    for (size_t i = 0; i < COUNT(GIVEN); ++i) {
        memset(bytes, 0x55, sizeof bytes);
        clattn_attention_init((clattn_attention *)(void *)bytes, GIVEN[i]);
        clattn_linear_init((clattn_linear *)(void *)bytes, GIVEN[i]);
        clattn_layer_init((clattn_layer *)(void *)bytes, GIVEN[i]);
        for (size_t at = GIVEN[i]; at < sizeof bytes; ++at)
            ck_assert_uint_eq(bytes[at], 0x55);
    }
    clattn_error error;
    clattn_attention *wild = calloc(1, sizeof *wild);
    ck_assert_ptr_nonnull(wild);
    clattn_attention_init(wild, SIZE_MAX);
    check_named("init", clattn_attention_supported(subject.ctx, wild, &error),
        CLATTN_INVALID, &error, "struct_size");
    free(wild);
}
END_TEST

/* ---- Offsets ------------------------------------------------------------- */

static const size_t OFFSETS[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1,
    SIZE_MAX / 4, (size_t)1 << 62, (size_t)1 << 61};

/* A mask of one byte an element: half of the offsets may be right on the host,
   whose memory has no end that the library could know. */
static bool of_bytes(const target *t, size_t at)
{
    return t->problem == &subject.attention &&
           at == offsetof(clattn_attention_args, mask);
}

static void check_offset(const target *t, int way, size_t at, size_t offset)
{
    char *args = resized(
        way < 2 ? t->on_host : t->on_device, t->args_bytes, t->args_bytes);
    clattn_output place;
    clattn_error error;
    char what[80];
    memcpy(&place, args + at, sizeof place);
    place.offset = offset;
    memcpy(args + at, &place, sizeof place);
    snprintf(what, sizeof what, "%s, way %d, args + %zu: offset %zu", t->name,
        way, at, offset);
    const clattn_status got = t->call[way](t->problem, args, &error);
    if (offset == 0)
        check_named(what, got, CLATTN_OK, &error, "");
    else
        check_named(what, got, CLATTN_INVALID, &error, "offset");
    free(args);
}

START_TEST(offsets_past_all_memory_are_refused)
{
    for (size_t i = 0; i < COUNT(TARGETS); ++i)
        for (size_t at = TARGETS[i].first; at < TARGETS[i].end;
             at += sizeof(clattn_input))
            for (int way = 0; way < 3; ++way) {
                check_offset(&TARGETS[i], way, at, 0);
                for (size_t o = 0; o < COUNT(OFFSETS); ++o)
                    if (way == 2 || !of_bytes(&TARGETS[i], at) ||
                        OFFSETS[o] > PTRDIFF_MAX)
                        check_offset(&TARGETS[i], way, at, OFFSETS[o]);
            }
}
END_TEST

/* Arrays of a call on a device may lie in host memory. */
START_TEST(so_are_those_of_arrays_in_host_memory)
{
    clattn_error error;
    for (size_t o = 0; o < COUNT(OFFSETS); ++o) {
        clattn_attention_args args = subject.attention_mem;
        args.key_lengths = subject.attention_host.key_lengths;
        check_named("there",
            attention_on_device(&subject.attention, &args, &error), CLATTN_OK,
            &error, "");
        args.key_lengths.offset = OFFSETS[o];
        check_named("key_lengths",
            attention_on_device(&subject.attention, &args, &error),
            CLATTN_INVALID, &error, "key_lengths.offset");
    }
}
END_TEST

/* ---- Enums, counts, handles ---------------------------------------------- */

static const int32_t NO_DTYPES[] = {
    0, -1, 6, 100, INT32_MAX, INT32_MIN, CLATTN_BOOL};

START_TEST(conversions_of_no_dtype_or_of_too_much_are_refused)
{
    float to[4] = {0}, from[4] = {0};
    clattn_error error;
    for (size_t i = 0; i < COUNT(NO_DTYPES); ++i) {
        const int32_t no = NO_DTYPES[i];
        check_named("to", clattn_convert(to, no, from, CLATTN_F32, 4, &error),
            CLATTN_INVALID, &error, "to_dtype");
        check_named("from", clattn_convert(to, CLATTN_F32, from, no, 4, &error),
            CLATTN_INVALID, &error, "from_dtype");
        check_named("none", clattn_convert(NULL, no, NULL, no, 0, &error),
            CLATTN_INVALID, &error, "to_dtype");
    }
    for (size_t i = 0; i < COUNT(OFFSETS); ++i)
        ck_assert_msg(clattn_convert(to, CLATTN_F32, from, CLATTN_F16,
                          OFFSETS[i], &error) == CLATTN_INVALID,
            "count %zu: %s", OFFSETS[i], error.message);
}
END_TEST

START_TEST(statuses_and_indices_out_of_range_have_an_answer)
{
    clattn_error error;
    clattn_device device = {.struct_size = sizeof device};
    static const int STATUSES[] = {-1, 8, 100, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(STATUSES); ++i)
        ck_assert_str_eq(
            clattn_status_text((clattn_status)STATUSES[i]), "unknown status");
    check_named("device", clattn_device_get(&device, SIZE_MAX, &error),
        CLATTN_NO_DEVICE, &error, "device index is");
    check_named("device", clattn_device_get(&device, 1, &error),
        CLATTN_NO_DEVICE, &error,
        "device index is 1, but the only device is 0");
    device.struct_size = SIZE_MAX;
    check_named("device", clattn_device_get(&device, 0, &error), CLATTN_INVALID,
        &error, "device.struct_size is 18446744073709551615");
    ck_assert_ptr_null(clattn_kernel_name(SIZE_MAX));
    ck_assert_ptr_null(clattn_kernel_name(UINT32_MAX));
}
END_TEST

START_TEST(a_wait_list_and_its_length_belong_together)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    cl_event event = NULL;
    clEnqueueMarkerWithWaitList(subject.queue, 0, NULL, &event);
    ck_assert_int_eq(
        clattn_linear_plan(&plan, subject.ctx, &subject.linear, NULL),
        CLATTN_OK);
    check_named("none",
        clattn_linear_enqueue(
            plan, subject.queue, &subject.linear_mem, 0, &event, NULL, &error),
        CLATTN_INVALID, &error, "num_wait is 0");
    check_named("many",
        clattn_linear_enqueue(plan, subject.queue, &subject.linear_mem,
            UINT32_MAX, NULL, NULL, &error),
        CLATTN_INVALID, &error, "num_wait is 4294967295");
    check_named("another",
        clattn_attention_enqueue(
            plan, subject.queue, &subject.attention_mem, 0, NULL, NULL, &error),
        CLATTN_INVALID, &error, "plan is one of linear");
    clReleaseEvent(event);
    clattn_plan_destroy(plan);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("arguments");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(
        t, struct_sizes_are_those_of_a_version, 0, (int)COUNT(SIZES));
    tcase_add_test(t, a_struct_size_of_0_is_refused_everywhere);
    tcase_add_test(t, what_a_newer_version_asks_for_is_not_ignored);
    tcase_add_test(t, init_writes_no_more_than_it_is_given);
    tcase_add_test(t, offsets_past_all_memory_are_refused);
    tcase_add_test(t, so_are_those_of_arrays_in_host_memory);
    tcase_add_test(t, conversions_of_no_dtype_or_of_too_much_are_refused);
    tcase_add_test(t, statuses_and_indices_out_of_range_have_an_answer);
    tcase_add_test(t, a_wait_list_and_its_length_belong_together);

    Suite *suite = suite_create("wild arguments");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
