/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_judge.c - decides whether an output is what a case expects.
 */
#include "onnx_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clattn/clattn.h"
#include "onnx_case.h"

/* ---- Comparing ----------------------------------------------------------- */

static double element(const void *values, int32_t dtype, size_t i)
{
    double value = (double)NAN;
    clattn_convert(&value, CLATTN_F64,
        (const char *)values + i * onnx_dtype_bytes(dtype), dtype, 1, NULL);
    return value;
}

/* The distance of |value|'s neighbours: digits and least exponent of the
   format. */
static double ulp(double value, int32_t dtype)
{
    const int digits = dtype == CLATTN_F16 ? 11 : dtype == CLATTN_BF16 ? 8 : 24;
    const int least = dtype == CLATTN_F16 ? -14 : -126;
    int exponent = 0;

    if (value == 0.0 || !isfinite(value))
        return ldexp(1.0, least - digits + 1);
    frexp(value, &exponent); /* value is 0.5 to 1 times 2^exponent */
    return ldexp(
        1.0, (exponent - 1 > least ? exponent - 1 : least) - digits + 1);
}

static double distance(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0.0;
    const double error = fabs(got - want);
    return isfinite(error) ? error : (double)INFINITY;
}

static void include(onnx_difference *d, size_t i, double got, double want,
    int32_t dtype, onnx_limit limit)
{
    const double error = distance(got, want);
    const double unit = ulp(want, dtype);
    const double size = isfinite(want) ? fabs(want) : 0.0;
    const double allowed = limit.atol + limit.rtol * size + limit.ulps * unit;
    /* No limit at all is a limit of 0. */
    const double share = error == 0.0    ? 0.0
                         : allowed > 0.0 ? error / allowed
                                         : (double)INFINITY;

    d->absolute = fmax(d->absolute, error);
    d->ulps = fmax(d->ulps, error / unit);
    if (size > 0.0)
        d->relative = fmax(d->relative, error / size);
    if (share > d->share) {
        d->share = share;
        d->worst = i;
    }
}

onnx_difference onnx_compare(const void *got, const void *want, int32_t dtype,
    size_t count, onnx_limit limit)
{
    onnx_difference d = {.share = 0.0};
    for (size_t i = 0; i < count; ++i)
        include(&d, i, element(got, dtype, i), element(want, dtype, i), dtype,
            limit);
    return d;
}

/* ---- Judging ------------------------------------------------------------- */

/* "Y[0,2,1,7]" */
static const char *place(
    char text[100], const char *name, const npy_array *like, size_t i)
{
    size_t index[NPY_MAX_RANK] = {0};
    int at = snprintf(text, 100, "%.20s", name);

    for (size_t axis = like->rank; axis-- > 0; i /= like->size[axis])
        index[axis] = i % like->size[axis];
    for (size_t axis = 0; axis < like->rank && at < 90; ++axis)
        at += snprintf(text + at, 100 - (size_t)at, "%c%zu",
            axis == 0 ? '[' : ',', index[axis]);
    snprintf(text + at, 100 - (size_t)at, "]");
    return text;
}

static bool refuse(const char *name, const npy_array *like, const void *got,
    const void *want, const char *whose, const onnx_difference *d, failure *f)
{
    char text[100];
    return fail(f, "%s is %.9g, but %.9g is %s: %.3g of the limit",
        place(text, name, like, d->worst), element(got, like->dtype, d->worst),
        element(want, like->dtype, d->worst), whose, d->share);
}

static bool judge_f32(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, failure *f)
{
    const onnx_limit limit = {ONNX_F32, ONNX_F32, 0};
    const onnx_difference d =
        onnx_compare(got, stored->data, CLATTN_F32, stored->count, limit);

    snprintf(report, ONNX_REPORT, "%s f32 abs %.1e rel %.1e", name, d.absolute,
        d.relative);
    return d.share <= 1.0 ||
           refuse(name, stored, got, stored->data, "stored", &d, f);
}

static bool judge_half(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, const void *exact, onnx_limit own,
    failure *f)
{
    const onnx_limit rounding = {ONNX_F32, ONNX_F32, 1};
    const int32_t dtype = stored->dtype;
    const onnx_difference computed =
        onnx_compare(got, exact, dtype, stored->count, rounding);
    const onnx_difference meaning =
        onnx_compare(exact, stored->data, dtype, stored->count, own);

    snprintf(report, ONNX_REPORT,
        "%s %s exact %.2g ulp, exact to stored %.2g ulp %.3f of limit", name,
        onnx_dtype_name(dtype), computed.ulps, meaning.ulps, meaning.share);
    if (!(computed.share <= 1.0))
        return refuse(name, stored, got, exact, "exact", &computed, f);
    return meaning.share <= 1.0 ||
           refuse(name, stored, exact, stored->data, "stored", &meaning, f);
}

bool onnx_judge(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, const void *exact, onnx_limit own,
    failure *f)
{
    return stored->dtype == CLATTN_F32
               ? judge_f32(report, name, stored, got, f)
               : judge_half(report, name, stored, got, exact, own, f);
}

bool onnx_judge_copy(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, failure *f)
{
    char text[100];
    const size_t bytes = onnx_dtype_bytes(stored->dtype);
    const char *a = got, *b = stored->data;
    size_t i = 0;

    while (
        i < stored->count && memcmp(a + i * bytes, b + i * bytes, bytes) == 0)
        ++i;
    snprintf(report, ONNX_REPORT, "%s same bits", name);
    return i == stored->count ||
           fail(f, "%s is %.9g, but %.9g is stored: every bit must be the same",
               place(text, name, stored, i), element(got, stored->dtype, i),
               element(b, stored->dtype, i));
}
