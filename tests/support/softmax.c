/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax.c - scale_softmax.cl alone: memory of a case, and its launch.
 */
#include "softmax.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

kernel_item softmax_item(const softmax *p, size_t b)
{
    if (p->of.rules.items)
        return kernel_item_at(&p->memory, SOFTMAX_ITEMS, b);
    return (kernel_item){0, (wide)p->Lq, 0, (wide)p->Lk, p->params.diagonal};
}

/* ---- Before ----------------------------------------------------------------- */

static void place_mask(softmax *p)
{
    const softmax_case *c = &p->of;
    const bool *shared = c->mask_shared;
    arena_place(&p->memory, SOFTMAX_MASK,
        kernel_tensor("mask", shared[0] ? 1 : c->items,
            shared[1] ? 1 : c->heads, shared[2] ? 1 : p->Lq,
            shared[3] ? 1 : p->Lk, c->gaps));
    p->dtype[SOFTMAX_MASK] = c->rules.mask;
}

static void place_all(softmax *p)
{
    const softmax_case *c = &p->of;
    const size_t more = c->rules.items ? KERNEL_FIRSTS - 1 : 0;
    arena *a = &p->memory;
    arena_place(a, SOFTMAX_S,
        kernel_tensor("s", c->items, c->heads, c->rows, p->Lk, c->gaps));
    arena_place(a, SOFTMAX_LSE,
        kernel_tensor("lse", c->items, c->heads, p->Lq + more, 1, c->gaps));
    arena_place(a, SOFTMAX_WEIGHTS,
        kernel_tensor("weights", c->items, c->heads, p->Lq, p->Lk, c->gaps));
    place_mask(p);
    arena_place(
        a, SOFTMAX_SLOPES, kernel_tensor("slopes", 1, 1, 1, c->heads, c->gaps));
    arena_place(
        a, SOFTMAX_SINKS, kernel_tensor("sinks", 1, 1, 1, c->heads, true));
    kernel_place_items(a, SOFTMAX_ITEMS, c->items);
    a->tensor[SOFTMAX_S].output = true;
    a->tensor[SOFTMAX_LSE].output = c->rules.lse;
    a->tensor[SOFTMAX_WEIGHTS].output = c->stage != STAGE_NONE;
    p->dtype[SOFTMAX_WEIGHTS] = c->weights;
    ck_assert(arena_allocate(a));
}

/* The mask of row i of the item, as the caller gives it. */
float *softmax_mask(const softmax *p, size_t b, size_t h, size_t i, size_t j)
{
    const bool *shared = p->of.mask_shared;
    return arena_at(&p->memory, SOFTMAX_MASK, shared[0] ? 0 : b,
        shared[1] ? 0 : h, shared[2] ? 0 : i, shared[3] ? 0 : j);
}

static bool mask_hides(const softmax *p, size_t b, size_t h, size_t i, size_t j)
{
    if (p->of.rules.mask == 0)
        return false;
    const float value = *softmax_mask(p, b, h, i, j);
    return p->of.rules.mask == CLATTN_BOOL ? value == 0 : value == -INFINITY;
}

bool softmax_sees(const softmax *p, size_t b, size_t h, size_t row, size_t j)
{
    const size_t i = p->of.first_row + row;
    const kernel_item it = softmax_item(p, b);
    return kernel_sees(&it, &p->params, p->of.rules.band, (wide)i, (wide)j) &&
           !mask_hides(p, b, h, i, j);
}

static float mask_value(const softmax *p, draw *d)
{
    static const float TRUTH[] = {0, 1, 0, 128, 2, 255};
    if (p->of.rules.mask == CLATTN_BOOL)
        return TRUTH[draw_below(d, 6)];
    const size_t steps = draw_below(d, 40);
    return steps > 32 ? -INFINITY : ((float)steps - 16) / 8;
}

/* Only rows and keys that the item has; the rest stays NaN. */
static void fill_mask(softmax *p, size_t b, size_t h, draw *d)
{
    const kernel_item it = softmax_item(p, b);
    for (size_t row = 0; row < p->of.rows; ++row) {
        const size_t i = p->of.first_row + row;
        for (wide j = 0; (wide)i < it.rows && j < it.keys; ++j)
            *softmax_mask(p, b, h, i, (size_t)j) = mask_value(p, d);
    }
}

/* Scores before scale are read of hidden keys too; else those stay NaN. */
static void fill_scores(softmax *p, size_t b, size_t h, draw *d)
{
    const softmax_case *c = &p->of;
    const bool all = c->stage == STAGE_SCALED || c->stage == STAGE_CAPPED;
    for (size_t row = 0; row < c->rows; ++row) {
        const kernel_item it = softmax_item(p, b);
        const bool own = (wide)(c->first_row + row) < it.rows;
        for (size_t j = 0; own && j < (size_t)it.keys; ++j)
            if (all || softmax_sees(p, b, h, row, j))
                *arena_at(&p->memory, SOFTMAX_S, b, h, row, j) =
                    kernel_whole(d, -8) * c->spread + c->shift;
    }
}

