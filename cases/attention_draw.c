/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_draw.c - random attention cases, in two parts: what a program is
 * compiled for, and what comes with each call.
 */
#include <string.h>

#include "attention_case.h"
#include "draw.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    LONGEST = 100,          /* Lq, Lk and mostly D and Dv */
    MOST_PRODUCTS = 1500000 /* of the two products of one draw */
};

static bool one_in(draw *d, size_t n)
{
    return draw_below(d, n) == 0;
}

/* ---- What is compiled in ---------------------------------------------------- */

static int32_t draw_float_dtype(draw *d)
{
    static const int32_t DTYPES[] = {0, CLATTN_F16, CLATTN_BF16};
    return DTYPES[draw_below(d, COUNT(DTYPES))];
}

/* Mostly one dtype for all, f32 as often as the others together. */
static void draw_dtypes(attention_case *c, draw *d)
{
    const int32_t all = one_in(d, 2) ? 0 : draw_float_dtype(d);
    c->dtype.q = c->dtype.k = c->dtype.v = c->dtype.out = all;
    c->dtype.weights = all;
    if (one_in(d, 4)) {
        c->dtype.k = draw_float_dtype(d);
        c->dtype.v = draw_float_dtype(d);
    }
    if (one_in(d, 8)) {
        c->dtype.q = draw_float_dtype(d);
        c->dtype.out = draw_float_dtype(d);
    }
    if (one_in(d, 4))
        c->dtype.weights = draw_float_dtype(d);
    if (one_in(d, 2))
        c->precision = CLATTN_PRECISION_STORAGE;
}

static size_t draw_columns(draw *d)
{
    static const size_t USUAL[] = {1, 8, 16, 32, 40, 64, 72, 80, 96, 128};
    if (one_in(d, 20))
        return draw_between(d, 257, 512);
    return one_in(d, 2) ? draw_size(d, USUAL, COUNT(USUAL))
                        : draw_between(d, 1, LONGEST);
}

/* Most cases return no matrix, which fused kernels do not keep. */
static void draw_returns(attention_case *c, draw *d)
{
    static const uint32_t STAGES[] = {CLATTN_RETURN_WEIGHTS,
        CLATTN_RETURN_WEIGHTS, CLATTN_RETURN_SCORES, CLATTN_RETURN_SCALED,
        CLATTN_RETURN_CAPPED};
    if (one_in(d, 2))
        c->returns |= CLATTN_RETURN_LSE;
    if (one_in(d, 4))
        c->returns |= STAGES[draw_below(d, COUNT(STAGES))];
}

attention_case attention_case_configure(uint64_t seed)
{
    static const int32_t MASKS[] = {
        CLATTN_BOOL, CLATTN_BOOL, CLATTN_F32, CLATTN_F16, CLATTN_BF16};
    draw d = draw_start(seed);
    attention_case c = {.about = "random draw", .size = {1, 1, 1, 1, 1, 1, 1}};
    draw_dtypes(&c, &d);
    c.size.D = draw_columns(&d);
    c.size.Dv = one_in(&d, 2) ? c.size.D : draw_columns(&d);
    draw_returns(&c, &d);
    /* What stands for a whole class here is drawn anew with each shape. */
    c.causal = one_in(&d, 2);
    c.query_starts = one_in(&d, 6);
    c.key_lengths = one_in(&d, 2);
    c.alibi = one_in(&d, 4);
    c.softcap = one_in(&d, 4) ? 1 : 0;
    c.sinks = one_in(&d, 4);
    c.dropout_p = one_in(&d, 4) ? 0.5f : 0;
    c.mask_dtype = one_in(&d, 3) ? MASKS[draw_below(&d, COUNT(MASKS))] : 0;
    attention_case_mend(&c);
    return c;
}

/* ---- What comes with each call ---------------------------------------------- */

static bool too_large(const attention_case *c)
{
    return c->size.B * c->size.Hq * c->size.Lq * c->size.Lk *
               (c->size.D + c->size.Dv) >
           MOST_PRODUCTS;
}

static void reshape_sizes(attention_case *c, draw *d)
{
    size_t group = draw_between(d, 1, 4);
    c->size.B = draw_between(d, 1, 4);
    c->size.Hkv = draw_between(d, 1, 3);
    c->size.Lq = draw_between(d, one_in(d, 32) ? 0 : 1, LONGEST);
    c->size.Lk = draw_between(d, one_in(d, 16) ? 0 : 1, LONGEST);
    c->size.Hq = group * c->size.Hkv;
    while (too_large(c) && c->size.B * c->size.Hq > 1) {
        if (c->size.B > 1)
            --c->size.B;
        else if (c->size.Hkv > 1)
            --c->size.Hkv;
        else
            --group;
        c->size.Hq = group * c->size.Hkv;
    }
}

/* Causal, a window, or both, where the kernel has a band at all. */
static void reshape_band(attention_case *c, draw *d)
{
    const bool band = c->causal || c->windowed;
    const size_t kind = draw_below(d, 3);
    c->causal = band && kind != 1;
    c->windowed = band && kind != 0;
    c->window_left = one_in(d, 3) ? -1 : (int32_t)draw_between(d, 0, 40);
    c->window_right = one_in(d, 3) ? -1 : (int32_t)draw_between(d, 0, 40);
    if (c->windowed && !c->causal && c->window_left < 0 && c->window_right < 0)
        c->window_left = (int32_t)draw_between(d, 0, LONGEST);
    c->diagonal = CLATTN_TOP_LEFT + (int32_t)draw_below(d, 3);
    c->diagonal_offset = (int32_t)draw_between(d, 0, 100) - 50;
}

