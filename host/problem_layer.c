/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_layer.c - the descriptors of linear and layer, checked and completed.
 */
#include <string.h>

#include "error.h"
#include "extent.h"
#include "problem.h"
#include "problem_tensor.h"

static const uint32_t LAYER_FLAGS =
    CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V | CLATTN_BIAS_O |
    CLATTN_PROJECT_OUT | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT;

static unsigned float_types(bool reference)
{
    return DTYPES_FLOAT | (reference ? DTYPES_F64 : 0);
}

static clattn_status check_weight_order(int32_t order, clattn_error *error)
{
    if (order == CLATTN_IN_OUT || order == CLATTN_OUT_IN)
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "weight_order is %d%s, but must be CLATTN_IN_OUT (%d) or "
        "CLATTN_OUT_IN (%d)",
        order, order == 0 ? " (not set)" : "", CLATTN_IN_OUT, CLATTN_OUT_IN);
}

/* A weight matrix as it lies in memory. */
static tensor_rule weight_rule(const char *name, size_t n_in, size_t n_out,
    int32_t order, int32_t dtype, bool reference)
{
    const bool in_out = order == CLATTN_IN_OUT;
    const tensor_rule rule = {
        .name = name,
        .size = {1, 1, in_out ? n_in : n_out, in_out ? n_out : n_in},
        .order = ORDER_MATRIX,
        .default_type = dtype,
        .dtypes = float_types(reference),
    };
    return rule;
}

static clattn_status complete_linear(
    clattn_linear *l, bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    tensor_rule x =
        weight_rule("x", l->rows, l->n_in, CLATTN_IN_OUT, l->dtype, reference);
    tensor_rule w = weight_rule(
        "w", l->n_in, l->n_out, l->weight_order, l->dtype, reference);
    tensor_rule y =
        weight_rule("y", l->rows, l->n_out, CLATTN_IN_OUT, l->dtype, reference);
    y.written = true;

    TRY(dtype_check(l->dtype, float_types(reference), "dtype", error));
    TRY(tensor_complete(&l->x, &x, error));
    TRY(tensor_complete(&l->w, &w, error));
    TRY(tensor_complete(&l->y, &y, error));

cleanup:
    return status;
}

clattn_status problem_linear(clattn_linear *complete,
    const clattn_linear *given, bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_linear l;

    TRY(problem_take_struct(&l, sizeof l, sizeof l, given, "linear", error));
    TRY(size_check(l.rows, 0, "rows", error));
    TRY(size_check(l.n_in, 1, "n_in", error));
    TRY(size_check(l.n_out, 1, "n_out", error));
    TRY(check_weight_order(l.weight_order, error));
    if (l.has_bias != 0 && l.has_bias != 1)
        return error_set(error, CLATTN_INVALID,
            "has_bias is %d, but must be 0 or 1", l.has_bias);
    if (l.reserved != 0)
        return error_set(
            error, CLATTN_INVALID, "reserved is %d, but must be 0", l.reserved);
    TRY(complete_linear(&l, reference, error));
    *complete = l;

cleanup:
    return status;
}

static clattn_status check_layer_flags(
    const clattn_layer *l, clattn_error *error)
{
    const uint32_t unknown = l->flags & ~LAYER_FLAGS;
    const bool project = (l->flags & CLATTN_PROJECT_OUT) != 0;

    if (unknown != 0)
        return error_set(error, CLATTN_INVALID,
            "the layer's flags has bits 0x%x, but only those of "
            "clattn_layer_flags are allowed; clattn_flags belong to its "
            "attention",
            (unsigned)unknown);
    if (!project && (l->flags & CLATTN_BIAS_O) != 0)
        return error_set(error, CLATTN_INVALID,
            "the layer's flags has CLATTN_BIAS_O, but not CLATTN_PROJECT_OUT, "
            "to whose product b_o is added");
    if (!project && (l->flags & CLATTN_KEEP_OUT) != 0)
        return error_set(error, CLATTN_INVALID,
            "the layer's flags has CLATTN_KEEP_OUT, but not "
            "CLATTN_PROJECT_OUT, without which y already is out");
    if (!project)
        return tensor_unused(&l->w_o, "w_o",
            "the layer's flags has no CLATTN_PROJECT_OUT", error);
    return CLATTN_OK;
}

