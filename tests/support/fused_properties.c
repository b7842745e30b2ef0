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

/* Of the last item's first head.  An item of two rows has 28 and 29. */
void fused_check_nan(fused *clean, fused *bad, int way)
{
    static const float BAD[] = {NAN, INFINITY};
    const size_t b = bad->of.items - 1, bytes = bad->of.Dv * sizeof(float);
    *fused_key(bad, way < 2 ? FUSED_K : FUSED_V, b, 0, 31, 3) = BAD[way % 2];
    fused_run(clean);
    fused_run(bad);
    for (size_t i = 0; i < bad->of.Lq; ++i) {
        const float *one = fused_out(clean, b, 0, i, 0);
        const float *other = fused_out(bad, b, 0, i, 0);
        ck_assert_msg(i < 29 ? memcmp(one, other, bytes) == 0
                             : way == 1 || !isfinite(other[3]),
            "%s: row %zu is %g, and %g without", bad->text, i, (double)other[3],
            (double)one[3]);
    }
    fused_destroy(clean);
    fused_destroy(bad);
}

void fused_check_mean(fused *p)
{
    const fused_case *c = &p->of;
    const size_t last = c->Dv - 1;
    for (size_t at = 0; at < c->Lq * c->D; ++at)
        *arena_at(&p->memory, FUSED_Q, 0, 1, at / c->D, at % c->D) = 0;
    fused_run(p);
    for (size_t i = 0; i < c->Lq; ++i) {
        double sum = 0;
        const size_t seen = i + 3 < c->Lk ? i + 3 : c->Lk;
        for (size_t j = 0; j < seen; ++j)
            sum += *fused_key(p, FUSED_V, 0, 1, j, last);
        const double got = *fused_out(p, 0, 1, i, last);
        ck_assert_msg(fabs(got - sum / (double)seen) <= 8 * 1.1e-7,
            "%s: row %zu is %.9g, but must be %.9g", p->text, i, got,
            sum / (double)seen);
    }
    fused_destroy(p);
}
