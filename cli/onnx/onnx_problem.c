/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_problem.c - what a case of ONNX's Attention means, in clattn's terms.
 */
#include "onnx_problem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_data.h"

static double attribute(const onnx_case *c, enum onnx_attribute which)
{
    return c->attribute[which].value;
}

/* ---- q, k, v ------------------------------------------------------------- */

static bool same_size(
    size_t a, size_t b, const char *first, const char *second, failure *f)
{
    return a == b || fail(f, "%s is %zu, but %s is %zu: both must be the same",
                         first, a, second, b);
}

static bool check_views(
    const onnx_view *q, const onnx_view *k, const onnx_view *v, failure *f)
{
    return same_size(k->B, q->B, "the batch of K", "that of Q", f) &&
           same_size(v->B, q->B, "the batch of V", "that of Q", f) &&
           same_size(v->H, k->H, "the heads of V", "that of K", f) &&
           same_size(v->L, k->L, "the rows of V", "that of K", f) &&
           same_size(k->C, q->C, "the columns of K", "that of Q", f);
}

/* Past and new keys as one tensor, where there is a past or where the case
   wants to see them as a 4-D tensor; else those that the case has. */
static bool take_keys(void **joined, onnx_view *all, const onnx_case *c,
    const onnx_view *new, enum onnx_tensor past, enum onnx_tensor present,
    failure *f)
{
    onnx_view before = {.B = new->B, .H = new->H, .C = new->C};

    *all = *new;
    if (!c->given[past] && !c->given[present])
        return true;
    if (c->given[past] && !onnx_view_past(&before, &c->tensor[past], new,
                              onnx_tensor_name(past), f))
        return false;
    *joined = onnx_join(all, &before, new);
    return *joined != NULL ||
           fail_memory(f, "no memory for %s and what follows it",
               onnx_tensor_name(past));
}

static clattn_tensor placed(const onnx_view *view)
{
    clattn_tensor tensor = view->stride;
    tensor.dtype = view->dtype;
    return tensor;
}

static onnx_memory memory_of(const onnx_view *view)
{
    return (onnx_memory){
        view->data, view->count * onnx_dtype_bytes(view->dtype)};
}

static bool take_tensors(onnx_problem *p, const onnx_case *c, failure *f)
{
    clattn_attention *a = &p->attention;
    onnx_view q, k, v, keys, values;

    if (!onnx_view_of(&q, c, ONNX_Q, ONNX_Q_NUM_HEADS, f) ||
        !onnx_view_of(&k, c, ONNX_K, ONNX_KV_NUM_HEADS, f) ||
        !onnx_view_of(&v, c, ONNX_V, ONNX_KV_NUM_HEADS, f) ||
        !check_views(&q, &k, &v, f) ||
        !take_keys(&p->key, &keys, c, &k, ONNX_PAST_KEY, ONNX_PRESENT_KEY, f) ||
        !take_keys(
            &p->value, &values, c, &v, ONNX_PAST_VALUE, ONNX_PRESENT_VALUE, f))
        return false;
    if (!same_size(
            keys.L, values.L, "the rows of all keys", "that of all values", f))
        return false;
    a->B = q.B, a->Hq = q.H, a->Hkv = k.H;
    a->Lq = q.L, a->Lk = keys.L, a->D = q.C, a->Dv = v.C;
    a->dtype = q.dtype;
    a->q = placed(&q), a->k = placed(&keys), a->v = placed(&values);
    p->input[ONNX_IN_Q] = memory_of(&q);
    p->input[ONNX_IN_K] = memory_of(&keys);
    p->input[ONNX_IN_V] = memory_of(&values);
    return true;
}

/* ---- Which keys remain --------------------------------------------------- */

static bool take_mask(onnx_problem *p, const onnx_case *c, failure *f)
{
    clattn_mask *mask = &p->attention.mask;
    const npy_array *given = &c->tensor[ONNX_ATTN_MASK];
    const size_t Lk = p->attention.Lk, rank = given->rank;

    if (!c->given[ONNX_ATTN_MASK])
        return true;
    if (rank < 1 || rank > 4 || given->size[rank - 1] > Lk)
        return fail(f,
            "attn_mask has rank %zu and %zu columns, but 1 to 4 and at most "
            "as many columns as keys, %zu, are allowed",
            rank, rank > 0 ? given->size[rank - 1] : 0, Lk);
    for (size_t axis = 0; axis < 4; ++axis)
        mask->size[axis] = axis + rank < 4 ? 1 : given->size[axis + rank - 4];
    mask->size[3] = Lk;
    mask->dtype = given->dtype;
    onnx_memory *at = &p->input[ONNX_IN_MASK];
    at->data = given->data;
    at->bytes = given->count * onnx_dtype_bytes(given->dtype);
    if (given->size[rank - 1] == Lk)
        return true;
    at->data = p->mask = onnx_widen(&at->bytes, given, Lk);
    return p->mask != NULL ||
           fail_memory(f, "no memory for attn_mask with %zu columns", Lk);
}

