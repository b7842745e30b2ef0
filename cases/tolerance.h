/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerance.h - how far an f32 evaluation of the formulas may be from the exact
 * result, derived from the numbers of the problem itself.
 *
 * u = 2^-24 is the largest relative error of one f32 operation.  A sum of n
 * products that is formed in any order is off by at most n u sum|terms|.  The
 * errors have either sign and never all the same: 4 sqrt(n) is more than six
 * standard deviations of their sum (one rounding has u / sqrt(3)), so n is cut
 * to that.  Higham, Mary, "A new approach to probabilistic rounding error
 * analysis", 2019.
 */
#ifndef CLATTN_CASES_TOLERANCE_H
#define CLATTN_CASES_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Error of a sum of n terms, as a share of the sum of their magnitudes. */
double tolerance_sum(size_t n);

/* How far storing a value that is off by `slack` in a clattn_dtype may bring it
   from the exact one; infinite where it may or may not overflow. */
double tolerance_stored(double value, double slack, int32_t dtype);

/* One problem as dense double tensors (B, H, L, columns).  _error: how far the
   device's q, k and v are off before attention begins, in absolute value; 0
   unless they were computed. */
typedef struct tolerance_attention {
    size_t B, Hq, Hkv, Lq, Lk, D, Dv;
    double scale;
    const double *q, *k, *v;
    const double *p; /* the exact weights, before dropout */
    const double *lse;
    double q_error, k_error, v_error;
    /* 0 or NULL where the problem has none of it: */
    double softcap;
    const double *bias;    /* (B, Hq, Lq, Lk): magnitude of what is added */
    const float *sinks;    /* Hq */
    const double *dropped; /* the weights after dropout, each up to `keep` */
    double keep;           /* times what it was */
    double weight_unit;    /* rounding of a weight before it multiplies v ... */
    double weight_step;    /* ... and of one that is subnormal there */
    uint32_t stage;        /* what `weights` is: CLATTN_RETURN_SCORES, _SCALED
                              or _CAPPED; else the weights */
} tolerance_attention;

/* How far each element of out, lse and weights may be off.  0 where the result
   is exact: hidden keys, rows without keys.  False where memory is short. */
bool tolerance_of_attention(
    const tolerance_attention *a, double *out, double *lse, double *weights);

/* How far y = x w + b may be off, (rows, n_out); w is (n_in, n_out), b may be
   NULL, and x is off by x_error (rows, n_in), or exact if that is NULL. */
typedef struct tolerance_linear {
    size_t rows, n_in, n_out;
    const double *x, *w, *b;
    const double *x_error;
} tolerance_linear;

void tolerance_of_linear(const tolerance_linear *l, double *y);

#endif
