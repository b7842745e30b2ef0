/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul_lanes_blocks.c - matmul_lanes.cl and pack_lanes.cl alone,
 * in blocks as large as their scratch, which are small here: whole numbers,
 * whose sums are exact.  Trusts no reference.
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
    C,
    PANELS,
    HEADS = 2
};

/* As the kernels' tables have them; the first is for drivers that watch bounds
   and races. */
static const struct {
    size_t VW, NV, MR, MC, NC, KC;
} SHAPES[] = {{4, 2, 3, 6, 16, 16}, {8, 1, 4, 8, 16, 16}, {16, 2, 2, 6, 64, 16},
    {16, 1, 3, 3, 16, 32}};

static const struct {
    bool packed, by_n; /* by_n: a row of b in memory is a column of c */
    int32_t a, b, c;   /* dtypes */
} WAYS[] = {
    {false, false, CLATTN_F32, CLATTN_F32, CLATTN_F32},
    {false, true, CLATTN_F16, CLATTN_BF16, CLATTN_F32},
    {true, false, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},
    {true, true, CLATTN_F32, CLATTN_F32, CLATTN_F16},
};

/* Sizes in blocks. */
static const struct {
    const char *about;
    edge M, N, K;
    bool bias, gaps, grouped; /* grouped: each group is launched for itself */
} CASES[] = {
    {"one block exactly", {1, 0}, {1, 0}, {1, 0}, .bias = false},
    {"blocks exactly", {2, 0}, {2, 0}, {2, 0}, .bias = true, .grouped = true},
    {"one more of each", {2, 1}, {1, 1}, {1, 1}, .bias = true, .gaps = true},
    {"one less of each", {1, -1}, {2, -1}, {2, -1}, .bias = true},
    {"half a vector more", {1, 2}, {1, 10}, {0, 5}, .gaps = true},
};

typedef struct product {
    size_t of, way, shape, M, N, K;
    size_t panel, panels; /* columns of one; how many */
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} product;

static size_t steps(size_t size, size_t step)
{
    return (size + step - 1) / step;
}

static void place_all(product *p)
{
    const bool by_n = WAYS[p->way].by_n, gaps = CASES[p->of].gaps;
    arena *a = &p->memory;
    arena_place(a, A, kernel_tensor("a", 1, HEADS, p->M, p->K, gaps));
    arena_place(a, B,
        kernel_tensor(
            "b", 1, HEADS, by_n ? p->N : p->K, by_n ? p->K : p->N, gaps));
    arena_place(a, BIAS, kernel_tensor("bias", 1, HEADS, 1, p->N, gaps));
    arena_place(a, C, kernel_tensor("c", 1, HEADS, p->M, p->N, gaps));
    arena_place(a, PANELS,
        kernel_tensor("panels", 1, HEADS, p->panels * p->K, p->panel, false));
    a->tensor[C].output = true;
    a->tensor[PANELS].output = WAYS[p->way].packed;
    p->dtype[A] = WAYS[p->way].a;
    p->dtype[B] = p->dtype[BIAS] = WAYS[p->way].b;
    p->dtype[C] = WAYS[p->way].c;
    kernel_allocate(a);
}

static void create(
    product *p, size_t of, size_t way, size_t shape, bool exact_ends)
{
    draw d = draw_start(way);
    const size_t panel = SHAPES[shape].VW * SHAPES[shape].NV;
    *p = (product){.of = of,
        .way = way,
        .shape = shape,
        .M = edge_size(CASES[of].M, SHAPES[shape].MC),
        .N = edge_size(CASES[of].N, SHAPES[shape].NC),
        .K = edge_size(CASES[of].K, SHAPES[shape].KC),
        .panel = panel};
    p->panels = steps(p->N, panel);
    snprintf(p->text, sizeof p->text, "%s, way %zu, VW = %zu, NV = %zu",
        CASES[of].about, way, SHAPES[shape].VW, SHAPES[shape].NV);
    place_all(p);
    for (size_t slot = A; slot <= BIAS; ++slot)
        kernel_fill_whole(&p->memory, slot, &d);
    if (exact_ends)
        kernel_cut_guards(&p->memory);
    arena_remember(&p->memory);
}

/* ---- The launches ------------------------------------------------------------ */

static panels_params params_of(const product *p)
{
    const arena *a = &p->memory;
    const place bias = kernel_place(a, BIAS), panels = kernel_place(a, PANELS);
    return (panels_params){
        .a = kernel_place(a, A),
        .b = kernel_place(a, B),
        .c = kernel_place(a, C),
        .bias_offset = bias.offset,
        .bias_head = bias.head,
        .panels = panels.offset,
        .panels_head = panels.head,
        .M = (whole)p->M,
        .N = (whole)p->N,
        .K = (whole)p->K,
        .heads = HEADS,
        .group = 1,
        .b_heads = HEADS,
        .block_rows = (whole)SHAPES[p->shape].MC,
        .block_columns = (whole)SHAPES[p->shape].NC,
        .has_bias = CASES[p->of].bias,
    };
}

