/* SPDX-License-Identifier: Apache-2.0
 *
 * operand_list.c - which tensors and arrays a call has, by its descriptor.
 */
#include <stdint.h>

#include "extent.h"
#include "operand.h"
#include "problem.h"

static const size_t NO_STRIDES[4] = {0, 0, 0, 1};

static clattn_input input_of(const clattn_output *output)
{
    const clattn_input input = {output->mem, output->host, output->offset};
    return input;
}

/* Where a host pointer puts it; who knows cl_mem changes it for those.  No
   object of C is larger than a PTRDIFF_MAX. */
static void place_on_host(operand *op)
{
    size_t bytes = 0;

    op->space = NULL;
    op->capacity = SIZE_MAX;
    op->begin = 0;
    if (op->at.host == NULL)
        return;
    if (!size_mul(op->at.offset, op->element, &bytes) || bytes > PTRDIFF_MAX ||
        !size_add((size_t)(uintptr_t)op->at.host, bytes, &op->begin))
        op->begin = SIZE_MAX;
}

static operand make_operand(const char *name, bool wanted, size_t element,
    const size_t size[4], const size_t stride[4], clattn_input at)
{
    operand op = {.name = name, .wanted = wanted, .element = element, .at = at};
    for (int d = 0; d < 4; ++d) {
        op.size[d] = size[d];
        op.stride[d] = stride[d];
    }
    place_on_host(&op);
    return op;
}

/* A tensor; the items of a packed one share its rows if it has no batch
   stride. */
static operand tensor_operand(const char *name, bool wanted,
    const clattn_tensor *t, bool packed, const size_t size[4], clattn_input at)
{
    const size_t B = packed && t->batch == 0 && size[0] > 1 ? 1 : size[0];
    const size_t seen[4] = {B, size[1], size[2], size[3]};
    const size_t stride[4] = {t->batch, t->head, t->row, 1};

    return make_operand(name, wanted, dtype_bytes(t->dtype), seen, stride, at);
}

static operand line_operand(const char *name, bool wanted, size_t element,
    size_t count, clattn_input at)
{
    const size_t size[4] = {1, 1, 1, count};
    return make_operand(name, wanted, element, size, NO_STRIDES, at);
}

static operand array_operand(
    const char *name, bool wanted, size_t count, clattn_input at)
{
    operand op = line_operand(name, wanted, sizeof(int32_t), count, at);
    op.array = true;
    return op;
}

static operand workspace_operand(const char *name, const clattn_output *at)
{
    operand op = line_operand(name, false, 1, 0, input_of(at));
    op.output = true;
    op.read_back = true;
    return op;
}

static operand output_operand(operand op)
{
    op.output = true;
    return op;
}

/* What one step of a layer returns and the next one takes. */
static operand step_operand(operand op)
{
    op.output = true;
    op.read_back = true;
    return op;
}

/* The names of attention's operands, alone and within a layer. */
enum {
    OUT,
    LSE,
    WEIGHTS,
    Q,
    K,
    V,
    MASK,
    SINKS,
    QUERY_LENGTHS,
    KEY_LENGTHS,
    QUERY_STARTS,
    KEY_STARTS,
    DIAGONAL_OFFSETS,
    WORKSPACE,
    ATTENTION_OPERANDS
};

static const char *const ALONE[ATTENTION_OPERANDS] = {"out", "lse", "weights",
    "q", "k", "v", "mask", "sinks", "query_lengths", "key_lengths",
    "query_starts", "key_starts", "diagonal_offsets", "workspace"};

static const char *const WITHIN[ATTENTION_OPERANDS] = {"attention.out",
    "attention.lse", "attention.weights", "attention.q", "attention.k",
    "attention.v", "attention.mask", "attention.sinks",
    "attention.query_lengths", "attention.key_lengths",
    "attention.query_starts", "attention.key_starts",
    "attention.diagonal_offsets", "attention.workspace"};

static bool query_packed(const clattn_attention *a)
{
    return (a->flags & CLATTN_QUERY_STARTS) != 0;
}

static bool key_packed(const clattn_attention *a)
{
    return (a->flags & CLATTN_KEY_STARTS) != 0;
}

static size_t query_rows(const clattn_attention *a)
{
    return query_packed(a) ? a->q_rows : a->Lq;
}

static size_t key_rows(const clattn_attention *a)
{
    return key_packed(a) ? a->k_rows : a->Lk;
}

