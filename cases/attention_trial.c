/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_trial.c - a case of attention made concrete.
 */
#include "attention_case.h"

#include <math.h>
#include <string.h>

#include "draw.h"

/* Strides of a (B, H, L, C) tensor; `packed` is the row of LAYOUT_PACKED. */
static void lay_out(arena_tensor *t, enum case_layout layout, size_t packed)
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

static arena_tensor tensor_of(
    const char *name, size_t b, size_t h, size_t row, size_t column)
{
    return (arena_tensor){
        .name = name, .size = {b, h, row, column}, .memory = ARENA_NEW};
}

static void place_inputs(arena *a, const attention_case *c)
{
    arena_tensor q =
        tensor_of("q", c->size.B, c->size.Hq, c->size.Lq, c->size.D);
    arena_tensor k =
        tensor_of("k", c->size.B, c->size.Hkv, c->size.Lk, c->size.D);
    arena_tensor v =
        tensor_of("v", c->size.B, c->size.Hkv, c->size.Lk, c->size.Dv);
    const size_t q_row = c->size.Hq * c->size.D;
    const size_t k_row = c->size.Hkv * c->size.D;
    const size_t packed = q_row + k_row + c->size.Hkv * c->size.Dv;

    lay_out(&q, c->layout == LAYOUT_SHARED ? LAYOUT_DENSE : c->layout, packed);
    lay_out(&k, c->layout, packed);
    lay_out(&v, c->layout, packed);
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
    arena_tensor out =
        tensor_of("out", c->size.B, c->size.Hq, c->size.Lq, c->size.Dv);
    arena_tensor lse = tensor_of("lse", c->size.B, c->size.Hq, c->size.Lq, 1);
    arena_tensor weights =
        tensor_of("weights", c->size.B, c->size.Hq, c->size.Lq, c->size.Lk);

    lay_out(&out, layout, 0);
    lay_out(&lse, layout, 0);
    /* (B, L, H, L) weights are legal but nobody's; gaps try the same. */
    lay_out(&weights, layout == LAYOUT_BLHD ? LAYOUT_DENSE : layout, 0);
    out.output = lse.output = weights.output = true;

    arena_place(a, SLOT_OUT, out);
    if (c->returns & CLATTN_RETURN_LSE)
        arena_place(a, SLOT_LSE, lse);
    if (c->returns & CLATTN_RETURN_WEIGHTS)
        arena_place(a, SLOT_WEIGHTS, weights);
}

static void place_arrays(arena *a, const attention_case *c)
{
    arena_tensor array = tensor_of("key_lengths", 1, 1, 1, c->size.B);
    array.offset = 3;
    if (c->key_lengths)
        arena_place(a, SLOT_KEY_LENGTHS, array);
    array.name = "diagonal_offsets";
    if (c->item_offsets)
        arena_place(a, SLOT_OFFSETS, array);
}

static void describe(clattn_attention *p, const attention_trial *trial)
{
    const attention_case *c = &trial->of;
    clattn_attention_init(p, sizeof *p);
    p->B = c->size.B, p->Hq = c->size.Hq, p->Hkv = c->size.Hkv;
    p->Lq = c->size.Lq, p->Lk = c->size.Lk;
    p->D = c->size.D, p->Dv = c->size.Dv;
    p->dtype = CLATTN_F32;
    p->q = arena_strides(&trial->memory, SLOT_Q);
    p->k = arena_strides(&trial->memory, SLOT_K);
    p->v = arena_strides(&trial->memory, SLOT_V);
    p->out = arena_strides(&trial->memory, SLOT_OUT);
    p->lse = arena_strides(&trial->memory, SLOT_LSE);
    p->weights = arena_strides(&trial->memory, SLOT_WEIGHTS);
    p->flags = c->returns;
    if (c->key_lengths)
        p->flags |= CLATTN_KEY_LENGTHS;
    if (c->item_offsets)
        p->flags |= CLATTN_DIAGONAL_OFFSETS;
    p->causal = c->causal;
    p->diagonal = c->diagonal;
    p->diagonal_offset = c->diagonal_offset;
    p->has_scale = c->has_scale;
    p->scale = c->scale;
}

