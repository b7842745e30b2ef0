/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_case.c - what a row leaves open; counting operations and bytes.
 */
#include "bench_case.h"

enum {
    SHORTEST_ITEM = 16
};

int32_t bench_item_rows(const bench_case *c, size_t b)
{
    const size_t steps = c->B > 1 ? c->B - 1 : 1;
    const size_t range = c->L > SHORTEST_ITEM ? c->L - SHORTEST_ITEM : 0;
    /* 0, steps, 1, steps - 1, ... */
    const size_t step = b % 2 ? steps - b / 2 : b / 2;
    return (int32_t)(c->L - range + range * step / steps);
}

/* Keys that row i of `rows` meets, of `keys`; rows stand on their own key. */
static size_t keys_met(const bench_case *c, size_t i, size_t keys)
{
    size_t low = 0;
    size_t high = keys;
    if (c->causal && high > i + 1)
        high = i + 1;
    if (c->has_window && c->window_left >= 0 && i > (size_t)c->window_left)
        low = i - (size_t)c->window_left;
    if (c->has_window && c->window_right >= 0 &&
        high > i + (size_t)c->window_right + 1)
        high = i + (size_t)c->window_right + 1;
    return high > low ? high - low : 0;
}

/* Of one item with one head. */
static double pairs(const bench_case *c, size_t rows, size_t keys)
{
    double met = 0.0;
    const bool plain = !c->has_window && keys == rows;
    if (plain || (!c->causal && !c->has_window))
        return (double)rows * (double)keys * (c->causal ? 0.5 : 1.0);
    for (size_t i = 0; i < rows; i++)
        met += (double)keys_met(c, i, keys);
    return met;
}

double bench_operations(const bench_case *c)
{
    double met = 0.0;
    if (c->kind == BENCH_MATMUL)
        return 2.0 * (double)c->L * (double)c->D * (double)c->D;
    if (!c->ragged)
        met = (double)c->B *
              pairs(c, c->Lq ? c->Lq : c->L, c->lengths_half ? c->L / 2 : c->L);
    for (size_t b = 0; c->ragged && b < c->B; b++) {
        const size_t rows = (size_t)bench_item_rows(c, b);
        met += pairs(c, rows, rows);
    }
    return 4.0 * (double)c->H * met * (double)c->D;
}

/* ---- What a row leaves open --------------------------------------------- */

int32_t bench_dtype(const bench_case *c)
{
    return c->dtype ? c->dtype : CLATTN_F32;
}

int32_t bench_kv_dtype(const bench_case *c)
{
    return c->kv_dtype ? c->kv_dtype : bench_dtype(c);
}

size_t bench_kv_heads(const bench_case *c)
{
    return c->Hkv ? c->Hkv : c->H;
}

size_t bench_dtype_bytes(int32_t dtype)
{
    if (dtype == CLATTN_BOOL)
        return 1;
    return dtype == CLATTN_F32 ? 4 : 2;
}

size_t bench_k_rows(const bench_case *c)
{
    size_t rows = 0;
    if (!c->ragged)
        return c->B * c->L;
    for (size_t b = 0; b < c->B; b++)
        rows += (size_t)bench_item_rows(c, b);
    return rows;
}

size_t bench_q_rows(const bench_case *c)
{
    return c->Lq && !c->ragged ? c->B * c->Lq : bench_k_rows(c);
}

double bench_bytes(const bench_case *c)
{
    const double element = (double)bench_dtype_bytes(bench_dtype(c));
    const double kv_element = (double)bench_dtype_bytes(bench_kv_dtype(c));
    const double q = (double)bench_q_rows(c) * (double)c->H * (double)c->D;
    const double k = (double)bench_k_rows(c) * (double)bench_kv_heads(c) *
                     (double)c->D * (c->lengths_half ? 0.5 : 1.0);
    const double mask = c->mask
                            ? (double)(c->Lq ? c->Lq : c->L) * (double)c->L *
                                  (double)bench_dtype_bytes(c->mask)
                            : 0.0;
    if (c->kind == BENCH_MATMUL)
        return element * (double)c->D * (2.0 * (double)c->L + (double)c->D);
    return 2.0 * q * element + 2.0 * k * kv_element + mask;
}

size_t bench_group(const bench_case *cases, size_t count)
{
    size_t size = 1;
    while (size < count && cases[size].base)
        size++;
    return size;
}