static void list_outputs(operand *list, const clattn_attention *a,
    const clattn_attention_args *args, const char *const *names, bool out)
{
    const uint32_t stage = CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
                           CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED;
    const bool packed = query_packed(a);
    const size_t rows = query_rows(a);
    const size_t out_size[4] = {a->B, a->Hq, rows, a->Dv};
    const size_t lse_size[4] = {a->B, a->Hq, rows, 1};
    const size_t weights_size[4] = {a->B, a->Hq, a->Lq, a->Lk};

    list[OUT] = output_operand(tensor_operand(
        names[OUT], out, &a->out, packed, out_size, input_of(&args->out)));
    list[LSE] = output_operand(
        tensor_operand(names[LSE], (a->flags & CLATTN_RETURN_LSE) != 0, &a->lse,
            packed, lse_size, input_of(&args->lse)));
    list[WEIGHTS] =
        output_operand(tensor_operand(names[WEIGHTS], (a->flags & stage) != 0,
            &a->weights, false, weights_size, input_of(&args->weights)));
}

static void list_inputs(operand *list, const clattn_attention *a,
    const clattn_attention_args *args, const char *const *names, bool qkv)
{
    const size_t q_size[4] = {a->B, a->Hq, query_rows(a), a->D};
    const size_t k_size[4] = {a->B, a->Hkv, key_rows(a), a->D};
    const size_t v_size[4] = {a->B, a->Hkv, key_rows(a), a->Dv};

    list[Q] =
        tensor_operand(names[Q], qkv, &a->q, query_packed(a), q_size, args->q);
    list[K] =
        tensor_operand(names[K], qkv, &a->k, key_packed(a), k_size, args->k);
    list[V] =
        tensor_operand(names[V], qkv, &a->v, key_packed(a), v_size, args->v);
    list[MASK] = make_operand(names[MASK], a->mask.dtype != 0,
        dtype_bytes(a->mask.dtype), a->mask.size, a->mask.stride, args->mask);
    list[SINKS] = line_operand(names[SINKS], (a->flags & CLATTN_SINKS) != 0,
        sizeof(float), a->Hq, args->sinks);
}

/* Starts without lengths have one more value; none is read of no items. */
static size_t starts_count(const clattn_attention *a, uint32_t lengths)
{
    return a->B == 0 || (a->flags & lengths) != 0 ? a->B : a->B + 1;
}

static void list_arrays(operand *list, const clattn_attention *a,
    const clattn_attention_args *args, const char *const *names)
{
    const size_t B = a->B;
    const size_t q_starts = starts_count(a, CLATTN_QUERY_LENGTHS);
    const size_t k_starts = starts_count(a, CLATTN_KEY_LENGTHS);

    list[QUERY_LENGTHS] = array_operand(names[QUERY_LENGTHS],
        (a->flags & CLATTN_QUERY_LENGTHS) != 0, B, args->query_lengths);
    list[KEY_LENGTHS] = array_operand(names[KEY_LENGTHS],
        (a->flags & CLATTN_KEY_LENGTHS) != 0, B, args->key_lengths);
    list[QUERY_STARTS] = array_operand(
        names[QUERY_STARTS], query_packed(a), q_starts, args->query_starts);
    list[KEY_STARTS] = array_operand(
        names[KEY_STARTS], key_packed(a), k_starts, args->key_starts);
    list[DIAGONAL_OFFSETS] = array_operand(names[DIAGONAL_OFFSETS],
        (a->flags & CLATTN_DIAGONAL_OFFSETS) != 0, B, args->diagonal_offsets);
}

size_t operands_of_attention(operand list[MAX_OPERANDS],
    const clattn_attention *complete, const clattn_attention_args *args)
{
    list_outputs(list, complete, args, ALONE, true);
    list_inputs(list, complete, args, ALONE, true);
    list_arrays(list, complete, args, ALONE);
    list[WORKSPACE] = workspace_operand(ALONE[WORKSPACE], &args->workspace);
    return ATTENTION_OPERANDS;
}

size_t operands_of_linear(operand list[MAX_OPERANDS],
    const clattn_linear *complete, const clattn_linear_args *args)
{
    const clattn_linear *l = complete;
    const bool in_out = l->weight_order == CLATTN_IN_OUT;
    const size_t x_size[4] = {1, 1, l->rows, l->n_in};
    const size_t w_size[4] = {
        1, 1, in_out ? l->n_in : l->n_out, in_out ? l->n_out : l->n_in};
    const size_t y_size[4] = {1, 1, l->rows, l->n_out};
    size_t n = 0;

    list[n++] = output_operand(
        tensor_operand("y", true, &l->y, false, y_size, input_of(&args->y)));
    list[n++] = tensor_operand("x", true, &l->x, false, x_size, args->x);
    list[n++] = tensor_operand("w", true, &l->w, false, w_size, args->w);
    list[n++] = line_operand(
        "b", l->has_bias != 0, dtype_bytes(l->w.dtype), l->n_out, args->b);
    list[n++] = workspace_operand("workspace", &args->workspace);
    return n;
}

static operand weight_operand(const char *name, const clattn_layer *l,
    const clattn_tensor *w, size_t n_in, size_t n_out, clattn_input at)
{
    const bool in_out = l->weight_order == CLATTN_IN_OUT;
    const size_t size[4] = {1, 1, in_out ? n_in : n_out, in_out ? n_out : n_in};
    const bool wanted = w != &l->w_o || (l->flags & CLATTN_PROJECT_OUT) != 0;

    return tensor_operand(name, wanted, w, false, size, at);
}

