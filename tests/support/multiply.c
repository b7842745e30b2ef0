/* SPDX-License-Identifier: Apache-2.0
 *
 * multiply.c - matmul.cl and matmul_simt.cl alone: memory of a case, its
 * launches, and what they must leave behind.
 */
#include "multiply.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

#include "expected.h"
#include "opencl.h"

/* A product of several launches keeps its sum in c, and the table's rows are
   those of queries and keys: q k^T. */
bool product_applies(const product_case *c, const product_way *way)
{
    return (!c->in_two || way->c == CLATTN_F32) &&
           (!c->table || (way->rows_are_n && way->knows_items));
}

static kernel_item item_of(const product *p, size_t b)
{
    if (p->of.table)
        return kernel_item_at(&p->memory, PRODUCT_ITEMS, b);
    return (kernel_item){
        .rows = (wide)(p->of.first_row + p->M), .keys = (wide)p->N};
}

static void place_all(product *p)
{
    const product_case *c = &p->of;
    const bool n = p->way.rows_are_n;
    const size_t more = c->later + (c->table ? KERNEL_FIRSTS - 1 : 0);
    arena *a = &p->memory;
    arena_place(a, PRODUCT_A,
        kernel_tensor("a", c->items, c->heads, c->first_row + p->M + more, p->K,
            c->gaps));
    arena_place(a, PRODUCT_B,
        kernel_tensor("b", c->items, c->heads / c->group,
            (n ? p->N : p->K) + more, n ? p->K : p->N, c->gaps));
    arena_place(
        a, PRODUCT_BIAS, kernel_tensor("bias", 1, c->heads, 1, p->N, c->gaps));
    arena_place(a, PRODUCT_C,
        kernel_tensor("c", c->items, c->heads, p->M, p->N, c->gaps));
    kernel_place_items(a, PRODUCT_ITEMS, c->items);
    a->tensor[PRODUCT_C].output = true;
    p->dtype[PRODUCT_A] = p->way.a;
    p->dtype[PRODUCT_B] = p->dtype[PRODUCT_BIAS] = p->way.b;
    p->dtype[PRODUCT_C] = p->way.c;
    kernel_allocate(a);
}

/* Rows that no item has, or that are not of the block, stay NaN. */
static void fill(product *p)
{
    const product_case *c = &p->of;
    const bool n = p->way.rows_are_n;
    draw d = draw_start(p->way.rows + p->way.rows_are_n);
    if (c->filled) {
        kernel_fill_whole(&p->memory, PRODUCT_A, &d);
        kernel_fill_whole(&p->memory, PRODUCT_B, &d);
    }
    for (size_t bh = 0; bh < c->items * c->heads; ++bh) {
        const size_t b = bh / c->heads, h = bh % c->heads;
        const kernel_item it = item_of(p, b);
        for (size_t i = c->first_row; (wide)i < it.rows; ++i)
            for (size_t k = 0; k < p->K; ++k)
                *arena_at(&p->memory, PRODUCT_A, b, h, (size_t)it.q_first + i,
                    k) = kernel_whole(&d, -8);
        const size_t rows = n ? (size_t)it.keys : p->K;
        for (size_t at = 0; at < rows * (n ? p->K : p->N); ++at) {
            const size_t columns = n ? p->K : p->N;
            *arena_at(&p->memory, PRODUCT_B, b, h / c->group,
                (size_t)it.k_first + at / columns, at % columns) =
                kernel_whole(&d, -8);
        }
    }
    if (c->bias)
        kernel_fill_whole(&p->memory, PRODUCT_BIAS, &d);
}

void product_create(
    product *p, const product_case *c, const product_way *way, bool exact_ends)
{
    *p = (product){.of = *c,
        .way = *way,
        .M = edge_size(c->M, way->rows),
        .N = edge_size(c->N, way->columns),
        .K = edge_size(c->K, way->depth)};
    snprintf(p->text, sizeof p->text, "%s, %s %s, rows of %s", c->about,
        way->kernel, way->tile, way->rows_are_n ? "N" : "K");
    place_all(p);
    kernel_fill_items(
        &p->memory, PRODUCT_ITEMS, c->first_row + p->M + c->later, p->N);
    fill(p);
    if (exact_ends)
        kernel_cut_guards(&p->memory);
}

static matmul_params params_of(const product *p)
{
    const place bias = kernel_place(&p->memory, PRODUCT_BIAS);
    matmul_params params = {
        .a = kernel_place(&p->memory, PRODUCT_A),
        .b = kernel_place(&p->memory, PRODUCT_B),
        .c = kernel_place(&p->memory, PRODUCT_C),
        .bias_offset = bias.offset,
        .bias_head = bias.head,
        .items_offset = kernel_place(&p->memory, PRODUCT_ITEMS).offset,
        .M = (whole)p->M,
        .N = (whole)p->N,
        .first_row = (whole)p->of.first_row,
        .heads = (whole)p->of.heads,
        .group = (whole)p->of.group,
    };
    params.a.offset += (wide)p->of.first_row * params.a.row;
    return params;
}

