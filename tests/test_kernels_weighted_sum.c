/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_weighted_sum.c - weighted_sum.cl alone: sizes around the edges of
 * its tiles, in whole numbers, whose sums are exact.  Trusts no reference.
 */
#include <math.h>
#include <stdio.h>

#include "expected.h"
#include "kernel.h"
#include "opencl.h"
#include "suite.h"

enum {
    P,
    V,
    OUT,
    ITEMS
};

#define FAR KERNEL_UNBOUNDED

static const struct {
    size_t T;
    int32_t v, out; /* dtypes */
} WAYS[] = {
    {4, CLATTN_F32, CLATTN_F32},
    {1, CLATTN_F32, CLATTN_F32},
    {8, CLATTN_F32, CLATTN_F32},
    {16, CLATTN_F32, CLATTN_F32},
    {4, CLATTN_F16, CLATTN_BF16},
    {8, CLATTN_BF16, CLATTN_F16},
};

typedef struct sum_case {
    const char *about;
    size_t items, heads, group; /* heads of p and out that share one of v */
    edge rows, Lk, Dv;
    size_t first_row; /* of a block of rows, which two more follow */
    kernel_rules rules;
    wide diagonal, left, right;
    bool holes; /* a mask hides some keys of each row, and one of all rows */
    bool gaps;
    bool in_two;  /* the sum is formed by two launches */
    bool grouped; /* each group is launched for itself */
} sum_case;

/* diagonal, left, right */
#define BAND(...)   .rules = {.band = 1}, __VA_ARGS__
#define TABLE(...)  .rules = {.band = 1, .items = 1}, __VA_ARGS__
#define PACKED(...) .rules = {.band = 1, .items = 1, .packed = 1}, __VA_ARGS__

static const sum_case CASES[] = {
    {"one above a tile in all sizes", 2, 4, 2, {1, 1}, {1, 1}, {1, 1},
        .gaps = true},
    {"one below, one above, two tiles", 2, 2, 1, {1, -1}, {2, 0}, {1, 1},
        .gaps = false},
    {"smallest problem", 1, 1, 1, {0, 1}, {0, 1}, {0, 1}, .gaps = false},
    {"tiles exactly", 2, 1, 1, {1, 0}, {1, 0}, {2, 0}, .gaps = true},
    {"a block of later rows", 1, 3, 3, {2, 1}, {2, -1}, {1, 2}, .first_row = 5,
        .gaps = true},
    {"causal", 2, 2, 2, {2, 1}, {2, 1}, {1, 1}, BAND(0, FAR, 0), .gaps = true},
    {"causal, a block of later rows", 2, 2, 1, {2, -1}, {3, 1}, {1, 1},
        .first_row = 3, BAND(1, FAR, 0)},
    {"causal, one row of a tile sees a key more than fill a tile", 1, 2, 2,
        {1, 0}, {2, 1}, {0, 3}, BAND(1, FAR, 0)},
    {"a window", 2, 2, 2, {3, 1}, {3, 1}, {1, 1}, BAND(1, 2, 1), .gaps = true},
    {"a window that some rows are not in", 2, 1, 1, {3, 1}, {1, 1}, {1, 1},
        BAND(-2, 1, 0), .gaps = true},
    {"masked keys", 2, 2, 2, {2, 1}, {2, 1}, {1, 1}, .holes = true,
        .gaps = true},
    {"items by a table, causal", 16, 2, 1, {2, 1}, {2, 1}, {1, 1},
        TABLE(0, FAR, 0), .gaps = true},
    {"items by a table, a window, masked keys", 16, 1, 1, {1, 1}, {2, -1},
        {1, -1}, .first_row = 2, TABLE(0, 2, 2), .holes = true, .gaps = true},
    {"packed items", 16, 2, 2, {1, 2}, {1, 1}, {1, 2}, .first_row = 1,
        PACKED(0, FAR, FAR), .gaps = true},
    {"a sum in two launches, cut within a tile", 2, 4, 2, {1, 1}, {3, -1},
        {1, 1}, .gaps = true, .in_two = true},
    {"a sum in two launches, cut at a tile, causal", 2, 2, 1, {2, 1}, {2, 0},
        {1, -1}, .first_row = 2, BAND(-2, FAR, 0), .in_two = true},
    {"packed items, in two launches", 8, 2, 2, {1, 2}, {2, 1}, {1, 2},
        PACKED(0, FAR, 0), .gaps = true, .in_two = true},
    {"each group for itself", 3, 2, 2, {2, 1}, {2, 1}, {2, 1}, .first_row = 2,
        TABLE(0, FAR, 0), .gaps = true, .grouped = true},
    {"each group for itself, in two launches", 2, 2, 1, {2, -1}, {3, 1}, {2, 1},
        .first_row = 1, TABLE(0, FAR, FAR), .in_two = true, .grouped = true},
    {"no keys", 2, 2, 2, {1, 1}, {0, 0}, {1, 1}, .gaps = true},
};

