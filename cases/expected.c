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
    e->got = calloc(count + 1, sizeof *e->got);
    return e->value != NULL && e->slack != NULL && e->got != NULL;
}

void expected_free(expected *e)
{
    free(e->value);
    free(e->slack);
    free(e->got);
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

/* Take what the tensor holds; false if that is not as much as is expected. */
static bool take(const expected *e, const arena *a, size_t slot)
{
    if (e->got == NULL || arena_elements(&a->tensor[slot]) != e->count)
        return false;
    arena_copy_dense(a, slot, e->got);
    return true;
}

/* The element that is worst off. */
static size_t find_worst(const expected *e, double *worst)
{
    size_t at = 0;
    *worst = 0;
    for (size_t i = 0; i < e->count; ++i) {
        const double off = share(e->value[i], e->slack[i], e->got[i]);
        if (off > *worst) {
            *worst = off;
            at = i;
        }
    }
    return at;
}

static void explain(
    const expected *e, const arena_tensor *t, size_t at, char *text)
{
    const size_t column = at % t->size[3], row = at / t->size[3] % t->size[2];
    const size_t item = at / t->size[3] / t->size[2];
    snprintf(text, ARENA_TEXT,
        "%s[%zu][%zu][%zu][%zu] is %.9g, but must be %.9g within %.3g", t->name,
        item / t->size[1], item % t->size[1], row, column, e->got[at],
        e->value[at], e->slack[at]);
}

bool expected_meets(
    const expected *e, const arena *a, size_t slot, char text[ARENA_TEXT])
{
    const arena_tensor *t = &a->tensor[slot];
    if (!take(e, a, slot)) {
        snprintf(text, ARENA_TEXT, "%s cannot be compared", t->name);
        return false;
    }
    double worst = 0;
    const size_t at = find_worst(e, &worst);
    if (worst > 1)
        explain(e, t, at, text);
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
    double worst = INFINITY;
    if (take(e, a, slot))
        find_worst(e, &worst);
    return worst;
}

double expected_error(const expected *e, const arena *a, size_t slot)
{
    double worst = 0;
    if (!take(e, a, slot))
        return INFINITY;
    for (size_t i = 0; i < e->count; ++i) {
        const double off = fabs(e->got[i] - e->value[i]);
        const double error = isnan(off) ? (double)INFINITY : off;
        if (isfinite(e->slack[i]) && isfinite(e->value[i]) && error > worst)
            worst = error;
    }
    return worst;
}
