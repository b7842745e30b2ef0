/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_plan.c - any descriptor on many devices: supported, plan and reference
 * agree; what is planned can be enqueued, in the launches that were counted,
 * which the device takes; and nothing is left behind.
 *
 * An input is a list of edits of a legal problem: device, operation, kernel
 * wish, then pairs of a field and a value of fields.h.
 */
#include <stdio.h>
#include <string.h>

#include "fake_opencl.h"
#include "fields.h"
#include "fuzz.h"
#include "operand.h"
#include "planned.h"
#include "ways.h"

/* ---- Devices ------------------------------------------------------------- */

static fake_device device_of(uint8_t number)
{
    fake_device d = fake_cpu();
    switch (number % 8) {
    case 1:
        d.native_width = 8;
        break;
    case 2:
        d.native_width = 4;
        break;
    case 3:
        d = fake_gpu();
        break;
    case 4:
        d.native_width = 1;
        break;
    case 5: /* ends loops early */
        d.platform = "rusticl";
        d.name = "llvmpipe";
        break;
    case 6: /* groups of one, hardly any memory */
        d.max_group = d.kernel_group = 1;
        d.max_group_dim[0] = d.max_group_dim[1] = d.max_group_dim[2] = 1;
        d.local_bytes = 1024;
        d.buffer_bytes = 4096;
        break;
    case 7: /* small, 32 bits */
        d = fake_gpu();
        d.max_group = d.kernel_group = 64;
        d.local_bytes = 32u << 10;
        d.buffer_bytes = 64u << 20;
        d.address_bits = 32;
        break;
    }
    return d;
}

/* ---- Problems ------------------------------------------------------------ */

enum {
    SLOPES = 64
};

typedef struct problem {
    clattn_attention attention;
    clattn_linear linear;
    clattn_layer layer;
    const ways *ways;
    const void *whole; /* one of them */
} problem;

static const float slopes[SLOPES];

static const char *const WISHES[] = {NULL, NULL, NULL, NULL, "fused",
    "materialised", "lanes", "lanes_weights", "items64", "items16",
    "matmul_lanes", "tiled16", "tiled8", "tiled4", "tiled1", "simt64m",
    "simt32", "matmul_simt64", "", "no such row"};

static void start_attention(clattn_attention *a)
{
    clattn_attention_init(a, sizeof *a);
    a->B = 2;
    a->Hq = 4;
    a->Hkv = 2;
    a->Lq = a->Lk = 7;
    a->D = a->Dv = 8;
    a->dtype = CLATTN_F32;
}

static void start(problem *p, uint8_t operation, uint8_t wish)
{
    const char *text = WISHES[wish % (sizeof WISHES / sizeof WISHES[0])];
    memset(p, 0, sizeof *p);
    start_attention(&p->attention);
    clattn_linear_init(&p->linear, sizeof p->linear);
    p->linear.rows = 5;
    p->linear.n_in = 6;
    p->linear.n_out = 7;
    p->linear.dtype = CLATTN_F32;
    p->linear.weight_order = CLATTN_IN_OUT;
    clattn_layer_init(&p->layer, sizeof p->layer);
    p->layer.attention = &p->attention;
    p->layer.E = 6;
    p->layer.Ey = 9;
    p->layer.weight_order = CLATTN_OUT_IN;
    p->layer.flags = CLATTN_PROJECT_OUT | CLATTN_BIAS_O;
    const struct {
        const ways *ways;
        const void *whole;
    } operations[] = {
        {&ATTENTION_WAYS, &p->attention},
        {&LINEAR_WAYS, &p->linear},
        {&LAYER_WAYS, &p->layer},
    };
    p->ways = operations[operation % 3].ways;
    p->whole = operations[operation % 3].whole;
    if (wish & 0x80)
        p->attention.disable = p->linear.disable = text;
    else
        p->attention.kernel = p->linear.kernel = text;
    if (operation & 0x80)
        p->attention.alibi_slopes = slopes;
}

static void edit(problem *p, uint8_t which, uint8_t value)
{
    char text[24];
    const struct {
        const field_table *fields;
        void *of;
    } tables[] = {
        {&ATTENTION_FIELDS, &p->attention},
        {&LINEAR_FIELDS, &p->linear},
        {&LAYER_FIELDS, &p->layer},
    };
    size_t at = which;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t) {
        const field_table *fields = tables[t].fields;
        if (at < fields->count) {
            const field *f = &fields->rows[at];
            field_set(tables[t].of, f, value % field_values(f->kind), text);
            return;
        }
        at -= fields->count;
    }
}

static void read_problem(problem *p, const uint8_t *data, size_t size)
{
    start(p, size > 1 ? data[1] : 0, size > 2 ? data[2] : 0);
    for (size_t i = 3; i + 1 < size; i += 2)
        edit(p, data[i], data[i + 1]);
    if (p->attention.Hq > SLOPES) /* there are no more */
        p->attention.alibi_slopes = NULL;
}

/* ---- Enqueue ------------------------------------------------------------- */

/* More would take the fuzzer's time. */
enum {
    MOST_LAUNCHES = 200
};

