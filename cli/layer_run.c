/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_run.c - a model's attention layer applied to hidden states.
 */
#include "layer_run.h"

#include "arrays.h"

bool layer_run_measure(
    layer_run *run, const char *model_path, const char *x_path, failure *f)
{
    char shape[200];
    const npy_array *x = run->x;
    const size_t width = x->size[x->rank - 1];
    run->B = x->rank == 3 ? x->size[0] : 1;
    run->L = x->size[x->rank - 2];
    if (width == run->model->E)
        return true;
    return fail(f,
        "%s: shape %s has width %zu, but the layer%s%s of %s takes width %zu",
        x_path, npy_shape_text(shape, x->rank, x->size), width,
        run->model->prefix[0] ? " " : "", run->model->prefix, model_path,
        run->model->E);
}

/* ---- Memory ------------------------------------------------------------- */

/* An array of the given sizes after that of the batch, if x has one. */
static bool make(npy_array *array, const layer_run *run, size_t rank,
    const size_t *size, const char *what, failure *f)
{
    size_t all[NPY_MAX_RANK] = {run->B};
    const size_t lead = run->x->rank == 3;
    for (size_t i = 0; i < rank; i++)
        all[lead + i] = size[i];
    return array_make(array, lead + rank, all, what, f);
}

static bool make_qkv(layer_run *run, failure *f)
{
    const model_layer *m = run->model;
    const size_t q[3] = {run->L, m->Hq, m->D};
    const size_t k[3] = {run->L, m->Hkv, m->D};
    const size_t v[3] = {run->L, m->Hkv, m->Dv};
    return make(&run->q, run, 3, q, "Q", f) &&
           make(&run->k, run, 3, k, "K", f) && make(&run->v, run, 3, v, "V", f);
}

static bool make_results(layer_run *run, failure *f)
{
    const model_layer *m = run->model;
    const size_t y[2] = {run->L, m->Ey};
    const size_t context[2] = {run->L, m->Hq * m->Dv};
    const size_t weights[3] = {m->Hq, run->L, run->L};
    if (!make(&run->y, run, 2, y, "the output", f))
        return false;
    if (run->want_context && m->part[MODEL_O].w &&
        !make(&run->context, run, 2, context, "the context", f))
        return false;
    if (run->want_weights &&
        !make(&run->weights, run, 3, weights, "the attention", f))
        return false;
    if (run->want_lse && !make(&run->lse, run, 2, weights, "the LSE", f))
        return false;
    return !run->want_qkv || make_qkv(run, f);
}

void layer_run_free(layer_run *run)
{
    npy_array *const arrays[] = {&run->y, &run->context, &run->weights,
        &run->lse, &run->q, &run->k, &run->v};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        npy_free(arrays[i]);
}

const npy_array *layer_run_context(const layer_run *run)
{
    return run->context.data ? &run->context : &run->y;
}

/* ---- The library's structs ---------------------------------------------- */

static void describe_attention(clattn_attention *a, const layer_run *run)
{
    const model_layer *m = run->model;
    clattn_attention_init(a, sizeof *a);
    a->B = run->B;
    a->Hq = m->Hq;
    a->Hkv = m->Hkv;
    a->Lq = a->Lk = run->L;
    a->D = m->D;
    a->Dv = m->Dv;
    a->dtype = CLATTN_F32;
    a->flags = (run->want_weights ? CLATTN_RETURN_WEIGHTS : 0u) |
               (run->want_lse ? CLATTN_RETURN_LSE : 0u) |
               (run->lengths ? CLATTN_KEY_LENGTHS : 0u);
    a->diagonal = run->diagonal;
    a->causal = run->diagonal != CLATTN_DIAGONAL_UNSET;
    a->has_scale = run->no_scale;
    a->scale = run->no_scale ? 1.0f : 0.0f;
}

static void describe_layer(
    clattn_layer *l, const clattn_attention *a, const layer_run *run)
{
    const model_layer *m = run->model;
    const model_weight *part = m->part;
    clattn_layer_init(l, sizeof *l);
    l->attention = a;
    l->E = m->E;
    l->Ey = m->Ey;
    l->w_q.row = part[MODEL_Q].row;
    l->w_k.row = part[MODEL_K].row;
    l->w_v.row = part[MODEL_V].row;
    l->w_o.row = part[MODEL_O].row;
    l->weight_order = m->weight_order;
    l->flags = (part[MODEL_Q].b ? CLATTN_BIAS_Q : 0u) |
               (part[MODEL_K].b ? CLATTN_BIAS_K : 0u) |
               (part[MODEL_V].b ? CLATTN_BIAS_V : 0u) |
               (part[MODEL_O].b ? CLATTN_BIAS_O : 0u) |
               (part[MODEL_O].w ? CLATTN_PROJECT_OUT : 0u) |
               (run->want_qkv ? CLATTN_KEEP_QKV : 0u) |
               (run->context.data ? CLATTN_KEEP_OUT : 0u);
}

static void bring_attention(clattn_attention_args *args, const layer_run *run)
{
    *args = (clattn_attention_args){.struct_size = sizeof *args};
    args->out.host = run->context.data;
    args->lse.host = run->lse.data;
    args->weights.host = run->weights.data;
    args->key_lengths.host = run->lengths;
}

static void bring_layer(clattn_layer_args *args,
    const clattn_attention_args *attention, const layer_run *run)
{
    const model_weight *part = run->model->part;
    *args = (clattn_layer_args){.struct_size = sizeof *args};
    args->y.host = run->y.data;
    args->q.host = run->q.data;
    args->k.host = run->k.data;
    args->v.host = run->v.data;
    args->x.host = run->x->data;
    args->w_q.host = part[MODEL_Q].w;
    args->w_k.host = part[MODEL_K].w;
    args->w_v.host = part[MODEL_V].w;
    args->w_o.host = part[MODEL_O].w;
    args->b_q.host = part[MODEL_Q].b;
    args->b_k.host = part[MODEL_K].b;
    args->b_v.host = part[MODEL_V].b;
    args->b_o.host = part[MODEL_O].b;
    args->attention = attention;
}

/* ---- The call ----------------------------------------------------------- */

/* The host call plans by itself; planning before it compiles, so that the time
   of the build is known and the plan can be described. */
static bool build(
    const clattn_layer *layer, session *s, FILE *explain, failure *f)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    const double start = clock_ms();
    if (!library_ok(clattn_layer_plan(&plan, s->ctx, layer, &error), &error, f))
        return false;
    s->build_ms = clock_ms() - start;
    if (explain)
        fprintf(explain, "plan      %s\n", clattn_plan_describe(plan));
    clattn_plan_destroy(plan);
    return true;
}

bool layer_run_compute(layer_run *run, session *s, FILE *explain, failure *f)
{
    clattn_error error;
    clattn_attention attention;
    clattn_layer layer;
    clattn_attention_args attention_args;
    clattn_layer_args args;
    if (!make_results(run, f))
        return false;
    describe_attention(&attention, run);
    describe_layer(&layer, &attention, run);
    if (!build(&layer, s, explain, f))
        return false;
    bring_attention(&attention_args, run);
    bring_layer(&args, &attention_args, run);
    const double start = clock_ms();
    const clattn_status status =
        clattn_layer_host(s->ctx, &layer, &args, &error);
    s->run_ms = clock_ms() - start;
    return library_ok(status, &error, f);
}
