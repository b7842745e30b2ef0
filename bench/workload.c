/* SPDX-License-Identifier: Apache-2.0
 *
 * workload.c - descriptors, buffers and arguments of a case.
 */
#include "workload.h"

#include <math.h>
#include <stdlib.h>

#include "draw.h"
#include "error.h"

enum slot {
    Q,
    K,
    V,
    OUT,
    MASK,
    KEY_LENGTHS,
    STARTS,
    WORKSPACE,
    SLOTS
};

struct workload {
    bench_case of;
    clattn_plan *plan;
    cl_mem buffer[SLOTS]; /* a matrix product uses Q, K, OUT: x, W, y */
    int32_t *ints;        /* lengths or starts, in host memory */
};

static int32_t dtype_of(const bench_case *c, enum slot s)
{
    return s == K || s == V ? bench_kv_dtype(c) : bench_dtype(c);
}

/* ---- Plans -------------------------------------------------------------- */

static void describe_options(clattn_attention *a, const bench_case *c)
{
    a->mask.dtype = c->mask;
    a->mask.size[0] = a->mask.size[1] = c->mask ? 1 : 0;
    a->mask.size[2] = c->mask ? (c->Lq ? c->Lq : c->L) : 0;
    a->mask.size[3] = c->mask ? c->L : 0;
    a->causal = c->causal;
    if (c->has_window) {
        a->window_left = c->window_left;
        a->window_right = c->window_right;
    }
    if (c->causal || c->has_window || c->alibi)
        a->diagonal = CLATTN_TOP_LEFT;
    a->softcap = c->softcap;
    a->dropout_p = c->dropout;
    a->precision = c->precision;
    if (c->lengths_half)
        a->flags |= CLATTN_KEY_LENGTHS;
    if (c->ragged) {
        a->flags |= CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS;
        a->q_rows = a->k_rows = bench_k_rows(c);
    }
}

/* 2^(-8 (h + 1) / H), as ALiBi's authors have it for H a power of two. */
static float *alibi_slopes(size_t H)
{
    float *slopes = calloc(H ? H : 1, sizeof *slopes);
    for (size_t h = 0; slopes && h < H; h++)
        slopes[h] = exp2f(-8.0f * (float)(h + 1) / (float)H);
    return slopes;
}

static clattn_status plan_attention(
    workload *w, clattn_context *ctx, clattn_error *error)
{
    const bench_case *c = &w->of;
    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = c->B;
    a.Hq = c->H;
    a.Hkv = bench_kv_heads(c);
    a.Lq = c->Lq ? c->Lq : c->L;
    a.Lk = c->L;
    a.D = a.Dv = c->D;
    a.dtype = dtype_of(c, Q);
    a.k.dtype = a.v.dtype = dtype_of(c, K);
    a.kernel = c->kernel;
    describe_options(&a, c);
    float *slopes = c->alibi ? alibi_slopes(c->H) : NULL;
    if (c->alibi && !slopes)
        return error_set(
            error, CLATTN_NO_MEMORY, "no memory for %zu slopes", c->H);
    a.alibi_slopes = slopes;
    const clattn_status status =
        clattn_attention_plan(&w->plan, ctx, &a, error);
    free(slopes);
    return status;
}

static clattn_status plan_matmul(
    workload *w, clattn_context *ctx, clattn_error *error)
{
    const bench_case *c = &w->of;
    clattn_linear l;
    clattn_linear_init(&l, sizeof l);
    l.rows = c->L;
    l.n_in = l.n_out = c->D;
    l.dtype = dtype_of(c, Q);
    l.weight_order = CLATTN_IN_OUT;
    l.kernel = c->kernel;
    return clattn_linear_plan(&w->plan, ctx, &l, error);
}

/* ---- Buffers ------------------------------------------------------------ */

static bool product(size_t *to, size_t factor)
{
    if (factor && *to > SIZE_MAX / factor)
        return false;
    *to *= factor;
    return true;
}

/* In [-1, 1); of bools one in two is true. */
static void fill(void *to, int32_t dtype, size_t count, uint64_t seed)
{
    draw d = draw_start(seed);
    for (size_t i = 0; i < count; i++) {
        const float value = draw_value(&d);
        if (dtype == CLATTN_BOOL)
            ((unsigned char *)to)[i] = value < 0.0f;
        else if (dtype == CLATTN_F32)
            ((float *)to)[i] = value;
        else
            clattn_convert((unsigned char *)to + 2 * i, dtype, &value,
                CLATTN_F32, 1, NULL);
    }
}

