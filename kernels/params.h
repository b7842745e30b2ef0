/* SPDX-License-Identifier: Apache-2.0
 *
 * params.h - what the host hands to a kernel by value.  Valid as C and as
 * OpenCL C: fixed widths, the wide members first, no padding; the host checks
 * the sizes when it is compiled.
 *
 * Strides and offsets count elements.  A grid's groups may be launched in
 * parts: `first` is the part's first group in each dimension.
 */
#ifndef CLATTN_KERNELS_PARAMS_H
#define CLATTN_KERNELS_PARAMS_H

#ifdef __OPENCL_VERSION__
typedef long wide;
typedef int whole;
typedef uint word;
#else
#include <stdint.h>
typedef int64_t wide;
typedef int32_t whole;
typedef uint32_t word;
#endif

/* Element (b, h, i, column) is at offset + b * batch + h * head + i * row. */
typedef struct place {
    wide batch, head, row, offset;
} place;

/* Per item, in the table that items.cl makes: first row and rows of the
   queries, of the keys, and the key on which row 0 stands. */
#define ITEM_INTS 5

/* c (M, N) = a (M, K) . b (K, N) + bias (N), for each item and head z. */
typedef struct matmul_params {
    place a, b, c;
    wide bias_offset, bias_head;
    wide items_offset;
    whole first[3];
    whole M, N;
    whole first_row; /* of the block, as the item counts */
    whole reserved;
    whole k_begin, k_end; /* this launch's part of K; the rest is in c */
    whole heads;          /* z = b * heads + h */
    whole group;          /* heads of a and c that share one of b */
    whole has_bias;
} matmul_params;

/* The same product with b in panels: see matmul_lanes.cl and pack_lanes.cl. */
typedef struct panels_params {
    place a, b, c;
    wide bias_offset, bias_head;
    wide panels;      /* where they begin, in floats */
    wide panels_head; /* floats from one b in panels to the next */
    whole first[3];
    whole M, N, K;
    whole heads, group; /* as above */
    whole b_heads;      /* matrices b of an item ... */
    whole b_items;      /* ... and whether each item has its own: 0, 1 */
    whole block_rows, block_columns; /* of c, for a group */
    whole has_bias;
    whole reserved;
} panels_params;

/* All that the steps of attention need, fused or one by one. */
typedef struct attention_params {
    place q, k, v, out, lse, weights;
    place mask;    /* its column stride is mask_column */
    place scores;  /* the block in workspace: rows from first_row on */
    wide diagonal; /* of all items, without a table */
    wide window_left, window_right; /* keys around row + diagonal */
    wide items_offset, slopes_offset, sinks_offset;
    wide dropout_first; /* of the first item's first head */
    word dropout_key[2];
    word dropout_last;  /* a weight is dropped where its word is at most this */
    float dropout_keep; /* 1 / (1 - p) */
    float scale, softcap;
    whole first[3];
    whole heads, group; /* z = b * heads + h; h / group is the kv head */
    whole Lq, Lk;
    whole first_row, rows; /* of the block, in i */
    whole mask_column;     /* 0 or 1 */
    whole Dv;
    whole j_begin, j_end; /* this launch's keys, of a sum in parts */
    whole reserved;
} attention_params;

/* The product that a matrix unit is tried with; see mma_probe.cl. */
#define PROBE_D     64
#define PROBE_DV    32
#define PROBE_KEYS  32
#define PROBE_WARPS 4

/* Arrays in device memory, which the table is made from. */
typedef struct items_params {
    wide query_lengths, key_lengths, query_starts, key_starts, diagonals;
    wide table; /* all offsets in ints */
    whole has_query_lengths, has_key_lengths, has_query_starts, has_key_starts;
    whole has_diagonals;
    whole from_last_key; /* 1: the diagonal counts from keys - rows */
    whole diagonal;
    whole B, Lq, Lk, q_rows, k_rows;
} items_params;

#endif