static void set_options(const product *p, char options[KERNEL_OPTIONS])
{
    snprintf(options, KERNEL_OPTIONS,
        "-DAT=%d -DBT=%d -DCT=%d -DB_ROWS=%s -DPACKED=%d -DVW=%zu -DNV=%zu "
        "-DMR=%zu -DMC=%zu -DNC=%zu -DKC=%zu",
        (int)p->dtype[A], (int)p->dtype[B], (int)p->dtype[C],
        WAYS[p->way].by_n ? "B_ROWS_N" : "B_ROWS_K", WAYS[p->way].packed,
        SHAPES[p->shape].VW, SHAPES[p->shape].NV, SHAPES[p->shape].MR,
        SHAPES[p->shape].MC, SHAPES[p->shape].NC, SHAPES[p->shape].KC);
}

static void run(product *p)
{
    const size_t shape = p->shape;
    const bool packed = WAYS[p->way].packed;
    panels_params params = params_of(p);
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    const kernel_call pack = {.name = "pack_lanes",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {PANELS, B},
        .n_slots = 2,
        .params = &params,
        .params_bytes = sizeof params,
        .first = params.first,
        .groups = {steps(p->K, SHAPES[shape].KC), p->panels, HEADS},
        .local = {1, 1, 1},
        .group_by_group = CASES[p->of].grouped};
    kernel_call multiply = pack;
    multiply.name = "matmul_lanes";
    multiply.n_slots = 0;
    multiply.slots[multiply.n_slots++] = C;
    multiply.slots[multiply.n_slots++] = A;
    multiply.slots[multiply.n_slots++] = packed ? PANELS : B;
    multiply.slots[multiply.n_slots++] = BIAS;
    multiply.groups[0] = steps(p->M, SHAPES[shape].MC);
    multiply.groups[1] = steps(p->N, SHAPES[shape].NC);
    set_options(p, options);
    kernel_open(&p->memory, p->dtype, buffers);
    if (packed)
        kernel_launch(&pack);
    kernel_launch(&multiply);
    kernel_close(&p->memory, p->dtype, buffers);
}

/* ---- What they must leave behind --------------------------------------------- */

static double b_at(const product *p, size_t h, size_t k, size_t n)
{
    const bool by_n = WAYS[p->way].by_n;
    return *arena_at(&p->memory, B, 0, h, by_n ? n : k, by_n ? k : n);
}

static double exact(const product *p, size_t h, size_t m, size_t n)
{
    double sum = 0;
    if (CASES[p->of].bias)
        sum = *arena_at(&p->memory, BIAS, 0, h, 0, n);
    for (size_t k = 0; k < p->K; ++k)
        sum += *arena_at(&p->memory, A, 0, h, m, k) * b_at(p, h, k, n);
    return kernel_rounded(sum, p->dtype[C]);
}

static void check_slot(const product *p, size_t slot, expected *e)
{
    char why[ARENA_TEXT];
    ck_assert_msg(
        expected_meets(e, &p->memory, slot, why), "%s: %s", p->text, why);
    expected_free(e);
}

static void check_product(const product *p)
{
    expected e;
    ck_assert(expected_create(&e, HEADS * p->M * p->N));
    for (size_t at = 0; at < e.count; ++at)
        e.value[at] = exact(p, at / p->N / p->M, at / p->N % p->M, at % p->N);
    check_slot(p, C, &e);
}

/* All k of one panel after another, 0 past the last column. */
static void check_panels(const product *p)
{
    expected e;
    ck_assert(expected_create(&e, HEADS * p->panels * p->K * p->panel));
    for (size_t at = 0; at < e.count; ++at) {
        const size_t k = at / p->panel % p->K, column = at % p->panel;
        const size_t panel = at / p->panel / p->K % p->panels;
        const size_t n = panel * p->panel + column;
        const size_t h = at / p->panel / p->K / p->panels;
        e.value[at] = n < p->N ? b_at(p, h, k, n) : 0;
    }
    check_slot(p, PANELS, &e);
}

static void check_case(size_t n, bool exact_ends)
{
    product p;
    char why[ARENA_TEXT];
    const size_t way = n / COUNT(CASES) % COUNT(WAYS);
    create(
        &p, n % COUNT(CASES), way, n / COUNT(CASES) / COUNT(WAYS), exact_ends);
    run(&p);
    if (WAYS[way].packed)
        check_panels(&p);
    check_product(&p);
    ck_assert_msg(arena_unharmed(&p.memory, why), "%s: %s", p.text, why);
    arena_free(&p.memory);
}

START_TEST(whole_numbers_are_exact_in_every_shape)
{
    check_case((size_t)_i, false);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case((size_t)_i, true);
}
END_TEST

int main(void)
{
    const int n = (int)(COUNT(CASES) * COUNT(WAYS));
    TCase *blocks = opencl_cases("blocks", 300);
    tcase_add_loop_test(blocks, whole_numbers_are_exact_in_every_shape, 0,
        n * (int)COUNT(SHAPES));

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);

    Suite *suite = suite_create("kernels_matmul_lanes_blocks");
    suite_add_tcase(suite, blocks);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