static clattn_status make_buffer(workload *w, enum slot slot,
    clattn_context *ctx, size_t bytes, clattn_error *error)
{
    cl_ulong most = 0;
    cl_int code = clGetDeviceInfo(clattn_context_device(ctx),
        CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (code == CL_SUCCESS && bytes > most)
        return error_set(error, CLATTN_UNSUPPORTED,
            "a tensor needs %zu bytes, but a buffer of this device has at most "
            "%llu",
            bytes, (unsigned long long)most);
    w->buffer[slot] = clCreateBuffer(clattn_context_cl(ctx), CL_MEM_READ_WRITE,
        bytes ? bytes : 1, NULL, &code);
    return error_check_cl(error, code, "clCreateBuffer");
}

/* A buffer of count elements, drawn unless it is an output. */
static clattn_status make_tensor(workload *w, enum slot slot,
    clattn_context *ctx, cl_command_queue queue, int32_t dtype, size_t count,
    clattn_error *error)
{
    size_t bytes = count;
    clattn_status status = CLATTN_OK;
    void *values = NULL;
    if (!product(&bytes, bench_dtype_bytes(dtype)))
        return error_set(error, CLATTN_NO_MEMORY,
            "a tensor of %zu elements of %zu bytes is too large", count,
            bench_dtype_bytes(dtype));
    TRY(make_buffer(w, slot, ctx, bytes, error));
    if (slot == OUT || bytes == 0)
        goto cleanup;
    values = malloc(bytes);
    if (!values) {
        status = error_set(error, CLATTN_NO_MEMORY,
            "no memory for a tensor of %zu bytes", bytes);
        goto cleanup;
    }
    fill(values, dtype, count, (uint64_t)slot);
    TRY(error_check_cl(error,
        clEnqueueWriteBuffer(
            queue, w->buffer[slot], CL_TRUE, 0, bytes, values, 0, NULL, NULL),
        "clEnqueueWriteBuffer"));

cleanup:
    free(values);
    return status;
}

static clattn_status make_ints(workload *w, clattn_error *error)
{
    const bench_case *c = &w->of;
    if (!c->lengths_half && !c->ragged)
        return CLATTN_OK;
    w->ints = calloc(c->B + 1, sizeof *w->ints);
    if (!w->ints)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for the lengths of %zu items", c->B);
    for (size_t b = 0; b < c->B; b++)
        if (c->ragged)
            w->ints[b + 1] = w->ints[b] + bench_item_rows(c, b);
        else
            w->ints[b] = (int32_t)(c->L / 2);
    return CLATTN_OK;
}

static clattn_status make_tensors(workload *w, clattn_context *ctx,
    cl_command_queue queue, clattn_error *error)
{
    const bench_case *c = &w->of;
    const bool matmul = c->kind == BENCH_MATMUL;
    clattn_status status = CLATTN_OK;
    size_t q = bench_q_rows(c);
    size_t kv = matmul ? c->D : bench_k_rows(c);
    size_t mask = c->Lq ? c->Lq : c->L;
    if (!product(&q, c->H) || !product(&q, c->D) ||
        !product(&kv, matmul ? c->D : bench_kv_heads(c)) ||
        (!matmul && !product(&kv, c->D)) || !product(&mask, c->L))
        return error_set(error, CLATTN_NO_MEMORY, "%s is too large", c->name);
    TRY(make_tensor(w, Q, ctx, queue, dtype_of(c, Q), q, error));
    TRY(make_tensor(w, K, ctx, queue, dtype_of(c, K), kv, error));
    if (!matmul)
        TRY(make_tensor(w, V, ctx, queue, dtype_of(c, V), kv, error));
    TRY(make_tensor(w, OUT, ctx, queue, dtype_of(c, OUT), q, error));
    if (c->mask)
        TRY(make_tensor(w, MASK, ctx, queue, c->mask, mask, error));
    TRY(make_ints(w, error));
    if (clattn_plan_workspace_bytes(w->plan))
        TRY(make_buffer(
            w, WORKSPACE, ctx, clattn_plan_workspace_bytes(w->plan), error));

cleanup:
    return status;
}

/* ---- The work ----------------------------------------------------------- */

clattn_status workload_create(workload **made, clattn_context *ctx,
    cl_command_queue queue, const bench_case *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    workload *w = calloc(1, sizeof *w);
    if (!w)
        return error_set(error, CLATTN_NO_MEMORY, "no memory for a case");
    w->of = *c;
    TRY(c->kind == BENCH_MATMUL ? plan_matmul(w, ctx, error)
                                : plan_attention(w, ctx, error));
    if (c->kind != BENCH_WORKSPACE)
        TRY(make_tensors(w, ctx, queue, error));
    *made = w;
    w = NULL;

cleanup:
    workload_destroy(w);
    return status;
}

void workload_destroy(workload *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        if (w->buffer[i])
            clReleaseMemObject(w->buffer[i]);
    clattn_plan_destroy(w->plan);
    free(w->ints);
    free(w);
}

const clattn_plan *workload_plan(const workload *w)
{
    return w->plan;
}

static clattn_status enqueue_attention(
    const workload *w, cl_command_queue queue, clattn_error *error)
{
    const clattn_input ints = {.host = w->ints};
    clattn_attention_args args = {
        .struct_size = sizeof args,
        .out.mem = w->buffer[OUT],
        .q.mem = w->buffer[Q],
        .k.mem = w->buffer[K],
        .v.mem = w->buffer[V],
        .mask.mem = w->buffer[MASK],
        .workspace.mem = w->buffer[WORKSPACE],
    };
    if (w->of.ragged)
        args.query_starts = args.key_starts = ints;
    else if (w->of.lengths_half)
        args.key_lengths = ints;
    return clattn_attention_enqueue(
        w->plan, queue, &args, 0, NULL, NULL, error);
}

clattn_status workload_enqueue(
    const workload *w, cl_command_queue queue, clattn_error *error)
{
    if (w->of.kind == BENCH_ATTENTION)
        return enqueue_attention(w, queue, error);
    const clattn_linear_args args = {
        .struct_size = sizeof args,
        .y.mem = w->buffer[OUT],
        .x.mem = w->buffer[Q],
        .w.mem = w->buffer[K],
        .workspace.mem = w->buffer[WORKSPACE],
    };
    return clattn_linear_enqueue(w->plan, queue, &args, 0, NULL, NULL, error);
}

clattn_status workload_run(
    const workload *w, cl_command_queue queue, clattn_error *error)
{
    const clattn_status status = workload_enqueue(w, queue, error);
    if (status != CLATTN_OK)
        return status;
    return error_check_cl(error, clFinish(queue), "clFinish");
}
