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
    LENGTHS,
    DIAGONALS
};

static const size_t WAYS[] = {4, 1, 8, 16}; /* T */

typedef struct sum_case {
    const char *about;
    size_t items, heads, group; /* heads of p and out that share one of v */
    size_t first_row;           /* of a block of rows */
    edge rows, Lk, Dv;
    enum kernel_diagonal diagonal;
    wide number;
    bool lengths, gaps;
    bool in_two;  /* the sum is formed by two launches */
    bool grouped; /* each group is launched for itself */
} sum_case;

static const sum_case CASES[] = {
    {"one above a tile in all sizes", 2, 4, 2, 0, {1, 1}, {1, 1}, {1, 1},
        .gaps = true},
    {"one below, one above, two tiles", 2, 2, 1, 0, {1, -1}, {2, 0}, {1, 1},
        .gaps = false},
    {"smallest problem", 1, 1, 1, 0, {0, 1}, {0, 1}, {0, 1}, .gaps = false},
    {"tiles exactly", 2, 1, 1, 0, {1, 0}, {1, 0}, {2, 0}, .gaps = true},
    {"a block of later rows", 1, 3, 3, 5, {2, 1}, {2, -1}, {1, 2},
        .gaps = true},
    {"causal", 2, 2, 2, 0, {2, 1}, {2, 1}, {1, 1}, .diagonal = SEES_NUMBER,
        .gaps = true},
    {"causal, a block of later rows", 2, 2, 1, 3, {2, -1}, {3, 1}, {1, 1},
        .diagonal = SEES_NUMBER, .number = 1},
    {"causal, one row of a tile sees a key more than fill a tile", 1, 2, 2, 0,
        {1, 0}, {2, 1}, {0, 3}, .diagonal = SEES_NUMBER, .number = 1},
    {"causal from the last key, lengths", 8, 1, 1, 0, {2, 1}, {2, 1}, {1, 1},
        .diagonal = SEES_KEYS, .number = -3, .lengths = true, .gaps = true},
    {"lengths, sensible or not", 8, 2, 1, 0, {1, 1}, {2, 1}, {1, 2},
        .lengths = true, .gaps = true},
    {"a diagonal for each item, lengths", 16, 1, 1, 2, {1, 1}, {2, -1}, {1, -1},
        .diagonal = SEES_PER_ITEM, .lengths = true, .gaps = true},
    {"a sum in two launches, cut within a tile", 2, 4, 2, 0, {1, 1}, {3, -1},
        {1, 1}, .gaps = true, .in_two = true},
    {"a sum in two launches, cut at a tile, causal", 2, 2, 1, 2, {2, 1}, {2, 0},
        {1, -1}, .diagonal = SEES_NUMBER, .number = -2, .in_two = true},
    {"each group for itself", 3, 2, 2, 2, {2, 1}, {2, 1}, {2, 1},
        .diagonal = SEES_NUMBER, .number = 0, .lengths = true, .gaps = true,
        .grouped = true},
    {"each group for itself, in two launches", 2, 2, 1, 1, {2, -1}, {3, 1},
        {2, 1}, .lengths = true, .in_two = true, .grouped = true},
    {"no keys", 2, 2, 2, 0, {1, 1}, {0, 0}, {1, 1}, .gaps = true},
};

/* A case with the tile's size put in. */
typedef struct sum {
    sum_case of;
    size_t T, rows, Lk, Dv;
    weighted_sum_params params;
    arena memory;
    char text[ARENA_TEXT];
} sum;

static size_t seen(const sum *p, size_t b, size_t row)
{
    return kernel_seen(&p->memory, LENGTHS, DIAGONALS, &p->params.visible, b,
        row + p->of.first_row);
}

static float whole_value(draw *d)
{
    return (float)draw_between(d, 0, 16) - 8;
}

/* Weights of hidden keys, and values of keys that no row sees, stay NaN. */
static void fill(sum *p)
{
    const sum_case *c = &p->of;
    draw d = draw_start(p->T);
    for (size_t bh = 0; bh < c->items * c->heads; ++bh) {
        const size_t b = bh / c->heads, h = bh % c->heads;
        for (size_t row = 0; row < p->rows; ++row) {
            const size_t end = seen(p, b, row);
            for (size_t j = 0; j < end; ++j)
                *arena_at(&p->memory, P, b, h, row, j) = whole_value(&d);
        }
        const size_t end = seen(p, b, p->rows - 1);
        for (size_t at = 0; at < end * p->Dv; ++at)
            *arena_at(&p->memory, V, b, h / c->group, at / p->Dv, at % p->Dv) =
                whole_value(&d);
    }
}

