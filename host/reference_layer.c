/* SPDX-License-Identifier: Apache-2.0
 *
 * reference_layer.c - multi-head attention with its projections, in double
 * precision from x to y.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "extent.h"
#include "operand.h"
#include "problem.h"
#include "reference.h"

/* q, k, v or out between the steps: dense rows of heads side by side. */
typedef struct between {
    double *values;
    size_t batch;      /* 0: packed items share their rows */
    size_t H, columns; /* a row has H * columns */
    bool query;        /* whose rows it has */
} between;

typedef struct layer_call {
    const clattn_layer *l;
    const clattn_layer_args *args;
    const clattn_attention *a; /* l->attention */
    clattn_attention_args inner;
    between q, k, v, out;
    double *row_in, *row_out, *scratch;
} layer_call;

static bool is_packed(const clattn_attention *a, bool query)
{
    return a->flags & (query ? CLATTN_QUERY_STARTS : CLATTN_KEY_STARTS);
}

/* The rows of item b that a projection maps: those it owns in a packed batch,
   else all, since lengths hide keys only once they are keys. */
static item_rows rows_of(const layer_call *c, bool query, size_t b)
{
    const item_rows all = {0, query ? c->a->Lq : c->a->Lk};

    if (!is_packed(c->a, query))
        return all;
    return query ? operand_query_rows(c->a, &c->inner, b)
                 : operand_key_rows(c->a, &c->inner, b);
}

/* Items that have such rows: none where there can be no row. */
static size_t items_of(const layer_call *c, bool query)
{
    return (query ? c->a->Lq : c->a->Lk) > 0 ? c->a->B : 0;
}

/* ---- Memory -------------------------------------------------------------- */

/* count values, at least one; NULL also if a size_t does not hold the bytes. */
static double *new_values(size_t count)
{
    if (count > PTRDIFF_MAX / sizeof(double))
        return NULL;
    return malloc((count > 0 ? count : 1) * sizeof(double));
}

static clattn_status create_between(between *t, const char *name,
    const clattn_attention *a, bool query, size_t columns, size_t outer_batch,
    clattn_error *error)
{
    const bool packed = is_packed(a, query);
    const size_t rows =
        query ? (packed ? a->q_rows : a->Lq) : (packed ? a->k_rows : a->Lk);
    const bool shared = packed && outer_batch == 0;
    size_t count = 0;

    t->query = query;
    t->H = query ? a->Hq : a->Hkv;
    t->columns = columns;
    if (!size_mul(rows, t->H * columns, &count) ||
        !size_mul(count, shared ? 1 : a->B, &count))
        count = SIZE_MAX;
    t->batch = shared || a->B == 0 || count == SIZE_MAX ? 0 : count / a->B;
    t->values = new_values(count);
    if (t->values == NULL)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for %s, %zu items of %zu rows of %zu heads of %zu "
            "columns in double precision",
            name, shared ? 1 : a->B, rows, t->H, columns);
    return CLATTN_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The widest row that any projection reads or writes. */
static size_t widest_row(const clattn_layer *l)
{
    const clattn_attention *a = l->attention;
    const size_t x = larger(l->E, larger(l->Ek, l->Ev));
    const size_t heads = larger(a->Hq, a->Hkv) * larger(a->D, a->Dv);

    return larger(larger(x, heads), l->Ey);
}

static clattn_status create_all(layer_call *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const clattn_attention *a = c->a;
    const size_t widest = widest_row(c->l);

    TRY(create_between(&c->q, "q", a, true, a->D, a->q.batch, error));
    TRY(create_between(&c->k, "k", a, false, a->D, a->k.batch, error));
    TRY(create_between(&c->v, "v", a, false, a->Dv, a->v.batch, error));
    TRY(create_between(&c->out, "out", a, true, a->Dv, a->out.batch, error));
    c->row_in = new_values(widest);
    c->row_out = new_values(widest);
    c->scratch = new_values(widest);
    if (c->row_in == NULL || c->row_out == NULL || c->scratch == NULL)
        status = error_set(error, CLATTN_NO_MEMORY,
            "no memory for rows of %zu columns", widest);

cleanup:
    return status;
}

static void destroy_all(layer_call *c)
{
    free(c->q.values);
    free(c->k.values);
    free(c->v.values);
    free(c->out.values);
    free(c->row_in);
    free(c->row_out);
    free(c->scratch);
}

/* ---- Steps --------------------------------------------------------------- */

static double *row_between(const between *t, size_t b, size_t i)
{
    return t->values + b * t->batch + i * t->H * t->columns;
}

static reference_map make_map(const layer_call *c, const clattn_tensor *w,
    const clattn_input *w_at, const clattn_input *b_at, size_t n_in,
    size_t n_out)
{
    const reference_map map = {
        .w = w_at->host,
        .b = b_at->host,
        .w_first = w_at->offset,
        .b_first = b_at->offset,
        .w_row = w->row,
        .n_in = n_in,
        .n_out = n_out,
        .dtype = w->dtype,
        .weight_order = c->l->weight_order,
    };
    return map;
}

static void project_in(const layer_call *c, const between *to,
    const clattn_tensor *x, const clattn_input *x_at, const reference_map *map)
{
    for (size_t b = 0; b < items_of(c, to->query); ++b) {
        const item_rows rows = rows_of(c, to->query, b);
        for (size_t n = 0; n < rows.count; ++n) {
            const size_t i = rows.start + n;
            convert_load(c->row_in, x_at->host, x->dtype,
                x_at->offset + b * x->batch + i * x->row, map->n_in);
            reference_map_row(
                row_between(to, b, i), c->row_in, map, c->scratch);
        }
    }
}

