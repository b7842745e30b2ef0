/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_fill.c - the numbers of a trial: lengths, masks, sinks, q, k and v.
 * Each has a stream of its own, so that dropping one option of a case leaves
 * the numbers of the others alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention_trial.h"
#include "draw.h"

enum stream {
    STREAM_QUERIES = SLOT_SINKS + 1, /* below: a slot's own */
    STREAM_KEYS,
    STREAM_SLOPES,
    STREAM_DROPOUT
};

static draw start(const attention_trial *trial, size_t stream)
{
    draw d = draw_start(trial->of.seed + 0x100000000u * (stream + 1));
    return draw_start(draw_bits(&d));
}

/* ---- Arrays ---------------------------------------------------------------- */

static void set_int(const arena *a, size_t slot, size_t b, size_t value)
{
    const int32_t whole = (int32_t)value;
    memcpy(arena_at(a, slot, 0, 0, 0, b), &whole, sizeof whole);
}

/* How many rows an item has: none, all, or any number. */
static size_t draw_rows(draw *d, size_t b, size_t L)
{
    const size_t rows = draw_between(d, 0, L);
    return b % 4 == 1 ? 0 : b % 4 == 2 ? L : rows;
}

/*
 * Items of a packed batch, one behind the other.  With lengths of their own
 * they may have gaps between them and, if turned, come in the opposite order.
 */
static void pack(arena_packing *p, draw *d, size_t B, size_t L, bool lengths)
{
    const bool turned = lengths && draw_below(d, 2) == 0;
    size_t at = draw_between(d, 0, 3);
    for (size_t n = 0; n < B; ++n) {
        const size_t b = turned ? B - 1 - n : n;
        p->first[b] = at;
        p->count[b] = draw_rows(d, b, L);
        at += p->count[b] + (lengths ? draw_between(d, 0, 2) : 0);
    }
    p->rows = at + draw_between(d, 0, 2);
    if (p->rows == 0)
        p->rows = 1;
}

/* Keys alone may be shared: all items begin where the first does. */
static void share(arena_packing *p, size_t B)
{
    for (size_t b = 0; b < B; ++b)
        p->first[b] = p->first[0];
    p->rows = p->first[0] + 1;
    for (size_t b = 0; b < B; ++b)
        if (p->rows < p->first[b] + p->count[b])
            p->rows = p->first[b] + p->count[b];
}

void attention_trial_pack(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    arena_packing *queries = &trial->memory.packing[0];
    arena_packing *keys = &trial->memory.packing[1];
    draw d = start(trial, STREAM_QUERIES);
    if (c->query_starts)
        pack(queries, &d, c->size.B, c->size.Lq, c->query_lengths);
    d = start(trial, STREAM_KEYS);
    if (c->key_starts)
        pack(keys, &d, c->size.B, c->size.Lk, c->key_lengths);
    if (c->key_starts && c->key_lengths && draw_below(&d, 4) == 0)
        share(keys, c->size.B);
    if (c->key_starts && c->layout == LAYOUT_PACKED)
        *keys = *queries;
}

static void fill_starts(
    const arena *a, size_t slot, const arena_packing *p, size_t B, bool lengths)
{
    for (size_t b = 0; b < B; ++b)
        set_int(a, slot, b, p->first[b]);
    if (!lengths)
        set_int(a, slot, B, p->first[B - 1] + p->count[B - 1]);
}

static void fill_lengths(
    attention_trial *trial, size_t slot, size_t L, const arena_packing *p)
{
    draw d = start(trial, slot);
    for (size_t b = 0; b < trial->of.size.B; ++b)
        set_int(&trial->memory, slot, b,
            p != NULL ? p->count[b] : draw_rows(&d, b, L));
}

static void fill_offsets(attention_trial *trial)
{
    const size_t Lq = trial->of.size.Lq, Lk = trial->of.size.Lk;
    draw d = start(trial, SLOT_OFFSETS);
    for (size_t b = 0; b < trial->of.size.B; ++b)
        set_int(&trial->memory, SLOT_OFFSETS, b,
            draw_between(&d, 0, Lq + Lk + 2) - Lq - 1);
}