static operand bias_operand(const char *name, const clattn_layer *l,
    uint32_t flag, const clattn_tensor *w, size_t n_out, clattn_input at)
{
    return line_operand(
        name, (l->flags & flag) != 0, dtype_bytes(w->dtype), n_out, at);
}

/* y and what KEEP_QKV returns. */
static size_t list_layer_outputs(
    operand *list, const clattn_layer *l, const clattn_layer_args *args)
{
    const clattn_attention *a = l->attention;
    const bool keep = (l->flags & CLATTN_KEEP_QKV) != 0;
    const size_t y_size[4] = {a->B, 1, query_rows(a), l->Ey};
    const size_t q_size[4] = {a->B, a->Hq, query_rows(a), a->D};
    const size_t k_size[4] = {a->B, a->Hkv, key_rows(a), a->D};
    const size_t v_size[4] = {a->B, a->Hkv, key_rows(a), a->Dv};
    size_t n = 0;

    list[n++] = output_operand(tensor_operand(
        "y", true, &l->y, query_packed(a), y_size, input_of(&args->y)));
    list[n++] = step_operand(tensor_operand(
        "q", keep, &a->q, query_packed(a), q_size, input_of(&args->q)));
    list[n++] = step_operand(tensor_operand(
        "k", keep, &a->k, key_packed(a), k_size, input_of(&args->k)));
    list[n++] = step_operand(tensor_operand(
        "v", keep, &a->v, key_packed(a), v_size, input_of(&args->v)));
    return n;
}

static size_t list_layer_inputs(operand *list, const clattn_layer *l,
    const clattn_layer *given, const clattn_layer_args *args)
{
    const clattn_attention *a = l->attention;
    const size_t x_size[4] = {a->B, 1, query_rows(a), l->E};
    const size_t k_size[4] = {a->B, 1, key_rows(a), l->Ek};
    const size_t v_size[4] = {a->B, 1, key_rows(a), l->Ev};
    size_t n = 0;

    list[n++] =
        tensor_operand("x", true, &l->x, query_packed(a), x_size, args->x);
    list[n++] = tensor_operand(
        "x_k", given->Ek != 0, &l->x_k, key_packed(a), k_size, args->x_k);
    list[n++] = tensor_operand(
        "x_v", given->Ev != 0, &l->x_v, key_packed(a), v_size, args->x_v);
    return n;
}

static size_t list_layer_weights(
    operand *list, const clattn_layer *l, const clattn_layer_args *args)
{
    const clattn_attention *a = l->attention;
    const size_t q = a->Hq * a->D, k = a->Hkv * a->D, v = a->Hkv * a->Dv;
    const size_t out = a->Hq * a->Dv;
    size_t n = 0;

    list[n++] = weight_operand("w_q", l, &l->w_q, l->E, q, args->w_q);
    list[n++] = weight_operand("w_k", l, &l->w_k, l->Ek, k, args->w_k);
    list[n++] = weight_operand("w_v", l, &l->w_v, l->Ev, v, args->w_v);
    list[n++] = weight_operand("w_o", l, &l->w_o, out, l->Ey, args->w_o);
    list[n++] = bias_operand("b_q", l, CLATTN_BIAS_Q, &l->w_q, q, args->b_q);
    list[n++] = bias_operand("b_k", l, CLATTN_BIAS_K, &l->w_k, k, args->b_k);
    list[n++] = bias_operand("b_v", l, CLATTN_BIAS_V, &l->w_v, v, args->b_v);
    list[n++] =
        bias_operand("b_o", l, CLATTN_BIAS_O, &l->w_o, l->Ey, args->b_o);
    return n;
}

size_t operands_of_layer(operand list[MAX_OPERANDS],
    const clattn_layer *complete, const clattn_layer *given,
    const clattn_layer_args *args, const clattn_attention_args *inner)
{
    const clattn_attention *a = complete->attention;
    const bool keep_out = (complete->flags & CLATTN_KEEP_OUT) != 0;
    size_t n = list_layer_outputs(list, complete, args);

    n += list_layer_inputs(list + n, complete, given, args);
    n += list_layer_weights(list + n, complete, args);
    list[n++] = workspace_operand("workspace", &args->workspace);
    list_outputs(list + n, a, inner, WITHIN, keep_out);
    list[n + OUT] = step_operand(list[n + OUT]);
    list_inputs(list + n, a, inner, WITHIN, false);
    list_arrays(list + n, a, inner, WITHIN);
    list[n + WORKSPACE] =
        workspace_operand(WITHIN[WORKSPACE], &inner->workspace);
    return n + ATTENTION_OPERANDS;
}
