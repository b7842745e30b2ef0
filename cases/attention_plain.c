/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_plain.c - attention in plain f32: every sum from the first term on,
 * every function from the C library.
 */
#include "attention_plain.h"

#include <math.h>
#include <stdlib.h>

/* The library's, so that dropout means the same; test_philox judges it. */
#include "philox.h"

static float same(float x)
{
    return x;
}

const plain_rounding PLAIN = {"plain", same, same, expf};

/* One row, its scores and then weights in s. */
typedef struct row {
    attention_trial *trial;
    const plain_rounding *rounding;
    size_t b, h, i, kv;
    float *s;
    bool *seen;
} row;

/* Return what the stage holds, for one key or all. */
static void store_stage(const row *r, uint32_t stage, size_t j, float value)
{
    if (r->trial->of.returns & stage)
        arena_set(&r->trial->memory, SLOT_WEIGHTS, r->b, r->h, r->i, j,
            (double)value);
}

static float get(const row *r, size_t slot, size_t h, size_t i, size_t column)
{
    return (float)arena_get(&r->trial->memory, slot, r->b, h, i, column);
}

static float score(const row *r, size_t j)
{
    const attention_case *c = &r->trial->of;
    double magnitude;
    float s = 0;
    for (size_t d = 0; d < c->size.D; ++d)
        s += get(r, SLOT_Q, r->h, r->i, d) * get(r, SLOT_K, r->kv, j, d);
    s *= (float)attention_trial_scale(r->trial);
    store_stage(r, CLATTN_RETURN_SCALED, j, s);
    if (c->softcap > 0)
        s = c->softcap * tanhf(s / c->softcap);
    store_stage(r, CLATTN_RETURN_CAPPED, j, s);
    if (!r->seen[j])
        return -INFINITY;
    s += (float)attention_trial_bias(r->trial, r->b, r->h, r->i, j, &magnitude);
    return r->rounding->score(s);
}

/* Scores of all keys; hidden ones are not looked at unless a stage shows
   them. */
static void score_row(const row *r)
{
    const attention_case *c = &r->trial->of;
    const bool owned = r->i < attention_trial_queries(r->trial, r->b);
    const size_t keys = owned ? attention_trial_keys(r->trial, r->b) : 0;
    for (size_t j = 0; j < c->size.Lk; ++j) {
        r->seen[j] = attention_trial_sees(r->trial, r->b, r->h, r->i, j);
        r->s[j] = -INFINITY;
        if (j >= keys)
            store_stage(r, CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED, j, 0);
        else if (r->seen[j] || attention_case_shows_hidden(c))
            r->s[j] = score(r, j);
        store_stage(r, CLATTN_RETURN_SCORES, j, r->s[j]);
    }
}

static float keep_of(const row *r, size_t j)
{
    const attention_trial *trial = r->trial;
    const double p = (double)trial->of.dropout_p;
    const uint64_t seed = trial->dropout_seed;
    const uint64_t stream =
        trial->dropout_offset + r->b * trial->of.size.Hq + r->h;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)(j / 4), (uint32_t)r->i,
        (uint32_t)stream, (uint32_t)(stream >> 32)};
    uint32_t word[4];
    if (p <= 0)
        return 1;
    philox4x32_10(word, counter, key);
    return word[j % 4] < p * 4294967296.0 ? 0.0f : (float)(1 / (1 - p));
}

/* Weights in place of scores, then dropout; returns lse. */
static float softmax_row(const row *r, float sink)
{
    const size_t Lk = r->trial->of.size.Lk;
    float top = sink, sum = 0;
    for (size_t j = 0; j < Lk; ++j)
        if (r->seen[j] && r->s[j] > top)
            top = r->s[j];
    if (top == -INFINITY)
        top = 0;
    for (size_t j = 0; j < Lk; ++j) {
        r->s[j] = r->seen[j] ? r->rounding->exponential(r->s[j] - top) : 0.0f;
        sum += r->s[j];
    }
    sum += expf(sink - top);
    for (size_t j = 0; j < Lk; ++j) {
        if (r->seen[j])
            r->s[j] = r->rounding->weight(r->s[j] / sum) * keep_of(r, j);
        store_stage(r, CLATTN_RETURN_WEIGHTS, j, r->s[j]);
    }
    return sum == 0 ? -INFINITY : top + logf(sum);
}

static void out_row(const row *r)
{
    const attention_case *c = &r->trial->of;
    for (size_t e = 0; e < c->size.Dv; ++e) {
        float out = 0;
        for (size_t j = 0; j < c->size.Lk; ++j)
            if (r->seen[j])
                out += r->s[j] * get(r, SLOT_V, r->kv, j, e);
        arena_set(
            &r->trial->memory, SLOT_OUT, r->b, r->h, r->i, e, (double)out);
    }
}

static void attend_row(const row *r)
{
    const attention_case *c = &r->trial->of;
    const arena *a = &r->trial->memory;
    const float sink =
        c->sinks ? *arena_at(a, SLOT_SINKS, 0, 0, 0, r->h) : -INFINITY;
    score_row(r);
    const float lse = softmax_row(r, sink);
    if (!arena_has_row(a, SLOT_OUT, r->b, r->i))
        return;
    if (c->returns & CLATTN_RETURN_LSE)
        *arena_at(a, SLOT_LSE, r->b, r->h, r->i, 0) = lse;
    out_row(r);
}

bool attention_plain(attention_trial *trial, const plain_rounding *rounding)
{
    const attention_case *c = &trial->of;
    row r = {.trial = trial, .rounding = rounding};
    r.s = calloc(c->size.Lk + 1, sizeof *r.s);
    r.seen = calloc(c->size.Lk + 1, sizeof *r.seen);
    const bool ready = r.s != NULL && r.seen != NULL;
    for (r.b = 0; ready && r.b < c->size.B; ++r.b)
        for (r.h = 0; r.h < c->size.Hq; ++r.h)
            for (r.i = 0; r.i < c->size.Lq; ++r.i) {
                r.kv = r.h / (c->size.Hq / c->size.Hkv);
                attend_row(&r);
            }
    free(r.s);
    free(r.seen);
    return ready;
}
