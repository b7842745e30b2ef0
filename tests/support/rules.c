/* SPDX-License-Identifier: Apache-2.0
 *
 * rules.c - what rules.clh says, written out once more.
 */
#include "rules.h"

#include <check.h>
#include <float.h>
#include <math.h>

#include "philox.h"
#include "tolerance.h"

/* ---- Arrays ------------------------------------------------------------------ */

void rules_place(const rules *r)
{
    const bool *shared = r->mask_shared;
    arena_place(r->memory, RULES_MASK,
        kernel_tensor("mask", shared[0] ? 1 : r->items,
            shared[1] ? 1 : r->heads, shared[2] ? 1 : r->Lq,
            shared[3] ? 1 : r->Lk, r->gaps));
    arena_place(r->memory, RULES_SLOPES,
        kernel_tensor("slopes", 1, 1, 1, r->heads, r->gaps));
    arena_place(r->memory, RULES_SINKS,
        kernel_tensor("sinks", 1, 1, 1, r->heads, true));
    kernel_place_items(r->memory, RULES_ITEMS, r->items);
    r->dtype[RULES_MASK] = r->on.mask;
}

static float mask_value(const rules *r, draw *d)
{
    static const float TRUTH[] = {0, 1, 0, 128, 2, 255};
    if (r->on.mask == CLATTN_BOOL)
        return TRUTH[draw_below(d, 6)];
    const size_t steps = draw_below(d, 40);
    return steps > 32 ? -INFINITY : ((float)steps - 16) / 8;
}

static void fill_mask(
    const rules *r, size_t b, size_t h, size_t first, size_t rows, draw *d)
{
    const kernel_item it = rules_item(r, b);
    for (size_t i = first; i < first + rows && (wide)i < it.rows; ++i)
        for (size_t j = 0; (wide)j < it.keys; ++j)
            *rules_mask(r, b, h, i, j) = mask_value(r, d);
}

void rules_fill(const rules *r, size_t first, size_t rows, draw *d)
{
    static const float SINKS[] = {0.5f, -INFINITY, -3, 2};
    kernel_fill_items(r->memory, RULES_ITEMS, r->Lq, r->Lk);
    for (size_t bh = 0; r->on.mask && bh < r->items * r->heads; ++bh)
        fill_mask(r, bh / r->heads, bh % r->heads, first, rows, d);
    for (size_t h = 0; h < r->heads; ++h) {
        *arena_at(r->memory, RULES_SLOPES, 0, 0, 0, h) = ldexpf(1, -(int)h);
        *arena_at(r->memory, RULES_SINKS, 0, 0, 0, h) = SINKS[h % 4];
    }
}

void rules_params(const rules *r, attention_params *params)
{
    params->mask = kernel_place(r->memory, RULES_MASK);
    if (r->mask_shared[0])
        params->mask.batch = 0;
    if (r->mask_shared[1])
        params->mask.head = 0;
    if (r->mask_shared[2])
        params->mask.row = 0;
    params->mask_column = !r->mask_shared[3];
    params->slopes_offset = kernel_place(r->memory, RULES_SLOPES).offset;
    params->sinks_offset = kernel_place(r->memory, RULES_SINKS).offset;
    params->items_offset = kernel_place(r->memory, RULES_ITEMS).offset;
    params->dropout_first = 0xfffffffe; /* the high word changes */
    params->dropout_key[0] = 0x12345678;
    params->dropout_key[1] = 0x9abcdef0;
    params->dropout_last = RULES_WORD; /* 0.3 of 2^32 */
    params->dropout_keep = 1.25f;
    params->heads = (whole)r->heads;
    params->Lq = (whole)r->Lq;
    params->Lk = (whole)r->Lk;
}

size_t rules_slot(const rules *r, enum rules_slot slot)
{
    const int on[] = {r->on.mask, r->on.alibi, r->on.sinks, r->on.items};
    return on[slot - RULES_MASK] ? (size_t)slot : KERNEL_NONE;
}

/* ---- Keys that are seen -------------------------------------------------------- */

kernel_item rules_item(const rules *r, size_t b)
{
    if (r->on.items)
        return kernel_item_at(r->memory, RULES_ITEMS, b);
    return (kernel_item){0, (wide)r->Lq, 0, (wide)r->Lk, r->params->diagonal};
}

float *rules_mask(const rules *r, size_t b, size_t h, size_t i, size_t j)
{
    const bool *shared = r->mask_shared;
    return arena_at(r->memory, RULES_MASK, shared[0] ? 0 : b, shared[1] ? 0 : h,
        shared[2] ? 0 : i, shared[3] ? 0 : j);
}

