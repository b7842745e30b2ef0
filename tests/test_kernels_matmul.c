/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul.c - matmul.cl alone: sizes around the edges of its tiles,
 * in whole numbers, whose sums are exact.  Trusts no reference.
 */
#include <math.h>
#include <stdio.h>

#include "expected.h"
#include "kernel.h"
#include "opencl.h"
#include "suite.h"

enum {
    A,
    B,
    BIAS,
    C,
    ITEMS
};

static const struct {
    size_t T;
    bool rows_are_n;
    int32_t a, b, c; /* dtypes */
} WAYS[] = {
    {4, false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {4, true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {1, false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {1, true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {8, false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {8, true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {16, false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {16, true, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {4, true, CLATTN_F16, CLATTN_BF16, CLATTN_F32},
    {4, false, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},
    {8, true, CLATTN_F32, CLATTN_F16, CLATTN_F16},
};

typedef struct product_case {
    const char *about;
    size_t items, heads, group; /* heads of a and c that share one of b */
    edge M, N, K;
    size_t first_row; /* of a block of rows */
    size_t later;     /* rows of a past the block */
    bool gaps, bias;
    bool table;   /* items begin and end where a table says */
    bool filled;  /* what is no item's is numbers, not NaN */
    bool in_two;  /* the sum is formed by two launches */
    bool grouped; /* each group is launched for itself */
} product_case;

static const product_case CASES[] = {
    {"one above a tile in all sizes", 2, 4, 2, {1, 1}, {1, 1}, {1, 1},
        .gaps = true, .bias = true},
    {"one below, one above, two tiles", 2, 2, 1, {1, -1}, {1, 1}, {2, 0},
        .bias = true},
    {"smallest problem", 1, 1, 1, {0, 1}, {0, 1}, {0, 1}, .bias = true},
    {"smallest problem without bias", 1, 1, 1, {0, 1}, {0, 1}, {0, 1},
        .bias = false},
    {"one column of a and row of b", 1, 3, 3, {2, 1}, {1, 2}, {0, 1},
        .gaps = true, .bias = true},
    {"tiles exactly", 3, 1, 1, {1, 0}, {2, 0}, {1, 0}, .gaps = true},
    {"a sum in two launches, cut within a tile", 2, 2, 2, {1, 1}, {1, 2},
        {3, -1}, .gaps = true, .bias = true, .in_two = true},
    {"a sum in two launches, cut at a tile", 2, 1, 1, {2, 1}, {1, -1}, {2, 0},
        .in_two = true},
    {"each group for itself", 2, 4, 2, {2, 1}, {2, -1}, {2, 1}, .gaps = true,
        .bias = true, .grouped = true},
    {"each group for itself, in two launches", 3, 2, 1, {1, 2}, {2, 1}, {3, 1},
        .bias = true, .in_two = true, .grouped = true},
    {"a block of later rows", 2, 2, 2, {1, 1}, {1, 1}, {1, 1}, .first_row = 5,
        .gaps = true},
    {"items by a table", 16, 2, 1, {1, 2}, {2, -1}, {1, 1}, .gaps = true,
        .table = true},
    {"items by a table, a block of later rows", 8, 2, 2, {1, 2}, {1, 1},
        {1, -1}, .first_row = 3, .table = true, .in_two = true},
    {"items by a table, each group for itself", 9, 1, 1, {1, 1}, {1, 1}, {1, 0},
        .first_row = 1, .table = true, .grouped = true},
    {"items by a table, numbers around them", 16, 2, 2, {1, 2}, {2, -1}, {1, 1},
        .first_row = 3, .table = true, .filled = true},
    {"items by a table that go on past the block", 8, 1, 1, {1, 2}, {1, 1},
        {1, 1}, .first_row = 2, .later = 19, .table = true},
};

/* A case with the tile's size put in. */
typedef struct product {
    product_case of;
    size_t way, M, N, K;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} product;

/* A product of several launches keeps its sum in c, and the table's rows are
   those of queries and keys: q k^T. */
static bool applies(const product_case *c, size_t way)
{
    return (!c->in_two || WAYS[way].c == CLATTN_F32) &&
           (!c->table || WAYS[way].rows_are_n);
}

static kernel_item item_of(const product *p, size_t b)
{
    if (p->of.table)
        return kernel_item_at(&p->memory, ITEMS, b);
    return (kernel_item){
        .rows = (wide)(p->of.first_row + p->M), .keys = (wide)p->N};
}

static void place_all(product *p)
{
    const product_case *c = &p->of;
    const bool n = WAYS[p->way].rows_are_n;
    const size_t more = c->later + (c->table ? KERNEL_FIRSTS - 1 : 0);
    arena *a = &p->memory;
    arena_place(a, A,
        kernel_tensor("a", c->items, c->heads, c->first_row + p->M + more, p->K,
            c->gaps));
    arena_place(a, B,
        kernel_tensor("b", c->items, c->heads / c->group,
            (n ? p->N : p->K) + more, n ? p->K : p->N, c->gaps));
    arena_place(a, BIAS, kernel_tensor("bias", 1, c->heads, 1, p->N, c->gaps));
    arena_place(
        a, C, kernel_tensor("c", c->items, c->heads, p->M, p->N, c->gaps));
    kernel_place_items(a, ITEMS, c->items);
    a->tensor[C].output = true;
    p->dtype[A] = WAYS[p->way].a;
    p->dtype[B] = p->dtype[BIAS] = WAYS[p->way].b;
    p->dtype[C] = WAYS[p->way].c;
    kernel_allocate(a);
}

/* Rows that no item has, or that are not of the block, stay NaN. */
static void fill(product *p)
{
    const product_case *c = &p->of;
    const bool n = WAYS[p->way].rows_are_n;
    draw d = draw_start(p->way);
    if (c->filled) {
        kernel_fill_whole(&p->memory, A, &d);
        kernel_fill_whole(&p->memory, B, &d);
    }
    for (size_t bh = 0; bh < c->items * c->heads; ++bh) {
        const size_t b = bh / c->heads, h = bh % c->heads;
        const kernel_item it = item_of(p, b);
        for (size_t i = c->first_row; (wide)i < it.rows; ++i)
            for (size_t k = 0; k < p->K; ++k)
                *arena_at(&p->memory, A, b, h, (size_t)it.q_first + i, k) =
                    kernel_whole(&d, -8);
        const size_t rows = n ? (size_t)it.keys : p->K;
        for (size_t at = 0; at < rows * (n ? p->K : p->N); ++at) {
            const size_t columns = n ? p->K : p->N;
            *arena_at(&p->memory, B, b, h / c->group,
                (size_t)it.k_first + at / columns, at % columns) =
                kernel_whole(&d, -8);
        }
    }
    if (c->bias)
        kernel_fill_whole(&p->memory, BIAS, &d);
}

static void create(product *p, const product_case *c, size_t way, bool exact)
{
    const size_t T = WAYS[way].T;
    *p = (product){.of = *c,
        .way = way,
        .M = edge_size(c->M, T),
        .N = edge_size(c->N, T),
        .K = edge_size(c->K, T)};
    snprintf(p->text, sizeof p->text, "%s, way %zu: T = %zu, rows of %s",
        c->about, way, T, WAYS[way].rows_are_n ? "N" : "K");
    place_all(p);
    kernel_fill_items(&p->memory, ITEMS, c->first_row + p->M + c->later, p->N);
    fill(p);
    if (exact)
        kernel_cut_guards(&p->memory);
    arena_remember(&p->memory);
}

static matmul_params params_of(const product *p)
{
    const place bias = kernel_place(&p->memory, BIAS);
    matmul_params params = {
        .a = kernel_place(&p->memory, A),
        .b = kernel_place(&p->memory, B),
        .c = kernel_place(&p->memory, C),
        .bias_offset = bias.offset,
        .bias_head = bias.head,
        .items_offset = kernel_place(&p->memory, ITEMS).offset,
        .M = (whole)p->M,
        .N = (whole)p->N,
        .first_row = (whole)p->of.first_row,
        .heads = (whole)p->of.heads,
        .group = (whole)p->of.group,
    };
    params.a.offset += (wide)p->of.first_row * params.a.row;
    return params;
}

static void run(product *p)
{
    const size_t T = WAYS[p->way].T;
    const whole K = (whole)p->K, cut = p->of.in_two ? K / 2 : 0;
    matmul_params params = params_of(p);
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    snprintf(options, sizeof options,
        "-DT=%zu -DB_ROWS=%s -DAT=%d -DBT=%d -DCT=%d -DITEMS=%d", T,
        WAYS[p->way].rows_are_n ? "B_ROWS_N" : "B_ROWS_K", (int)p->dtype[A],
        (int)p->dtype[B], (int)p->dtype[C], (int)p->of.table);
    const kernel_call call = {.name = "matmul",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {C, A, B, BIAS, p->of.table ? ITEMS : KERNEL_NONE},
        .n_slots = 5,
        .params = &params,
        .params_bytes = sizeof params,
        .first = params.first,
        .groups = {(p->N + T - 1) / T, (p->M + T - 1) / T,
            p->of.items * p->of.heads},
        .local = {T, T, 1},
        .group_by_group = p->of.grouped};

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
    double sum = p->of.bias ? *arena_at(a, BIAS, 0, h, 0, n) : 0;
    if ((wide)i >= it.rows || (wide)n >= it.keys)
        return NAN;
    for (size_t k = 0; k < p->K; ++k)
        sum += (double)*arena_at(a, A, b, h, (size_t)it.q_first + i, k) *
               (WAYS[p->way].rows_are_n
                       ? *arena_at(a, B, b, shared, first + n, k)
                       : *arena_at(a, B, b, shared, first + k, n));
    return kernel_rounded(sum, p->dtype[C]);
}

static void check(const product *p)
{
    char why[ARENA_TEXT];
    expected e;
    ck_assert(expected_create(&e, arena_elements(&p->memory.tensor[C])));
    for (size_t at = 0; at < e.count; ++at) {
        const size_t row = at / p->N, bh = row / p->M;
        e.value[at] =
            exact(p, bh / p->of.heads, bh % p->of.heads, row % p->M, at % p->N);
    }
    ck_assert_msg(
        expected_meets(&e, &p->memory, C, why), "%s: %s", p->text, why);
    ck_assert_msg(arena_unharmed(&p->memory, why), "%s: %s", p->text, why);
    expected_free(&e);
}

static void check_case(const product_case *c, size_t way, bool exact_ends)
{
    product p;
    if (!applies(c, way))
        return;
    create(&p, c, way, exact_ends);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}

START_TEST(whole_numbers_are_exact_at_every_edge)
{
    const size_t n = (size_t)_i;
    check_case(&CASES[n % COUNT(CASES)], n / COUNT(CASES), false);
}
END_TEST

/* One element of a and one of b: c is NaN in the row and the column that they
   meet, and nowhere else. */
START_TEST(nan_stays_in_its_row_and_column)
{
    product p;
    create(&p, &CASES[0], (size_t)_i, false);
    *arena_at(&p.memory, A, 1, 3, 1, 0) = arena_poison();
    *arena_at(&p.memory, B, 0, 1, 0, 1) = arena_poison();
    arena_remember(&p.memory);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}
END_TEST

/* Sums of some thousands need 13 bits: most lie between two numbers of 8 or 11
   bits, many just in the middle. */
START_TEST(a_16_bit_result_is_rounded_once_to_nearest_even)
{
    product p;
    create(&p, &CASES[1], 9 + (size_t)_i, false);
    draw d = draw_start(7);
    const arena_tensor *t = &p.memory.tensor[A];
    for (size_t at = 0; at < t->size[2] * t->size[3]; ++at)
        *arena_at(&p.memory, A, 0, 0, at / t->size[3], at % t->size[3]) =
            (float)draw_between(&d, 0, 128);
    arena_remember(&p.memory);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    const size_t n = (size_t)_i;
    check_case(&CASES[n % COUNT(CASES)], n / COUNT(CASES), true);
}
END_TEST

int main(void)
{
    TCase *edges = tcase_create("edges");
    tcase_add_unchecked_fixture(edges, opencl_open, opencl_close);
    tcase_set_timeout(edges, 300);
    tcase_add_loop_test(edges, whole_numbers_are_exact_at_every_edge, 0,
        (int)(COUNT(WAYS) * COUNT(CASES)));
    tcase_add_loop_test(
        edges, nan_stays_in_its_row_and_column, 0, (int)COUNT(WAYS));
    tcase_add_loop_test(
        edges, a_16_bit_result_is_rounded_once_to_nearest_even, 0, 2);

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    /* The first two ways: T = 4. */
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, 2 * (int)COUNT(CASES));

    Suite *suite = suite_create("kernels_matmul");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
