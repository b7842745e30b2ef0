/* SPDX-License-Identifier: Apache-2.0
 *
 * tolerance.c - derived bounds of the rounding error of attention in f32, and
 * of its results as they are stored.
 */
#include "tolerance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "clattn/clattn.h"

static const double U = 0x1p-24;
/* From here on an f16 is an infinity. */
static const double F16_END = 65520;

double tolerance_sum(size_t n)
{
    return U * fmin((double)n, 4 * sqrt((double)n));
}

/* Half a unit in the last place of a number with `bits` of them. */
static double half_unit(double value, int bits)
{
    return value > 0 ? ldexp(1, ilogb(value) - bits) : 0;
}

/* Half a unit of the largest that it can be; below the smallest normal number
   that is half the spacing there, or all of it if the device flushes bf16's,
   which are f32's. */
double tolerance_stored(double value, double slack, int32_t dtype)
{
    const double most = fabs(value) + slack;
    if (!isfinite(most))
        return slack;
    if (dtype == CLATTN_BF16)
        return slack + fmax(half_unit(most, 8), FLT_MIN);
    if (dtype != CLATTN_F16 || fabs(value) - slack >= F16_END)
        return slack;
    return most < F16_END ? slack + fmax(half_unit(most, 11), 0x1p-25)
                          : (double)INFINITY;
}

/* ---- Scores ---------------------------------------------------------------- */

/* Of one score: how far it is off, and the magnitude of what it is made of. */
typedef struct score_bound {
    double error, magnitude;
} score_bound;

/*
 * s = scale q.k:
 *     sum of D products            tolerance_sum(D) |scale| sum|q_d k_jd|
 *     rounding scale and scaling,
 *     perhaps with log2(e) in it   8 u |scale| sum|q_d k_jd|
 *     q and k off already          |scale| (dq sum|k| + dk sum|q| + D dq dk)
 */
static score_bound scaled_bound(
    const tolerance_attention *a, const double *q, const double *k)
{
    double products = 0, q_sum = 0, k_sum = 0;
    for (size_t d = 0; d < a->D; ++d) {
        products += fabs(q[d] * k[d]);
        q_sum += fabs(q[d]);
        k_sum += fabs(k[d]);
    }
    const double inherited = a->q_error * k_sum + a->k_error * q_sum +
                             (double)a->D * a->q_error * a->k_error;
    const double scale = fabs(a->scale);
    return (score_bound){
        scale * ((tolerance_sum(a->D) + 8 * U) * products + inherited),
        scale * products};
}

/* tanh never steepens an error.  Its argument is divided and rounded (2 u each,
   and x tanh'(x) <= tanh(x)), it is right to 5 ulp (10 u), its product is
   rounded and perhaps has log2(e) in it (2 u). */
static score_bound capped_bound(const tolerance_attention *a, score_bound s)
{
    if (a->softcap > 0) {
        s.magnitude = fmin(s.magnitude, a->softcap);
        s.error += 16 * U * s.magnitude;
    }
    return s;
}

/* Each part of the bias is a product with log2(e) (2 u) and one addition. */
static score_bound final_bound(
    const tolerance_attention *a, score_bound s, double bias)
{
    if (a->bias != NULL) {
        s.magnitude += bias;
        s.error += 4 * U * s.magnitude;
    }
    return s;
}

/* Of the stage that is asked for. */
static score_bound stage_bound(const tolerance_attention *a, uint32_t stage,
    const double *q, const double *k, double bias)
{
    const score_bound scaled = scaled_bound(a, q, k);
    if (stage == CLATTN_RETURN_SCALED)
        return scaled;
    const score_bound capped = capped_bound(a, scaled);
    return stage == CLATTN_RETURN_CAPPED ? capped
                                         : final_bound(a, capped, bias);
}

/* ---- Weights ---------------------------------------------------------------- */

/* One row of the problem. */
typedef struct row {
    const tolerance_attention *a;
    const double *q, *k, *v, *p, *bias;
    const double *dropped; /* p where there is no dropout */
    double lse, sink;
    double *rel; /* relative error of each weight, 0 for hidden keys */
} row;

static double bias_at(const row *r, size_t j)
{
    return r->bias != NULL ? r->bias[j] : 0;
}

/* A sink is a key whose score is given: rounded to units of ln 2 and compared
   like the others. */
static double shift_of_sink(const row *r)
{
    if (r->a->sinks == NULL || !isfinite(r->sink))
        return 0;
    const double p = exp(r->sink - r->lse);
    return p * exp(4 * U * fabs(r->sink) + U * (r->lse - r->sink));
}

