/* SPDX-License-Identifier: Apache-2.0
 *
 * layer.c - clattn_layer_supported, _plan and _enqueue: the projections, the
 * attention between them, and the scratch that joins them.
 */
#include <string.h>

#include "call.h"
#include "error.h"
#include "operations.h"
#include "planned.h"
#include "problem.h"

enum {
    SCRATCH_ALIGNMENT = 64
};

/* Whether a step's tensor lives in the caller's memory. */
static bool is_kept(const clattn_layer *layer, enum projection which)
{
    if (which != PROJECT_OUT)
        return (layer->flags & CLATTN_KEEP_QKV) != 0;
    return (layer->flags & CLATTN_KEEP_OUT) != 0;
}

static bool projects_out(const clattn_layer *layer)
{
    return (layer->flags & CLATTN_PROJECT_OUT) != 0;
}

/* ---- Jobs ------------------------------------------------------------------ */

/*
 * t (B, rows, heads, columns) = x (B, rows, E) . w + b.  Heads that lie side by
 * side are one matrix of heads x columns; items that follow each other without
 * a gap are one matrix of B x rows.
 */
static matmul_job input_job(const clattn_layer *l, const clattn_tensor *x,
    size_t E, const clattn_tensor *w, const clattn_tensor *t, size_t rows,
    size_t heads, size_t columns, bool has_bias)
{
    const bool by_rows = l->weight_order == CLATTN_OUT_IN;
    const size_t B = l->attention->B;
    matmul_job job = {
        .items = B,
        .heads = heads,
        .group = 1,
        .M = rows,
        .N = columns,
        .K = E,
        .a = {(wide)x->batch, 0, (wide)x->row, 0},
        .b = {0, (wide)(by_rows ? columns * w->row : columns), (wide)w->row, 0},
        .c = {(wide)t->batch, (wide)t->head, (wide)t->row, 0},
        .a_dtype = x->dtype,
        .b_dtype = w->dtype,
        .c_dtype = t->dtype,
        .b_rows_are_n = by_rows,
        .has_bias = has_bias,
        .bias_head = (wide)columns,
    };
    if (t->head == columns) {
        job.heads = 1;
        job.N = heads * columns;
    }
    if (B > 1 && x->batch == rows * x->row && t->batch == rows * t->row) {
        job.items = 1;
        job.M = B * rows;
    }
    return job;
}

static void make_jobs(clattn_plan *plan)
{
    const clattn_layer *l = &plan->layer;
    const clattn_attention *a = &plan->attention;
    plan->job[PROJECT_Q] = input_job(l, &l->x, l->E, &l->w_q, &a->q, a->Lq,
        a->Hq, a->D, (l->flags & CLATTN_BIAS_Q) != 0);
    plan->job[PROJECT_K] = input_job(l, &l->x_k, l->Ek, &l->w_k, &a->k, a->Lk,
        a->Hkv, a->D, (l->flags & CLATTN_BIAS_K) != 0);
    plan->job[PROJECT_V] = input_job(l, &l->x_v, l->Ev, &l->w_v, &a->v, a->Lk,
        a->Hkv, a->Dv, (l->flags & CLATTN_BIAS_V) != 0);
    if (projects_out(l))
        plan->job[PROJECT_OUT] = input_job(l, &a->out, a->Hq * a->Dv, &l->w_o,
            &l->y, a->Lq, 1, l->Ey, (l->flags & CLATTN_BIAS_O) != 0);
}

/* ---- Scratch --------------------------------------------------------------- */

static size_t tensor_bytes(const clattn_tensor *t, size_t batch, size_t heads,
    size_t rows, size_t columns)
{
    const operand op = {
        .size = {batch, heads, rows, columns},
        .stride = {t->batch, t->head, t->row, 1},
    };
    return operand_span(&op) * dtype_bytes(t->dtype);
}

/* Append a part to the workspace; false if it grows past a size_t. */
static bool reserve(clattn_plan *plan, size_t *at, size_t bytes)
{
    const size_t mask = SCRATCH_ALIGNMENT - 1;
    *at = plan->workspace_bytes;
    if (bytes > SIZE_MAX - mask - *at)
        return false;
    plan->workspace_bytes = *at + ((bytes + mask) & ~mask);
    return true;
}

/* Of the projections: they run one after another. */
static size_t most_panels(const clattn_plan *plan)
{
    size_t most = 0;
    for (int i = 0; i < N_PROJECTIONS; ++i)
        if (plan->project[i].p.workspace_bytes > most)
            most = plan->project[i].p.workspace_bytes;
    return most;
}

