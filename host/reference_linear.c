/* SPDX-License-Identifier: Apache-2.0
 *
 * reference_linear.c - y = x W + b in double precision.
 */
#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "operand.h"
#include "problem.h"
#include "reference.h"

static void load_weights(
    double *to, const reference_map *map, size_t i, size_t columns)
{
    convert_load(
        to, map->w, map->dtype, map->w_first + i * map->w_row, columns);
}

/* y_n += sum_m x_m W_mn, W row by row as it lies */
static void add_in_out(
    double *y, const double *x, const reference_map *map, double *scratch)
{
    for (size_t m = 0; m < map->n_in; ++m) {
        load_weights(scratch, map, m, map->n_out);
        for (size_t n = 0; n < map->n_out; ++n)
            y[n] += x[m] * scratch[n];
    }
}

static void add_out_in(
    double *y, const double *x, const reference_map *map, double *scratch)
{
    for (size_t n = 0; n < map->n_out; ++n) {
        load_weights(scratch, map, n, map->n_in);
        for (size_t m = 0; m < map->n_in; ++m)
            y[n] += x[m] * scratch[m];
    }
}

void reference_map_row(
    double *y, const double *x, const reference_map *map, double *scratch)
{
    for (size_t n = 0; n < map->n_out; ++n)
        y[n] = 0.0;
    if (map->b != NULL)
        convert_load(y, map->b, map->dtype, map->b_first, map->n_out);
    if (map->weight_order == CLATTN_IN_OUT)
        add_in_out(y, x, map, scratch);
    else
        add_out_in(y, x, map, scratch);
}

static clattn_status map_all_rows(
    const clattn_linear *l, const clattn_linear_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const size_t widest = l->n_in > l->n_out ? l->n_in : l->n_out;
    const reference_map map = {
        .w = args->w.host,
        .b = l->has_bias ? args->b.host : NULL,
        .w_first = args->w.offset,
        .b_first = args->b.offset,
        .w_row = l->w.row,
        .n_in = l->n_in,
        .n_out = l->n_out,
        .dtype = l->w.dtype,
        .weight_order = l->weight_order,
    };
    double *x = calloc(widest, sizeof *x);
    double *y = calloc(widest, sizeof *y);
    double *scratch = calloc(widest, sizeof *scratch);

    if (x == NULL || y == NULL || scratch == NULL)
        TRY(error_set(error, CLATTN_NO_MEMORY,
            "no memory for rows of %zu columns", widest));
    for (size_t i = 0; i < l->rows; ++i) {
        convert_load(x, args->x.host, l->x.dtype, args->x.offset + i * l->x.row,
            l->n_in);
        reference_map_row(y, x, &map, scratch);
        convert_store(args->y.host, l->y.dtype, args->y.offset + i * l->y.row,
            y, l->n_out);
    }

cleanup:
    free(x);
    free(y);
    free(scratch);
    return status;
}

clattn_status clattn_linear_reference(const clattn_linear *linear,
    const clattn_linear_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_linear complete;
    clattn_linear_args taken;
    operand list[MAX_OPERANDS];

    TRY(problem_linear(&complete, linear, true, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    const size_t count = operands_of_linear(list, &complete, &taken);
    TRY(operands_check(list, count, OPERANDS_ON_HOST, error));
    TRY(map_all_rows(&complete, &taken, error));
    status = error_none(error);

cleanup:
    return status;
}