/* A case with the tile's size put in. */
typedef struct sum {
    sum_case of;
    size_t way, rows, Lq, Lk, Dv;
    attention_params params;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} sum;

static kernel_item item_of(const sum *p, size_t b)
{
    if (p->of.rules.items)
        return kernel_item_at(&p->memory, ITEMS, b);
    return (kernel_item){0, (wide)p->Lq, 0, (wide)p->Lk, p->params.diagonal};
}

/* Key 2 is masked for all rows, every third key in steps. */
static bool sees(const sum *p, const kernel_item *it, size_t i, size_t j)
{
    return kernel_sees(it, &p->params, p->of.rules.band, (wide)i, (wide)j) &&
           !(p->of.holes && (j == 2 || (i + j) % 3 == 0));
}

/* One row of weights: whole numbers, -1 where the key is hidden, NaN where the
   item has none; then v of each key that is seen. */
static void fill_row(sum *p, size_t b, size_t h, size_t row, draw *d)
{
    const kernel_item it = item_of(p, b);
    const size_t i = p->of.first_row + row, first = (size_t)it.k_first;
    for (size_t j = 0; (wide)i < it.rows && j < (size_t)it.keys; ++j) {
        const bool seen = sees(p, &it, i, j);
        *arena_at(&p->memory, P, b, h, row, j) = seen ? kernel_whole(d, 0) : -1;
        for (size_t column = 0; seen && column < p->Dv; ++column)
            *arena_at(&p->memory, V, b, h / p->of.group, first + j, column) =
                kernel_whole(d, -8);
    }
}

static void place_all(sum *p)
{
    const sum_case *c = &p->of;
    const size_t more = c->rules.items ? KERNEL_FIRSTS - 1 : 0;
    arena *a = &p->memory;
    arena_place(
        a, P, kernel_tensor("p", c->items, c->heads, p->rows, p->Lk, c->gaps));
    arena_place(a, V,
        kernel_tensor(
            "v", c->items, c->heads / c->group, p->Lk + more, p->Dv, c->gaps));
    arena_place(a, OUT,
        kernel_tensor("out", c->items, c->heads, p->Lq + more, p->Dv, c->gaps));
    kernel_place_items(a, ITEMS, c->items);
    a->tensor[OUT].output = true;
    p->dtype[V] = WAYS[p->way].v;
    p->dtype[OUT] = WAYS[p->way].out;
    kernel_allocate(a);
}

static attention_params params_of(const sum *p)
{
    return (attention_params){
        .scores = kernel_place(&p->memory, P),
        .v = kernel_place(&p->memory, V),
        .out = kernel_place(&p->memory, OUT),
        .items_offset = kernel_place(&p->memory, ITEMS).offset,
        .diagonal = p->of.diagonal,
        .window_left = p->of.left,
        .window_right = p->of.right,
        .heads = (whole)p->of.heads,
        .group = (whole)p->of.group,
        .Lq = (whole)p->Lq,
        .Lk = (whole)p->Lk,
        .first_row = (whole)p->of.first_row,
        .rows = (whole)p->rows,
        .Dv = (whole)p->Dv,
    };
}

static void create(sum *p, const sum_case *c, size_t way, bool exact_ends)
{
    const size_t T = WAYS[way].T;
    *p = (sum){.of = *c,
        .way = way,
        .rows = edge_size(c->rows, T),
        .Dv = edge_size(c->Dv, T)};
    if (c->Lk.whole > 0 || c->Lk.extra > 0)
        p->Lk = edge_size(c->Lk, T);
    p->Lq = c->first_row + p->rows + (c->first_row > 0 ? 2 : 0);
    snprintf(p->text, sizeof p->text, "%s, way %zu: T = %zu", c->about, way, T);
    place_all(p);
    p->params = params_of(p);
    kernel_fill_items(&p->memory, ITEMS, p->Lq, p->Lk);
    draw d = draw_start(way);
    for (size_t at = 0; at < c->items * c->heads * p->rows; ++at) {
        const size_t bh = at / p->rows;
        fill_row(p, bh / c->heads, bh % c->heads, at % p->rows, &d);
    }
    if (exact_ends)
        kernel_cut_guards(&p->memory);
    arena_remember(&p->memory);
}