void attention_trial_fill_arrays(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    const arena *a = &trial->memory;
    const size_t B = c->size.B;
    if (c->query_lengths)
        fill_lengths(trial, SLOT_QUERY_LENGTHS, c->size.Lq,
            c->query_starts ? &a->packing[0] : NULL);
    if (c->key_lengths)
        fill_lengths(trial, SLOT_KEY_LENGTHS, c->size.Lk,
            c->key_starts ? &a->packing[1] : NULL);
    if (c->query_starts)
        fill_starts(a, SLOT_QUERY_STARTS, &a->packing[0], B, c->query_lengths);
    if (c->key_starts)
        fill_starts(a, SLOT_KEY_STARTS, &a->packing[1], B, c->key_lengths);
    if (c->item_offsets)
        fill_offsets(trial);
}

/* ---- Options --------------------------------------------------------------- */

/* Blocks of 16 rows by 16, 32 or 64 keys hide nothing, everything, or spots:
   what a kernel may pass over as a whole, and what it must look at. */
static bool hides(draw *d, uint64_t blocks, size_t i, size_t j)
{
    const size_t width = (size_t)16 << blocks % 3;
    draw block = draw_start(blocks + 1000 * (i / 16) + j / width);
    const size_t kind = draw_below(&block, 4);
    const bool spot = draw_below(d, 4) == 0;
    return kind == 0 ? true : kind == 1 ? false : spot;
}

static double mask_value(draw *d, int32_t dtype, bool hidden)
{
    if (dtype == CLATTN_BOOL)
        return hidden ? 0 : (double)draw_between(d, 1, 255);
    const double value = 2 * (double)draw_value(d);
    if (hidden)
        return -(double)INFINITY;
    return draw_below(d, 16) == 0 ? -30000 : value;
}

static void fill_mask(attention_trial *trial)
{
    const arena_tensor *t = &trial->memory.tensor[SLOT_MASK];
    draw d = start(trial, SLOT_MASK);
    for (size_t n = 0; n < t->size[0] * t->size[1]; ++n) {
        const uint64_t blocks = draw_bits(&d);
        for (size_t i = 0; i < t->size[2]; ++i)
            for (size_t j = 0; j < t->size[3]; ++j)
                arena_set(&trial->memory, SLOT_MASK, n / t->size[1],
                    n % t->size[1], i, j,
                    mask_value(
                        &d, trial->of.mask_dtype, hides(&d, blocks, i, j)));
    }
}

/* Some heads have no sink: -inf. */
static void fill_sinks(attention_trial *trial)
{
    draw d = start(trial, SLOT_SINKS);
    for (size_t h = 0; h < trial->of.size.Hq; ++h) {
        const double sink = 4 * (double)draw_value(&d);
        arena_set(&trial->memory, SLOT_SINKS, 0, 0, 0, h,
            h % 5 == 4 ? -(double)INFINITY : sink);
    }
}

/* The usual slopes are 2^-k, positive; 0 and negative ones are legal. */
static void fill_slopes(attention_trial *trial)
{
    draw d = start(trial, STREAM_SLOPES);
    for (size_t h = 0; h < trial->of.size.Hq; ++h) {
        const float any = 0.5f * draw_value(&d);
        trial->slopes[h] =
            h % 4 == 1 ? any : ldexpf(1, -(int)draw_between(&d, 1, 8));
        if (h % 8 == 6)
            trial->slopes[h] = 0;
    }
}

/* Offsets next to where the low word, and all of it, turns over. */
static void draw_dropout(attention_trial *trial)
{
    draw d = start(trial, STREAM_DROPOUT);
    trial->dropout_seed = draw_bits(&d);
    trial->dropout_offset = draw_bits(&d);
    if (draw_below(&d, 4) == 0)
        trial->dropout_offset = 0xfffffffeu;
    if (draw_below(&d, 8) == 0)
        trial->dropout_offset = UINT64_MAX - 1;
}

/* ---- q, k and v ------------------------------------------------------------ */

/* Subnormal in the tensor's own dtype, or close to it. */
static float tiny(const arena_tensor *t)
{
    return arena_dtype(t) == CLATTN_F16 ? 0x1p-18f : 0x1p-130f;
}

/* The value of one element of q, k or v.  TALL and HUGE divide by D, so that
   the sum of D products stays within 1e4 whatever D is. */
