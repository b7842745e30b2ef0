/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_case.h - what is measured, in one line each, and how many operations
 * that is.
 */
#ifndef CLATTN_BENCH_CASE_H
#define CLATTN_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clattn/clattn.h"

enum bench_kind {
    BENCH_ATTENTION,
    BENCH_MATMUL,   /* y = x W, (L, D) by (D, D) */
    BENCH_WORKSPACE /* attention that is planned, not run */
};

/* What a row promises. */
enum bench_goal {
    GOAL_NONE,
    GOAL_SHARE,      /* of the peak, at least */
    GOAL_TIME,       /* at most so often the time of the base row */
    GOAL_OPERATIONS, /* the same, for each operation */
    GOAL_SHARE_OF,   /* at least so much of the base row's share */
    GOAL_WORKSPACE   /* bytes, at most */
};

/* Rows are designated: what is not named is 0, which is off. */
typedef struct bench_case {
    const char *name;
    enum bench_kind kind;
    size_t B, H, L, D; /* Lk = L; Dv = D */
    size_t Lq;         /* 0: L.  Not of ragged batches */
    size_t Hkv;        /* 0: H */
    int32_t dtype;     /* 0: f32 */
    int32_t kv_dtype;  /* 0: dtype */
    int32_t precision; /* a clattn_precision */
    int32_t mask;      /* a dtype; 0: none.  (1, 1, L, L), drawn */
    bool causal, alibi, lengths_half;
    bool ragged; /* packed; items of 16 to L rows */
    bool has_window;
    int32_t window_left, window_right;
    float softcap, dropout;
    const char *kernel; /* NULL: the best */

    enum bench_goal goal;
    double bound;
    size_t base; /* rows that the base row stands before this one.  0: there is
                    none, and this row begins a group of its own */
} bench_case;

/* Rows of item b of a ragged batch: from 16 to L in even steps, long and short
   ones in turn. */
int32_t bench_item_rows(const bench_case *c, size_t b);

/*
 * Operations as docs/BENCHMARKS.md counts them: 4 D for each query and key that
 * meet.  Causal alone is half of all by definition; with a window, lengths or
 * both, pairs are counted one row after the other.  A matrix product has 2 for
 * each multiply-add.
 */
double bench_operations(const bench_case *c);

/* Bytes that a device has to read or write at least: every tensor once. */
double bench_bytes(const bench_case *c);

/* What a row leaves open. */
int32_t bench_dtype(const bench_case *c);    /* of q and out */
int32_t bench_kv_dtype(const bench_case *c); /* of k and v */
size_t bench_kv_heads(const bench_case *c);
size_t bench_dtype_bytes(int32_t dtype);
/* Rows of q, and of k, over the whole batch. */
size_t bench_q_rows(const bench_case *c);
size_t bench_k_rows(const bench_case *c);

/* The rows of one group, which are measured in turn: the first, and those
   behind it that have a base. */
size_t bench_group(const bench_case *cases, size_t count);

#endif
