/* SPDX-License-Identifier: Apache-2.0
 *
 * matmul_simt.cl - c_mn = sum_k a_mk b_kn + bias_n for GPUs: a tile of c in the
 * registers of a group's items.
 *
 * A group of WX x WY items computes BM x BN of c; BK of K pass through local
 * memory at a time.  See simt.clh for who owns what of the tile: it depends on
 * how b lies, and nothing is transposed.
 *
 *   a  (M, K)    per item and head
 *   b  (K, N)    per item and group of heads; (N, K) in memory if B_ROWS is N
 *   c  (M, N)    per item and head; if k_begin > 0 it holds the sum so far
 *
 * Compile-time parameters                          values           default
 *   AT, BT, CT  storage of a, b and bias, c        STORAGE_...      required
 *   B_ROWS  what a row of b in memory stands for   B_ROWS_K, _N     required
 *   BM, BN  rows and columns of a tile             multiples of WY, WX  32
 *   BK      k at a time                            multiples of 4       4
 *   WX, WY  items across columns, across rows      4 to 16, WY even     8
 *
 * Check with: -DB_ROWS=B_ROWS_K -DAT=1 -DBT=1 -DCT=1 -DBM=128 -DBN=64 -DBK=16 -DWX=8 -DWY=16
 * Check with: -DB_ROWS=B_ROWS_N -DAT=2 -DBT=3 -DCT=1 -DBM=64 -DBN=64 -DBK=16 -DWX=16 -DWY=16
 * Check with: -DB_ROWS=B_ROWS_K -DAT=3 -DBT=2 -DCT=3
 */
#define VW 1
#include "params.h"
#include "lanes.clh"

#define B_ROWS_K 1
#define B_ROWS_N 2
#if !defined(AT) || !defined(BT) || !defined(CT) || !defined(B_ROWS)
#error "matmul_simt.cl: define AT, BT, CT and B_ROWS"
#endif
#ifndef BM
#define BM 32
#endif
#ifndef BN
#define BN 32
#endif
#ifndef BK
#define BK 4
#endif
#ifndef WX
#define WX 8
#endif
#ifndef WY
#define WY 8
#endif
#if BM % WY || BN % WX || BN % 4 || BK % 4
#error "matmul_simt.cl: the tile's sizes do not divide one another"
#endif

#define RM (BM / WY)
#define RN (BN / WX)
#define ON RN
#if RN % 4 == 0
#define CW 4
#elif RN % 2 == 0
#define CW 2
#else
#define CW 1
#endif
#include "simt.clh"

/* Local memory: tiles of a and b, rows as they lie in global memory. */
#define A_STRIDE READ_STRIDE(BK)
#if B_ROWS == B_ROWS_K
#define B_TILE_ROWS BK
#define B_TILE_WIDTH BN
#define B_STRIDE BN
#else
#define B_TILE_ROWS BN
#define B_TILE_WIDTH BK
#define B_STRIDE A_STRIDE
#endif

typedef ELEMENT(AT) a_element;
typedef ELEMENT(BT) b_element;
typedef ELEMENT(CT) c_element;

DEFINE_STAGE_ROWS(stage_a, AT)
DEFINE_STAGE_ROWS(stage_b, BT)

/* Column of the tile that an item's j-th sum belongs to. */
static inline int column_of(int x, int j)
{
    return B_ROWS == B_ROWS_K ? (x + WX * (j / CW)) * CW + j % CW : x + WX * j;
}

/* What c holds so far, or 0. */
INLINE void start_sums(float sum[RM][RN], __global const c_element *c,
    const long row, const int rows, const int columns, const int go_on, int x,
    int y)
{
    UNROLL
    for (int i = 0; i < RM; ++i)
        UNROLL
        for (int j = 0; j < RN; ++j) {
            const int m = y + WY * i, n = column_of(x, j);
            sum[i][j] = go_on && m < rows && n < columns
                            ? LOAD(CT, c + m * row + n)
                            : 0.0f;
        }
}

