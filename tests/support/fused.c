/* SPDX-License-Identifier: Apache-2.0
 *
 * fused.c - kernels of fused attention alone, and weights_lanes.cl: memory of a
 * case, and its launch.
 */
#include "fused.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "opencl.h"

static size_t groups_of(const fused *p)
{
    return (p->of.Lq + p->rows - 1) / p->rows;
}

/* ---- Before ----------------------------------------------------------------- */

static void place_all(fused *p)
{
    const fused_case *c = &p->of;
    const size_t more = c->rules.items ? KERNEL_FIRSTS - 1 : 0;
    const size_t kv_heads = c->heads / c->group;
    arena *a = &p->memory;
    arena_place(a, FUSED_Q,
        kernel_tensor("q", c->items, c->heads, c->Lq + more, c->D, c->gaps));
    arena_place(a, FUSED_K,
        kernel_tensor("k", c->items, kv_heads, c->Lk + more, c->D, c->gaps));
    arena_place(a, FUSED_V,
        kernel_tensor("v", c->items, kv_heads, c->Lk + more, c->Dv, c->gaps));
    arena_place(a, FUSED_OUT,
        kernel_tensor("out", c->items, c->heads, c->Lq + more, c->Dv, c->gaps));
    arena_place(a, FUSED_LSE,
        kernel_tensor("lse", c->items, c->heads, c->Lq + more, 1, c->gaps));
    arena_place(a, FUSED_WEIGHTS,
        kernel_tensor("weights", c->items, c->heads, c->Lq, c->Lk, c->gaps));
    arena_place(a, FUSED_SCORES,
        kernel_tensor("scores", 1, c->items * c->heads, groups_of(p),
            p->rows * (c->Lk + 1), c->gaps));
    rules_place(&p->rules);
    a->tensor[FUSED_OUT].output = true;
    a->tensor[FUSED_LSE].output = c->rules.lse;
    a->tensor[FUSED_WEIGHTS].output = c->stage != 0;
    a->tensor[FUSED_SCORES].output = p->keeps;
    for (size_t slot = FUSED_Q; slot <= FUSED_OUT; ++slot)
        p->dtype[slot] = c->dtype[slot];
    p->dtype[FUSED_WEIGHTS] = c->weights;
    kernel_allocate(a);
}

float *fused_out(const fused *p, size_t b, size_t h, size_t i, size_t column)
{
    const size_t first = (size_t)rules_item(&p->rules, b).q_first;
    return arena_at(&p->memory, FUSED_OUT, b, h, first + i, column);
}

float *fused_key(const fused *p, enum fused_slot slot, size_t b, size_t h,
    size_t j, size_t column)
{
    const size_t first = (size_t)rules_item(&p->rules, b).k_first;
    return arena_at(&p->memory, slot, b, h / p->of.group, first + j, column);
}

/* Row i of q, and the keys that it sees. */
static void fill_row(fused *p, size_t b, size_t h, size_t i, draw *d)
{
    const fused_case *c = &p->of;
    const size_t first = (size_t)rules_item(&p->rules, b).q_first;
    for (size_t column = 0; column < c->D; ++column)
        *arena_at(&p->memory, FUSED_Q, b, h, first + i, column) =
            (float)draw_between(d, 0, 2) - 1;
    for (size_t j = 0; j < c->Lk; ++j) {
        if (!rules_sees(&p->rules, b, h, i, j))
            continue;
        for (size_t column = 0; column < c->D; ++column)
            *fused_key(p, FUSED_K, b, h, j, column) =
                (float)draw_between(d, 0, 2) - 1;
        for (size_t column = 0; column < c->Dv; ++column)
            *fused_key(p, FUSED_V, b, h, j, column) = kernel_whole(d, -8);
    }
}

static void fill(fused *p)
{
    const fused_case *c = &p->of;
    draw d = draw_start(p->rows);
    rules_fill(&p->rules, 0, c->Lq, &d);
    for (size_t bh = 0; bh < c->items * c->heads; ++bh)
        for (size_t i = 0; i < c->Lq; ++i)
            if ((wide)i < rules_item(&p->rules, bh / c->heads).rows)
                fill_row(p, bh / c->heads, bh % c->heads, i, &d);
}

static void set_rules(fused *p)
{
    const fused_case *c = &p->of;
    p->rules = (rules){.on = c->rules,
        .items = c->items,
        .heads = c->heads,
        .Lq = c->Lq,
        .Lk = c->Lk,
        .gaps = c->gaps,
        .memory = &p->memory,
        .dtype = p->dtype,
        .params = &p->params};
    memcpy(p->rules.mask_shared, c->mask_shared, sizeof c->mask_shared);
}