/* Columns that heads give together, as the kernels count them. */
static clattn_status heads_check(
    size_t H, size_t columns, const char *name, clattn_error *error)
{
    if (H <= INT32_MAX / columns)
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "%s is %zu * %zu, but must be at most %d", name, H, columns, INT32_MAX);
}

static clattn_status check_widths(
    const clattn_layer *l, const clattn_attention *a, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const bool project = (l->flags & CLATTN_PROJECT_OUT) != 0;

    TRY(size_check(l->E, 1, "E", error));
    TRY(size_check(l->Ey, project ? 1 : 0, "Ey", error));
    TRY(size_check(l->Ek, 0, "Ek", error));
    TRY(size_check(l->Ev, 0, "Ev", error));
    TRY(heads_check(a->Hq, a->D, "Hq * D", error));
    TRY(heads_check(a->Hq, a->Dv, "Hq * Dv", error));
    TRY(heads_check(a->Hkv, a->D, "Hkv * D", error));
    TRY(heads_check(a->Hkv, a->Dv, "Hkv * Dv", error));
    if (!project && l->Ey != a->Hq * a->Dv)
        status = error_set(error, CLATTN_INVALID,
            "Ey is %zu, but must be Hq * Dv = %zu without CLATTN_PROJECT_OUT",
            l->Ey, a->Hq * a->Dv);

cleanup:
    return status;
}

/* Where keys and values come from x, they must have its rows. */
static clattn_status check_own_keys(
    const clattn_attention *a, clattn_error *error)
{
    const bool q_packed = (a->flags & CLATTN_QUERY_STARTS) != 0;
    const bool k_packed = (a->flags & CLATTN_KEY_STARTS) != 0;

    if (q_packed != k_packed)
        return error_set(error, CLATTN_INVALID,
            "attention.flags has CLATTN_%s_STARTS alone, but where Ek is 0 "
            "and keys come from x both or neither must be packed",
            q_packed ? "QUERY" : "KEY");
    if (q_packed && a->q_rows != a->k_rows)
        return error_set(error, CLATTN_INVALID,
            "k_rows is %zu, but must be q_rows, which is %zu, where Ek is 0 "
            "and keys come from x",
            a->k_rows, a->q_rows);
    if (!q_packed && a->Lq != a->Lk)
        return error_set(error, CLATTN_INVALID,
            "Lk is %zu, but must be Lq, which is %zu, where Ek is 0 and keys "
            "come from x",
            a->Lk, a->Lq);
    return CLATTN_OK;
}

/* Inputs and output of a layer: rows of one item beside each other. */
static tensor_rule rows_rule(const clattn_attention *a, const char *name,
    bool query, size_t columns, bool reference)
{
    const bool packed =
        (a->flags & (query ? CLATTN_QUERY_STARTS : CLATTN_KEY_STARTS)) != 0;
    const size_t rows =
        query ? (packed ? a->q_rows : a->Lq) : (packed ? a->k_rows : a->Lk);
    const tensor_rule rule = {
        .name = name,
        .size = {a->B, 1, rows, columns},
        .order = ORDER_BLE,
        .packed = packed,
        .written = name[0] == 'y',
        .default_type = a->dtype,
        .dtypes = float_types(reference),
    };
    return rule;
}

/* x, x_k, x_v and y; what was not given becomes what it stands for. */
static clattn_status complete_rows(clattn_layer *l, const clattn_attention *a,
    bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const tensor_rule x = rows_rule(a, "x", true, l->E, reference);
    const tensor_rule y = rows_rule(a, "y", true, l->Ey, reference);
    const tensor_rule x_k = rows_rule(a, "x_k", false, l->Ek, reference);
    const tensor_rule x_v = rows_rule(a, "x_v", false, l->Ev, reference);

    TRY(tensor_complete(&l->x, &x, error));
    TRY(tensor_complete(&l->y, &y, error));
    if (l->Ek == 0) {
        TRY(tensor_unused(&l->x_k, "x_k", "Ek is 0", error));
        TRY(check_own_keys(a, error));
        l->Ek = l->E;
        l->x_k = l->x;
    } else {
        TRY(tensor_complete(&l->x_k, &x_k, error));
    }
    if (l->Ev == 0) {
        TRY(tensor_unused(&l->x_v, "x_v", "Ev is 0", error));
        l->Ev = l->Ek;
        l->x_v = l->x_k;
    } else {
        TRY(tensor_complete(&l->x_v, &x_v, error));
    }

cleanup:
    return status;
}

