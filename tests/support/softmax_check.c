/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax_check.c - scale_softmax.cl alone: its rules written out once more, in
 * double precision and element by element.
 */
#include <check.h>
#include <float.h>
#include <math.h>

#include "expected.h"
#include "philox.h"
#include "softmax.h"
#include "tolerance.h"

static const double U = FLT_EPSILON / 2;

/* tanh is right to 5 ulp (10 u) of at most 1, and the three operations after it
   round numbers that are no longer exact.  All else before exp is exact. */
static double score_slack(const softmax *p)
{
    return p->of.rules.softcap ? 30 * U * (1 + (double)p->of.softcap) : 0;
}

/*
 * In units of u: exp is right to 3 ulp (6 u), and so is the sum of such terms,
 * but for its own rounding; the division is right to 2.5 ulp (5 u), a product
 * with what dropout keeps to one.  An error of scores is one of the exponential
 * and of the sum.  Results below FLT_MIN may be flushed.
 */
double softmax_slack(const softmax *p, double weight)
{
    return weight * (18 * U + tolerance_sum(p->Lk + 1) + 2 * score_slack(p)) +
           FLT_MIN;
}

/* The logarithm is right to 3 ulp; one addition. */
static double lse_slack(const softmax *p, double lse, double top)
{
    return 6 * U * (1 + fabs(lse - top)) + tolerance_sum(p->Lk + 1) +
           U * fabs(lse) + score_slack(p);
}

/* Half a step of the dtype around the value. */
static double step_slack(int32_t dtype, double value)
{
    if (!isfinite(value))
        return 0;
    if (dtype == CLATTN_F16)
        return fmax(fabs(value) * 0x1p-11, 0x1p-25);
    return dtype == CLATTN_BF16 ? fabs(value) * 0x1p-8 : 0;
}

/* One row: scores at each stage, then weights, as the formula says. */
typedef struct exact_row {
    const softmax *p;
    size_t b, h, row, i;
    kernel_item it;
    double top, sum;
} exact_row;

static double scaled(const exact_row *r, size_t j)
{
    const softmax *p = r->p;
    const arena_memory *m =
        &p->memory.memory[p->memory.tensor[SOFTMAX_S].memory];
    const float *at = arena_at(&p->memory, SOFTMAX_S, r->b, r->h, r->row, j);
    return (double)p->of.scale * m->before[at - m->data];
}

static double capped(const exact_row *r, size_t j)
{
    const double cap = r->p->of.softcap, s = scaled(r, j);
    return r->p->of.rules.softcap ? cap * tanh(s / cap) : s;
}

static double final(const exact_row *r, size_t j)
{
    const softmax *p = r->p;
    double s = capped(r, j);
    if (!softmax_sees(p, r->b, r->h, r->row, j))
        return -INFINITY;
    if (p->of.rules.alibi)
        s -= ldexp(1, -(int)r->h) *
             fabs((double)j - (double)((wide)r->i + r->it.diagonal));
    if (p->of.rules.mask && p->of.rules.mask != CLATTN_BOOL)
        s += *softmax_mask(p, r->b, r->h, r->i, j);
    return s;
}

static exact_row row_of(const softmax *p, size_t b, size_t h, size_t row)
{
    exact_row r = {.p = p,
        .b = b,
        .h = h,
        .row = row,
        .i = p->of.first_row + row,
        .it = softmax_item(p, b),
        .top = -INFINITY};
    double sink = -INFINITY;
    if (p->of.rules.sinks)
        sink = *arena_at(&p->memory, SOFTMAX_SINKS, 0, 0, 0, h);
    for (size_t j = 0; j < p->Lk; ++j)
        r.top = fmax(r.top, final(&r, j));
    r.top = fmax(r.top, sink);
    for (size_t j = 0; j < p->Lk; ++j)
        r.sum += isinf(final(&r, j)) ? 0 : exp(final(&r, j) - r.top);
    r.sum += isinf(sink) ? 0 : exp(sink - r.top);
    return r;
}