/* The key on which row 0 of an item stands that has n keys by
   nonpad_kv_seqlen. */
static bool take_offsets(onnx_problem *p, const onnx_case *c, failure *f)
{
    const clattn_attention *a = &p->attention;
    const int32_t *n = c->tensor[ONNX_NONPAD].data;

    p->offsets = calloc(a->B + 1, sizeof *p->offsets);
    if (p->offsets == NULL)
        return fail_memory(f, "no memory for %zu diagonal offsets", a->B);
    for (size_t b = 0; b < a->B; ++b) {
        const int64_t offset = (int64_t)n[b] - (int64_t)a->Lq;
        if (a->Lq > INT32_MAX || offset < INT32_MIN)
            return fail(f,
                "nonpad_kv_seqlen[%zu] is %" PRId32
                ", too little for %zu rows of Q",
                b, n[b], a->Lq);
        p->offsets[b] = (int32_t)offset;
    }
    p->input[ONNX_IN_DIAGONAL_OFFSETS] =
        (onnx_memory){p->offsets, a->B * sizeof *p->offsets};
    return true;
}

static bool take_lengths(onnx_problem *p, const onnx_case *c, failure *f)
{
    const npy_array *n = &c->tensor[ONNX_NONPAD];
    if (!c->given[ONNX_NONPAD])
        return true;
    p->attention.flags |= CLATTN_KEY_LENGTHS;
    p->input[ONNX_IN_KEY_LENGTHS] =
        (onnx_memory){n->data, n->count * sizeof(int32_t)};
    return same_size(n->count, p->attention.B, "the count of nonpad_kv_seqlen",
        "the batch of Q", f);
}

static bool take_diagonal(onnx_problem *p, const onnx_case *c, failure *f)
{
    clattn_attention *a = &p->attention;
    const npy_array *past = &c->tensor[ONNX_PAST_KEY];

    a->causal = (int32_t)attribute(c, ONNX_IS_CAUSAL);
    a->window_left = (int32_t)attribute(c, ONNX_LEFT_WINDOW);
    a->window_right = (int32_t)attribute(c, ONNX_RIGHT_WINDOW);
    if (!a->causal && a->window_left < 0 && a->window_right < 0)
        return true;
    a->diagonal = CLATTN_TOP_LEFT;
    if (c->given[ONNX_NONPAD]) {
        a->diagonal = CLATTN_OFFSET;
        a->flags |= CLATTN_DIAGONAL_OFFSETS;
        return take_offsets(p, c, f);
    }
    if (c->given[ONNX_PAST_KEY]) {
        if (past->size[2] > INT32_MAX)
            return fail(f, "past_key has %zu rows, but at most %d are allowed",
                past->size[2], INT32_MAX);
        a->diagonal = CLATTN_OFFSET;
        a->diagonal_offset = (int32_t)past->size[2];
    }
    return true;
}

static void take_numbers(onnx_problem *p, const onnx_case *c)
{
    clattn_attention *a = &p->attention;
    a->has_scale = c->attribute[ONNX_SCALE].set;
    a->scale = (float)attribute(c, ONNX_SCALE);
    a->softcap = (float)attribute(c, ONNX_SOFTCAP);
}

/* ---- Outputs ------------------------------------------------------------- */

/* In the order of qk_matmul_output_mode. */
static const struct stage_row {
    uint32_t flag;
    const char *name;
} STAGES[] = {
    {CLATTN_RETURN_SCALED, "RETURN_SCALED"},
    {CLATTN_RETURN_CAPPED, "RETURN_CAPPED"},
    {CLATTN_RETURN_SCORES, "RETURN_SCORES"},
    {CLATTN_RETURN_WEIGHTS, "RETURN_WEIGHTS"},
};

