/* SPDX-License-Identifier: Apache-2.0
 *
 * expect.c - a result compared with a stored one, in double precision.
 */
#include "expect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "text.h"
#include "values.h"

bool expectation_parse(expectation *e, const options *given, failure *f)
{
    static const option_id NEEDS[] = {OPTION_EXPECT};
    const char *tolerance = given->value[OPTION_TOLERANCE];
    *e = (expectation){.path = given->value[OPTION_EXPECT], .tolerance = 1e-5f};
    if (!options_need(given, OPTION_TOLERANCE, NEEDS, 1, f))
        return false;
    if (!tolerance)
        return true;
    if (!value_float(&e->tolerance, OPTION_TOLERANCE, tolerance, f))
        return false;
    return e->tolerance >= 0.0f ||
           fail(f, "--tolerance %s is below 0", tolerance);
}

static bool widen(expectation *e, const npy_array *array, failure *f)
{
    clattn_error error;
    e->count = array->count;
    if (array->count <= SIZE_MAX / sizeof *e->values)
        e->values = malloc((e->count ? e->count : 1) * sizeof *e->values);
    if (!e->values)
        return fail(f, "%s: no memory for %zu values", e->path, array->count);
    clattn_convert(
        e->values, CLATTN_F64, array->data, array->dtype, array->count, &error);
    return error.status == CLATTN_OK ||
           fail(f, "%s: %s", e->path, error.message);
}

bool expectation_load(
    expectation *e, size_t rank, const size_t *size, failure *f)
{
    char here[200];
    char there[200];
    npy_array array;
    if (!e->path)
        return true;
    if (!npy_read(&array, e->path, NPY_NO_BF16, f))
        return false;
    bool done = true;
    if (array.rank != rank || memcmp(array.size, size, rank * sizeof *size))
        done = fail(f, "%s has shape %s, but the output has %s", e->path,
            npy_shape_text(there, array.rank, array.size),
            npy_shape_text(here, rank, size));
    done = done && widen(e, &array, f);
    npy_free(&array);
    return done;
}

void expectation_free(expectation *e)
{
    free(e->values);
    e->values = NULL;
}

/* NaN if one of the two alone is NaN. */
static double difference(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0.0;
    return fabs(a - b);
}

/* Where the difference is largest; one that is NaN comes before all. */
static size_t find_worst(const expectation *e, const float *result)
{
    size_t worst = 0;
    double most = -1.0;
    for (size_t i = 0; i < e->count; i++) {
        const double d = difference((double)result[i], e->values[i]);
        if (isnan(d))
            return i;
        if (d > most) {
            most = d;
            worst = i;
        }
    }
    return worst;
}

/* "(1, 3, 17)" */
static void print_index(
    char *text, size_t bytes, const npy_array *array, size_t element)
{
    size_t index[NPY_MAX_RANK] = {0};
    for (size_t i = array->rank; i-- > 0; element /= array->size[i])
        index[i] = element % array->size[i];
    size_t used = 0;
    for (size_t i = 0; i < array->rank; i++)
        used += (size_t)snprintf(
            text + used, bytes - used, "%s%zu", i ? ", " : "(", index[i]);
    snprintf(text + used, bytes - used, ")");
}

static void print_path(FILE *to, const expectation *e)
{
    fputs("expected  ", to);
    text_put(to, e->path);
    fputs(": ", to);
}

bool expectation_check(
    const expectation *e, const npy_array *result, FILE *to, failure *f)
{
    char where[200];
    const float *values = result->data;
    if (!e->path)
        return true;
    if (e->count == 0) {
        if (to) {
            print_path(to, e);
            fprintf(to, "no elements to compare\n");
        }
        return true;
    }
    const size_t worst = find_worst(e, values);
    const double got = (double)values[worst];
    const double d = difference(got, e->values[worst]);
    if (to) {
        print_path(to, e);
        fprintf(to, "largest difference %.2g, allowed %.2g\n", d,
            (double)e->tolerance);
    }
    if (d <= (double)e->tolerance)
        return true;
    print_index(where, sizeof where, result, worst);
    return fail(f,
        "%s: element %s is %.9g in the output and %.9g in the file, but a "
        "difference of %.2g is allowed",
        e->path, where, got, e->values[worst], (double)e->tolerance);
}
