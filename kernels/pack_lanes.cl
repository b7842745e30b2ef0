/* SPDX-License-Identifier: Apache-2.0
 *
 * pack_lanes.cl - b (K, N) into the panels that matmul_lanes.cl reads, once
 * for all blocks of rows.
 *
 * A group of one item writes one block of KC k of one panel.
 *
 *   panels  (matrices, panels, K, PANEL), f32
 *   b       (K, N) per item and head; (N, K) in memory if B_ROWS is N
 *
 * Compile-time parameters: those of panels.clh.
 *
 * Check with: -DBT=1 -DB_ROWS=B_ROWS_K -DVW=16 -DNV=2
 * Check with: -DBT=2 -DB_ROWS=B_ROWS_N -DVW=8 -DNV=2
 * Check with: -DBT=3 -DB_ROWS=B_ROWS_N -DVW=4
 */
#include "params.h"
#include "panels.clh"

DEFINE_PACK(pack, __global)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void pack_lanes(__global float *panels, __global const b_element *restrict b,
                const panels_params p)
{
    const int k = (p.first[0] + (int)get_group_id(0)) * KC;
    const int n = (p.first[1] + (int)get_group_id(1)) * PANEL;
    const int z = p.first[2] + (int)get_group_id(2);
    const int item = z / p.b_heads, head = z % p.b_heads;

    b += p.b.offset + item * p.b.batch + head * p.b.head;
    panels += p.panels + z * p.panels_head + (long)n * p.K + (long)k * PANEL;
    pack(panels, b_at(b, p.b.row, k, n), p.b.row, min(KC, p.K - k), p.N - n);
}