/*
 * Score j is off by its bound, and by u |s_j - max| for the rounding of that
 * difference, at most -u ln p_j.  With scores off by e_j, LSE is off by at most
 * ln(sum_j p_j exp(e_j)) = L, and a weight by the factor exp(e_j + L).  On top
 * of that: exp is right to 3 ulp (6 u, on both sides of the division), the sum
 * of Lk positive terms adds tolerance_sum(Lk), the division 2.5 ulp (5 u); a
 * sink scales once more (7 u), and so does dropout (2 u).  Fills rel, returns
 * L.
 */
static double row_errors(const row *r)
{
    const tolerance_attention *a = r->a;
    const double steps = 17 * U + (a->sinks != NULL ? 7 * U : 0) +
                         (a->dropped != NULL ? 2 * U : 0);
    double shifted = shift_of_sink(r);
    for (size_t j = 0; j < a->Lk; ++j) {
        r->rel[j] = 0;
        if (r->p[j] > 0) {
            r->rel[j] =
                stage_bound(a, 0, r->q, r->k + j * a->D, bias_at(r, j)).error -
                U * log(r->p[j]);
            shifted += r->p[j] * exp(r->rel[j]);
        }
    }
    const double lse_error = shifted > 0 ? log(shifted) : 0;
    for (size_t j = 0; j < a->Lk; ++j)
        if (r->p[j] > 0)
            r->rel[j] =
                expm1(r->rel[j] + lse_error + steps + tolerance_sum(a->Lk));
    return lse_error;
}

/* Column c of out: sum_j p_ij v_jc.  Weights below FLT_MIN may be flushed, and
   so may the result. */
static double out_error(const row *r, size_t c)
{
    const tolerance_attention *a = r->a;
    double error = 0, reach = 0;
    for (size_t j = 0; j < a->Lk; ++j) {
        const double magnitude = fabs(r->v[j * a->Dv + c]), p = r->dropped[j];
        if (r->p[j] > 0) {
            error += p * magnitude *
                     (r->rel[j] + a->weight_unit + tolerance_sum(a->Lk));
            error += p * (1 + r->rel[j]) * a->v_error;
            error += a->weight_step * magnitude;
            reach += 1 + magnitude;
        }
    }
    return error + FLT_MIN * reach * fmax(a->keep, 1);
}

static double matrix_error(const row *r, size_t j)
{
    const tolerance_attention *a = r->a;
    if (a->stage == 0)
        return r->dropped[j] > 0
                   ? r->dropped[j] * r->rel[j] + FLT_MIN * fmax(a->keep, 1)
                   : 0;
    return stage_bound(a, a->stage, r->q, r->k + j * a->D, bias_at(r, j))
               .error +
           FLT_MIN;
}

/* The logarithm is right to 3 ulp and at most ln(Lk + 1); one addition. */
static double lse_bound(const row *r, double lse_error)
{
    if (!isfinite(r->lse))
        return 0;
    const double sink = isfinite(r->sink) ? fabs(r->sink) : 0;
    return lse_error + tolerance_sum(r->a->Lk) +
           6 * U * (1 + log((double)r->a->Lk + 1)) + 2 * U * fabs(r->lse) +
           4 * U * sink;
}

static void row_tolerance(
    const row *r, double *out, double *lse, double *weights)
{
    const tolerance_attention *a = r->a;
    const double lse_error = row_errors(r);
    for (size_t c = 0; c < a->Dv; ++c)
        out[c] = out_error(r, c);
    for (size_t j = 0; j < a->Lk; ++j)
        weights[j] = matrix_error(r, j);
    *lse = lse_bound(r, lse_error);
}

bool tolerance_of_attention(
    const tolerance_attention *a, double *out, double *lse, double *weights)
{
    double *rel = malloc((a->Lk + 1) * sizeof *rel);
    if (rel == NULL)
        return false;
    for (size_t n = 0; n < a->B * a->Hq * a->Lq; ++n) {
        const size_t bh = n / a->Lq, b = bh / a->Hq, h = bh % a->Hq;
        const size_t kv = b * a->Hkv + h / (a->Hq / a->Hkv);
        const double *p = a->p + n * a->Lk;
        const row r = {.a = a,
            .q = a->q + n * a->D,
            .k = a->k + kv * a->Lk * a->D,
            .v = a->v + kv * a->Lk * a->Dv,
            .p = p,
            .dropped = a->dropped != NULL ? a->dropped + n * a->Lk : p,
            .bias = a->bias != NULL ? a->bias + n * a->Lk : NULL,
            .lse = a->lse[n],
            .sink = a->sinks != NULL ? (double)a->sinks[h] : -(double)INFINITY,
            .rel = rel};
        row_tolerance(&r, out + n * a->Dv, lse + n, weights + n * a->Lk);
    }
    free(rel);
    return true;
}

/* ---- Linear ----------------------------------------------------------------- */

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
