/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_scale_softmax.c - scale_softmax.cl alone: rows around the edges
 * of its groups, whose scaled scores are exact.  Trusts no reference.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "expected.h"
#include "kernel.h"
#include "opencl.h"
#include "suite.h"
#include "tolerance.h"

enum {
    S,
    LSE,
    LENGTHS,
    DIAGONALS
};

static const size_t WAYS[] = {4, 1, 16, 64, 256}; /* G */

typedef struct softmax_case {
    const char *about;
    size_t items, heads, rows, first_row;
    edge Lk;
    float scale, spread, shift; /* scores are spread * -8 to 8 + shift */
    enum kernel_diagonal diagonal;
    wide number;
    bool lengths, gaps, lse;
    bool grouped; /* each group is launched for itself */
} softmax_case;

static const softmax_case CASES[] = {
    {"one above a group", 2, 3, 2, 0, {1, 1}, 0.5f, 0.25f, .gaps = true,
        .lse = true},
    {"one below a group", 2, 1, 2, 0, {1, -1}, 0.5f, 0.25f, .lse = true},
    {"one key", 2, 2, 2, 0, {0, 1}, 0.5f, 0.25f, .lse = true},
    {"two keys", 2, 2, 2, 0, {0, 2}, -0.5f, 0.25f, .lse = true},
    {"groups exactly", 1, 2, 2, 0, {2, 0}, 1, 0.25f, .lse = true},
    {"a block of later rows, no LSE", 2, 2, 3, 5, {2, 1}, -1.5f, 0.25f,
        .gaps = true},
    {"a block of later rows", 2, 2, 3, 5, {2, 1}, -1.5f, 0.25f, .gaps = true,
        .lse = true},
    {"scores to 1e4 and -1e4", 1, 2, 3, 0, {3, 2}, 0.5f, 2500, .lse = true},
    {"scores to 1e4 and -1e4, negative", 1, 2, 3, 0, {3, 2}, -0.5f, 2500,
        .lse = true},
    {"scores far below 0", 1, 2, 3, 0, {2, 1}, 1, 0.25f, -1e4f, .lse = true},
    {"scores far above 0", 1, 2, 3, 0, {2, 1}, 1, 0.25f, 1e4f, .lse = true},
    {"scale 0", 1, 2, 2, 0, {2, 1}, 0, 0.25f, .lse = true},
    {"lengths, sensible or not", 8, 2, 2, 0, {1, 2}, 0.5f, 0.25f,
        .lengths = true, .gaps = true, .lse = true},
    {"causal, a block of later rows", 1, 2, 5, 2, {1, 2}, 0.5f, 0.25f,
        .diagonal = SEES_NUMBER, .number = -1, .gaps = true, .lse = true},
    {"causal from the last key, lengths", 8, 1, 5, 0, {2, 1}, 0.5f, 0.25f,
        .diagonal = SEES_KEYS, .number = -3, .lengths = true, .lse = true},
    {"a diagonal for each item, lengths", 16, 1, 5, 1, {1, 1}, 0.5f, 0.25f,
        .diagonal = SEES_PER_ITEM, .lengths = true, .gaps = true, .lse = true},
    {"each group for itself", 3, 2, 3, 2, {1, 1}, 0.5f, 0.25f,
        .diagonal = SEES_NUMBER, .number = 0, .lengths = true, .gaps = true,
        .lse = true, .grouped = true},
    {"no keys", 2, 2, 2, 1, {0, 0}, 0.5f, 0.25f, .lse = true},
};

/* A case with the group's size put in. */
typedef struct softmax {
    softmax_case of;
    size_t G, Lk;
    softmax_params params;
    arena memory;
    char text[ARENA_TEXT];
} softmax;

static size_t seen(const softmax *p, size_t b, size_t row)
{
    return kernel_seen(&p->memory, LENGTHS, DIAGONALS, &p->params.visible, b,
        row + p->of.first_row);
}

static size_t rows_of(const softmax *p)
{
    return p->of.items * p->of.heads * p->of.rows;
}

/* Hidden scores stay NaN. */
static void fill(softmax *p)
{
    draw d = draw_start(p->G);
    for (size_t at = 0; at < rows_of(p); ++at) {
        const size_t row = at % p->of.rows, bh = at / p->of.rows;
        const size_t b = bh / p->of.heads, h = bh % p->of.heads;
        const size_t end = seen(p, b, row);
        for (size_t j = 0; j < end; ++j)
            *arena_at(&p->memory, S, b, h, row, j) =
                ((float)draw_between(&d, 0, 16) - 8) * p->of.spread +
                p->of.shift;
    }
}

