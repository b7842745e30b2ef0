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

#include <stddef.h>

/* Error of a sum of n terms, as a share of the sum of their magnitudes. */
double tolerance_sum(size_t n);

/* One problem as dense double tensors (B, H, L, columns); p are the exact
   weights.  _error: how far the device's q, k and v are off before attention
   begins, in absolute value; 0 unless they were computed. */
typedef struct tolerance_attention {
    size_t B, Hq, Hkv, Lq, Lk, D, Dv;
    double scale;
    const double *q, *k, *v, *p, *lse;
    double q_error, k_error, v_error;
} tolerance_attention;

/* How far each element of out, lse and weights may be off.  0 where the result
   is exact: hidden keys, rows without keys. */
void tolerance_of_attention(
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