static void set_int(const arena *a, size_t slot, size_t b, int32_t value)
{
    memcpy(arena_at(a, slot, 0, 0, 0, b), &value, sizeof value);
}

static int32_t get_int(const arena *a, size_t slot, size_t b)
{
    int32_t value;
    memcpy(&value, arena_at(a, slot, 0, 0, 0, b), sizeof value);
    return value;
}

static void fill_arrays(attention_trial *trial, draw *d)
{
    const attention_case *c = &trial->of;
    const size_t Lq = c->size.Lq, Lk = c->size.Lk;
    for (size_t b = 0; c->key_lengths && b < c->size.B; ++b) {
        size_t length = draw_between(d, 0, Lk);
        if (b % 4 == 1)
            length = 0;
        if (b % 4 == 2)
            length = Lk;
        set_int(&trial->memory, SLOT_KEY_LENGTHS, b, (int32_t)length);
    }
    for (size_t b = 0; c->item_offsets && b < c->size.B; ++b)
        set_int(&trial->memory, SLOT_OFFSETS, b,
            (int32_t)draw_between(d, 0, Lq + Lk + 2) - (int32_t)Lq - 1);
}

size_t attention_trial_keys(const attention_trial *trial, size_t b)
{
    if (!trial->of.key_lengths)
        return trial->of.size.Lk;
    return (size_t)get_int(&trial->memory, SLOT_KEY_LENGTHS, b);
}

int64_t attention_trial_offset(const attention_trial *trial, size_t b)
{
    if (trial->of.item_offsets)
        return get_int(&trial->memory, SLOT_OFFSETS, b);
    if (trial->of.diagonal == CLATTN_BOTTOM_RIGHT)
        return (int64_t)attention_trial_keys(trial, b) -
               (int64_t)trial->of.size.Lq;
    return trial->of.diagonal == CLATTN_OFFSET ? trial->of.diagonal_offset : 0;
}

bool attention_trial_sees(
    const attention_trial *trial, size_t b, size_t i, size_t j)
{
    if (j >= attention_trial_keys(trial, b))
        return false;
    return !trial->of.causal ||
           (int64_t)j <= (int64_t)i + attention_trial_offset(trial, b);
}

/* Whether any row reads element j of the item's keys: the last row sees the
   most, and a shared key is read by all items. */
static bool reached(const attention_trial *trial, size_t b, size_t j)
{
    const size_t Lq = trial->of.size.Lq;
    if (trial->of.layout != LAYOUT_SHARED)
        return Lq > 0 && attention_trial_sees(trial, b, Lq - 1, j);
    for (size_t any = 0; Lq > 0 && any < trial->of.size.B; ++any)
        if (attention_trial_sees(trial, any, Lq - 1, j))
            return true;
    return false;
}

/* The value of one element of q, k or v.  TALL and HUGE divide by D, so that
   the sum of D products stays within 1e4 whatever D is. */
static float value_of(
    const attention_case *c, enum attention_slot slot, size_t row, draw *d)
{
    const float value = draw_value(d);
    const float root = sqrtf((float)c->size.D);
    const float tall = 100.0f / sqrtf(root);
    switch (c->fill) {
    case FILL_EQUAL:
        return slot == SLOT_Q ? 0.0f : value;
    case FILL_TALL:
        return slot == SLOT_V ? value : tall * value;
    case FILL_HUGE:
        if (slot == SLOT_Q)
            return tall * fabsf(value);
        return slot == SLOT_K && row == 0 ? tall * fabsf(value) : value;
    case FILL_SUNK:
        if (slot == SLOT_Q)
            return 50.0f / root;
        return slot == SLOT_K ? -1.0f - 0.01f * value : value;
    case FILL_TINY:
        return slot == SLOT_K ? value : 0x1p-130f * value;
    default:
        return value;
    }
}

