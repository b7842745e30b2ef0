/* SPDX-License-Identifier: Apache-2.0
 *
 * softmax_check.c - scale_softmax.cl alone: what it must leave behind.
 */
#include <check.h>
#include <math.h>

#include "expected.h"
#include "softmax.h"

typedef struct outputs {
    expected s, weights, lse;
} outputs;

static double scaled(const softmax *p, size_t b, size_t h, size_t row, size_t j)
{
    const arena_memory *m =
        &p->memory.memory[p->memory.tensor[SOFTMAX_S].memory];
    const float *at = arena_at(&p->memory, SOFTMAX_S, b, h, row, j);
    return (double)p->of.scale * m->before[at - m->data];
}

/* What the tensor of the stage holds. */
static double staged(
    const softmax *p, const rules_row *r, const double *before, size_t j)
{
    const bool exists = (wide)r->i < r->it.rows && (wide)j < r->it.keys;
    switch (p->of.stage) {
    case STAGE_WEIGHTS:
        return isinf(r->score[j]) ? 0 : rules_weight(r, j);
    case STAGE_FINAL:
        return r->score[j];
    case STAGE_SCALED:
        return exists ? before[j] : 0;
    default:
        return exists ? rules_capped(&p->rules, before[j]) : 0;
    }
}

static double staged_slack(const softmax *p, double value)
{
    const double own = p->of.stage == STAGE_WEIGHTS
                           ? rules_weight_slack(&p->rules, fabs(value), 0)
                           : rules_score_slack(&p->rules);
    return own + rules_step(p->of.weights, value);
}

/* Hidden keys that the item has are marked; what it has not is left alone. */
static void expect_keys(
    const softmax *p, const rules_row *r, const double *before, outputs *o)
{
    const size_t bh = r->b * p->of.heads + r->h;
    double *s = o->s.value + (bh * p->of.rows + r->i - p->of.first_row) * p->Lk;
    double *slack = o->s.slack + (s - o->s.value);
    const size_t at = (bh * p->Lq + r->i) * p->Lk;
    for (size_t j = 0; j < p->Lk; ++j) {
        const bool seen = !isinf(r->score[j]);
        if ((wide)r->i < r->it.rows && (wide)j < r->it.keys)
            s[j] = seen ? rules_weight(r, j) : -1;
        if (seen)
            slack[j] = rules_weight_slack(&p->rules, s[j], 0);
        o->weights.value[at + j] = staged(p, r, before, j);
        o->weights.slack[at + j] = staged_slack(p, o->weights.value[at + j]);
    }
}

static void expect_row(
    const softmax *p, size_t b, size_t h, size_t row, outputs *o)
{
    double before[RULES_KEYS];
    rules_row r;
    for (size_t j = 0; j < p->Lk; ++j)
        before[j] = scaled(p, b, h, row, j);
    rules_make_row(&r, &p->rules, b, h, p->of.first_row + row, before);
    expect_keys(p, &r, before, o);
    if (p->of.rules.packed && (wide)r.i >= r.it.rows)
        return;
    const size_t rows = p->memory.tensor[SOFTMAX_LSE].size[2];
    const size_t at = (b * p->of.heads + h) * rows + (size_t)r.it.q_first + r.i;
    o->lse.value[at] = rules_lse(&r);
    o->lse.slack[at] = rules_lse_slack(&r, 0);
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
        expect_row(p, bh / c->heads, bh % c->heads, at % c->rows, &o);
    }
    check_output(p, &o.s, SOFTMAX_S);
    check_output(p, &o.weights, SOFTMAX_WEIGHTS);
    check_output(p, &o.lse, SOFTMAX_LSE);
    ck_assert_msg(arena_unharmed(a, why), "%s: %s", p->text, why);
    expected_free(&o.s);
    expected_free(&o.weights);
    expected_free(&o.lse);
}
