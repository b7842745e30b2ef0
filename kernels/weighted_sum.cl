/* SPDX-License-Identifier: Apache-2.0
 *
 * weighted_sum.cl - out_id = sum_j p_ij v_jd over the keys j that row i sees.
 *
 * A group of T x T items computes a T x T tile of out; a T x T tile of p and
 * one of v pass through local memory at a time.  A hidden key's product is not
 * taken: its weight is 0, and 0 times NaN would be NaN.
 *
 *   p    (rows, Lk)  per item and head, rows from first_row on
 *   v    (Lk, Dv)    per item and group of heads
 *   out  (Lq, Dv)    per item and head; if j_begin > 0 it holds the sum so far
 *
 * Compile-time parameters              values    default
 *   T  rows and columns of a tile      1 to 16   4
 *
 * Check with: -DT=16
 * Check with: -DT=8
 * Check with: -DT=1
 */
#include "params.h"
#include "visible.clh"

#ifndef T
#define T 4
#endif

__kernel __attribute__((reqd_work_group_size(T, T, 1)))
void weighted_sum(__global float *out, __global const float *restrict weights,
                  __global const float *restrict v,
                  __global const int *lengths, __global const int *diagonals,
                  const weighted_sum_params p)
{
    __local float p_tile[T][T];
    __local float v_tile[T][T];

    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int d = (p.first[0] + (int)get_group_id(0)) * T + x;
    const int row0 = (p.first[1] + (int)get_group_id(1)) * T;
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.heads, head = z % p.heads;
    const int row = row0 + y;
    const int i = p.first_row + row;

    weights += p.p.offset + item * p.p.batch + head * p.p.head;
    v += p.v.offset + item * p.v.batch + head / p.group * p.v.head;
    out += p.out.offset + item * p.out.batch + head * p.out.head;

    /* What the tile's last row sees, all see: later rows never see less. */
    const int last = p.first_row + min(row0 + T, p.rows) - 1;
    const int end = visible_end(p.visible, lengths, diagonals, item, i);
    const int tile_end = min(
        p.j_end, visible_end(p.visible, lengths, diagonals, item, last));

    const int inside = row < p.rows && d < p.Dv;
    const long at = i * p.out.row + d;
    float sum = p.j_begin > 0 && inside ? out[at] : 0.0f;

    for (int j0 = p.j_begin; j0 < tile_end; j0 += T) {
        p_tile[y][x] = row < p.rows && j0 + x < tile_end
                           ? weights[row * p.p.row + j0 + x]
                           : 0.0f;
        v_tile[y][x] = j0 + y < tile_end && d < p.Dv
                           ? v[(j0 + y) * p.v.row + d]
                           : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
        float part = 0.0f;
        __attribute__((opencl_unroll_hint(T)))
        for (int j = 0; j < T; ++j)
            part += j0 + j < end ? p_tile[y][j] * v_tile[j][x] : 0.0f;
        sum += part;
        barrier(CLK_LOCAL_MEM_FENCE); /* and read, before the next overwrite */
    }

    if (inside)
        out[at] = sum;
}
