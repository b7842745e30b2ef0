/* SPDX-License-Identifier: Apache-2.0
 *
 * linear_case.c - problems y = x W + b, concrete, and what y must hold.
 */
#include "linear_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "error.h"
#include "tolerance.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const linear_case TABLE[] = {
    /* a sentence, rows, n_in, n_out, order, bias, padded */
    {"smallest problem", 1, 1, 1, CLATTN_IN_OUT, false, false, 0},
    {"smallest problem, transposed", 1, 1, 1, CLATTN_OUT_IN, true, false, 0},
    {"no rows", 0, 5, 7, CLATTN_OUT_IN, true, false, 0},
    {"one row", 1, 67, 45, CLATTN_OUT_IN, true, false, 0},
    {"one output", 45, 67, 1, CLATTN_OUT_IN, true, false, 0},
    {"one input", 45, 1, 67, CLATTN_IN_OUT, true, false, 0},
    {"tiles exactly", 32, 64, 16, CLATTN_IN_OUT, true, false, 0},
    {"tiles exactly, transposed", 32, 64, 16, CLATTN_OUT_IN, true, false, 0},
    {"one above the tiles", 17, 33, 65, CLATTN_IN_OUT, false, true, 0},
    {"one below the tiles", 15, 31, 63, CLATTN_OUT_IN, false, true, 0},
    {"a long sum", 3, 5000, 4, CLATTN_IN_OUT, true, false, 0},
    {"a long sum, transposed", 3, 5000, 4, CLATTN_OUT_IN, true, true, 0},
    {"a model's layer", 14, 384, 384, CLATTN_OUT_IN, true, false, 0},
};

enum {
    SWEEP = 70
};

size_t linear_case_count(void)
{
    return COUNT(TABLE) + SWEEP;
}

/* 31 and 17 share no factor with 70: all three sizes take all values. */
linear_case linear_case_at(size_t index)
{
    if (index < COUNT(TABLE)) {
        linear_case c = TABLE[index];
        c.seed = index;
        return c;
    }
    const size_t n = index - COUNT(TABLE);
    return (linear_case){.about = "sweep of sizes",
        .rows = n + 1,
        .n_in = n * 31 % SWEEP + 1,
        .n_out = n * 17 % SWEEP + 1,
        .order = n % 2 ? CLATTN_IN_OUT : CLATTN_OUT_IN,
        .bias = n / 2 % 2 != 0,
        .padded = n / 4 % 2 != 0,
        .seed = index};
}

const char *linear_case_text(const linear_case *c, char text[ARENA_TEXT])
{
    snprintf(text, ARENA_TEXT,
        "%s (seed %" PRIu64 "): rows %zu, n_in %zu, n_out %zu, %s%s%s",
        c->about, c->seed, c->rows, c->n_in, c->n_out,
        c->order == CLATTN_IN_OUT ? "[in, out]" : "[out, in]",
        c->bias ? ", bias" : "", c->padded ? ", padded" : "");
    return text;
}

static arena_tensor matrix(
    const char *name, size_t rows, size_t columns, const linear_case *c)
{
    arena_tensor t = {
        .name = name, .size = {1, 1, rows, columns}, .memory = ARENA_NEW};
    if (c->padded) {
        t.stride[2] = columns + 1 + rows % 4;
        t.offset = 1 + columns % 3;
    }
    return t;
}

static void place(arena *a, const linear_case *c)
{
    const bool in_out = c->order == CLATTN_IN_OUT;
    arena_tensor y = matrix("y", c->rows, c->n_out, c);
    y.output = true;
    arena_place(a, LINEAR_X, matrix("x", c->rows, c->n_in, c));
    arena_place(a, LINEAR_W,
        matrix(
            "w", in_out ? c->n_in : c->n_out, in_out ? c->n_out : c->n_in, c));
    if (c->bias)
        arena_place(a, LINEAR_B,
            (arena_tensor){.name = "b",
                .size = {1, 1, 1, c->n_out},
                .memory = ARENA_NEW,
                .offset = c->padded ? 3 : 0});
    arena_place(a, LINEAR_Y, y);
}

static void fill(arena *a, size_t slot, draw *d)
{
    const arena_tensor *t = &a->tensor[slot];
    for (size_t row = 0; row < t->size[2]; ++row)
        for (size_t column = 0; column < t->size[3]; ++column)
            *arena_at(a, slot, 0, 0, row, column) = draw_value(d);
}

