/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory_objects.c - enqueue with memory that OpenCL leaves undefined for
 * it: images, outputs that may only be read, inputs that may only be written.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "opencl.h"
#include "suite.h"

/* ---- A layer that returns all it can -------------------------------------- */

enum {
    ROWS = 4,
    COLUMNS = 8,
    BYTES = 1 << 14 /* more than any tensor or the workspace takes */
};

typedef struct arguments {
    clattn_layer_args layer;
    clattn_attention_args inner;
} arguments;

enum {
    READ = 1,
    WRITTEN = 2
};

#define OF_LAYER(field)     offsetof(arguments, layer.field)
#define OF_ATTENTION(field) offsetof(arguments, inner.field)

static const struct {
    const char *name;
    size_t at; /* in `arguments`: a clattn_input, or an output, alike */
    int use;   /* by the call */
} OPERANDS[] = {
    {"x", OF_LAYER(x), READ},
    {"w_q", OF_LAYER(w_q), READ},
    {"w_k", OF_LAYER(w_k), READ},
    {"w_v", OF_LAYER(w_v), READ},
    {"w_o", OF_LAYER(w_o), READ},
    {"b_o", OF_LAYER(b_o), READ},
    {"attention.key_lengths", OF_ATTENTION(key_lengths), READ},
    {"y", OF_LAYER(y), WRITTEN},
    {"attention.lse", OF_ATTENTION(lse), WRITTEN},
    {"attention.weights", OF_ATTENTION(weights), WRITTEN},
    {"q", OF_LAYER(q), READ | WRITTEN},
    {"k", OF_LAYER(k), READ | WRITTEN},
    {"v", OF_LAYER(v), READ | WRITTEN},
    {"attention.out", OF_ATTENTION(out), READ | WRITTEN},
    {"workspace", OF_LAYER(workspace), READ | WRITTEN},
};