static void place_all(sum *p)
{
    const sum_case *c = &p->of;
    arena *a = &p->memory;
    arena_place(
        a, P, kernel_tensor("p", c->items, c->heads, p->rows, p->Lk, c->gaps));
    arena_place(a, V,
        kernel_tensor(
            "v", c->items, c->heads / c->group, p->Lk, p->Dv, c->gaps));
    arena_place(a, OUT,
        kernel_tensor(
            "out", c->items, c->heads, c->first_row + p->rows, p->Dv, c->gaps));
    kernel_place_visible(a, LENGTHS, DIAGONALS, c->items);
    a->tensor[OUT].output = true;
    ck_assert(arena_allocate(a));
}

static void create(sum *p, const sum_case *c, size_t T, bool exact_ends)
{
    *p = (sum){.of = *c,
        .T = T,
        .rows = edge_size(c->rows, T),
        .Dv = edge_size(c->Dv, T)};
    if (c->Lk.whole > 0 || c->Lk.extra > 0)
        p->Lk = edge_size(c->Lk, T);
    snprintf(p->text, sizeof p->text, "%s, T = %zu", c->about, T);
    place_all(p);
    p->params = (weighted_sum_params){
        .visible = kernel_fill_visible(&p->memory, LENGTHS, DIAGONALS, p->Lk,
            c->diagonal, c->number, c->lengths),
        .p = kernel_place(&p->memory, P),
        .v = kernel_place(&p->memory, V),
        .out = kernel_place(&p->memory, OUT),
        .heads = (whole)c->heads,
        .group = (whole)c->group,
        .first_row = (whole)c->first_row,
        .rows = (whole)p->rows,
        .Dv = (whole)p->Dv,
    };
    fill(p);
    if (exact_ends)
        kernel_cut_guards(&p->memory);
    arena_remember(&p->memory);
}

static void run(sum *p)
{
    const size_t T = p->T;
    const whole Lk = (whole)p->Lk, cut = p->of.in_two ? Lk / 2 : 0;
    cl_mem buffers[ARENA_TENSORS];
    char options[96];
    snprintf(options, sizeof options, "-DT=%zu", T);
    const kernel_call call = {.name = "weighted_sum",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {OUT, P, V, LENGTHS, DIAGONALS},
        .n_slots = 5,
        .params = &p->params,
        .params_bytes = sizeof p->params,
        .first = p->params.first,
        .groups = {(p->Dv + T - 1) / T, (p->rows + T - 1) / T,
            p->of.items * p->of.heads},
        .local = {T, T, 1},
        .group_by_group = p->of.grouped};

    kernel_open(&p->memory, buffers);
    p->params.j_begin = 0;
    p->params.j_end = cut;
    if (cut > 0)
        kernel_launch(&call);
    p->params.j_begin = cut;
    p->params.j_end = Lk;
    kernel_launch(&call);
    kernel_close(&p->memory, buffers);
}

/* Rows of other blocks are left alone. */
static double exact(const sum *p, size_t b, size_t h, size_t i, size_t column)
{
    if (i < p->of.first_row)
        return NAN;
    const size_t row = i - p->of.first_row, end = seen(p, b, row);
    double all = 0;
    for (size_t j = 0; j < end; ++j)
        all += (double)*arena_at(&p->memory, P, b, h, row, j) *
               *arena_at(&p->memory, V, b, h / p->of.group, j, column);
    return all;
}

static void check(const sum *p)
{
    const size_t Lq = p->of.first_row + p->rows;
    char why[ARENA_TEXT];
    expected e;
    ck_assert(expected_create(&e, arena_elements(&p->memory.tensor[OUT])));
    for (size_t at = 0; at < e.count; ++at) {
        const size_t row = at / p->Dv, bh = row / Lq;
        e.value[at] =
            exact(p, bh / p->of.heads, bh % p->of.heads, row % Lq, at % p->Dv);
    }
    ck_assert_msg(
        expected_meets(&e, &p->memory, OUT, why), "%s: %s", p->text, why);
    ck_assert_msg(arena_unharmed(&p->memory, why), "%s: %s", p->text, why);
    expected_free(&e);
}

static void check_case(const sum_case *c, size_t T, bool exact_ends)
{
    sum p;
    create(&p, c, T, exact_ends);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}

START_TEST(whole_numbers_are_exact_at_every_edge)
{
    const size_t n = (size_t)_i;
    check_case(&CASES[n % COUNT(CASES)], WAYS[n / COUNT(CASES)], false);
}
END_TEST

/* ---- Properties ------------------------------------------------------------ */

/* One weight is 1 and the others 0: out is a row of v, bit for bit. */
START_TEST(one_weight_picks_its_value)
{
    sum p;
    create(&p, &CASES[0], WAYS[_i], false);
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
    create(&p, &CASES[5], WAYS[_i], false);
    *arena_at(&p.memory, V, 1, 0, p.Lk - 1, 0) = arena_poison();
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
    sum_case c = CASES[_i < 4 ? 0 : 5];
    c.gaps = _i % 2 == 1;
    c.in_two = c.grouped = _i / 2 % 2 == 1;
    check_case(&c, 4, true);
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
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 8);

    Suite *suite = suite_create("kernels_weighted_sum");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