/* Any arrays, as long as there is at least one where the kernel reads them;
   packed queries stay so, since that is compiled in. */
static void reshape_items(attention_case *c, draw *d)
{
    const bool items = c->key_lengths || c->query_lengths || c->key_starts ||
                       c->query_starts || c->item_offsets;
    const bool ranged = c->causal || c->windowed || c->alibi;
    const size_t kinds = draw_between(d, 1, 7);
    c->key_lengths = items && (kinds & 1) != 0;
    c->query_lengths = items && (kinds & 2) != 0;
    c->key_starts = items && (kinds & 4) != 0;
    c->item_offsets = items && ranged && one_in(d, 4);
    if (c->item_offsets)
        c->diagonal = CLATTN_OFFSET;
}

static float draw_probability(draw *d)
{
    static const float USUAL[] = {0.1f, 0.5f, 0.9f, 1.0f, 1e-9f};
    return one_in(d, 2) ? USUAL[draw_below(d, COUNT(USUAL))]
                        : 0.05f + 0.9f * (float)draw_below(d, 1000) / 1000.0f;
}

static void reshape_numbers(attention_case *c, draw *d)
{
    static const float CAPS[] = {0.5f, 1, 5, 30, 50};
    if (c->softcap > 0)
        c->softcap = CAPS[draw_below(d, COUNT(CAPS))];
    if (c->dropout_p > 0)
        c->dropout_p = draw_probability(d);
    c->mask_axes = (uint32_t)draw_below(d, AXES_ALL + 1);
    if (one_in(d, 2))
        c->mask_axes = AXES_ALL & ~(uint32_t)(AXIS_B | AXIS_H);
    c->mask_padded = one_in(d, 2);
    c->has_scale = one_in(d, 3);
    c->scale = draw_value(d);
    c->layout = (enum case_layout)draw_below(d, LAYOUTS);
    c->fill = one_in(d, 2) ? FILL_RANDOM : (enum case_fill)draw_below(d, FILLS);
}

void attention_case_reshape(attention_case *c, uint64_t seed)
{
    draw d = draw_start(seed);
    c->seed = seed;
    reshape_sizes(c, &d);
    reshape_band(c, &d);
    reshape_items(c, &d);
    reshape_numbers(c, &d);
    attention_case_mend(c);
}

attention_case attention_case_draw(uint64_t seed)
{
    attention_case c = attention_case_configure(seed);
    attention_case_reshape(&c, seed);
    return c;
}

/* ---- What contradicts ------------------------------------------------------- */

static void mend_sizes(attention_case *c)
{
    if (c->size.Hkv == 0)
        c->size.Hkv = 1;
    if (c->size.Hkv > c->size.Hq && c->size.Hq > 0)
        c->size.Hkv = c->size.Hq;
    c->size.Hq -= c->size.Hq % c->size.Hkv;
    if (c->size.D == 0)
        c->size.D = 1;
    if (c->size.Dv == 0)
        c->size.Dv = 1;
}

/* One buffer needs one dtype and rows that belong together. */
static void mend_layout(attention_case *c)
{
    if (c->size.B == 0 || c->size.B > ARENA_ITEMS)
        c->query_starts = c->key_starts = false;
    const bool mixed = c->dtype.q != c->dtype.k || c->dtype.q != c->dtype.v ||
                       c->query_starts != c->key_starts;
    if (c->layout == LAYOUT_PACKED && mixed)
        c->layout = LAYOUT_BLHD;
    if (c->layout == LAYOUT_PACKED && c->query_starts)
        c->query_lengths = c->key_lengths = false;
    if (c->layout == LAYOUT_PACKED)
        c->size.Lk = c->size.Lq;
    if (c->layout == LAYOUT_SHARED && c->key_starts)
        c->layout = LAYOUT_PADDED;
}

static void mend_band(attention_case *c)
{
    if (!c->windowed)
        c->window_left = c->window_right = 0;
    else if (c->window_left < 0 && c->window_right < 0 && !c->causal)
        c->window_left = 0;
    const bool used = c->causal || c->windowed || c->alibi;
    if (!used)
        c->diagonal = 0;
    else if (c->diagonal == 0)
        c->diagonal = CLATTN_TOP_LEFT;
    if (c->diagonal != CLATTN_OFFSET)
        c->item_offsets = false;
    if (c->diagonal != CLATTN_OFFSET || c->item_offsets)
        c->diagonal_offset = 0;
}

/* At most one stage: the lowest. */
static void mend_returns(attention_case *c)
{
    const uint32_t stages = c->returns & ~(uint32_t)CLATTN_RETURN_LSE;
    c->returns &= CLATTN_RETURN_LSE;
    for (uint32_t stage = CLATTN_RETURN_WEIGHTS; stage <= CLATTN_RETURN_CAPPED;
         stage *= 2)
        if (stages & stage) {
            c->returns |= stage;
            return;
        }
    c->dtype.weights = 0;
}

void attention_case_mend(attention_case *c)
{
    mend_sizes(c);
    mend_layout(c);
    mend_band(c);
    mend_returns(c);
    if (!c->has_scale)
        c->scale = 0;
    if (c->mask_dtype == 0)
        c->mask_axes = 0, c->mask_padded = false;
    if (c->dtype.v == 0 || c->dtype.v == CLATTN_F32)
        c->precision = CLATTN_PRECISION_F32;
}