static clattn_plan *plan_layer(void)
{
    clattn_attention attention;
    clattn_layer layer;
    clattn_plan *plan = NULL;
    clattn_error error;
    clattn_attention_init(&attention, sizeof attention);
    attention.B = attention.Hq = attention.Hkv = 1;
    attention.Lq = attention.Lk = ROWS;
    attention.D = attention.Dv = COLUMNS;
    attention.dtype = CLATTN_F32;
    attention.flags =
        CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS | CLATTN_KEY_LENGTHS;
    clattn_layer_init(&layer, sizeof layer);
    layer.attention = &attention;
    layer.E = layer.Ey = COLUMNS;
    layer.weight_order = CLATTN_IN_OUT;
    layer.flags =
        CLATTN_PROJECT_OUT | CLATTN_BIAS_O | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT;
    const clattn_status status =
        clattn_layer_plan(&plan, opencl_get()->ctx, &layer, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    ck_assert_uint_le(clattn_plan_workspace_bytes(plan), BYTES);
    return plan;
}

/* ---- Memory of each kind -------------------------------------------------- */

enum kind {
    PLAIN,
    UNSEEN_BY_HOST,
    FOR_READING,
    FOR_WRITING,
    PART_FOR_READING,
    PART_FOR_WRITING,
    IMAGE,
    KINDS
};

static const struct {
    const char *about, *says;
    cl_mem_flags flags;
    int forbids;
} KIND[KINDS] = {
    [PLAIN] = {"a buffer", "", 0, 0},
    [UNSEEN_BY_HOST] = {"a buffer that the host cannot map", "",
        CL_MEM_HOST_NO_ACCESS, 0},
    [FOR_READING] = {"a buffer for reading", "CL_MEM_READ_ONLY",
        CL_MEM_READ_ONLY, WRITTEN},
    [FOR_WRITING] = {"a buffer for writing", "CL_MEM_WRITE_ONLY",
        CL_MEM_WRITE_ONLY, READ},
    [PART_FOR_READING] = {"a part of one for reading", "CL_MEM_READ_ONLY",
        CL_MEM_READ_ONLY, WRITTEN},
    [PART_FOR_WRITING] = {"a part of one for writing", "CL_MEM_WRITE_ONLY",
        CL_MEM_WRITE_ONLY, READ},
    [IMAGE] = {"an image", "must be a buffer", 0, READ | WRITTEN},
};

static cl_mem image(void)
{
    const cl_image_format format = {CL_R, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
        .image_width = 64,
        .image_height = 64};
    cl_int code = CL_SUCCESS;
    cl_mem mem =
        clCreateImage(opencl_get()->cl, 0, &format, &desc, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return mem;
}

static cl_mem memory(enum kind kind)
{
    const cl_buffer_region all = {0, BYTES};
    cl_int code = CL_SUCCESS;
    if (kind == IMAGE)
        return image();
    cl_mem mem =
        clCreateBuffer(opencl_get()->cl, KIND[kind].flags, BYTES, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    if (kind != PART_FOR_READING && kind != PART_FOR_WRITING)
        return mem;
    cl_mem part =
        clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &all, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    clReleaseMemObject(mem);
    return part;
}

static bool has(enum kind kind)
{
    cl_bool images = CL_FALSE;
    clGetDeviceInfo(clattn_context_device(opencl_get()->ctx),
        CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    return kind != IMAGE || images;
}

/* ---- The test ------------------------------------------------------------- */

static void place(arguments *a, size_t operand, cl_mem mem)
{
    char *at = (char *)a + OPERANDS[operand].at;
    memcpy(at + offsetof(clattn_input, mem), &mem, sizeof mem);
}

/* All in plain buffers but one. */
static void arguments_create(
    arguments *a, cl_mem mem[COUNT(OPERANDS)], size_t odd, enum kind kind)
{
    *a = (arguments){
        .layer.struct_size = sizeof a->layer,
        .inner.struct_size = sizeof a->inner,
    };
    a->layer.attention = &a->inner;
    for (size_t i = 0; i < COUNT(OPERANDS); ++i) {
        mem[i] = memory(i == odd ? kind : PLAIN);
        place(a, i, mem[i]);
    }
}

static void check(const clattn_plan *plan, size_t operand, enum kind kind)
{
    const bool refused = (OPERANDS[operand].use & KIND[kind].forbids) != 0;
    const char *name = OPERANDS[operand].name;
    const size_t length = strlen(name);
    cl_mem mem[COUNT(OPERANDS)];
    cl_event event = NULL;
    clattn_error error;
    arguments a;
    arguments_create(&a, mem, operand, kind);
    const clattn_status status = clattn_layer_enqueue(
        plan, opencl_get()->in_order, &a.layer, 0, NULL, &event, &error);
    ck_assert_msg(status == (refused ? CLATTN_INVALID : CLATTN_OK),
        "%s as %s: %s: %s", KIND[kind].about, name, clattn_status_text(status),
        error.message);
    if (refused)
        ck_assert_msg(strncmp(error.message, name, length) == 0 &&
                          error.message[length] == ' ' &&
                          strstr(error.message, KIND[kind].says) != NULL,
            "%s as %s: %s", KIND[kind].about, name, error.message);
    ck_assert_msg(
        (event == NULL) == refused, "%s as %s", KIND[kind].about, name);
    ck_assert(event == NULL || opencl_finish_event(event));
    for (size_t i = 0; i < COUNT(OPERANDS); ++i)
        clReleaseMemObject(mem[i]);
}

START_TEST(memory_that_a_call_may_not_use_so_is_refused_by_name)
{
    clattn_plan *plan = plan_layer();
    const enum kind kind = (enum kind)_i;
    if (!has(kind))
        printf("no images here\n");
    for (size_t i = 0; has(kind) && i < COUNT(OPERANDS); ++i)
        check(plan, i, kind);
    clattn_plan_destroy(plan);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory objects");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, memory_that_a_call_may_not_use_so_is_refused_by_name, 0, KINDS);

    Suite *suite = suite_create("memory objects");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
