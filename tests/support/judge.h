/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.h - small calls of the attention reference, in double precision unless
 * a test says otherwise.
 */
#ifndef CLATTN_TESTS_JUDGE_H
#define CLATTN_TESTS_JUDGE_H

#include "clattn/clattn.h"

enum {
    JUDGE_MOST = 1 << 16 /* elements of the largest tensor of a test */
};

/* A descriptor, its arguments, and the memory that they point to. */
typedef struct judge {
    clattn_attention a;
    clattn_attention_args args;
    double q[JUDGE_MOST], k[JUDGE_MOST], v[JUDGE_MOST], mask[JUDGE_MOST];
    double out[JUDGE_MOST], lse[JUDGE_MOST], weights[JUDGE_MOST];
    float sinks[64];
    int32_t arrays[5][64];
} judge;

/*
 * Dense f64 tensors, lse and weights returned; q, k and v are 0, outputs NaN.
 * Sizes B, Hq, Hkv, Lq, Lk, D, Dv.
 */
void judge_start(judge *j, size_t B, size_t Hq, size_t Hkv, size_t Lq,
    size_t Lk, size_t D, size_t Dv);

/* A mask of these sizes; its numbers are stored as the dtype, dense. */
void judge_mask(judge *j, int32_t dtype, size_t b, size_t h, size_t i, size_t k,
    const double *values);

/* Add an int32 array and its flag. */
void judge_array(judge *j, uint32_t flag, const int32_t *values, size_t count);

/* Run it, which must succeed. */
void judge_run(judge *j);

/* The sequence of small numbers, exact in every dtype, that the cases count
   in: ((a i + b) mod m - floor(m / 2)) / s. */
void judge_fill(double *to, size_t count, int a, int b, int m, int s);

/* Whether every value is what is wanted: infinities and NaN alike, else within
   `tolerance`.  The message says which is not. */
void judge_expect(const char *about, const double *got, const double *want,
    size_t count, double tolerance);

/* What is rounded to 8 decimals is wrong by half of one. */
#define DECIMALS_8 0.51e-8
/* Sums of a few numbers around 1, in double: some of its units. */
#define ROUNDING 1e-14

#endif
