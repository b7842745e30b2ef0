/* SPDX-License-Identifier: Apache-2.0
 *
 * items.cl - the table of items: lengths, starts and diagonals as the caller's
 * arrays have them, clamped so that whatever they hold nothing outside a tensor
 * is touched.
 *
 *     rows = query_lengths[b], or query_starts[b + 1] - query_starts[b], or Lq
 *     keys likewise
 *     diagonal = diagonals[b], or keys - rows, or the one number
 *
 *   table  (B, ITEM_INTS)
 *
 * One work-item an item.
 *
 * Check with: -DITEMS=1
 */
#include "params.h"

/* Where an item's rows begin and how many there are. */
static inline void rows_of(__global int *at, __global const int *lengths,
    __global const int *starts, int has_lengths, int has_starts, int b, int L,
    int capacity)
{
    int first = 0, rows = L;
    if (has_starts) {
        first = clamp(starts[b], 0, capacity);
        rows = has_lengths ? L : clamp(starts[b + 1], 0, capacity) - first;
    }
    if (has_lengths)
        rows = lengths[b];
    if (has_starts)
        rows = min(rows, capacity - first);
    at[0] = first;
    at[1] = clamp(rows, 0, L);
}

__kernel void items(__global int *table, __global const int *query_lengths,
    __global const int *key_lengths, __global const int *query_starts,
    __global const int *key_starts, __global const int *diagonals,
    const items_params p)
{
    const int b = (int)get_global_id(0);
    if (b >= p.B)
        return;
    __global int *row = table + p.table + (long)b * ITEM_INTS;
    rows_of(row, query_lengths + p.query_lengths, query_starts + p.query_starts,
        p.has_query_lengths, p.has_query_starts, b, p.Lq, p.q_rows);
    rows_of(row + 2, key_lengths + p.key_lengths, key_starts + p.key_starts,
        p.has_key_lengths, p.has_key_starts, b, p.Lk, p.k_rows);
    row[4] = p.has_diagonals   ? diagonals[p.diagonals + b]
             : p.from_last_key ? row[3] - row[1]
                               : p.diagonal;
}
