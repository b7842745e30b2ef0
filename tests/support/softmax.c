/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax.c - scale_softmax.cl alone: memory of a case, and its launch.
 */
#include "softmax.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* ---- Before ----------------------------------------------------------------- */

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
    rules_place(&p->rules);
    a->tensor[SOFTMAX_S].output = true;
    a->tensor[SOFTMAX_LSE].output = c->rules.lse;
    a->tensor[SOFTMAX_WEIGHTS].output = c->stage != STAGE_NONE;
    p->dtype[SOFTMAX_WEIGHTS] = c->weights;
    kernel_allocate(a);
}

bool softmax_sees(const softmax *p, size_t b, size_t h, size_t row, size_t j)
{
    return rules_sees(&p->rules, b, h, p->of.first_row + row, j);
}

/* Scores before scale are read of hidden keys too; else those stay NaN. */
static void fill_scores(softmax *p, size_t b, size_t h, draw *d)
{
    const softmax_case *c = &p->of;
    const bool all = c->stage == STAGE_SCALED || c->stage == STAGE_CAPPED;
    for (size_t row = 0; row < c->rows; ++row) {
        const kernel_item it = rules_item(&p->rules, b);
        const bool own = (wide)(c->first_row + row) < it.rows;
        for (size_t j = 0; own && j < (size_t)it.keys; ++j)
            if (all || softmax_sees(p, b, h, row, j))
                *arena_at(&p->memory, SOFTMAX_S, b, h, row, j) =
                    kernel_whole(d, -8) * c->spread + c->shift;
    }
}

static void set_params(softmax *p)
{
    const softmax_case *c = &p->of;
    p->params.lse = kernel_place(&p->memory, SOFTMAX_LSE);
    p->params.weights = kernel_place(&p->memory, SOFTMAX_WEIGHTS);
    p->params.scores = kernel_place(&p->memory, SOFTMAX_S);
    p->params.diagonal = c->diagonal;
    p->params.window_left = c->left;
    p->params.window_right = c->right;
    p->params.scale = c->scale;
    p->params.softcap = c->softcap;
    p->params.group = 1;
    p->params.first_row = (whole)c->first_row;
    p->params.rows = (whole)c->rows;
    rules_params(&p->rules, &p->params);
}

static void set_rules(softmax *p)
{
    const softmax_case *c = &p->of;
    p->rules = (rules){.on = c->rules,
        .items = c->items,
        .heads = c->heads,
        .Lq = p->Lq,
        .Lk = p->Lk,
        .gaps = c->gaps,
        .memory = &p->memory,
        .dtype = p->dtype,
        .params = &p->params};
    memcpy(p->rules.mask_shared, c->mask_shared, sizeof c->mask_shared);
}

void softmax_create(softmax *p, const softmax_case *c, size_t G)
{
    *p = (softmax){.of = *c, .G = G, .Lk = 0};
    if (c->Lk.whole > 0 || c->Lk.extra > 0)
        p->Lk = edge_size(c->Lk, G);
    p->Lq = c->first_row + c->rows + (c->first_row > 0 ? 2 : 0);
    snprintf(
        p->text, sizeof p->text, "%s, G = %zu, Lk = %zu", c->about, G, p->Lk);
    set_rules(p);
    place_all(p);
    set_params(p);
    draw d = draw_start(G);
    rules_fill(&p->rules, c->first_row, c->rows, &d);
    for (size_t bh = 0; bh < c->items * c->heads; ++bh)
        fill_scores(p, bh / c->heads, bh % c->heads, &d);
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
            rules_slot(&p->rules, RULES_MASK),
            rules_slot(&p->rules, RULES_SLOPES),
            rules_slot(&p->rules, RULES_SINKS),
            rules_slot(&p->rules, RULES_ITEMS)},
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
    const size_t first = (size_t)rules_item(&p->rules, b).q_first;
    return *arena_at(
        &p->memory, SOFTMAX_LSE, b, h, first + p->of.first_row + row, 0);
}