static void fill(softmax *p)
{
    static const float SINKS[] = {0.5f, -INFINITY, -3, 2};
    const softmax_case *c = &p->of;
    draw d = draw_start(p->G);
    for (size_t bh = 0; c->rules.mask && bh < c->items * c->heads; ++bh)
        fill_mask(p, bh / c->heads, bh % c->heads, &d);
    for (size_t bh = 0; bh < c->items * c->heads; ++bh)
        fill_scores(p, bh / c->heads, bh % c->heads, &d);
    for (size_t h = 0; h < c->heads; ++h) {
        *arena_at(&p->memory, SOFTMAX_SLOPES, 0, 0, 0, h) = ldexpf(1, -(int)h);
        *arena_at(&p->memory, SOFTMAX_SINKS, 0, 0, 0, h) = SINKS[h % 4];
    }
}

static attention_params params_of(const softmax *p)
{
    const softmax_case *c = &p->of;
    const arena *a = &p->memory;
    attention_params params = {
        .lse = kernel_place(a, SOFTMAX_LSE),
        .weights = kernel_place(a, SOFTMAX_WEIGHTS),
        .mask = kernel_place(a, SOFTMAX_MASK),
        .scores = kernel_place(a, SOFTMAX_S),
        .diagonal = c->diagonal,
        .window_left = c->left,
        .window_right = c->right,
        .items_offset = kernel_place(a, SOFTMAX_ITEMS).offset,
        .slopes_offset = kernel_place(a, SOFTMAX_SLOPES).offset,
        .sinks_offset = kernel_place(a, SOFTMAX_SINKS).offset,
        .dropout_first = 0xfffffffe, /* the sequences' high word changes */
        .dropout_key = {0x12345678, 0x9abcdef0},
        .dropout_last = 0x4ccccccc, /* 0.3 of 2^32 */
        .dropout_keep = 1.25f,
        .scale = c->scale,
        .softcap = c->softcap,
        .heads = (whole)c->heads,
        .group = 1,
        .Lq = (whole)p->Lq,
        .Lk = (whole)p->Lk,
        .first_row = (whole)c->first_row,
        .rows = (whole)c->rows,
        .mask_column = !c->mask_shared[3],
    };
    if (c->mask_shared[0])
        params.mask.batch = 0;
    if (c->mask_shared[1])
        params.mask.head = 0;
    if (c->mask_shared[2])
        params.mask.row = 0;
    return params;
}

void softmax_create(softmax *p, const softmax_case *c, size_t G)
{
    *p = (softmax){.of = *c, .G = G, .Lk = 0};
    if (c->Lk.whole > 0 || c->Lk.extra > 0)
        p->Lk = edge_size(c->Lk, G);
    p->Lq = c->first_row + c->rows + (c->first_row > 0 ? 2 : 0);
    snprintf(
        p->text, sizeof p->text, "%s, G = %zu, Lk = %zu", c->about, G, p->Lk);
    place_all(p);
    p->params = params_of(p);
    kernel_fill_items(&p->memory, SOFTMAX_ITEMS, p->Lq, p->Lk);
    fill(p);
}

void softmax_run(softmax *p)
{
    const softmax_case *c = &p->of;
    const kernel_rules *r = &c->rules;
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    kernel_options(options, r, "-DSTAGE=%d -DWT=%d -DG=%zu", (int)c->stage,
        c->weights ? (int)c->weights : CLATTN_F32, p->G);
    const kernel_call call = {.name = "scale_softmax",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {SOFTMAX_S, r->lse ? SOFTMAX_LSE : KERNEL_NONE,
            c->stage ? SOFTMAX_WEIGHTS : KERNEL_NONE,
            r->mask ? SOFTMAX_MASK : KERNEL_NONE,
            r->alibi ? SOFTMAX_SLOPES : KERNEL_NONE,
            r->sinks ? SOFTMAX_SINKS : KERNEL_NONE,
            r->items ? SOFTMAX_ITEMS : KERNEL_NONE},
        .n_slots = 7,
        .params = &p->params,
        .params_bytes = sizeof p->params,
        .first = p->params.first,
        .groups = {c->rows, 1, c->items * c->heads},
        .local = {p->G, 1, 1},
        .group_by_group = c->grouped};
    arena_remember(&p->memory);
    kernel_open(&p->memory, p->dtype, buffers);
    kernel_launch(&call);
    kernel_close(&p->memory, p->dtype, buffers);
}

void softmax_destroy(softmax *p)
{
    arena_free(&p->memory);
}

float softmax_weight(const softmax *p, size_t b, size_t h, size_t row, size_t j)
{
    return *arena_at(&p->memory, SOFTMAX_S, b, h, row, j);
}

float softmax_lse(const softmax *p, size_t b, size_t h, size_t row)
{
    const size_t first = (size_t)softmax_item(p, b).q_first;
    return *arena_at(
        &p->memory, SOFTMAX_LSE, b, h, first + p->of.first_row + row, 0);
}