static size_t launches_of(const clattn_plan *plan)
{
    size_t launches = plan->attend.p.launches;
    for (int i = 0; i < N_PROJECTIONS; ++i)
        launches += plan->project[i].p.launches;
    return launches;
}

/* Buffers of exactly the bytes that the plan's operands span, put into args in
   their order, which is the operands'. */
typedef struct buffers {
    cl_mem mem[MAX_OPERANDS];
    size_t count;
    cl_int code;
} buffers;

static void give(buffers *b, const clattn_plan *plan, void *args, size_t first,
    const operand *list, size_t count)
{
    for (size_t i = 0; i < count && b->code == CL_SUCCESS; ++i) {
        const size_t bytes = operand_span(&list[i]) * list[i].element;
        clattn_output at = {0};
        if (list[i].wanted && bytes > 0) {
            at.mem = clCreateBuffer(
                plan->ctx->cl, CL_MEM_READ_WRITE, bytes, NULL, &b->code);
            if (!at.mem)
                return;
            b->mem[b->count++] = at.mem;
        }
        memcpy((char *)args + first + i * sizeof at, &at, sizeof at);
    }
}

static clattn_status enqueue_attention(buffers *b, const clattn_plan *plan,
    cl_command_queue queue, cl_event *event, clattn_error *error)
{
    operand list[MAX_OPERANDS];
    clattn_attention_args args = {.struct_size = sizeof args};
    const size_t count = operands_of_attention(list, &plan->attention, &args);
    give(b, plan, &args, offsetof(clattn_attention_args, out), list, count);
    if (b->code != CL_SUCCESS)
        return CLATTN_NO_MEMORY;
    return clattn_attention_enqueue(plan, queue, &args, 0, NULL, event, error);
}

static clattn_status enqueue_linear(buffers *b, const clattn_plan *plan,
    cl_command_queue queue, cl_event *event, clattn_error *error)
{
    operand list[MAX_OPERANDS];
    clattn_linear_args args = {.struct_size = sizeof args};
    const size_t count = operands_of_linear(list, &plan->linear, &args);
    give(b, plan, &args, offsetof(clattn_linear_args, y), list, count);
    if (b->code != CL_SUCCESS)
        return CLATTN_NO_MEMORY;
    return clattn_linear_enqueue(plan, queue, &args, 0, NULL, event, error);
}

static clattn_status enqueue_layer(buffers *b, const clattn_plan *plan,
    cl_command_queue queue, cl_event *event, clattn_error *error)
{
    /* The layer's own operands end with its workspace. */
    const size_t first = offsetof(clattn_layer_args, y);
    const size_t own = (offsetof(clattn_layer_args, attention) - first) /
                       sizeof(clattn_output);
    operand list[MAX_OPERANDS];
    clattn_attention_args inner = {.struct_size = sizeof inner};
    clattn_layer_args args = {.struct_size = sizeof args, .attention = &inner};
    const size_t count =
        operands_of_layer(list, &plan->layer, &plan->given, &args, &inner);
    give(b, plan, &args, first, list, own);
    give(b, plan, &inner, offsetof(clattn_attention_args, out), list + own,
        count - own);
    if (b->code != CL_SUCCESS)
        return CLATTN_NO_MEMORY;
    return clattn_layer_enqueue(plan, queue, &args, 0, NULL, event, error);
}

static void check_enqueue(const clattn_plan *plan)
{
    static clattn_status (*const ENQUEUE[])(buffers *, const clattn_plan *,
        cl_command_queue, cl_event *,
        clattn_error *) = {enqueue_attention, enqueue_linear, enqueue_layer};
    buffers b = {.code = CL_SUCCESS};
    clattn_error error = {.message = ""};
    cl_event event = NULL;
    cl_int code = CL_SUCCESS;
    const cl_command_queue queue =
        clCreateCommandQueue(plan->ctx->cl, plan->ctx->device, 0, &code);
    const size_t before = fake_launches();
    const clattn_status status =
        ENQUEUE[plan->operation](&b, plan, queue, &event, &error);
    if (b.code == CL_SUCCESS) {
        fuzz_require(status == CLATTN_OK, error.message);
        fuzz_require(event != NULL, "an enqueue gives its event");
        fuzz_require(fake_launches() - before == launches_of(plan),
            "an enqueue launches what was planned");
        clReleaseEvent(event);
    }
    for (size_t i = 0; i < b.count; ++i)
        clReleaseMemObject(b.mem[i]);
    clReleaseCommandQueue(queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    problem p;
    clattn_context *ctx = NULL;
    clattn_plan *plan = NULL;
    clattn_error error;
    char why[WAYS_TEXT];
    FAKE_DEVICE = device_of(size > 0 ? data[0] : 0);
    fuzz_require(clattn_context_create(&ctx, NULL, &error) == CLATTN_OK,
        "the fake device has a context");
    read_problem(&p, data, size);
    const char *differ = ways_differ(why, p.ways, ctx, p.whole, &error, &plan);
    fuzz_require(differ == NULL, differ ? differ : "");
    if (plan && launches_of(plan) <= MOST_LAUNCHES)
        check_enqueue(plan);
    clattn_plan_destroy(plan);
    clattn_context_destroy(ctx);
    fuzz_require(fake_live() == 0, "every OpenCL object is released");
    return 0;
}