static clattn_status make_scratch(clattn_plan *plan, clattn_error *error)
{
    const clattn_attention *a = &plan->attention;
    const clattn_layer *l = &plan->layer;
    const size_t bytes[N_PROJECTIONS] = {
        tensor_bytes(&a->q, a->B, a->Hq, a->Lq, a->D),
        tensor_bytes(&a->k, a->B, a->Hkv, a->Lk, a->D),
        tensor_bytes(&a->v, a->B, a->Hkv, a->Lk, a->Dv),
        tensor_bytes(&a->out, a->B, a->Hq, a->Lq, a->Dv),
    };
    bool fits = true;
    for (int i = 0; i < N_PROJECTIONS; ++i) {
        const bool is_y = i == PROJECT_OUT && !projects_out(l);
        if (!is_y && !is_kept(l, (enum projection)i))
            fits = fits && reserve(plan, &plan->scratch[i], bytes[i]);
    }
    fits =
        fits &&
        reserve(plan, &plan->attend_scratch, plan->attend.p.workspace_bytes) &&
        reserve(plan, &plan->project_scratch, most_panels(plan));
    if (!fits || plan->workspace_bytes > plan->ctx->limits.max_buffer_bytes)
        return error_set(error, CLATTN_UNSUPPORTED,
            "q, k, v and out need %zu bytes of workspace, the device's "
            "buffers end at %zu",
            fits ? plan->workspace_bytes : SIZE_MAX,
            plan->ctx->limits.max_buffer_bytes);
    return CLATTN_OK;
}

/* ---- Plan ------------------------------------------------------------------ */

static clattn_status check_layer(const clattn_plan *plan, clattn_error *error)
{
    const clattn_layer *l = &plan->layer;
    const clattn_attention *a = &plan->attention;
    if (a->flags & (CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS))
        return error_set(error, CLATTN_UNSUPPORTED,
            "attention.flags has QUERY_STARTS or KEY_STARTS, but layers of "
            "packed batches are not built yet");
    if (projects_out(l) && a->B * a->Lq > 0 && a->Hq > 1 &&
        a->out.head != a->Dv)
        return error_set(error, CLATTN_UNSUPPORTED,
            "out.head is %zu, but the output projection needs heads side by "
            "side, which is %zu",
            a->out.head, a->Dv);
    return CLATTN_OK;
}

static clattn_status choose_all(
    clattn_plan *plan, bool compile, clattn_error *error)
{
    static const char *const LABELS[N_PROJECTIONS] = {
        "q projection", "k projection", "v projection", "output projection"};
    clattn_status status = CLATTN_OK;
    const clattn_attention *a = &plan->attention;

    TRY(choose_attention(&plan->attend, plan->ctx, a, compile, error));
    for (int i = 0; i < N_PROJECTIONS; ++i) {
        if (i == PROJECT_OUT && !projects_out(&plan->layer))
            continue;
        TRY(choose_matmul(&plan->project[i], plan->ctx, &plan->job[i],
            a->kernel, a->disable, compile, error));
        planned_describe(plan, LABELS[i], &plan->project[i]);
    }
    planned_describe(plan, "attention", &plan->attend);

cleanup:
    return status;
}

static clattn_status make_plan(clattn_plan **out, clattn_context *ctx,
    const clattn_layer *layer, bool compile, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;

    error_none(error);
    TRY(context_check(ctx, error));
    TRY(planned_create(&plan, ctx, OPERATION_LAYER, error));
    TRY(problem_layer(&plan->layer, &plan->attention, layer, false, error));
    TRY(problem_take_struct(&plan->given, sizeof plan->given,
        sizeof plan->given, layer, "layer", error));
    TRY(check_layer(plan, error));
    make_jobs(plan);
    TRY(choose_all(plan, compile, error));
    TRY(make_scratch(plan, error));
    if (compile)
        TRY(planned_keep_slopes(plan, error));
    planned_forget_pointers(plan);
    plan->layer.attention = &plan->attention;
    *out = plan;
    plan = NULL;

cleanup:
    clattn_plan_destroy(plan);
    return status;
}

clattn_status clattn_layer_supported(
    clattn_context *ctx, const clattn_layer *layer, clattn_error *error)
{
    clattn_plan *plan = NULL;
    const clattn_status status = make_plan(&plan, ctx, layer, false, error);
    clattn_plan_destroy(plan);
    return status;
}