static void set_options(const product *p, char options[KERNEL_OPTIONS])
{
    snprintf(options, KERNEL_OPTIONS,
        "%s -DB_ROWS=%s -DAT=%d -DBT=%d -DCT=%d -DITEMS=%d", p->way.tile,
        p->way.rows_are_n ? "B_ROWS_N" : "B_ROWS_K", (int)p->dtype[PRODUCT_A],
        (int)p->dtype[PRODUCT_B], (int)p->dtype[PRODUCT_C], (int)p->of.table);
}

void product_run(product *p)
{
    const product_way *w = &p->way;
    const whole K = (whole)p->K, cut = p->of.in_two ? K / 2 : 0;
    matmul_params params = params_of(p);
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    const kernel_call call = {.name = w->kernel,
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {PRODUCT_C, PRODUCT_A, PRODUCT_B, PRODUCT_BIAS,
            p->of.table ? PRODUCT_ITEMS : KERNEL_NONE},
        .n_slots = w->knows_items ? 5 : 4,
        .params = &params,
        .params_bytes = sizeof params,
        .first = params.first,
        .groups = {(p->N + w->columns - 1) / w->columns,
            (p->M + w->rows - 1) / w->rows, p->of.items * p->of.heads},
        .local = {w->x, w->y, 1},
        .group_by_group = p->of.grouped};

    set_options(p, options);
    arena_remember(&p->memory);
    kernel_open(&p->memory, p->dtype, buffers);
    params.k_end = cut;
    if (cut > 0)
        kernel_launch(&call);
    params.k_begin = cut;
    params.k_end = K;
    params.has_bias = p->of.bias;
    kernel_launch(&call);
    kernel_close(&p->memory, p->dtype, buffers);
}

/* What is no item's stays as it was. */
static double exact(const product *p, size_t b, size_t h, size_t m, size_t n)
{
    const arena *a = &p->memory;
    const kernel_item it = item_of(p, b);
    const size_t shared = h / p->of.group, i = p->of.first_row + m;
    const size_t first = (size_t)it.k_first;
    double sum = p->of.bias ? *arena_at(a, PRODUCT_BIAS, 0, h, 0, n) : 0;
    if ((wide)i >= it.rows || (wide)n >= it.keys)
        return NAN;
    for (size_t k = 0; k < p->K; ++k)
        sum +=
            (double)*arena_at(a, PRODUCT_A, b, h, (size_t)it.q_first + i, k) *
            (p->way.rows_are_n
                    ? *arena_at(a, PRODUCT_B, b, shared, first + n, k)
                    : *arena_at(a, PRODUCT_B, b, shared, first + k, n));
    return kernel_rounded(sum, p->dtype[PRODUCT_C]);
}

void product_check(const product *p)
{
    char why[ARENA_TEXT];
    expected e;
    ck_assert(
        expected_create(&e, arena_elements(&p->memory.tensor[PRODUCT_C])));
    for (size_t at = 0; at < e.count; ++at) {
        const size_t row = at / p->N, bh = row / p->M;
        e.value[at] =
            exact(p, bh / p->of.heads, bh % p->of.heads, row % p->M, at % p->N);
    }
    ck_assert_msg(
        expected_meets(&e, &p->memory, PRODUCT_C, why), "%s: %s", p->text, why);
    ck_assert_msg(arena_unharmed(&p->memory, why), "%s: %s", p->text, why);
    expected_free(&e);
}

void product_destroy(product *p)
{
    arena_free(&p->memory);
}

/* ---- Checks of a whole case -------------------------------------------------- */

static void finish(product *p)
{
    product_run(p);
    product_check(p);
    product_destroy(p);
}

void product_check_case(
    const product_case *c, const product_way *way, bool exact_ends)
{
    product p;
    if (!product_applies(c, way))
        return;
    product_create(&p, c, way, exact_ends);
    finish(&p);
}

void product_check_nan(const product_case *c, const product_way *way)
{
    product p;
    product_create(&p, c, way, false);
    *arena_at(&p.memory, PRODUCT_A, 1, 3, 1, 0) = arena_poison();
    *arena_at(&p.memory, PRODUCT_B, 0, 1, 0, 1) = arena_poison();
    finish(&p);
}

void product_check_rounding(const product_case *c, const product_way *way)
{
    product p;
    product_create(&p, c, way, false);
    draw d = draw_start(7);
    const arena_tensor *t = &p.memory.tensor[PRODUCT_A];
    for (size_t at = 0; at < t->size[2] * t->size[3]; ++at)
        *arena_at(&p.memory, PRODUCT_A, 0, 0, at / t->size[3],
            at % t->size[3]) = (float)draw_between(&d, 0, 128);
    finish(&p);
}