/* All sums, with the bias where there is one. */
INLINE void store_sums(__global c_element *c, const long row,
    __global const b_element *bias, const int has_bias, float sum[RM][RN],
    const int rows, const int columns, int x, int y)
{
    UNROLL
    for (int j = 0; j < RN; ++j) {
        const int n = column_of(x, j);
        if (n >= columns)
            continue;
        const float more = has_bias ? LOAD(BT, bias + n) : 0.0f;
        UNROLL
        for (int i = 0; i < RM; ++i) {
            const int m = y + WY * i;
            if (m < rows)
                STORE(CT, sum[i][j] + more, c + m * row + n);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))
void matmul_simt(__global c_element *c, __global const a_element *restrict a,
                 __global const b_element *restrict b,
                 __global const b_element *restrict bias,
                 const matmul_params p)
{
    __local float4 memory[(BM * A_STRIDE + B_TILE_ROWS * B_STRIDE) / 4];
    __local float *const a_tile = (__local float *)memory;
    __local float *const b_tile = a_tile + BM * A_STRIDE;
    const uint lid = (uint)get_local_id(0);
    const int x = item_x(lid), y = item_y(lid);
    const int n0 = (p.first[0] + (int)get_group_id(0)) * BN;
    const int m0 = (p.first[1] + (int)get_group_id(1)) * BM;
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.heads, head = z % p.heads;
    const int rows = p.M - m0, columns = p.N - n0;

    a += p.a.offset + item * p.a.batch + head * p.a.head + m0 * p.a.row;
    b += p.b.offset + item * p.b.batch + head / p.group * p.b.head +
         (B_ROWS == B_ROWS_K ? n0 : n0 * p.b.row);
    c += p.c.offset + item * p.c.batch + head * p.c.head + m0 * p.c.row + n0;
    bias += p.bias_offset + head * p.bias_head + n0;

    const int whole_a = ARE_SHARED(BM, BK) && rows >= BM &&
                        FOURS_ARE_ALIGNED(a + p.k_begin, p.a.row);
    const int whole_b = ARE_SHARED(B_TILE_ROWS, B_TILE_WIDTH) &&
                        columns >= BN && FOURS_ARE_ALIGNED(b, p.b.row) &&
                        p.k_begin % 4 == 0;

    float sum[RM][RN];
    start_sums(sum, c, p.c.row, rows, columns, p.k_begin > 0, x, y);
    for (int k = p.k_begin; k < p.k_end; k += BK) {
        const int depth = p.k_end - k;
        barrier(CLK_LOCAL_MEM_FENCE); /* the k before are used up */
        if (whole_a && depth >= BK)
            stage_a_whole(a_tile, A_STRIDE, a + k, p.a.row, BM, BK, lid);
        else
            stage_a(
                a_tile, A_STRIDE, a + k, p.a.row, rows, depth, BM, BK, lid);
#if B_ROWS == B_ROWS_K
        __global const b_element *b_part = b + k * p.b.row;
        const int b_rows = depth, b_columns = columns;
#else
        __global const b_element *b_part = b + k;
        const int b_rows = columns, b_columns = depth;
#endif
        if (whole_b && depth >= BK)
            stage_b_whole(b_tile, B_STRIDE, b_part, p.b.row, B_TILE_ROWS,
                B_TILE_WIDTH, lid);
        else
            stage_b(b_tile, B_STRIDE, b_part, p.b.row, b_rows, b_columns,
                B_TILE_ROWS, B_TILE_WIDTH, lid);
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
#if B_ROWS == B_ROWS_K
        add_rows(sum, a_tile + y * A_STRIDE, A_STRIDE, b_tile + x * CW,
            B_STRIDE, BK);
#else
        add_dots(sum, a_tile + y * A_STRIDE, b_tile + x * B_STRIDE, A_STRIDE,
            BK);
#endif
    }
    store_sums(c, p.c.row, bias, p.has_bias, sum, rows, columns, x, y);
}