static void create(softmax *p, const softmax_case *c, size_t G, bool exact)
{
    *p = (softmax){.of = *c, .G = G, .Lk = 0};
    if (c->Lk.whole > 0 || c->Lk.extra > 0)
        p->Lk = edge_size(c->Lk, G);
    snprintf(
        p->text, sizeof p->text, "%s, G = %zu, Lk = %zu", c->about, G, p->Lk);
    arena *a = &p->memory;
    arena_place(
        a, S, kernel_tensor("s", c->items, c->heads, c->rows, p->Lk, c->gaps));
    arena_place(a, LSE,
        kernel_tensor(
            "lse", c->items, c->heads, c->first_row + c->rows, 1, c->gaps));
    kernel_place_visible(a, LENGTHS, DIAGONALS, c->items);
    a->tensor[S].output = true;
    a->tensor[LSE].output = c->lse;
    ck_assert(arena_allocate(a));
    p->params = (softmax_params){
        .visible = kernel_fill_visible(
            a, LENGTHS, DIAGONALS, p->Lk, c->diagonal, c->number, c->lengths),
        .s = kernel_place(a, S),
        .lse = kernel_place(a, LSE),
        .heads = (whole)c->heads,
        .first_row = (whole)c->first_row,
        .has_lse = c->lse,
        .scale = c->scale,
    };
    fill(p);
    if (exact)
        kernel_cut_guards(a);
    arena_remember(a);
}

static void run(softmax *p)
{
    cl_mem buffers[ARENA_TENSORS];
    char options[96];
    snprintf(options, sizeof options, "-DG=%zu", p->G);
    const kernel_call call = {.name = "scale_softmax",
        .options = options,
        .memory = &p->memory,
        .buffers = buffers,
        .slots = {S, LSE, LENGTHS, DIAGONALS},
        .n_slots = 4,
        .params = &p->params,
        .params_bytes = sizeof p->params,
        .first = p->params.first,
        .groups = {p->of.rows, 1, p->of.items * p->of.heads},
        .local = {p->G, 1, 1},
        .group_by_group = p->of.grouped};
    kernel_open(&p->memory, buffers);
    kernel_launch(&call);
    kernel_close(&p->memory, buffers);
}

/* ---- What must come out ---------------------------------------------------- */

/*
 * The scaled scores, their maximum and the differences are exact.  Then, in
 * units of u = FLT_EPSILON / 2: exp is right to 3 ulp (6 u), and so is the sum
 * of such terms, but for its own rounding; the division is right to 2.5 ulp
 * (5 u); the logarithm to 3 ulp; one addition.  Results below FLT_MIN may be
 * flushed.
 */
static double weight_slack(const softmax *p, double weight)
{
    return weight * (17 * FLT_EPSILON / 2 + tolerance_sum(p->Lk)) + FLT_MIN;
}

static double lse_slack(const softmax *p, double lse, double top)
{
    return 6 * FLT_EPSILON / 2 * (1 + fabs(lse - top)) + tolerance_sum(p->Lk) +
           FLT_EPSILON / 2 * fabs(lse);
}

static double score_before(
    const softmax *p, size_t b, size_t h, size_t row, size_t j)
{
    const arena_memory *m = &p->memory.memory[p->memory.tensor[S].memory];
    const float *at = arena_at(&p->memory, S, b, h, row, j);
    return (double)p->of.scale * m->before[at - m->data];
}

/* One row of weights and its LSE at `at` of the expected values. */
static void expect_row(
    const softmax *p, size_t at, expected *weights, expected *lse)
{
    const size_t rows = p->of.rows, row = at % rows, bh = at / rows;
    const size_t b = bh / p->of.heads, h = bh % p->of.heads;
    const size_t end = seen(p, b, row);
    const size_t lse_at = bh * (p->of.first_row + rows) + p->of.first_row + row;
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < end; ++j)
        top = fmax(top, score_before(p, b, h, row, j));
    for (size_t j = 0; j < end; ++j)
        sum += exp(score_before(p, b, h, row, j) - top);
    for (size_t j = 0; j < end; ++j) {
        const double w = exp(score_before(p, b, h, row, j) - top) / sum;
        weights->value[at * p->Lk + j] = w;
        weights->slack[at * p->Lk + j] = weight_slack(p, w);
    }
    lse->value[lse_at] = end > 0 ? top + log(sum) : -INFINITY;
    lse->slack[lse_at] = end > 0 ? lse_slack(p, top + log(sum), top) : 0;
}

