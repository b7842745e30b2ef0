/* SPDX-License-Identifier: Apache-2.0
 *
 * matmul_lanes.cl - c_mn = bias_n + sum_k a_mk b_kn for CPUs: columns of c in
 * vector lanes, b in panels, a tile of c in registers.
 *
 * A group of one item computes a block of rows x columns of c, in f32 scratch
 * until all of K is summed.  KC of K at a time, one panel of b after another
 * meets tile after tile of MR rows: the panel's KC stay in the nearest cache
 * meanwhile, and those of the next panel are on their way.  a is read as
 * scalars that serve all lanes.
 *
 *   a       (M, K)  per item and head
 *   b       (K, N)  per item and group of heads; (N, K) in memory if B_ROWS is
 *                   N; if PACKED the panels that pack_lanes.cl made of it
 *   c       (M, N)  per item and head
 *
 * Compile-time parameters                           values          default
 *   AT, CT  storage of a, of c                      STORAGE_...     required
 *   PACKED  b is in panels, or each group packs     1, 0            required
 *   those of panels.clh                                             required
 *   MR      rows of a tile                          1 to 14         4
 *   MC, NC  most rows and columns of a block        multiples of    MR,
 *                                                   MR, PANEL       PANEL
 *
 * Check with: -DAT=1 -DBT=1 -DCT=1 -DB_ROWS=B_ROWS_K -DPACKED=1 -DVW=16 -DNV=2 -DMR=8 -DMC=128 -DNC=256 -DKC=192 -DPREFETCH=1
 * Check with: -DAT=2 -DBT=3 -DCT=2 -DB_ROWS=B_ROWS_N -DPACKED=0 -DVW=8 -DNV=2
 * Check with: -DAT=3 -DBT=2 -DCT=3 -DB_ROWS=B_ROWS_K -DPACKED=1 -DVW=4
 */
#include "params.h"
#include "panels.clh"

#if !defined(AT) || !defined(CT) || !defined(PACKED)
#error "matmul_lanes.cl: define AT, CT and PACKED"
#endif
#ifndef MR
#define MR 4
#endif
#ifndef MC
#define MC MR
#endif
#ifndef NC
#define NC PANEL
#endif
#define SUM 64 /* products added up apart */

/* a is used where it lies if it is f32, else copied.  The copy's rows are
   A_ROW apart, so that they fall into different sets of a cache. */
#define STAGE_A (AT != STORAGE_F32)
#define A_ROW (KC + 16)
#if STAGE_A
#define A_SPACE __private
#else
#define A_SPACE __global
#endif
#if PACKED
#define B_SPACE __global
typedef float b_source;
#else
#define B_SPACE __private
typedef b_element b_source;
#endif

typedef ELEMENT(AT) a_element;
typedef ELEMENT(CT) c_element;

/* ---- Getting ready --------------------------------------------------------- */

#if STAGE_A
/* `depth` k of rows of a. */
static inline void copy_a(
    float *to, __global const a_element *a, long row, int rows, int depth)
{
    for (int m = 0; m < rows; ++m) {
        __global const a_element *from = a + m * row;
        int k = 0;
        for (; k + VW <= depth; k += VW)
            *(V_unaligned *)(to + m * A_ROW + k) = LOAD_ROW(AT, from + k);
        for (; k < depth; ++k)
            to[m * A_ROW + k] = LOAD(AT, from + k);
    }
}
#endif

#if !PACKED
DEFINE_PACK(pack, __private)
#endif

/* ---- Products -------------------------------------------------------------- */

/* c[row][vector] += a b for MR rows and one panel; rows of a past the last are
   the last once more.  SUM products are added up before they meet c: the sum
   of K rounds as one of SUM + K / SUM. */
static inline void tile(V *c, A_SPACE const float *a, long row, int last,
    B_SPACE const float *b, int depth)
{
    A_SPACE const float *row_of[MR];
    UNROLL
    for (int m = 0; m < MR; ++m)
        row_of[m] = a + min(m, last) * row;
    for (int k0 = 0; k0 < depth; k0 += SUM) {
        V sum[MR][NV];
        UNROLL
        for (int m = 0; m < MR; ++m)
            UNROLL
            for (int v = 0; v < NV; ++v)
                sum[m][v] = (V)(0.0f);
        for (int k = k0; k < min(k0 + SUM, depth); ++k) {
            V column[NV];
            UNROLL
            for (int v = 0; v < NV; ++v)
                column[v] =
                    *(B_SPACE const V_unaligned *)(b + k * PANEL + v * VW);
            UNROLL
            for (int m = 0; m < MR; ++m) {
                const V x = (V)(row_of[m][k]);
                UNROLL
                for (int v = 0; v < NV; ++v)
                    sum[m][v] += x * column[v];
            }
        }
        UNROLL
        for (int m = 0; m < MR; ++m)
            UNROLL
            for (int v = 0; v < NV; ++v)
                c[m * NV + v] += sum[m][v];
    }
}

