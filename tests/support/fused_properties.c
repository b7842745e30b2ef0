/* SPDX-License-Identifier: Apache-2.0
 *
 * fused_properties.c - fused kernels alone: what every case must be, and what
 * needs no formula.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "fused.h"

void fused_check_run(fused *p, bool exact_ends)
{
    if (exact_ends)
        kernel_cut_guards(&p->memory);
    fused_run(p);
    fused_check(p);
    fused_destroy(p);
}

/* Of the last item's first head.  An item of two rows has 28 and 29.  Columns are
   two, for units deal them out by twos. */
void fused_check_nan(fused *clean, fused *bad, int way)
{
    static const float BAD[] = {NAN, INFINITY};
    const size_t b = bad->of.items - 1, bytes = bad->of.Dv * sizeof(float);
    for (size_t column = 2; column <= 3; ++column)
        *fused_key(bad, way < 2 ? FUSED_K : FUSED_V, b, 0, 31, column) =
            BAD[way % 2];
    fused_run(clean);
    fused_run(bad);
    for (size_t i = 0; i < bad->of.Lq; ++i) {
        const float *one = fused_out(clean, b, 0, i, 0);
        const float *other = fused_out(bad, b, 0, i, 0);
        ck_assert_msg(
            i < 29 ? memcmp(one, other, bytes) == 0
                   : way == 1 || (!isfinite(other[2]) && !isfinite(other[3])),
            "%s: row %zu is %.9g, %.9g, and %.9g, %.9g without", bad->text, i,
            (double)other[2], (double)other[3], (double)one[2], (double)one[3]);
    }
    fused_destroy(clean);
    fused_destroy(bad);
}

static double product(const fused *p, size_t i, size_t j)
{
    double sum = 0;
    for (size_t d = 0; d < p->of.D; ++d)
        sum += *arena_at(&p->memory, FUSED_Q, 0, 1, i, d) *
               *fused_key(p, FUSED_K, 0, 1, j, d);
    return sum;
}

/* Of the first item's second head, in the last column. */
static void check_mean_of_best(fused *p)
{
    const fused_case *c = &p->of;
    const size_t last = c->Dv - 1;
    const double stored = p->dtype[FUSED_OUT] == CLATTN_F16 ? 0x1p-11 : 0;
    for (size_t i = 0; i < c->Lq; ++i) {
        double sum = 0, count = 0, best = -INFINITY;
        for (size_t j = 0; j < c->Lk; ++j) {
            if (!rules_sees(&p->rules, 0, 1, i, j))
                continue;
            const double s = product(p, i, j);
            if (s > best)
                best = s, sum = 0, count = 0;
            if (s == best) {
                sum += *fused_key(p, FUSED_V, 0, 1, j, last);
                ++count;
            }
        }
        const double mean = sum / count, got = *fused_out(p, 0, 1, i, last);
        ck_assert_msg(fabs(got - mean) <= 8 * 1.1e-7 + stored * fabs(mean),
            "%s: row %zu is %.9g, but must be %.9g", p->text, i, got, mean);
    }
}

void fused_check_mean(fused *p)
{
    const fused_case *c = &p->of;
    for (size_t at = 0; at < c->Lq * c->D; ++at)
        *arena_at(&p->memory, FUSED_Q, 0, 1, at / c->D, at % c->D) = 0;
    fused_run(p);
    check_mean_of_best(p);
    fused_destroy(p);
}

void fused_check_vast(fused *p)
{
    p->params.scale = 1e7f;
    fused_run(p);
    check_mean_of_best(p);
    fused_destroy(p);
}