const char *onnx_stage_name(uint32_t stage)
{
    for (size_t i = 0; i < sizeof STAGES / sizeof STAGES[0]; ++i)
        if (STAGES[i].flag == stage)
            return STAGES[i].name;
    return "nothing";
}

static bool shows_hidden_keys(uint32_t stage)
{
    return stage == CLATTN_RETURN_SCALED || stage == CLATTN_RETURN_CAPPED;
}

static bool check_shape(const onnx_case *c, enum onnx_tensor output,
    size_t rank, const size_t *size, failure *f)
{
    const npy_array *has = &c->tensor[output];
    char text[2][200];

    if (!c->given[output] ||
        (has->rank == rank &&
            memcmp(has->size, size, rank * sizeof *size) == 0))
        return true;
    return fail(f, "%s has shape %s, but %s follows from the inputs",
        onnx_tensor_name(output), npy_shape_text(text[0], has->rank, has->size),
        npy_shape_text(text[1], rank, size));
}

static bool check_shapes(
    const clattn_attention *a, const onnx_case *c, failure *f)
{
    const bool flat = c->tensor[ONNX_Q].rank == 3;
    const size_t y3[] = {a->B, a->Lq, a->Hq * a->Dv};
    const size_t y4[] = {a->B, a->Hq, a->Lq, a->Dv};
    const size_t key[] = {a->B, a->Hkv, a->Lk, a->D};
    const size_t value[] = {a->B, a->Hkv, a->Lk, a->Dv};
    const size_t scores[] = {a->B, a->Hq, a->Lq, a->Lk};

    return check_shape(c, ONNX_Y, flat ? 3 : 4, flat ? y3 : y4, f) &&
           check_shape(c, ONNX_PRESENT_KEY, 4, key, f) &&
           check_shape(c, ONNX_PRESENT_VALUE, 4, value, f) &&
           check_shape(c, ONNX_QK_OUTPUT, 4, scores, f);
}

static bool take_outputs(onnx_problem *p, const onnx_case *c, failure *f)
{
    clattn_attention *a = &p->attention;

    if (!check_shapes(a, c, f))
        return false;
    a->out.dtype = c->tensor[ONNX_Y].dtype;
    if (c->tensor[ONNX_Q].rank == 3) {
        a->out.head = a->Dv;
        a->out.row = a->Hq * a->Dv;
        a->out.batch = a->out.row * a->Lq;
    }
    if (c->given[ONNX_QK_OUTPUT])
        p->stage = STAGES[(size_t)attribute(c, ONNX_QK_MODE)].flag;
    p->stage_dtype = c->tensor[ONNX_QK_OUTPUT].dtype;
    /* ONNX shows there what is beyond a length, clattn 0. */
    p->stage_apart =
        shows_hidden_keys(p->stage) && (a->flags & CLATTN_KEY_LENGTHS) != 0;
    return true;
}

/* ---- The problem --------------------------------------------------------- */

bool onnx_problem_make(onnx_problem *p, const onnx_case *c, failure *f)
{
    memset(p, 0, sizeof *p);
    clattn_attention_init(&p->attention, sizeof p->attention);
    take_numbers(p, c);
    const bool ok = take_tensors(p, c, f) && take_mask(p, c, f) &&
                    take_lengths(p, c, f) && take_diagonal(p, c, f) &&
                    take_outputs(p, c, f);
    if (!ok)
        onnx_problem_free(p);
    return ok;
}

void onnx_problem_free(onnx_problem *p)
{
    free(p->key);
    free(p->value);
    free(p->mask);
    free(p->offsets);
    memset(p, 0, sizeof *p);
}

clattn_attention onnx_problem_whole(const onnx_problem *p)
{
    clattn_attention a = p->attention;
    a.flags |= p->stage;
    a.weights.dtype = p->stage != 0 ? p->stage_dtype : 0;
    return a;
}

clattn_attention onnx_problem_stage(const onnx_problem *p)
{
    clattn_attention a = onnx_problem_whole(p);
    if (!shows_hidden_keys(p->stage))
        return a;
    memset(&a.mask, 0, sizeof a.mask);
    a.flags = p->stage;
    a.causal = 0;
    a.window_left = a.window_right = -1;
    a.diagonal = CLATTN_DIAGONAL_UNSET;
    a.diagonal_offset = 0;
    return a;
}