bool linear_trial_create(linear_trial *trial, const linear_case *c)
{
    *trial = (linear_trial){.of = *c};
    arena *a = &trial->memory;
    if (!arena_sizes_fit(
            1, 1, arena_sum(c->rows, c->n_in), arena_sum(c->n_in, c->n_out)))
        return false;
    place(a, c);

    clattn_linear *p = &trial->problem;
    clattn_linear_init(p, sizeof *p);
    p->rows = c->rows, p->n_in = c->n_in, p->n_out = c->n_out;
    p->x = arena_strides(a, LINEAR_X);
    p->w = arena_strides(a, LINEAR_W);
    p->y = arena_strides(a, LINEAR_Y);
    p->dtype = CLATTN_F32;
    p->weight_order = c->order;
    p->has_bias = c->bias;

    if (!arena_allocate(a)) {
        linear_trial_destroy(trial);
        return false;
    }
    draw d = draw_start(c->seed);
    fill(a, LINEAR_X, &d);
    fill(a, LINEAR_W, &d);
    if (c->bias)
        fill(a, LINEAR_B, &d);
    arena_remember(a);
    return true;
}

void linear_trial_destroy(linear_trial *trial)
{
    arena_free(&trial->memory);
}

clattn_linear_args linear_trial_args(
    const linear_trial *trial, const cl_mem *buffers)
{
    const arena *a = &trial->memory;
    return (clattn_linear_args){.struct_size = sizeof(clattn_linear_args),
        .y = arena_output(a, LINEAR_Y, buffers),
        .x = arena_input(a, LINEAR_X, buffers),
        .w = arena_input(a, LINEAR_W, buffers),
        .b = arena_input(a, LINEAR_B, buffers)};
}

double *transposed(const double *w, size_t rows, size_t columns)
{
    double *turned = malloc((rows * columns + 1) * sizeof *turned);
    for (size_t i = 0; turned != NULL && i < rows * columns; ++i)
        turned[i % columns * rows + i / columns] = w[i];
    return turned;
}

/* Run the reference on dense copies and derive the slack. */
static clattn_status judge(expected *e, const linear_trial *trial,
    const double *x, const double *w, const double *b, clattn_error *error)
{
    const linear_case *c = &trial->of;
    const bool in_out = c->order == CLATTN_IN_OUT;
    clattn_linear problem = trial->problem;
    problem.x = problem.w = problem.y = (clattn_tensor){.row = 0};
    problem.dtype = CLATTN_F64;
    problem.kernel = NULL;
    const clattn_linear_args args = {.struct_size = sizeof args,
        .y = {.host = e->value},
        .x = {.host = x},
        .w = {.host = w},
        .b = {.host = b}};
    const clattn_status status =
        clattn_linear_reference(&problem, &args, error);
    double *w_in_out = in_out ? transposed(w, 1, c->n_in * c->n_out)
                              : transposed(w, c->n_out, c->n_in);
    if (w_in_out == NULL)
        return error_set(
            error, CLATTN_NO_MEMORY, "no memory for the weights, turned");
    const tolerance_linear values = {.rows = c->rows,
        .n_in = c->n_in,
        .n_out = c->n_out,
        .x = x,
        .w = w_in_out,
        .b = b};
    tolerance_of_linear(&values, e->slack);
    free(w_in_out);
    return status;
}

clattn_status linear_expect(
    expected *e, const linear_trial *trial, clattn_error *error)
{
    const arena *a = &trial->memory;
    const bool bias = trial->of.bias;
    double *x = arena_dense(a, LINEAR_X);
    double *w = arena_dense(a, LINEAR_W);
    double *b = bias ? arena_dense(a, LINEAR_B) : NULL;
    clattn_status status = CLATTN_OK;
    if (expected_create(e, trial->of.rows * trial->of.n_out) && x != NULL &&
        w != NULL && (b != NULL || !bias))
        status = judge(e, trial, x, w, b, error);
    else
        status = error_set(
            error, CLATTN_NO_MEMORY, "no memory for what a product must give");
    free(x);
    free(w);
    free(b);
    return status;
}

bool linear_meets(
    const expected *e, const linear_trial *trial, char text[ARENA_TEXT])
{
    return expected_meets(e, &trial->memory, LINEAR_Y, text) &&
           arena_unharmed(&trial->memory, text);
}
