/* SPDX-License-Identifier: Apache-2.0
 *
 * matmul.cl - c_mn = sum_k a_mk b_kn + bias_n, tile by tile.
 *
 * The readable one: a projection x W + b, and the scores q k^T.  A group of
 * T x T items computes a T x T tile of c; a T x T tile of a and one of b pass
 * through local memory at a time, so that each element is read from global
 * memory M/T or N/T times.
 *
 *   a  (M, K)    per item and head
 *   b  (K, N)    per item and group of heads; (N, K) in memory if B_ROWS is N
 *   c  (M, N)    per item and head; if k_begin > 0 it holds the sum so far
 *
 * With ITEMS a and b begin at the item's own first rows, and what lies past its
 * last rows is neither read nor written.
 *
 * Compile-time parameters                          values         default
 *   AT, BT, CT  storage of a, b and bias, c        STORAGE_...    required
 *   B_ROWS  what a row of b in memory stands for   B_ROWS_K, _N   required
 *   ITEMS   a table of the items' rows             0, 1           required
 *   T       rows and columns of a tile             1 to 16        4
 *
 * Check with: -DT=16 -DB_ROWS=B_ROWS_K -DAT=1 -DBT=1 -DCT=1 -DITEMS=0
 * Check with: -DT=16 -DB_ROWS=B_ROWS_N -DAT=2 -DBT=3 -DCT=1 -DITEMS=1
 * Check with: -DT=8 -DB_ROWS=B_ROWS_N -DAT=1 -DBT=2 -DCT=3 -DITEMS=0
 * Check with: -DT=1 -DB_ROWS=B_ROWS_K -DAT=3 -DBT=1 -DCT=2 -DITEMS=0
 */
#include "params.h"
#include "storage.clh"

#define B_ROWS_K 1
#define B_ROWS_N 2
#if !defined(AT) || !defined(BT) || !defined(CT) || !defined(B_ROWS) ||        \
    !defined(ITEMS)
#error "matmul.cl: define AT, BT, CT, B_ROWS and ITEMS"
#endif
#ifndef T
#define T 4
#endif

__kernel __attribute__((reqd_work_group_size(T, T, 1)))
void matmul(__global ELEMENT(CT) *c, __global const ELEMENT(AT) *restrict a,
            __global const ELEMENT(BT) *restrict b,
            __global const ELEMENT(BT) *restrict bias,
            __global const int *items, const matmul_params p)
{
    __local float a_tile[T][T];
    __local float b_tile[T][T + 1]; /* + 1: a column hits T banks */

    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int n0 = (p.first[0] + (int)get_group_id(0)) * T;
    const int m0 = (p.first[1] + (int)get_group_id(1)) * T;
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.heads, head = z % p.heads;
    const int m = m0 + y, n = n0 + x;
    int M = p.M, N = p.N;

    a += p.a.offset + item * p.a.batch + head * p.a.head;
    b += p.b.offset + item * p.b.batch + head / p.group * p.b.head;
    c += p.c.offset + item * p.c.batch + head * p.c.head;
#if ITEMS
    items += p.items_offset + (long)item * ITEM_INTS;
    a += items[0] * p.a.row;
    b += items[2] * p.b.row;
    M = min(M, items[1] - p.first_row);
    N = min(N, items[3]);
#endif

    const int inside = m < M && n < N;
    const long at = m * p.c.row + n;
    float sum = p.k_begin > 0 && inside ? LOAD(CT, c + at) : 0.0f;

    for (int k0 = p.k_begin; k0 < p.k_end; k0 += T) {
        a_tile[y][x] = m < M && k0 + x < p.k_end
                           ? LOAD(AT, a + m * p.a.row + k0 + x)
                           : 0.0f;
#if B_ROWS == B_ROWS_K
        b_tile[y][x] = k0 + y < p.k_end && n < N
                           ? LOAD(BT, b + (k0 + y) * p.b.row + n)
                           : 0.0f;
#else
        b_tile[x][y] = n0 + y < N && k0 + x < p.k_end
                           ? LOAD(BT, b + (n0 + y) * p.b.row + k0 + x)
                           : 0.0f;
#endif
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
        float part = 0.0f;
        __attribute__((opencl_unroll_hint(T)))
        for (int k = 0; k < T; ++k)
            part += a_tile[y][k] * b_tile[k][x];
        sum += part;
        barrier(CLK_LOCAL_MEM_FENCE); /* and read, before the next overwrite */
    }

    if (p.has_bias && inside)
        sum += LOAD(BT, bias + p.bias_offset + head * p.bias_head + n);
    if (inside)
        STORE(CT, sum, c + at);
}