static void set_params(fused *p)
{
    const fused_case *c = &p->of;
    const arena *a = &p->memory;
    p->params.q = kernel_place(a, FUSED_Q);
    p->params.k = kernel_place(a, FUSED_K);
    p->params.v = kernel_place(a, FUSED_V);
    p->params.out = kernel_place(a, FUSED_OUT);
    p->params.lse = kernel_place(a, FUSED_LSE);
    p->params.weights = kernel_place(a, FUSED_WEIGHTS);
    p->params.scores = kernel_place(a, FUSED_SCORES);
    p->params.diagonal = c->diagonal;
    p->params.window_left = c->left;
    p->params.window_right = c->right;
    p->params.scale = 0.75f;
    p->params.softcap = c->softcap;
    p->params.group = (whole)c->group;
    p->params.rows = (whole)c->Lq;
    p->params.Dv = (whole)c->Dv;
    p->params.j_end = (whole)c->Lk;
    rules_params(&p->rules, &p->params);
}

static void create(fused *p)
{
    snprintf(
        p->text, sizeof p->text, "%s, %s %s", p->of.about, p->kernel, p->shape);
    set_rules(p);
    place_all(p);
    set_params(p);
    fill(p);
}

void fused_create(
    fused *p, const fused_case *c, const fused_shape *s, bool keeps)
{
    *p = (fused){.of = *c,
        .kernel = keeps ? "weights_lanes" : "attention_lanes",
        .rows = s->VW * s->LS * s->NV,
        .work_items = s->LS,
        .keeps = keeps};
    snprintf(p->shape, sizeof p->shape,
        "-DVW=%zu -DLS=%zu -DNV=%zu -DBC=%zu -DMS=%zu -DMO=%zu", s->VW, s->LS,
        s->NV, s->BC, s->MS, s->MO);
    create(p);
}

void fused_create_simt(fused *p, const fused_case *c, const fused_tile *t)
{
    *p = (fused){.of = *c,
        .kernel = "attention_simt",
        .rows = t->BR,
        .work_items = t->WX * t->WY};
    snprintf(p->shape, sizeof p->shape,
        "-DBR=%zu -DBC=%zu -DWX=%zu -DWY=%zu -DKC=%zu -DDC=%zu", t->BR, t->BC,
        t->WX, t->WY, t->KC, t->DC);
    create(p);
}

void fused_create_unit(fused *p, const fused_case *c, const fused_unit *u)
{
    *p = (fused){.of = *c,
        .kernel = "attention_mma",
        .rows = u->rows,
        .work_items = u->work_items,
        .rounds = u->dtype};
    for (int slot = FUSED_Q; slot <= FUSED_V; ++slot)
        p->of.dtype[slot] = u->dtype;
    snprintf(p->shape, sizeof p->shape, "%s", u->options);
    create(p);
}

/* ---- The launch -------------------------------------------------------------- */

static void set_options(const fused *p, char options[KERNEL_OPTIONS])
{
    const fused_case *c = &p->of;
    int type[4];
    char more[40] = "";
    for (int i = 0; i < 4; ++i)
        type[i] = c->dtype[i] ? (int)c->dtype[i] : CLATTN_F32;
    if (p->keeps)
        snprintf(more, sizeof more, " -DSTAGE=%d -DWT=%d", c->stage,
            c->weights ? (int)c->weights : CLATTN_F32);
    kernel_options(options, &c->rules,
        "-DD=%zu -DDV=%zu -DQT=%d -DKT=%d -DVT=%d -DOT=%d %s%s", c->D, c->Dv,
        type[0], type[1], type[2], type[3], p->shape, more);
}

/* The slots that only the one or the other kernel has come third. */
static size_t set_slots(const fused *p, size_t slots[KERNEL_SLOTS])
{
    size_t n = 0;
    slots[n++] = FUSED_OUT;
    slots[n++] = p->of.rules.lse ? FUSED_LSE : KERNEL_NONE;
    if (p->keeps) {
        slots[n++] = p->of.stage ? FUSED_WEIGHTS : KERNEL_NONE;
        slots[n++] = FUSED_SCORES;
    }
    slots[n++] = FUSED_Q;
    slots[n++] = FUSED_K;
    slots[n++] = FUSED_V;
    for (int slot = RULES_MASK; slot <= RULES_ITEMS; ++slot)
        slots[n++] = rules_slot(&p->rules, (enum rules_slot)slot);
    return n;
}

void fused_run(fused *p)
{
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    kernel_call call = {.name = p->kernel,
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .params = &p->params,
        .params_bytes = sizeof p->params,
        .first = p->params.first,
        .groups = {groups_of(p), 1, p->of.items * p->of.heads},
        .local = {p->work_items, 1, 1},
        .group_by_group = p->of.grouped};
    set_options(p, options);
    call.n_slots = set_slots(p, call.slots);
    arena_remember(&p->memory);
    kernel_open(&p->memory, p->dtype, buffers);
    kernel_launch(&call);
    kernel_close(&p->memory, p->dtype, buffers);
}

void fused_destroy(fused *p)
{
    arena_free(&p->memory);
}
