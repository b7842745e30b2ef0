/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_trial.c - a case of attention made concrete: where its tensors lie,
 * and the descriptor that says so.
 */
#include "attention_trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tensors --------------------------------------------------------------- */

/* Strides of a (B, H, L, C) tensor; `packed` is the row of LAYOUT_PACKED. */
static void lay_out_batch(
    arena_tensor *t, enum case_layout layout, size_t packed)
{
    const size_t H = t->size[1], L = t->size[2], C = t->size[3];
    size_t row = C, head = C * L, batch = C * L * H;
    switch (layout) {
    case LAYOUT_BLHD:
        row = H * C, head = C;
        break;
    case LAYOUT_PACKED:
        row = packed, head = C, batch = packed * L;
        break;
    case LAYOUT_PADDED:
        row = C + 3, head = row * L + 5, batch = head * H + 7;
        t->offset = 1 + C % 4;
        break;
    case LAYOUT_SHARED:
        batch = 0;
        break;
    default: /* dense: left 0 */
        return;
    }
    t->stride[0] = batch, t->stride[1] = head, t->stride[2] = row;
}

/* Of a (rows, H, C) tensor, or the (H, rows) of lse. */
static void lay_out_rows(
    arena_tensor *t, enum case_layout layout, size_t packed, size_t rows)
{
    const size_t H = t->size[1], C = t->size[3];
    const bool heads_outside = strcmp(t->name, "lse") == 0;
    size_t row = H * C, head = C;
    if (heads_outside)
        row = 1, head = rows;
    if (layout == LAYOUT_PACKED)
        row = packed;
    if (layout == LAYOUT_PADDED) {
        head += heads_outside ? 5 : 3;
        row = heads_outside ? 1 : H * head + 5;
        t->offset = 1 + C % 4;
    }
    t->stride[1] = head, t->stride[2] = row;
    t->implied = layout == LAYOUT_DENSE;
}

static void lay_out(
    const arena *a, arena_tensor *t, enum case_layout layout, size_t packed)
{
    if (t->packing == 0)
        lay_out_batch(t, layout, packed);
    else
        lay_out_rows(t, layout, packed, a->packing[t->packing - 1].rows);
}

static arena_tensor tensor_of(const char *name, int32_t dtype, size_t b,
    size_t h, size_t row, size_t column)
{
    return (arena_tensor){.name = name,
        .size = {b, h, row, column},
        .memory = ARENA_NEW,
        .dtype = dtype};
}

static void place_inputs(arena *a, const attention_case *c)
{
    arena_tensor q = tensor_of(
        "q", c->dtype.q, c->size.B, c->size.Hq, c->size.Lq, c->size.D);
    arena_tensor k = tensor_of(
        "k", c->dtype.k, c->size.B, c->size.Hkv, c->size.Lk, c->size.D);
    arena_tensor v = tensor_of(
        "v", c->dtype.v, c->size.B, c->size.Hkv, c->size.Lk, c->size.Dv);
    const size_t q_row = c->size.Hq * c->size.D;
    const size_t k_row = c->size.Hkv * c->size.D;
    const size_t packed = q_row + k_row + c->size.Hkv * c->size.Dv;

    q.packing = c->query_starts ? 1 : 0;
    k.packing = v.packing = c->key_starts ? 2 : 0;
    lay_out(
        a, &q, c->layout == LAYOUT_SHARED ? LAYOUT_DENSE : c->layout, packed);
    lay_out(a, &k, c->layout, packed);
    lay_out(a, &v, c->layout, packed);
    if (c->layout == LAYOUT_PACKED) {
        k.memory = v.memory = SLOT_Q;
        k.offset = q_row;
        v.offset = q_row + k_row;
    }
    arena_place(a, SLOT_Q, q);
    arena_place(a, SLOT_K, k);
    arena_place(a, SLOT_V, v);
}

/* Outputs follow the inputs' layout where one call would have it so. */
static enum case_layout output_layout(enum case_layout layout)
{
    switch (layout) {
    case LAYOUT_PACKED:
        return LAYOUT_BLHD;
    case LAYOUT_SHARED:
        return LAYOUT_DENSE;
    default:
        return layout;
    }
}

