/* SPDX-License-Identifier: Apache-2.0
 *
 * weighted_sum.cl - out_id = sum_j p_ij v_jd over the keys j that row i sees.
 *
 * A group of T x T items computes a T x T tile of out; a T x T tile of p and
 * one of v pass through local memory at a time.  A hidden key's weight is
 * negative and its product is not taken: 0 times NaN would be NaN.
 *
 *   p    (rows, Lk)  per item and head, rows from first_row on
 *   v    (Lk, Dv)    per item and group of heads
 *   out  (Lq, Dv)    per item and head; if j_begin > 0 it holds the sum so far
 *
 * Compile-time parameters              values        default
 *   VT, OT  storage of v, out          STORAGE_...   required
 *   those of visible.clh                             required
 *   T       rows and columns of a tile 1 to 16       4
 *
 * Check with: -DT=16 -DVT=1 -DOT=1 -DBAND=0 -DITEMS=0 -DPACKED=0
 * Check with: -DT=8 -DVT=2 -DOT=3 -DBAND=1 -DITEMS=1 -DPACKED=1
 * Check with: -DT=1 -DVT=3 -DOT=2 -DBAND=1 -DITEMS=1 -DPACKED=0
 */
#include "params.h"
#include "storage.clh"
#include "visible.clh"

#if !defined(VT) || !defined(OT)
#error "weighted_sum.cl: define VT and OT"
#endif
#ifndef T
#define T 4
#endif

__kernel __attribute__((reqd_work_group_size(T, T, 1)))
void weighted_sum(__global ELEMENT(OT) *out,
                  __global const float *restrict weights,
                  __global const ELEMENT(VT) *restrict v,
                  __global const int *items, const attention_params p)
{
    __local float p_tile[T][T];
    __local float v_tile[T][T];

    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int d = (p.first[0] + (int)get_group_id(0)) * T + x;
    const int row0 = (p.first[1] + (int)get_group_id(1)) * T;
    const int z = p.first[2] + (int)get_group_id(2);
    const int b = z / p.heads, h = z % p.heads;
    const int row = row0 + y;
    const item it = item_of(&p, items, b);

    weights += p.scores.offset + b * p.scores.batch + h * p.scores.head;
    v += p.v.offset + b * p.v.batch + h / p.group * p.v.head +
         it.k_first * p.v.row;
    out += p.out.offset + b * p.out.batch + h * p.out.head +
           (it.q_first + p.first_row) * p.out.row;

    int seen_begin, seen_end;
    keys_seen(&seen_begin, &seen_end, &p, &it, p.first_row + row0,
        p.first_row + row0 + T - 1);
    const int begin = max(seen_begin, p.j_begin);
    const int end = min(seen_end, p.j_end);

    const int own = p.first_row + row < it.rows && row < p.rows;
    const int inside = row < p.rows && d < p.Dv &&
                       p.first_row + row < rows_written(&p, &it);
    const long at = row * p.out.row + d;
    float sum = p.j_begin > 0 && inside ? LOAD(OT, out + at) : 0.0f;

    for (int j0 = begin; j0 < end; j0 += T) {
        p_tile[y][x] = own && j0 + x < end ? weights[row * p.scores.row + j0 + x]
                                           : -1.0f;
        v_tile[y][x] = j0 + y < end && d < p.Dv
                           ? LOAD(VT, v + (j0 + y) * p.v.row + d)
                           : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
        float part = 0.0f;
        __attribute__((opencl_unroll_hint(T)))
        for (int j = 0; j < T; ++j)
            part += p_tile[y][j] < 0.0f ? 0.0f : p_tile[y][j] * v_tile[j][x];
        sum += part;
        barrier(CLK_LOCAL_MEM_FENCE); /* and read, before the next overwrite */
    }

    if (inside)
        STORE(OT, sum, out + at);
}