/* q = x W_q + b_q, k = x_k W_k + b_k, v = x_v W_v + b_v */
static void project_qkv(const layer_call *c, const clattn_layer *given)
{
    const clattn_layer *l = c->l;
    const clattn_layer_args *args = c->args;
    const clattn_attention *a = c->a;
    const clattn_input *x = &args->x;
    const clattn_input *x_k = given->Ek != 0 ? &args->x_k : x;
    const clattn_input *x_v = given->Ev != 0 ? &args->x_v : x_k;
    const reference_map q =
        make_map(c, &l->w_q, &args->w_q, &args->b_q, l->E, a->Hq * a->D);
    const reference_map k =
        make_map(c, &l->w_k, &args->w_k, &args->b_k, l->Ek, a->Hkv * a->D);
    const reference_map v =
        make_map(c, &l->w_v, &args->w_v, &args->b_v, l->Ev, a->Hkv * a->Dv);

    project_in(c, &c->q, &l->x, x, &q);
    project_in(c, &c->k, &l->x_k, x_k, &k);
    project_in(c, &c->v, &l->x_v, x_v, &v);
}

static void describe_between(clattn_tensor *tensor, const between *t)
{
    const clattn_tensor dense = {
        .batch = t->batch,
        .head = t->columns,
        .row = t->H * t->columns,
        .dtype = CLATTN_F64,
    };
    *tensor = dense;
}

/* The attention of q, k and v as they are between the steps. */
static clattn_status attend(
    const layer_call *c, double scale, clattn_error *error)
{
    clattn_attention a = *c->a;
    clattn_attention_args args = c->inner;

    describe_between(&a.q, &c->q);
    describe_between(&a.k, &c->k);
    describe_between(&a.v, &c->v);
    describe_between(&a.out, &c->out);
    args.q = (clattn_input){.host = c->q.values};
    args.k = (clattn_input){.host = c->k.values};
    args.v = (clattn_input){.host = c->v.values};
    args.out = (clattn_output){.host = c->out.values};
    return reference_attention(&a, &args, scale, error);
}

/* Round what the caller wants to see to its own tensor. */
static void keep(const layer_call *c, const between *t, const clattn_tensor *to,
    const clattn_output *at)
{
    for (size_t b = 0; b < items_of(c, t->query); ++b) {
        const item_rows rows = rows_of(c, t->query, b);
        for (size_t n = 0; n < rows.count; ++n) {
            const size_t i = rows.start + n;
            const double *from = row_between(t, b, i);
            for (size_t h = 0; h < t->H; ++h)
                convert_store(at->host, to->dtype,
                    at->offset + b * to->batch + h * to->head + i * to->row,
                    from + h * t->columns, t->columns);
        }
    }
}

/* y = out W_o + b_o */
static void project_out(const layer_call *c)
{
    const clattn_layer *l = c->l;
    const clattn_output *at = &c->args->y;
    const reference_map map = make_map(
        c, &l->w_o, &c->args->w_o, &c->args->b_o, c->a->Hq * c->a->Dv, l->Ey);

    for (size_t b = 0; b < items_of(c, true); ++b) {
        const item_rows rows = rows_of(c, true, b);
        for (size_t n = 0; n < rows.count; ++n) {
            const size_t i = rows.start + n;
            reference_map_row(
                c->row_out, row_between(&c->out, b, i), &map, c->scratch);
            convert_store(at->host, l->y.dtype,
                at->offset + b * l->y.batch + i * l->y.row, c->row_out, l->Ey);
        }
    }
}

/* All of the layer after its checks. */
static clattn_status run_layer(
    layer_call *c, const clattn_layer *given, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const clattn_attention *a = c->a;

    TRY(create_all(c, error));
    project_qkv(c, given);
    TRY(attend(c, reference_scale(given->attention), error));
    if (c->l->flags & CLATTN_KEEP_QKV) {
        keep(c, &c->q, &a->q, &c->args->q);
        keep(c, &c->k, &a->k, &c->args->k);
        keep(c, &c->v, &a->v, &c->args->v);
    }
    if (c->l->flags & CLATTN_KEEP_OUT)
        keep(c, &c->out, &a->out, &c->inner.out);
    /* Without W_o the completed descriptor says where in y the heads lie. */
    if (c->l->flags & CLATTN_PROJECT_OUT)
        project_out(c);
    else
        keep(c, &c->out, &a->out, &c->args->y);

cleanup:
    destroy_all(c);
    return status;
}

clattn_status clattn_layer_reference(const clattn_layer *layer,
    const clattn_layer_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_layer complete;
    clattn_attention attention;
    clattn_layer_args taken;
    operand list[MAX_OPERANDS];
    layer_call call = {.l = &complete, .args = &taken, .a = &attention};

    TRY(problem_layer(&complete, &attention, layer, true, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    if (taken.attention != NULL)
        TRY(problem_take_struct(&call.inner, sizeof call.inner,
            sizeof call.inner, taken.attention, "args.attention", error));
    const size_t count =
        operands_of_layer(list, &complete, layer, &taken, &call.inner);
    TRY(operands_check(list, count, OPERANDS_ON_HOST, error));
    TRY(operands_check_arrays(&attention, &call.inner, error));
    TRY(run_layer(&call, layer, error));
    status = error_none(error);

cleanup:
    return status;
}