static void place_outputs(arena *a, const attention_case *c)
{
    const enum case_layout layout = output_layout(c->layout);
    arena_tensor out = tensor_of(
        "out", c->dtype.out, c->size.B, c->size.Hq, c->size.Lq, c->size.Dv);
    arena_tensor lse =
        tensor_of("lse", 0, c->size.B, c->size.Hq, c->size.Lq, 1);
    arena_tensor weights = tensor_of("weights", c->dtype.weights, c->size.B,
        c->size.Hq, c->size.Lq, c->size.Lk);

    out.packing = lse.packing = c->query_starts ? 1 : 0;
    lay_out(a, &out, layout, 0);
    lay_out(a, &lse, layout, 0);
    /* (B, L, H, L) weights are legal but nobody's; gaps try the same. */
    lay_out(a, &weights, layout == LAYOUT_BLHD ? LAYOUT_DENSE : layout, 0);
    out.output = lse.output = weights.output = true;

    arena_place(a, SLOT_OUT, out);
    if (c->returns & CLATTN_RETURN_LSE)
        arena_place(a, SLOT_LSE, lse);
    if (c->returns & ~(uint32_t)CLATTN_RETURN_LSE)
        arena_place(a, SLOT_WEIGHTS, weights);
}

static void place_mask(arena *a, const attention_case *c)
{
    arena_tensor mask =
        tensor_of("mask", c->mask_dtype, c->mask_axes & AXIS_B ? c->size.B : 1,
            c->mask_axes & AXIS_H ? c->size.Hq : 1,
            c->mask_axes & AXIS_Q ? c->size.Lq : 1,
            c->mask_axes & AXIS_K ? c->size.Lk : 1);
    if (c->mask_padded)
        lay_out_batch(&mask, LAYOUT_PADDED, 0);
    arena_place(a, SLOT_MASK, mask);
}

static void place_arrays(arena *a, const attention_case *c)
{
    const size_t B = c->size.B;
    const struct {
        bool wanted;
        size_t slot;
        const char *name;
        size_t count;
    } arrays[] = {
        {c->key_lengths, SLOT_KEY_LENGTHS, "key_lengths", B},
        {c->query_lengths, SLOT_QUERY_LENGTHS, "query_lengths", B},
        {c->key_starts, SLOT_KEY_STARTS, "key_starts", B + !c->key_lengths},
        {c->query_starts, SLOT_QUERY_STARTS, "query_starts",
            B + !c->query_lengths},
        {c->item_offsets, SLOT_OFFSETS, "diagonal_offsets", B},
        {c->sinks, SLOT_SINKS, "sinks", c->size.Hq},
    };
    for (size_t n = 0; n < sizeof arrays / sizeof arrays[0]; ++n) {
        arena_tensor array =
            tensor_of(arrays[n].name, 0, 1, 1, 1, arrays[n].count);
        array.offset = 3;
        if (arrays[n].wanted)
            arena_place(a, arrays[n].slot, array);
    }
}

/* ---- The descriptor --------------------------------------------------------- */

static uint32_t flags_of(const attention_case *c)
{
    return c->returns | (c->key_lengths ? CLATTN_KEY_LENGTHS : 0u) |
           (c->query_lengths ? CLATTN_QUERY_LENGTHS : 0u) |
           (c->key_starts ? CLATTN_KEY_STARTS : 0u) |
           (c->query_starts ? CLATTN_QUERY_STARTS : 0u) |
           (c->item_offsets ? CLATTN_DIAGONAL_OFFSETS : 0u) |
           (c->sinks ? CLATTN_SINKS : 0u);
}

static void describe_mask(clattn_mask *mask, const arena *a)
{
    const arena_tensor *t = &a->tensor[SLOT_MASK];
    memcpy(mask->size, t->size, sizeof mask->size);
    memcpy(mask->stride, t->stride, sizeof t->stride);
    mask->stride[3] = t->stride[2] != 0;
    mask->dtype = t->dtype;
}

static void describe_rules(clattn_attention *p, const attention_trial *trial)
{
    const attention_case *c = &trial->of;
    p->causal = c->causal;
    p->diagonal = c->diagonal;
    p->diagonal_offset = c->diagonal_offset;
    p->has_scale = c->has_scale;
    p->scale = c->scale;
    p->softcap = c->softcap;
    p->dropout_p = c->dropout_p;
    p->precision = c->precision;
    p->alibi_slopes = c->alibi ? trial->slopes : NULL;
    if (c->windowed) {
        p->window_left = c->window_left;
        p->window_right = c->window_right;
    }
    if (c->mask_dtype != 0)
        describe_mask(&p->mask, &trial->memory);
}

/* Strides, and a dtype where it is not that of all. */
static clattn_tensor describe_tensor(
    const arena *a, size_t slot, int32_t common)
{
    const arena_tensor *t = &a->tensor[slot];
    clattn_tensor tensor = arena_strides(a, slot);
    tensor.dtype =
        t->name == NULL || arena_dtype(t) == common ? 0 : arena_dtype(t);
    return tensor;
}