static float value_of(const attention_trial *trial, enum attention_slot slot,
    size_t row, size_t column, draw *d)
{
    const float value = draw_value(d);
    const float root = sqrtf((float)trial->of.size.D);
    const float tall = 100.0f / sqrtf(root);
    switch (trial->of.fill) {
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
        return slot == SLOT_K ? value
                              : tiny(&trial->memory.tensor[slot]) * value;
    case FILL_UNITS:
        if (slot == SLOT_V)
            return row == column ? 1.0f : 0.0f;
        return slot == SLOT_Q ? 0.0f : value;
    default:
        return value;
    }
}

static void fill_row(attention_trial *trial, enum attention_slot slot, size_t b,
    size_t h, size_t row, draw *d)
{
    const size_t columns = trial->memory.tensor[slot].size[3];
    for (size_t column = 0; column < columns; ++column)
        arena_set(&trial->memory, slot, b, h, row, column,
            (double)value_of(trial, slot, row, column, d));
}

/* Mark the keys that some row looks at; true if this row looks at any. */
static bool reach(attention_trial *trial, size_t b, size_t h, size_t i)
{
    const attention_case *c = &trial->of;
    const size_t kv = h / (c->size.Hq / c->size.Hkv);
    bool any = false;
    for (size_t j = 0; j < c->size.Lk; ++j)
        if (attention_trial_sees(trial, b, h, i, j)) {
            trial->reached[arena_index(&trial->memory, SLOT_K, b, kv, j, 0)] =
                1;
            any = true;
        }
    return any;
}

static void fill_queries(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    draw d = start(trial, SLOT_Q);
    for (size_t b = 0; b < c->size.B; ++b)
        for (size_t i = 0; i < attention_trial_queries(trial, b); ++i)
            for (size_t h = 0; h < c->size.Hq; ++h)
                if (reach(trial, b, h, i) || attention_case_shows_hidden(c))
                    fill_row(trial, SLOT_Q, b, h, i, &d);
}

/* A key that several items share is filled by each. */
static void fill_keys(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    draw k = start(trial, SLOT_K), v = start(trial, SLOT_V);
    for (size_t b = 0; b < c->size.B; ++b)
        for (size_t j = 0; j < attention_trial_keys(trial, b); ++j)
            for (size_t h = 0; h < c->size.Hkv; ++h) {
                const bool reached = trial->reached[arena_index(
                    &trial->memory, SLOT_K, b, h, j, 0)];
                if (reached || attention_case_shows_hidden(c))
                    fill_row(trial, SLOT_K, b, h, j, &k);
                if (reached)
                    fill_row(trial, SLOT_V, b, h, j, &v);
            }
}

/* The middle key of each item; rows before it do not see it under causal. */
static void fill_nan(attention_trial *trial, size_t b)
{
    const size_t keys = attention_trial_keys(trial, b);
    for (size_t h = 0; keys > 0 && h < trial->of.size.Hkv; h += 2)
        arena_set(&trial->memory, b % 2 ? SLOT_V : SLOT_K, b, h, keys / 2, 0,
            (double)NAN);
}

bool attention_trial_fill(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    const arena_memory *k =
        &trial->memory.memory[trial->memory.tensor[SLOT_K].memory];
    trial->reached = calloc(k->count, sizeof(float));
    trial->slopes = calloc(c->size.Hq + 1, sizeof *trial->slopes);
    if (trial->reached == NULL || trial->slopes == NULL)
        return false;
    if (c->mask_dtype != 0)
        fill_mask(trial);
    if (c->sinks)
        fill_sinks(trial);
    fill_slopes(trial);
    draw_dropout(trial);
    fill_queries(trial);
    fill_keys(trial);
    for (size_t b = 0; c->fill == FILL_NAN && b < c->size.B; ++b)
        fill_nan(trial, b);
    return true;
}

void attention_trial_poison(attention_trial *trial, float value)
{
    const attention_case *c = &trial->of;
    const arena *a = &trial->memory;
    for (size_t b = 0; b < c->size.B; ++b)
        for (size_t n = 0; n < c->size.Hkv * c->size.Lk; ++n) {
            const size_t h = n / c->size.Lk, j = n % c->size.Lk;
            if (!arena_has_row(a, SLOT_K, b, j) ||
                trial->reached[arena_index(a, SLOT_K, b, h, j, 0)])
                continue;
            for (size_t e = 0; !attention_case_shows_hidden(c) && e < c->size.D;
                 ++e)
                arena_set(a, SLOT_K, b, h, j, e, (double)value);
            for (size_t e = 0; e < c->size.Dv; ++e)
                arena_set(a, SLOT_V, b, h, j, e, (double)value);
        }
}
