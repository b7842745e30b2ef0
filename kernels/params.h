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
#else
#include <stdint.h>
typedef int64_t wide;
typedef int32_t whole;
#endif

/* Element (b, h, i, column) is at offset + b * batch + h * head + i * row. */
typedef struct place {
    wide batch, head, row, offset;
} place;

/* c (M, N) = a (M, K) . b (K, N) + bias (N), for each item and head z. */
typedef struct matmul_params {
    place a, b, c;
    wide bias_offset, bias_head;
    whole first[3];
    whole M, N;
    whole k_begin, k_end; /* this launch's part of K; the rest is in c */
    whole heads;          /* z = b * heads + h */
    whole group;          /* heads of a and c that share one of b */
    whole has_bias;
} matmul_params;

/* What the keys that a row sees follow from: see visible.clh. */
typedef struct visible_params {
    wide diagonal; /* row i stands on key i + diagonal ... */
    wide lengths_offset, diagonals_offset;
    whole diagonal_keys; /* 1: ... + the item's keys */
    whole causal;        /* 1: keys after that one are hidden */
    whole has_lengths;   /* 1: key_lengths holds an item's keys */
    whole has_diagonals; /* 1: diagonals holds an item's diagonal */
    whole Lk;
    whole reserved;
} visible_params;

/* s (rows, Lk) becomes softmax(scale * s); lse (rows). */
typedef struct softmax_params {
    visible_params visible;
    place s, lse;
    whole first[3];
    whole heads;
    whole first_row; /* i of the block's first row: s counts from there */
    whole has_lse;
    float scale;
    whole reserved;
} softmax_params;

/* out (Lq, Dv) = p (Lq, Lk) . v (Lk, Dv) over visible keys. */
typedef struct weighted_sum_params {
    visible_params visible;
    place p, v, out;
    whole first[3];
    whole heads, group;
    whole first_row, rows; /* of the block, in i */
    whole Dv;
    whole j_begin, j_end; /* this launch's keys; the rest is in out */
} weighted_sum_params;

#endif