static clattn_status complete_weight(clattn_tensor *tensor, const char *name,
    size_t n_in, size_t n_out, const clattn_layer *l, int32_t dtype,
    bool reference, clattn_error *error)
{
    const tensor_rule rule =
        weight_rule(name, n_in, n_out, l->weight_order, dtype, reference);
    return tensor_complete(tensor, &rule, error);
}

static clattn_status complete_layer_weights(clattn_layer *l,
    const clattn_attention *a, bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const int32_t dtype = a->dtype;

    TRY(complete_weight(
        &l->w_q, "w_q", l->E, a->Hq * a->D, l, dtype, reference, error));
    TRY(complete_weight(
        &l->w_k, "w_k", l->Ek, a->Hkv * a->D, l, dtype, reference, error));
    TRY(complete_weight(
        &l->w_v, "w_v", l->Ev, a->Hkv * a->Dv, l, dtype, reference, error));
    if ((l->flags & CLATTN_PROJECT_OUT) != 0)
        TRY(complete_weight(
            &l->w_o, "w_o", a->Hq * a->Dv, l->Ey, l, dtype, reference, error));

cleanup:
    return status;
}

/* Items of a packed batch share rows or have their own, before a projection
   as after it. */
static clattn_status check_shared(const clattn_attention *a, bool packed,
    const clattn_tensor *before, const clattn_tensor *after, const char *name,
    const char *inner, clattn_error *error)
{
    if (!packed || a->B < 2 || (before->batch == 0) == (after->batch == 0))
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "%s.batch is %zu and attention.%s.batch is %zu, but packed rows need "
        "both or neither to be 0",
        name, before->batch, inner, after->batch);
}

static clattn_status check_all_shared(
    const clattn_layer *l, const clattn_attention *a, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const bool q_packed = (a->flags & CLATTN_QUERY_STARTS) != 0;
    const bool k_packed = (a->flags & CLATTN_KEY_STARTS) != 0;

    TRY(check_shared(a, q_packed, &l->x, &a->q, "x", "q", error));
    TRY(check_shared(a, k_packed, &l->x_k, &a->k, "x_k", "k", error));
    TRY(check_shared(a, k_packed, &l->x_v, &a->v, "x_v", "v", error));
    TRY(check_shared(a, q_packed, &l->y, &a->out, "y", "out", error));

cleanup:
    return status;
}

/* Without W_o, y is out: its heads lie side by side in the rows of y. */
static clattn_status place_out_in_y(clattn_attention *a, const clattn_layer *l,
    const clattn_tensor *given_out, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    TRY(tensor_unused(given_out, "attention.out",
        "without CLATTN_PROJECT_OUT y is out", error));
    a->out = l->y;
    a->out.head = a->Dv;

cleanup:
    return status;
}

clattn_status problem_layer(clattn_layer *complete, clattn_attention *attention,
    const clattn_layer *given, bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_layer l;
    clattn_attention a;

    TRY(problem_take_struct(&l, sizeof l, sizeof l, given, "layer", error));
    TRY(problem_attention(&a, l.attention, true, reference, error));
    TRY(check_weight_order(l.weight_order, error));
    TRY(check_layer_flags(&l, error));
    TRY(check_widths(&l, &a, error));
    TRY(complete_rows(&l, &a, reference, error));
    TRY(complete_layer_weights(&l, &a, reference, error));
    if ((l.flags & CLATTN_PROJECT_OUT) == 0)
        TRY(place_out_in_y(&a, &l, &l.attention->out, error));
    TRY(check_all_shared(&l, &a, error));
    *attention = a;
    *complete = l;
    complete->attention = attention;

cleanup:
    return status;
}
