/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul.c - matmul.cl alone: sizes around the edges of its tiles,
 * in whole numbers, whose sums are exact.  Trusts no reference.
 */
#include <stdio.h>

#include "expected.h"
#include "kernel.h"
#include "opencl.h"
#include "suite.h"

enum {
    A,
    B,
    BIAS,
    C
};

static const struct {
    size_t T;
    bool rows_are_n;
} WAYS[] = {{4, false}, {4, true}, {1, false}, {1, true}, {8, false}, {8, true},
    {16, false}, {16, true}};

typedef struct product_case {
    const char *about;
    size_t items, heads, group; /* heads of a and c that share one of b */
    edge M, N, K;
    bool gaps, bias;
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
};

/* A case with the tile's size put in. */
typedef struct product {
    product_case of;
    size_t way, M, N, K;
    arena memory;
    char text[ARENA_TEXT];
} product;

static void create(product *p, const product_case *c, size_t way, bool exact)
{
    const size_t T = WAYS[way].T;
    const bool n = WAYS[way].rows_are_n;
    *p = (product){.of = *c,
        .way = way,
        .M = edge_size(c->M, T),
        .N = edge_size(c->N, T),
        .K = edge_size(c->K, T)};
    snprintf(p->text, sizeof p->text, "%s, T = %zu, a row of b is of %s",
        c->about, T, n ? "N" : "K");
    arena *a = &p->memory;
    arena_place(
        a, A, kernel_tensor("a", c->items, c->heads, p->M, p->K, c->gaps));
    arena_place(a, B,
        kernel_tensor("b", c->items, c->heads / c->group, n ? p->N : p->K,
            n ? p->K : p->N, c->gaps));
    arena_place(a, BIAS, kernel_tensor("bias", 1, c->heads, 1, p->N, c->gaps));
    arena_place(
        a, C, kernel_tensor("c", c->items, c->heads, p->M, p->N, c->gaps));
    a->tensor[C].output = true;
    ck_assert(arena_allocate(a));

    draw d = draw_start(way);
    kernel_fill_whole(a, A, &d);
    kernel_fill_whole(a, B, &d);
    if (c->bias)
        kernel_fill_whole(a, BIAS, &d);
    if (exact)
        kernel_cut_guards(a);
    arena_remember(a);
}

static matmul_params params_of(const product *p)
{
    const place bias = kernel_place(&p->memory, BIAS);
    return (matmul_params){
        .a = kernel_place(&p->memory, A),
        .b = kernel_place(&p->memory, B),
        .c = kernel_place(&p->memory, C),
        .bias_offset = bias.offset,
        .bias_head = bias.head,
        .M = (whole)p->M,
        .N = (whole)p->N,
        .heads = (whole)p->of.heads,
        .group = (whole)p->of.group,
    };
}

static void run(product *p)
{
    const size_t T = WAYS[p->way].T;
    const whole K = (whole)p->K, cut = p->of.in_two ? K / 2 : 0;
    matmul_params params = params_of(p);
    cl_mem buffers[ARENA_TENSORS];
    char options[96];
    snprintf(options, sizeof options, "-DT=%zu -DB_ROWS=%s", T,
        WAYS[p->way].rows_are_n ? "B_ROWS_N" : "B_ROWS_K");
    const kernel_call call = {.name = "matmul",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {C, A, B, BIAS},
        .n_slots = 4,
        .params = &params,
        .params_bytes = sizeof params,
        .first = params.first,
        .groups = {(p->N + T - 1) / T, (p->M + T - 1) / T,
            p->of.items * p->of.heads},
        .local = {T, T, 1},
        .group_by_group = p->of.grouped};

    kernel_open(&p->memory, buffers);
    params.k_end = cut;
    if (cut > 0)
        kernel_launch(&call);
    params.k_begin = cut;
    params.k_end = K;
    params.has_bias = p->of.bias;
    kernel_launch(&call);
    kernel_close(&p->memory, buffers);
}

static double exact(const product *p, size_t b, size_t h, size_t m, size_t n)
{
    const arena *a = &p->memory;
    const size_t shared = h / p->of.group;
    double sum = p->of.bias ? *arena_at(a, BIAS, 0, h, 0, n) : 0;
    for (size_t k = 0; k < p->K; ++k)
        sum += (double)*arena_at(a, A, b, h, m, k) *
               (WAYS[p->way].rows_are_n ? *arena_at(a, B, b, shared, n, k)
                                        : *arena_at(a, B, b, shared, k, n));
    return sum;
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

/* Buffers without guard zones and few groups, for drivers that watch bounds and
   races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    product_case c = CASES[0];
    c.gaps = _i / 2 == 1;
    c.in_two = c.grouped = _i / 4 == 1;
    check_case(&c, (size_t)_i % 2, true);
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

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 6);

    Suite *suite = suite_create("kernels_matmul");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
