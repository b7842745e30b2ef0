/* SPDX-License-Identifier: Apache-2.0
 *
 * fused_check.c - kernels of fused attention alone: what they must leave behind.
 */
#include <check.h>
#include <float.h>
#include <math.h>

#include "expected.h"
#include "fused.h"
#include "tolerance.h"

static const double U = FLT_EPSILON / 2;

typedef struct outputs {
    expected out, lse, weights;
} outputs;

/* One row's scaled scores, and how far any of them may be off. */
typedef struct scores {
    double scaled[RULES_KEYS];
    double error;
} scores;

/*
 * The products are whole, but scale times log2(e) is rounded, its product with
 * q, and the sum; ALiBi's and the mask's terms are rounded in units of ln 2
 * too, and each sum.
 */
static void make_scores(scores *s, const fused *p, size_t b, size_t h, size_t i)
{
    const fused_case *c = &p->of;
    const size_t first = (size_t)rules_item(&p->rules, b).q_first;
    s->error = 0;
    for (size_t j = 0; j < c->Lk; ++j) {
        double sum = 0, size = 0;
        for (size_t d = 0; d < c->D; ++d) {
            const double term =
                (double)*arena_at(&p->memory, FUSED_Q, b, h, first + i, d) *
                *fused_key(p, FUSED_K, b, h, j, d);
            sum += term;
            size += fabs(term);
        }
        s->scaled[j] = (double)p->params.scale * sum;
        if (rules_sees(&p->rules, b, h, i, j))
            s->error = fmax(s->error, (double)p->params.scale * size);
    }
    s->error *= tolerance_sum(c->D) + 4 * U;
    if (c->rules.alibi || c->rules.mask)
        s->error += 8 * U * ((double)(c->Lq + c->Lk) + 4);
}

/* Weights that may be rounded to v's dtype before they multiply it, where f16
   has steps of 2^-24 below 2^-14; the largest is 1, and sums are no less. */
static double weight_rounding(const fused *p, double weight)
{
    if (p->rounds == 0)
        return 0;
    return p->rounds == CLATTN_BF16 ? 0x1p-8 * weight
                                    : 0x1p-11 * weight + 0x1p-25;
}

static void expect_out(
    const fused *p, const rules_row *r, const scores *s, outputs *o)
{
    const size_t rows = p->memory.tensor[FUSED_OUT].size[2], Dv = p->of.Dv;
    const size_t bh = r->b * p->of.heads + r->h;
    const size_t at = bh * rows + (size_t)r->it.q_first + r->i;
    const int32_t dtype = p->of.dtype[FUSED_OUT];
    if (p->of.rules.packed && (wide)r->i >= r->it.rows)
        return;
    for (size_t d = 0; d < Dv; ++d) {
        double sum = 0, slack = 0;
        for (size_t j = 0; j < p->of.Lk; ++j) {
            if (isinf(r->score[j]))
                continue;
            const double w = rules_weight(r, j);
            const double v = *fused_key(p, FUSED_V, r->b, r->h, j, d);
            sum += w * v;
            slack += (rules_weight_slack(&p->rules, w, s->error) +
                         weight_rounding(p, w) + w * tolerance_sum(p->of.Lk)) *
                     fabs(v);
        }
        o->out.value[at * Dv + d] = sum;
        o->out.slack[at * Dv + d] = slack + rules_step(dtype, sum);
    }
    o->lse.value[at] = rules_lse(r);
    o->lse.slack[at] = rules_lse_slack(r, s->error);
}

/* Final scores come back out of units of ln 2: two roundings. */
static void expect_weights(
    const fused *p, const rules_row *r, const scores *s, outputs *o)
{
    const size_t bh = r->b * p->of.heads + r->h, Lk = p->of.Lk;
    double *value = o->weights.value + (bh * p->of.Lq + r->i) * Lk;
    double *slack = o->weights.slack + (bh * p->of.Lq + r->i) * Lk;
    for (size_t j = 0; j < Lk; ++j) {
        const double score = r->score[j];
        if (p->of.stage == 2) {
            value[j] = score;
            slack[j] = isinf(score) ? 0
                                    : s->error + rules_score_slack(&p->rules) +
                                          4 * U * fabs(score);
        } else if (!isinf(score)) {
            value[j] = rules_weight(r, j);
            slack[j] = rules_weight_slack(&p->rules, value[j], s->error);
        } else {
            value[j] = 0;
        }
        slack[j] += rules_step(p->of.weights, value[j]);
    }
}

static void expect_nothing(expected *e, const arena *a, size_t slot)
{
    ck_assert(expected_create(e, arena_elements(&a->tensor[slot])));
    for (size_t i = 0; i < e->count; ++i)
        e->value[i] = NAN;
}

static void check_output(
    const fused *p, const expected *e, enum fused_slot slot)
{
    char why[ARENA_TEXT];
    ck_assert_msg(!p->memory.tensor[slot].output ||
                      expected_meets(e, &p->memory, slot, why),
        "%s: %s", p->text, why);
}

void fused_check(fused *p)
{
    const fused_case *c = &p->of;
    char why[ARENA_TEXT];
    static scores s;
    static rules_row r;
    outputs o;
    expect_nothing(&o.out, &p->memory, FUSED_OUT);
    expect_nothing(&o.lse, &p->memory, FUSED_LSE);
    expect_nothing(&o.weights, &p->memory, FUSED_WEIGHTS);
    for (size_t at = 0; at < c->items * c->heads * c->Lq; ++at) {
        const size_t i = at % c->Lq, bh = at / c->Lq;
        make_scores(&s, p, bh / c->heads, bh % c->heads, i);
        rules_make_row(
            &r, &p->rules, bh / c->heads, bh % c->heads, i, s.scaled);
        expect_out(p, &r, &s, &o);
        expect_weights(p, &r, &s, &o);
    }
    check_output(p, &o.out, FUSED_OUT);
    check_output(p, &o.lse, FUSED_LSE);
    check_output(p, &o.weights, FUSED_WEIGHTS);
    ck_assert_msg(arena_unharmed(&p->memory, why), "%s: %s", p->text, why);
    p->error = expected_error(&o.out, &p->memory, FUSED_OUT);
    p->share = expected_worst(&o.out, &p->memory, FUSED_OUT);
    expected_free(&o.out);
    expected_free(&o.lse);
    expected_free(&o.weights);
}
