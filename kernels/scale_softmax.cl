/* SPDX-License-Identifier: Apache-2.0
 *
 * scale_softmax.cl - p_ij = exp(scale s_ij - lse_i), in place of s_ij.
 *
 *     top_i = max_j scale s_ij                         over the keys j seen
 *     sum_i = sum_j exp(scale s_ij - top_i)
 *     p_ij  = exp(scale s_ij - top_i) / sum_i,  0 where j is not seen
 *     lse_i = top_i + ln(sum_i)
 *
 * Scale, exclusion, maximum, exponential and division in one kernel: a group
 * of G items takes one row, each item every G-th key.  Hidden scores are
 * overwritten and never read.  A row that sees no key gives p 0 and lse -inf.
 * The maximum passes over NaN, and the sum does not: a row with one is NaN.
 *
 *   s    (rows, Lk)  per item and head, rows from first_row on
 *   lse  (Lq)        per item and head
 *
 * Compile-time parameters            values                 default
 *   G  items of a group              powers of two to 256   1
 *
 * Check with: -DG=256
 * Check with: -DG=64
 * Check with: -DG=1
 */
#include "params.h"
#include "visible.clh"

#ifndef G
#define G 1
#endif

/* What all items hand in, folded in a fixed order; every item gets it. */
static inline float group_max(__local float *part, int lane, float mine)
{
    part[lane] = mine;
    for (int half_size = G / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE); /* the upper half is written */
        if (lane < half_size && part[lane + half_size] > part[lane])
            part[lane] = part[lane + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* part[0] is the result */
    const float all = part[0];
    barrier(CLK_LOCAL_MEM_FENCE); /* and read, before part is used again */
    return all;
}

static inline float group_sum(__local float *part, int lane, float mine)
{
    part[lane] = mine;
    for (int half_size = G / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE); /* the upper half is written */
        if (lane < half_size)
            part[lane] += part[lane + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* part[0] is the result */
    return part[0];
}

__kernel __attribute__((reqd_work_group_size(G, 1, 1)))
void scale_softmax(__global float *s, __global float *lse,
                   __global const int *lengths, __global const int *diagonals,
                   const softmax_params p)
{
    __local float part[G];

    const int lane = (int)get_local_id(0);
    const int row = p.first[0] + (int)get_group_id(0);
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.heads, head = z % p.heads;
    const int i = p.first_row + row;
    const int Lk = p.visible.Lk;
    const int end = visible_end(p.visible, lengths, diagonals, item, i);

    s += p.s.offset + item * p.s.batch + head * p.s.head + row * p.s.row;

    float top = -INFINITY;
    for (int j = lane; j < end; j += G) {
        const float score = p.scale * s[j];
        top = score > top ? score : top;
    }
    top = group_max(part, lane, top);

    float sum = 0.0f;
    for (int j = lane; j < end; j += G) {
        const float e = exp(p.scale * s[j] - top);
        s[j] = e;
        sum += e;
    }
    sum = group_sum(part, lane, sum);

    for (int j = lane; j < Lk; j += G)
        s[j] = j < end ? s[j] / sum : 0.0f;

    if (lane == 0 && p.has_lse)
        lse[p.lse.offset + item * p.lse.batch + head * p.lse.head +
            i * p.lse.row] = end > 0 ? top + log(sum) : -INFINITY;
}
