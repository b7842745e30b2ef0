/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerance.c - derived bounds of the rounding error of f32 attention.
 */
#include "tolerance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double U = 0x1p-24;

double tolerance_sum(size_t n)
{
    return U * fmin((double)n, 4 * sqrt((double)n));
}

/*
 * The error of score j of a row, e_j:
 *
 *     sum of D products            tolerance_sum(D) |scale| sum|q_d k_jd|
 *     rounding scale and scaling,
 *     perhaps with log2(e) in it   8 u |scale| sum|q_d k_jd|
 *     q and k off already          |scale| (dq sum|k| + dk sum|q| + D dq dk)
 *     s_j - max is rounded once    u |s_j - max| = u |ln p_j - ln p_max|
 */
static double score_error(const tolerance_attention *a, const double *q,
    const double *k, double distance)
{
    double products = 0, q_sum = 0, k_sum = 0;
    for (size_t d = 0; d < a->D; ++d) {
        products += fabs(q[d] * k[d]);
        q_sum += fabs(q[d]);
        k_sum += fabs(k[d]);
    }
    const double inherited = a->q_error * k_sum + a->k_error * q_sum +
                             (double)a->D * a->q_error * a->k_error;
    return fabs(a->scale) *
               ((tolerance_sum(a->D) + 8 * U) * products + inherited) +
           U * distance;
}

static double largest(const double *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; ++i)
        most = fmax(most, values[i]);
    return most;
}

/*
 * With scores off by e_j, LSE is off by at most ln(sum_j p_j exp(e_j)) = L, and
 * a weight by the factor exp(e_j + L).  On top of that: exp is right to 3 ulp
 * (6 u, on both sides of the division), the sum of Lk positive terms adds
 * tolerance_sum(Lk), the division 2.5 ulp (5 u).  Writes the relative error of
 * each weight to rel (0 for hidden keys), returns L.
 */
static double row_errors(const tolerance_attention *a, const double *q,
    const double *k, const double *p, double *rel)
{
    const double top = largest(p, a->Lk);
    double shifted = 0;
    for (size_t j = 0; j < a->Lk; ++j) {
        rel[j] = 0;
        if (p[j] > 0) {
            rel[j] = score_error(a, q, k + j * a->D, log(top) - log(p[j]));
            shifted += p[j] * exp(rel[j]);
        }
    }
    const double lse_error = shifted > 0 ? log(shifted) : 0;
    for (size_t j = 0; j < a->Lk; ++j)
        if (p[j] > 0)
            rel[j] = expm1(rel[j] + lse_error + 17 * U + tolerance_sum(a->Lk));
    return lse_error;
}

/* Column c of out: sum_j p_j v_jc.  Weights below FLT_MIN may be flushed, and
   so may the result. */
static double out_error(const tolerance_attention *a, const double *v,
    const double *p, const double *rel)
{
    double error = 0, reach = 0;
    for (size_t j = 0; j < a->Lk; ++j) {
        const double magnitude = fabs(v[j * a->Dv]);
        if (p[j] > 0) {
            error += p[j] * magnitude * (rel[j] + tolerance_sum(a->Lk));
            error += p[j] * (1 + rel[j]) * a->v_error;
            reach += 1 + magnitude;
        }
    }
    return error + FLT_MIN * reach;
}

static void row_tolerance(const tolerance_attention *a, size_t row,
    size_t kv_head, double *rel, double *out, double *lse, double *weights)
{
    const double *k = a->k + kv_head * a->Lk * a->D;
    const double *v = a->v + kv_head * a->Lk * a->Dv;
    const double *p = a->p + row * a->Lk;
    const double lse_error = row_errors(a, a->q + row * a->D, k, p, rel);

    for (size_t c = 0; c < a->Dv; ++c)
        out[row * a->Dv + c] = out_error(a, v + c, p, rel);
    for (size_t j = 0; j < a->Lk; ++j)
        weights[row * a->Lk + j] = p[j] > 0 ? p[j] * rel[j] + FLT_MIN : 0;
    /* The logarithm is right to 3 ulp and at most ln(Lk); one addition. */
    lse[row] = isfinite(a->lse[row]) ? lse_error + tolerance_sum(a->Lk) +
                                           6 * U * (1 + log((double)a->Lk)) +
                                           2 * U * fabs(a->lse[row])
                                     : 0;
}

void tolerance_of_attention(
    const tolerance_attention *a, double *out, double *lse, double *weights)
{
    double *rel = malloc((a->Lk + 1) * sizeof *rel);
    for (size_t bh = 0; rel != NULL && bh < a->B * a->Hq; ++bh) {
        const size_t b = bh / a->Hq, h = bh % a->Hq;
        const size_t kv_head = b * a->Hkv + h / (a->Hq / a->Hkv);
        for (size_t i = 0; i < a->Lq; ++i)
            row_tolerance(a, bh * a->Lq + i, kv_head, rel, out, lse, weights);
    }
    free(rel);
}

/* n_in products and the bias are one sum; an error of x passes through |w|. */
static double linear_error(const tolerance_linear *l, size_t row, size_t column)
{
    double magnitude = l->b == NULL ? 0 : fabs(l->b[column]);
    double inherited = 0;
    for (size_t n = 0; n < l->n_in; ++n) {
        const double w = fabs(l->w[n * l->n_out + column]);
        magnitude += fabs(l->x[row * l->n_in + n]) * w;
        if (l->x_error != NULL)
            inherited += l->x_error[row * l->n_in + n] * w;
    }
    return tolerance_sum(l->n_in + 1) * (magnitude + inherited) + inherited +
           FLT_MIN;
}

void tolerance_of_linear(const tolerance_linear *l, double *y)
{
    for (size_t i = 0; i < l->rows * l->n_out; ++i)
        y[i] = linear_error(l, i / l->n_out, i % l->n_out);
}