static void describe(clattn_attention *p, const attention_trial *trial)
{
    const attention_case *c = &trial->of;
    const arena *a = &trial->memory;
    clattn_attention_init(p, sizeof *p);
    p->B = c->size.B, p->Hq = c->size.Hq, p->Hkv = c->size.Hkv;
    p->Lq = c->size.Lq, p->Lk = c->size.Lk;
    p->D = c->size.D, p->Dv = c->size.Dv;
    p->q_rows = c->query_starts ? a->packing[0].rows : 0;
    p->k_rows = c->key_starts ? a->packing[1].rows : 0;
    p->dtype = arena_dtype(&a->tensor[SLOT_Q]);
    p->q = describe_tensor(a, SLOT_Q, p->dtype);
    p->k = describe_tensor(a, SLOT_K, p->dtype);
    p->v = describe_tensor(a, SLOT_V, p->dtype);
    p->out = describe_tensor(a, SLOT_OUT, p->dtype);
    p->lse = describe_tensor(a, SLOT_LSE, CLATTN_F32);
    p->weights = describe_tensor(a, SLOT_WEIGHTS, p->dtype);
    p->flags = flags_of(c);
    describe_rules(p, trial);
}

/* ---- The trial -------------------------------------------------------------- */

/* Of so many items, with what attention_trial_pack puts between them: arrays
   tell rows as int32. */
static bool packing_fits(size_t B, size_t L)
{
    return B > 0 && B <= ARENA_ITEMS && L < INT32_MAX / B - 8;
}

/* Both kinds of heads, rows and columns together: every tensor, and the row that
   q, k and v share, is within that. */
static bool sizes_fit(const attention_case *c)
{
    const size_t H = arena_sum(c->size.Hq, c->size.Hkv);
    const size_t L = arena_sum(c->size.Lq, c->size.Lk);
    const size_t C = arena_sum(arena_sum(c->size.D, c->size.Dv), c->size.Lk);
    return arena_sizes_fit(c->size.B, H, L, C) &&
           (!c->query_starts || packing_fits(c->size.B, c->size.Lq)) &&
           (!c->key_starts || packing_fits(c->size.B, c->size.Lk));
}

bool attention_trial_create(attention_trial *trial, const attention_case *c)
{
    *trial = (attention_trial){.of = *c};
    arena *a = &trial->memory;
    if (!sizes_fit(c))
        return false;
    attention_trial_pack(trial);
    place_inputs(a, c);
    place_outputs(a, c);
    place_arrays(a, c);
    if (c->mask_dtype != 0)
        place_mask(a, c);
    if (!arena_allocate(a)) {
        attention_trial_destroy(trial);
        return false;
    }
    attention_trial_fill_arrays(trial);
    if (!attention_trial_fill(trial)) {
        attention_trial_destroy(trial);
        return false;
    }
    describe(&trial->problem, trial);
    arena_remember(a);
    return true;
}

void attention_trial_destroy(attention_trial *trial)
{
    free(trial->slopes);
    free(trial->reached);
    arena_free(&trial->memory);
    *trial = (attention_trial){.slopes = NULL};
}

clattn_attention_args attention_trial_args(
    const attention_trial *trial, const cl_mem *buffers)
{
    const arena *a = &trial->memory;
    const cl_mem *arrays = trial->host_arrays ? NULL : buffers;
    const bool drops = trial->of.dropout_p > 0;
    return (clattn_attention_args){.struct_size = sizeof(clattn_attention_args),
        .out = arena_output(a, SLOT_OUT, buffers),
        .lse = arena_output(a, SLOT_LSE, buffers),
        .weights = arena_output(a, SLOT_WEIGHTS, buffers),
        .q = arena_input(a, SLOT_Q, buffers),
        .k = arena_input(a, SLOT_K, buffers),
        .v = arena_input(a, SLOT_V, buffers),
        .mask = arena_input(a, SLOT_MASK, buffers),
        .sinks = arena_input(a, SLOT_SINKS, buffers),
        .query_lengths = arena_input(a, SLOT_QUERY_LENGTHS, arrays),
        .key_lengths = arena_input(a, SLOT_KEY_LENGTHS, arrays),
        .query_starts = arena_input(a, SLOT_QUERY_STARTS, arrays),
        .key_starts = arena_input(a, SLOT_KEY_STARTS, arrays),
        .diagonal_offsets = arena_input(a, SLOT_OFFSETS, arrays),
        .dropout_seed = drops ? trial->dropout_seed : 0,
        .dropout_offset = drops ? trial->dropout_offset : 0};
}
