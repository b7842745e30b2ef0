/* SPDX-License-Identifier: Apache-2.0
 *
 * expected.c - comparing an output with what it must hold.
 */
#include "expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool expected_create(expected *e, size_t count)
{
    e->count = count;
    e->value = calloc(count + 1, sizeof *e->value);
    e->slack = calloc(count + 1, sizeof *e->slack);
    return e->value != NULL && e->slack != NULL;
}

void expected_free(expected *e)
{
    free(e->value);
    free(e->slack);
    *e = (expected){.count = 0};
}

/* How many slacks `got` is off: at most 1 is right. */
static double share(double want, double slack, double got)
{
    if (isinf(slack))
        return 0;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (want == got)
        return 0;
    return slack > 0 ? fabs(got - want) / slack : INFINITY;
}

/* The element that is worst off. */
static size_t find_worst(const expected *e, const double *got, double *worst)
{
    size_t at = 0;
    *worst = 0;
    for (size_t i = 0; i < e->count; ++i) {
        const double off = share(e->value[i], e->slack[i], got[i]);
        if (off > *worst) {
            *worst = off;
            at = i;
        }
    }
    return at;
}

static void explain(
    const expected *e, const arena_tensor *t, size_t at, double got, char *text)
{
    const size_t column = at % t->size[3], row = at / t->size[3] % t->size[2];
    const size_t item = at / t->size[3] / t->size[2];
    snprintf(text, ARENA_TEXT,
        "%s[%zu][%zu][%zu][%zu] is %.9g, but must be %.9g within %.3g", t->name,
        item / t->size[1], item % t->size[1], row, column, got, e->value[at],
        e->slack[at]);
}

bool expected_meets(
    const expected *e, const arena *a, size_t slot, char text[ARENA_TEXT])
{
    const arena_tensor *t = &a->tensor[slot];
    double *got = arena_dense(a, slot);
    if (got == NULL || e->value == NULL || arena_elements(t) != e->count) {
        snprintf(text, ARENA_TEXT, "%s cannot be compared", t->name);
        free(got);
        return false;
    }
    double worst = 0;
    const size_t at = find_worst(e, got, &worst);
    if (worst > 1)
        explain(e, t, at, got[at], text);
    free(got);
    return worst <= 1;
}

bool expected_written(
    const expected *e, const arena *a, size_t slot, char text[ARENA_TEXT])
{
    const arena_tensor *t = &a->tensor[slot];
    for (size_t n = 0; n < e->count; ++n) {
        const size_t row = n / t->size[3], bh = row / t->size[2];
        const size_t b = bh / t->size[1], h = bh % t->size[1];
        if (!isnan(e->value[n]) || isinf(e->slack[n]) ||
            !arena_is_poison(a, slot, b, h, row % t->size[2], n % t->size[3]))
            continue;
        snprintf(text, ARENA_TEXT,
            "%s[%zu][%zu][%zu][%zu] must be NaN, but has the very bits of "
            "what is not to be read",
            t->name, b, h, row % t->size[2], n % t->size[3]);
        return false;
    }
    return true;
}

double expected_worst(const expected *e, const arena *a, size_t slot)
{
    double *got = arena_dense(a, slot);
    double worst = INFINITY;
    if (got != NULL)
        find_worst(e, got, &worst);
    free(got);
    return worst;
}

double expected_error(const expected *e, const arena *a, size_t slot)
{
    double *got = arena_dense(a, slot);
    double worst = got != NULL ? 0 : INFINITY;
    for (size_t i = 0; got != NULL && i < e->count; ++i) {
        const double off = fabs(got[i] - e->value[i]);
        const double error = isnan(off) ? (double)INFINITY : off;
        if (isfinite(e->slack[i]) && isfinite(e->value[i]) && error > worst)
            worst = error;
    }
    free(got);
    return worst;
}