static double weight(const exact_row *r, size_t j)
{
    const attention_params *a = &r->p->params;
    const uint64_t sequence =
        (uint64_t)a->dropout_first + r->b * r->p->of.heads + r->h;
    const uint32_t counter[4] = {(uint32_t)(j / 4), (uint32_t)r->i,
        (uint32_t)sequence, (uint32_t)(sequence >> 32)};
    uint32_t word[4];
    double keep = 1;
    philox4x32_10(word, counter, a->dropout_key);
    if (r->p->of.rules.dropout)
        keep = word[j % 4] <= a->dropout_last ? 0 : (double)a->dropout_keep;
    return exp(final(r, j) - r->top) / r->sum * keep;
}

/* What the tensor of the stage holds. */
static double staged(const exact_row *r, size_t j)
{
    const bool exists = (wide)r->i < r->it.rows && (wide)j < r->it.keys;
    const bool seen = softmax_sees(r->p, r->b, r->h, r->row, j);
    switch (r->p->of.stage) {
    case STAGE_WEIGHTS:
        return seen ? weight(r, j) : 0;
    case STAGE_FINAL:
        return final(r, j);
    case STAGE_SCALED:
        return exists ? scaled(r, j) : 0;
    default:
        return exists ? capped(r, j) : 0;
    }
}

static double staged_slack(const softmax *p, double value)
{
    const double own = p->of.stage == STAGE_WEIGHTS
                           ? softmax_slack(p, fabs(value))
                           : score_slack(p);
    return own + step_slack(p->of.weights, value);
}

typedef struct outputs {
    expected s, weights, lse;
} outputs;

/* Hidden keys that the item has are marked; what it has not is left alone. */
static void expect_row(const exact_row *r, outputs *o)
{
    const softmax *p = r->p;
    const size_t bh = r->b * p->of.heads + r->h;
    const size_t lse_rows = p->memory.tensor[SOFTMAX_LSE].size[2];
    const size_t s_at = (bh * p->of.rows + r->row) * p->Lk;
    const size_t w_at = (bh * p->Lq + r->i) * p->Lk;
    const bool own = (wide)r->i < r->it.rows;
    for (size_t j = 0; j < p->Lk; ++j) {
        const bool seen = softmax_sees(p, r->b, r->h, r->row, j);
        if (own && (wide)j < r->it.keys)
            o->s.value[s_at + j] = seen ? weight(r, j) : -1;
        if (seen)
            o->s.slack[s_at + j] = softmax_slack(p, o->s.value[s_at + j]);
        o->weights.value[w_at + j] = staged(r, j);
        o->weights.slack[w_at + j] =
            staged_slack(p, o->weights.value[w_at + j]);
    }
    if (p->of.rules.packed && !own)
        return;
    const size_t at = bh * lse_rows + (size_t)r->it.q_first + r->i;
    const bool any = r->sum != 0;
    o->lse.value[at] = any ? r->top + log(r->sum) : -INFINITY;
    o->lse.slack[at] = any ? lse_slack(p, o->lse.value[at], r->top) : 0;
}

/* Rows that no launch writes keep the pattern. */
static void expect_nothing(expected *e, const arena *a, size_t slot)
{
    ck_assert(expected_create(e, arena_elements(&a->tensor[slot])));
    for (size_t i = 0; i < e->count; ++i)
        e->value[i] = NAN;
}

static void check_output(
    const softmax *p, const expected *e, enum softmax_slot slot)
{
    char why[ARENA_TEXT];
    ck_assert_msg(!p->memory.tensor[slot].output ||
                      expected_meets(e, &p->memory, slot, why),
        "%s: %s", p->text, why);
}

void softmax_check(const softmax *p)
{
    const arena *a = &p->memory;
    const softmax_case *c = &p->of;
    char why[ARENA_TEXT];
    outputs o;
    expect_nothing(&o.s, a, SOFTMAX_S);
    expect_nothing(&o.weights, a, SOFTMAX_WEIGHTS);
    expect_nothing(&o.lse, a, SOFTMAX_LSE);
    for (size_t at = 0; at < c->items * c->heads * c->rows; ++at) {
        const size_t bh = at / c->rows;
        const exact_row r =
            row_of(p, bh / c->heads, bh % c->heads, at % c->rows);
        expect_row(&r, &o);
    }
    check_output(p, &o.s, SOFTMAX_S);
    check_output(p, &o.weights, SOFTMAX_WEIGHTS);
    check_output(p, &o.lse, SOFTMAX_LSE);
    ck_assert_msg(arena_unharmed(a, why), "%s: %s", p->text, why);
    expected_free(&o.s);
    expected_free(&o.weights);
    expected_free(&o.lse);
}