static void fill_row(attention_trial *trial, enum attention_slot slot, size_t b,
    size_t row, draw *d)
{
    const arena_tensor *t = &trial->memory.tensor[slot];
    for (size_t h = 0; h < t->size[1]; ++h) {
        float *first = arena_at(&trial->memory, slot, b, h, row, 0);
        for (size_t column = 0; column < t->size[3]; ++column)
            first[column] = value_of(&trial->of, slot, row, d);
    }
}

/* The middle key of each item; rows before it do not see it under causal. */
static void fill_nan(attention_trial *trial, size_t b)
{
    const size_t keys = attention_trial_keys(trial, b);
    const arena_tensor *k = &trial->memory.tensor[SLOT_K];
    for (size_t h = 0; keys > 0 && h < k->size[1]; h += 2)
        *arena_at(&trial->memory, b % 2 ? SLOT_V : SLOT_K, b, h, keys / 2, 0) =
            NAN;
}

static void fill(attention_trial *trial, draw *d)
{
    const attention_case *c = &trial->of;
    for (size_t b = 0; b < c->size.B; ++b) {
        for (size_t i = 0; i < c->size.Lq; ++i)
            fill_row(trial, SLOT_Q, b, i, d);
        for (size_t j = 0; j < c->size.Lk; ++j)
            if (reached(trial, b, j)) {
                fill_row(trial, SLOT_K, b, j, d);
                fill_row(trial, SLOT_V, b, j, d);
            }
        if (c->fill == FILL_NAN)
            fill_nan(trial, b);
    }
}

void attention_trial_poison(attention_trial *trial, float value)
{
    const attention_case *c = &trial->of;
    for (size_t b = 0; b < c->size.B; ++b)
        for (size_t j = 0; j < c->size.Lk; ++j)
            for (size_t h = 0; h < c->size.Hkv && !reached(trial, b, j); ++h) {
                float *k = arena_at(&trial->memory, SLOT_K, b, h, j, 0);
                float *v = arena_at(&trial->memory, SLOT_V, b, h, j, 0);
                for (size_t column = 0; column < c->size.D; ++column)
                    k[column] = value;
                for (size_t column = 0; column < c->size.Dv; ++column)
                    v[column] = value;
            }
}

bool attention_trial_create(attention_trial *trial, const attention_case *c)
{
    *trial = (attention_trial){.of = *c};
    place_inputs(&trial->memory, c);
    place_outputs(&trial->memory, c);
    place_arrays(&trial->memory, c);
    describe(&trial->problem, trial);
    if (!arena_allocate(&trial->memory)) {
        attention_trial_destroy(trial);
        return false;
    }
    draw d = draw_start(c->seed);
    fill_arrays(trial, &d);
    fill(trial, &d);
    arena_remember(&trial->memory);
    return true;
}

void attention_trial_destroy(attention_trial *trial)
{
    arena_free(&trial->memory);
}

clattn_attention_args attention_trial_args(
    const attention_trial *trial, const cl_mem *buffers)
{
    const arena *a = &trial->memory;
    const cl_mem *arrays = trial->host_arrays ? NULL : buffers;
    return (clattn_attention_args){.struct_size = sizeof(clattn_attention_args),
        .out = arena_output(a, SLOT_OUT, buffers),
        .lse = arena_output(a, SLOT_LSE, buffers),
        .weights = arena_output(a, SLOT_WEIGHTS, buffers),
        .q = arena_input(a, SLOT_Q, buffers),
        .k = arena_input(a, SLOT_K, buffers),
        .v = arena_input(a, SLOT_V, buffers),
        .key_lengths = arena_input(a, SLOT_KEY_LENGTHS, arrays),
        .diagonal_offsets = arena_input(a, SLOT_OFFSETS, arrays)};
}