static bool mask_hides(const rules *r, size_t b, size_t h, size_t i, size_t j)
{
    if (r->on.mask == 0)
        return false;
    const float value = *rules_mask(r, b, h, i, j);
    return r->on.mask == CLATTN_BOOL ? value == 0 : value == -INFINITY;
}

bool rules_sees(const rules *r, size_t b, size_t h, size_t i, size_t j)
{
    const kernel_item it = rules_item(r, b);
    return kernel_sees(&it, r->params, r->on.band, (wide)i, (wide)j) &&
           !mask_hides(r, b, h, i, j);
}

/* ---- A row --------------------------------------------------------------------- */

double rules_capped(const rules *r, double scaled)
{
    const double cap = r->params->softcap;
    return r->on.softcap ? cap * tanh(scaled / cap) : scaled;
}

static double final_score(const rules_row *row, size_t j, double scaled)
{
    const rules *r = row->of;
    double s = rules_capped(r, scaled);
    if (!rules_sees(r, row->b, row->h, row->i, j))
        return -INFINITY;
    if (r->on.alibi)
        s -= (double)*arena_at(r->memory, RULES_SLOPES, 0, 0, 0, row->h) *
             fabs((double)((wide)j - (wide)row->i - row->it.diagonal));
    if (r->on.mask && r->on.mask != CLATTN_BOOL)
        s += *rules_mask(r, row->b, row->h, row->i, j);
    return s;
}

void rules_make_row(rules_row *row, const rules *r, size_t b, size_t h,
    size_t i, const double *scaled)
{
    double sink = -INFINITY;
    if (r->on.sinks)
        sink = *arena_at(r->memory, RULES_SINKS, 0, 0, 0, h);
    ck_assert_uint_le(r->Lk, RULES_KEYS);
    row->of = r;
    row->b = b;
    row->h = h;
    row->i = i;
    row->it = rules_item(r, b);
    row->top = sink;
    for (size_t j = 0; j < r->Lk; ++j) {
        row->score[j] = final_score(row, j, scaled[j]);
        row->top = fmax(row->top, row->score[j]);
    }
    row->sum = isinf(sink) ? 0 : exp(sink - row->top);
    for (size_t j = 0; j < r->Lk; ++j)
        row->sum += isinf(row->score[j]) ? 0 : exp(row->score[j] - row->top);
}

static double keep(const rules_row *row, size_t j)
{
    const attention_params *p = row->of->params;
    const uint64_t sequence =
        (uint64_t)p->dropout_first + row->b * row->of->heads + row->h;
    const uint32_t counter[4] = {(uint32_t)(j / 4), (uint32_t)row->i,
        (uint32_t)sequence, (uint32_t)(sequence >> 32)};
    uint32_t word[4];
    philox4x32_10(word, counter, p->dropout_key);
    return word[j % 4] <= p->dropout_last ? 0 : (double)p->dropout_keep;
}

double rules_weight(const rules_row *row, size_t j)
{
    const double weight = exp(row->score[j] - row->top) / row->sum;
    return row->of->on.dropout ? weight * keep(row, j) : weight;
}

double rules_lse(const rules_row *row)
{
    return row->sum != 0 ? row->top + log(row->sum) : -INFINITY;
}

/* ---- How exact ------------------------------------------------------------------ */

static const double U = FLT_EPSILON / 2;

/* tanh is right to 5 ulp (10 u) of at most 1, and the three operations after it
   round numbers that are no longer exact.  All else before exp is exact. */
double rules_score_slack(const rules *r)
{
    return r->on.softcap ? 30 * U * (1 + (double)r->params->softcap) : 0;
}

/*
 * In units of u: exp is right to 3 ulp (6 u), and so is the sum of such terms,
 * but for its own rounding; the division is right to 2.5 ulp (5 u), a product
 * with what dropout keeps to one.  An error of scores is one of the exponential
 * and of the sum.  Results below FLT_MIN may be flushed.
 */
double rules_weight_slack(const rules *r, double weight, double error)
{
    return weight * (18 * U + tolerance_sum(r->Lk + 1) +
                        2 * (rules_score_slack(r) + error)) +
           FLT_MIN;
}

/* The logarithm is right to 3 ulp; one addition. */
double rules_lse_slack(const rules_row *row, double error)
{
    const double lse = rules_lse(row);
    if (!isfinite(lse))
        return 0;
    return 6 * U * (1 + fabs(lse - row->top)) + tolerance_sum(row->of->Lk + 1) +
           U * fabs(lse) + rules_score_slack(row->of) + error;
}

double rules_step(int32_t dtype, double value)
{
    if (!isfinite(value))
        return 0;
    if (dtype == CLATTN_F16)
        return fmax(fabs(value) * 0x1p-11, 0x1p-25);
    return dtype == CLATTN_BF16 ? fabs(value) * 0x1p-8 : 0;
}