static void run(sum *p)
{
    const size_t T = WAYS[p->way].T;
    const whole Lk = (whole)p->Lk, cut = p->of.in_two ? Lk / 2 : 0;
    cl_mem buffers[ARENA_TENSORS];
    char options[KERNEL_OPTIONS];
    kernel_options(options, &p->of.rules, "-DVT=%d -DOT=%d -DT=%zu",
        (int)p->dtype[V], (int)p->dtype[OUT], T);
    const kernel_call call = {.name = "weighted_sum",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {OUT, P, V, p->of.rules.items ? ITEMS : KERNEL_NONE},
        .n_slots = 4,
        .params = &p->params,
        .params_bytes = sizeof p->params,
        .first = p->params.first,
        .groups = {(p->Dv + T - 1) / T, (p->rows + T - 1) / T,
            p->of.items * p->of.heads},
        .local = {T, T, 1},
        .group_by_group = p->of.grouped};

    kernel_open(&p->memory, p->dtype, buffers);
    p->params.j_begin = 0;
    p->params.j_end = cut;
    if (cut > 0)
        kernel_launch(&call);
    p->params.j_begin = cut;
    p->params.j_end = Lk;
    kernel_launch(&call);
    kernel_close(&p->memory, p->dtype, buffers);
}

/* Element `column` of row `at` of the tensor: of another block, before or
   behind the item, or packed and past it, it is left alone. */
static double exact(const sum *p, size_t b, size_t h, size_t at, size_t column)
{
    const kernel_item it = item_of(p, b);
    const wide i = (wide)at - it.q_first;
    const wide row = i - (wide)p->of.first_row;
    if (row < 0 || row >= (wide)p->rows || (p->of.rules.packed && i >= it.rows))
        return NAN;
    double all = 0;
    for (size_t j = 0; j < p->Lk; ++j)
        if (sees(p, &it, (size_t)i, j))
            all += (double)*arena_at(&p->memory, P, b, h, (size_t)row, j) *
                   *arena_at(&p->memory, V, b, h / p->of.group,
                       (size_t)it.k_first + j, column);
    return kernel_rounded(all, p->dtype[OUT]);
}

static void check(const sum *p)
{
    const size_t rows = p->memory.tensor[OUT].size[2];
    char why[ARENA_TEXT];
    expected e;
    ck_assert(expected_create(&e, arena_elements(&p->memory.tensor[OUT])));
    for (size_t at = 0; at < e.count; ++at) {
        const size_t row = at / p->Dv, bh = row / rows;
        e.value[at] = exact(
            p, bh / p->of.heads, bh % p->of.heads, row % rows, at % p->Dv);
    }
    ck_assert_msg(
        expected_meets(&e, &p->memory, OUT, why), "%s: %s", p->text, why);
    ck_assert_msg(arena_unharmed(&p->memory, why), "%s: %s", p->text, why);
    expected_free(&e);
}

/* A sum of several launches is kept in out, which must be f32. */
static void check_case(const sum_case *c, size_t way, bool exact_ends)
{
    sum p;
    if (c->in_two && WAYS[way].out != CLATTN_F32)
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

/* ---- Properties ------------------------------------------------------------ */

/* One weight is 1 and the others 0: out is a row of v, bit for bit. */
START_TEST(one_weight_picks_its_value)
{
    sum p;
    create(&p, &CASES[0], (size_t)_i, false);
    for (size_t j = 0; j < p.Lk; ++j) {
        for (size_t at = 0; at < p.rows * p.Lk; ++at)
            *arena_at(&p.memory, P, 1, 3, at / p.Lk, at % p.Lk) =
                at % p.Lk == j ? 1 : 0;
        run(&p);
        for (size_t at = 0; at < p.rows * p.Dv; ++at)
            ck_assert_msg(
                *arena_at(&p.memory, OUT, 1, 3, at / p.Dv, at % p.Dv) ==
                    *arena_at(&p.memory, V, 1, 1, j, at % p.Dv),
                "%s: weight 1 on key %zu does not give its value", p.text, j);
    }
    arena_free(&p.memory);
}
END_TEST

/* Of the last key, which under causal only the last row sees. */
START_TEST(nan_reaches_the_rows_that_see_it_and_no_other)
{
    sum p;
    create(&p, &CASES[5], (size_t)_i, false);
    *arena_at(&p.memory, V, 1, 0, p.Lk - 1, 0) = arena_poison();
    arena_remember(&p.memory);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case(&CASES[_i], 0, true);
}
END_TEST

int main(void)
{
    const int ways = (int)COUNT(WAYS);
    TCase *edges = tcase_create("edges");
    tcase_add_unchecked_fixture(edges, opencl_open, opencl_close);
    tcase_set_timeout(edges, 300);
    tcase_add_loop_test(edges, whole_numbers_are_exact_at_every_edge, 0,
        ways * (int)COUNT(CASES));

    TCase *properties = tcase_create("properties");
    tcase_add_unchecked_fixture(properties, opencl_open, opencl_close);
    tcase_set_timeout(properties, 300);
    tcase_add_loop_test(properties, one_weight_picks_its_value, 0, ways);
    tcase_add_loop_test(
        properties, nan_reaches_the_rows_that_see_it_and_no_other, 0, ways);

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, (int)COUNT(CASES));

    Suite *suite = suite_create("kernels_weighted_sum");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