clattn_status clattn_layer_plan(clattn_plan **plan, clattn_context *ctx,
    const clattn_layer *layer, clattn_error *error)
{
    error_none(error);
    if (!plan)
        return error_set(error, CLATTN_INVALID, "plan is NULL");
    const clattn_status status = make_plan(plan, ctx, layer, true, error);
    if (status == CLATTN_OK)
        context_log(ctx, "%s", (*plan)->text);
    return status;
}

/* ---- Enqueue --------------------------------------------------------------- */

/* Where each step's tensor lies: with the caller, or in the workspace. */
static void place_steps(region at[N_PROJECTIONS], const call *c)
{
    static const char *const NAMES[N_PROJECTIONS] = {
        "q", "k", "v", "attention.out"};
    const clattn_plan *plan = c->plan;
    const clattn_attention *a = &plan->attention;
    const int32_t dtypes[N_PROJECTIONS] = {
        a->q.dtype, a->k.dtype, a->v.dtype, a->out.dtype};
    for (int i = 0; i < N_PROJECTIONS; ++i)
        at[i] = is_kept(&plan->layer, (enum projection)i)
                    ? call_region(c, NAMES[i])
                    : call_scratch(c, plan->scratch[i], dtype_bytes(dtypes[i]));
    if (!projects_out(&plan->layer))
        at[PROJECT_OUT] = call_region(c, "y");
}

static clattn_status chain_inputs(
    call *c, const region at[N_PROJECTIONS], clattn_error *error)
{
    static const char *const INPUTS[] = {"x", "x_k", "x_v"};
    static const char *const WEIGHTS[] = {"w_q", "w_k", "w_v"};
    static const char *const BIASES[] = {"b_q", "b_k", "b_v"};
    const clattn_plan *plan = c->plan;
    const size_t given[] = {1, plan->given.Ek, plan->given.Ev};
    clattn_status status = CLATTN_OK;
    region x = {NULL, 0};

    for (int i = 0; i < 3; ++i) {
        if (given[i]) /* else the input before it serves again */
            x = call_region(c, INPUTS[i]);
        const matmul_regions regions = {
            .a = x,
            .b = call_region(c, WEIGHTS[i]),
            .bias = call_region(c, BIASES[i]),
            .c = at[i],
            .workspace = call_scratch(c, plan->project_scratch, sizeof(float)),
        };
        TRY(chain_matmul(&c->chain, &plan->project[i], plan->ctx, &plan->job[i],
            &regions, error));
    }

cleanup:
    return status;
}

clattn_status layer_chain(call *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const clattn_plan *plan = c->plan;
    region at[N_PROJECTIONS];

    place_steps(at, c);
    TRY(chain_inputs(c, at, error));

    attention_regions regions = call_attention_regions(c, true);
    regions.q = at[PROJECT_Q];
    regions.k = at[PROJECT_K];
    regions.v = at[PROJECT_V];
    regions.out = at[PROJECT_OUT];
    regions.workspace = call_scratch(c, plan->attend_scratch, sizeof(float));
    TRY(chain_attention(&c->chain, &plan->attend, plan->ctx, &plan->attention,
        &regions, error));

    if (projects_out(&plan->layer)) {
        const matmul_regions output = {
            .a = at[PROJECT_OUT],
            .b = call_region(c, "w_o"),
            .bias = call_region(c, "b_o"),
            .c = call_region(c, "y"),
            .workspace = call_scratch(c, plan->project_scratch, sizeof(float)),
        };
        TRY(chain_matmul(&c->chain, &plan->project[PROJECT_OUT], plan->ctx,
            &plan->job[PROJECT_OUT], &output, error));
    }

cleanup:
    return status;
}

clattn_status clattn_layer_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_layer_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_layer_args taken;
    clattn_attention_args inner;
    call c;

    memset(&inner, 0, sizeof inner);
    TRY(call_begin(
        &c, plan, OPERATION_LAYER, queue, num_wait, wait_list, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    if (taken.attention)
        TRY(problem_take_struct(&inner, sizeof inner, sizeof inner,
            taken.attention, "args.attention", error));
    c.count =
        operands_of_layer(c.list, &plan->layer, &plan->given, &taken, &inner);
    c.dropout_seed = inner.dropout_seed;
    c.dropout_offset = inner.dropout_offset;
    TRY(call_check(&c, &taken.workspace, error));
    TRY(operands_check_arrays(&plan->attention, &inner, error));
    TRY(call_prepare(&c, error));
    TRY(layer_chain(&c, error));
    TRY(chain_finish(&c.chain, event, error));

cleanup:
    call_end(&c);
    return status;
}