static void check(const softmax *p)
{
    const arena *a = &p->memory;
    char why[ARENA_TEXT];
    expected weights, lse;
    ck_assert(expected_create(&weights, arena_elements(&a->tensor[S])));
    ck_assert(expected_create(&lse, arena_elements(&a->tensor[LSE])));
    for (size_t i = 0; i < lse.count; ++i)
        lse.value[i] = NAN; /* rows of other blocks are left alone */
    for (size_t at = 0; at < rows_of(p); ++at)
        expect_row(p, at, &weights, &lse);
    ck_assert_msg(expected_meets(&weights, a, S, why), "%s: %s", p->text, why);
    ck_assert_msg(!p->of.lse || expected_meets(&lse, a, LSE, why), "%s: %s",
        p->text, why);
    ck_assert_msg(arena_unharmed(a, why), "%s: %s", p->text, why);
    expected_free(&weights);
    expected_free(&lse);
}

static void check_case(const softmax_case *c, size_t G, bool exact_ends)
{
    softmax p;
    create(&p, c, G, exact_ends);
    run(&p);
    check(&p);
    arena_free(&p.memory);
}

START_TEST(exact_scores_give_the_formula_at_every_edge)
{
    const size_t n = (size_t)_i;
    check_case(&CASES[n % COUNT(CASES)], WAYS[n / COUNT(CASES)], false);
}
END_TEST

/* ---- Properties ------------------------------------------------------------ */

/* All numbers are multiples of 1/8 below 2^14: nothing is rounded before exp. */
START_TEST(a_constant_on_all_scores_changes_no_weight)
{
    softmax p, shifted;
    softmax_case c = CASES[0];
    create(&p, &c, WAYS[_i], false);
    c.shift = 1024;
    create(&shifted, &c, WAYS[_i], false);
    run(&p);
    run(&shifted);
    for (size_t at = 0; at < rows_of(&p) * p.Lk; ++at) {
        const size_t j = at % p.Lk, row = at / p.Lk % c.rows;
        const size_t bh = at / p.Lk / c.rows;
        const size_t b = bh / c.heads, h = bh % c.heads;
        ck_assert_msg(*arena_at(&p.memory, S, b, h, row, j) ==
                          *arena_at(&shifted.memory, S, b, h, row, j),
            "%s: weight [%zu][%zu][%zu][%zu] changes", p.text, b, h, row, j);
    }
    arena_free(&p.memory);
    arena_free(&shifted.memory);
}
END_TEST

START_TEST(weights_of_a_row_sum_to_1)
{
    for (size_t c = 0; c < COUNT(CASES); ++c) {
        softmax p;
        create(&p, &CASES[c], WAYS[_i], false);
        run(&p);
        for (size_t at = 0; at < rows_of(&p); ++at) {
            const size_t row = at % p.of.rows, bh = at / p.of.rows;
            const size_t b = bh / p.of.heads, h = bh % p.of.heads;
            double sum = 0;
            for (size_t j = 0; j < p.Lk; ++j)
                sum += *arena_at(&p.memory, S, b, h, row, j);
            const double want = seen(&p, b, row) > 0;
            ck_assert_msg(fabs(sum - want) <= weight_slack(&p, want),
                "%s: row [%zu][%zu][%zu] sums to %.9g", p.text, b, h, row, sum);
        }
        arena_free(&p.memory);
    }
}
END_TEST

START_TEST(nan_makes_its_own_row_nan_and_no_other)
{
    softmax p;
    create(&p, &CASES[0], WAYS[_i], false);
    *arena_at(&p.memory, S, 1, 2, 1, p.Lk - 1) = arena_poison();
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
    softmax_case c = CASES[_i < 2 ? 0 : 13];
    c.gaps = _i % 2 == 1;
    check_case(&c, 4, true);
}
END_TEST

int main(void)
{
    TCase *edges = tcase_create("edges");
    tcase_add_unchecked_fixture(edges, opencl_open, opencl_close);
    tcase_set_timeout(edges, 300);
    tcase_add_loop_test(edges, exact_scores_give_the_formula_at_every_edge, 0,
        (int)(COUNT(WAYS) * COUNT(CASES)));

    TCase *properties = tcase_create("properties");
    tcase_add_unchecked_fixture(properties, opencl_open, opencl_close);
    tcase_set_timeout(properties, 300);
    const int ways = (int)COUNT(WAYS);
    tcase_add_loop_test(
        properties, a_constant_on_all_scores_changes_no_weight, 0, ways);
    tcase_add_loop_test(properties, weights_of_a_row_sum_to_1, 0, ways);
    tcase_add_loop_test(
        properties, nan_makes_its_own_row_nan_and_no_other, 0, ways);

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, 4);

    Suite *suite = suite_create("kernels_scale_softmax");
    suite_add_tcase(suite, edges);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