/* ---- Blocks ---------------------------------------------------------------- */

/* Where row m and columns n to n + VW of a block of c lie in scratch. */
#define AT_C(m, n) ((n) / PANEL * (MC * NV) + (m) * NV + (n) / VW % NV)

/* The bias, or 0, in all that tiles will touch. */
static inline void start_block(
    V *c, __global const b_element *bias, int rows, int columns, int has_bias)
{
    for (int n = 0; n < (columns + PANEL - 1) / PANEL * PANEL; n += VW) {
        const V x = has_bias ? load_b(bias + n, columns - n) : (V)(0.0f);
        for (int m = 0; m < (rows + MR - 1) / MR * MR; ++m)
            c[AT_C(m, n)] = x;
    }
}

/* The first `count` of a row of elements; VW at a time where they fit. */
static inline void store_part(__global c_element *at, V x, int count)
{
    if (count >= VW) {
        STORE_ROW(CT, x, at);
        return;
    }
    lanes_of u;
    u.v = x;
    for (int n = 0; n < count; ++n)
        STORE(CT, u.f[n], at + n);
}

static inline void store_block(
    __global c_element *to, long row, const V *c, int rows, int columns)
{
    for (int m = 0; m < rows; ++m)
        for (int n = 0; n < columns; n += VW)
            store_part(to + m * row + n, c[AT_C(m, n)], columns - n);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_lanes(__global c_element *c, __global const a_element *restrict a,
                  __global const b_source *restrict b,
                  __global const b_element *restrict bias,
                  const panels_params p)
{
    V c_block[MC * NC / VW];
#if STAGE_A
    V a_block[MC * A_ROW / VW];
    const long a_row = A_ROW;
    float *a_part = (float *)a_block;
#else
    const long a_row = p.a.row;
#endif
#if !PACKED
    V b_block[KC * NV];
    float *b_part = (float *)b_block;
#endif
    const int m0 = (p.first[0] + (int)get_group_id(0)) * p.block_rows;
    const int n0 = (p.first[1] + (int)get_group_id(1)) * p.block_columns;
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.heads, head = z % p.heads, b_head = head / p.group;
    const int rows = min(p.block_rows, p.M - m0);
    const int columns = min(p.block_columns, p.N - n0);

    a += p.a.offset + item * p.a.batch + head * p.a.head + m0 * p.a.row;
    c += p.c.offset + item * p.c.batch + head * p.c.head + m0 * p.c.row + n0;
    bias += p.bias_offset + head * p.bias_head + n0;
#if PACKED
    b += p.panels + (long)n0 * p.K +
         (item * p.b_items * p.b_heads + b_head) * p.panels_head;
#else
    b += p.b.offset + item * p.b.batch + b_head * p.b.head;
#endif

    start_block(c_block, bias, rows, columns, p.has_bias);
    for (int k = 0; k < p.K; k += KC) {
        const int depth = min(KC, p.K - k);
#if STAGE_A
        copy_a(a_part, a + k, p.a.row, rows, depth);
#else
        __global const float *a_part = a + k;
#endif
        for (int n = 0; n < columns; n += PANEL) {
#if PACKED
            __global const float *b_part =
                b + (long)n * p.K + (long)k * PANEL;
            __global const float *next = n + PANEL < columns
                                             ? b_part + (long)p.K * PANEL
                                             : b + (k + KC) * (long)PANEL;
            const int share = depth * PANEL / rows;
#else
            pack(b_part, b_at(b, p.b.row, k, n0 + n), p.b.row, depth,
                columns - n);
#endif
            for (int m = 0; m < rows; m += MR) {
#if PACKED
                fetch(next + share * m, 0, 1,
                    share * min(MR, rows - m) * (int)sizeof *next);
#endif
                tile(c_block + AT_C(m, n), a_part + m * a_row, a_row,
                    rows - 1 - m, b_part, depth);
            }
        }
    }
    store_block(c, p.c.row, c_block, rows, columns);
}
