/* SPDX-License-Identifier: Apache-2.0
 *
 * mma_probe.cl - one product of each kind on a matrix unit, and what else
 * attention_mma.cl asks of it, as numbers that the host can judge: whole and so
 * small that all is exact.
 *
 *     s = q k^T,   o = round(s) v,   most_i = max_j s_ij,   total_i = sum_j s_ij
 *
 * A group of PROBE_WARPS warps, each with MMA_ROWS rows of q, shares k and v,
 * PROBE_KEYS of them.  In memory: q, k, v; s, o, most, total; all dense.
 *
 * Check with: -DQT=2 -DMMA=1 -DEMULATED=1
 * Check with: -DQT=3 -DMMA=4 -DEMULATED=1
 * Check with: -DQT=2 -DMMA=6 -DEMULATED=1
 */
#define D     PROBE_D
#define DV    PROBE_DV
#define BC    PROBE_KEYS
#define WARPS PROBE_WARPS
#include "params.h"
#include "storage.clh"
#define UNROLL _Pragma("unroll")
#define INLINE static inline __attribute__((always_inline))
#include "mma/geometry.clh"
#include "mma/copy.clh"

#define KEY_TILES  (BC / 16)
#define GROUP_ROWS (WARPS * MMA_ROWS)

__kernel MMA_KERNEL __attribute__((reqd_work_group_size(MMA_ITEMS, 1, 1))) void
mma_probe(__global float *out, __global const ushort *in)
{
    __local ushort q_tile[TILE_ELEMENTS(GROUP_ROWS, D)]
        __attribute__((aligned(16)));
    __local ushort k_tile[K_TILE] __attribute__((aligned(16)));
    __local ushort v_tile[V_TILE] __attribute__((aligned(16)));
    MMA_BEGIN(x);
    const int first = (int)get_local_id(0) / MMA_LANES * MMA_ROWS;
    const rows_of queries = rows_from(in, D);
    const rows_of keys = rows_from(in + GROUP_ROWS * D, D);
    const rows_of values = rows_from(in + (GROUP_ROWS + BC) * D, DV);
    uint4 k_waiting[SHARE(BC, QK_COLUMNS)], v_waiting[SHARE(BC, V_COLUMNS)];

    put_queries(q_tile, &queries, 0, GROUP_ROWS, 0u, GROUP_ROWS);
    fetch_tile(k_tile, k_waiting, &keys, 0, BC, 0);
    fetch_tile(v_tile, v_waiting, &values, 0, BC, 1);
    land_tile(k_tile, k_waiting, 0);
    land_tile(v_tile, v_waiting, 1);
    barrier(CLK_LOCAL_MEM_FENCE); /* all three tiles are there */

    float s[KEY_TILES][MMA_PARTS], o[DV / 16][MMA_PARTS];
    UNROLL
    for (int n = 0; n < MMA_PARTS; ++n) {
        UNROLL
        for (int c = 0; c < KEY_TILES; ++c)
            s[c][n] = 0.0f;
        UNROLL
        for (int d = 0; d < DV / 16; ++d)
            o[d][n] = 0.0f;
    }
    UNROLL
    for (int d = 0; d < D / 16; ++d) {
        uint q[MMA_Q], k[MMA_K];
        mma_load_q(x, q, q_tile, first, 16 * d);
        UNROLL
        for (int c = 0; c < KEY_TILES; ++c) {
            mma_load_k(x, k, k_tile, 16 * c, 16 * d);
            mma_scores(x, s[c], q, k);
        }
    }
    UNROLL
    for (int c = 0; c < KEY_TILES; ++c) {
        uint p[MMA_P], v[MMA_V];
        mma_weights(x, p, s[c]);
        UNROLL
        for (int d = 0; d < DV / 16; ++d) {
            mma_load_v(x, v, v_tile, 16 * c, 16 * d);
            mma_sum(x, o[d], p, v);
        }
    }

    __global float *sums = out + GROUP_ROWS * BC;
    __global float *most = sums + GROUP_ROWS * DV, *total = most + GROUP_ROWS;
    UNROLL
    for (int slot = 0; slot < MMA_SLOTS; ++slot) {
        const int i = first + mma_row(x.lane, slot);
        float own_most = -INFINITY, own_total = 0.0f;
        UNROLL
        for (int n = 0; n < MMA_PARTS; ++n)
            if (mma_slot(n) == slot) {
                const int at = mma_column(x.lane, n);
                UNROLL
                for (int c = 0; c < KEY_TILES; ++c) {
                    out[i * BC + 16 * c + at] = s[c][n];
                    own_most = fmax(own_most, s[c][n]);
                    own_total += s[c][n];
                }
                UNROLL
                for (int d = 0; d < DV / 16; ++d)
                    sums[i * DV + 16 * d + at] = o[d][n];
            }
        own_most = mma_row_max(x, own_most);
        own_total = mma_row_sum(x, own_total);
        if (mma_column(x.lane, 0) == 0) {
            most[i] = own_most;
            total[i] = own_total;
        }
    }
}
