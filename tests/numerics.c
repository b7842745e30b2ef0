/* SPDX-License-Identifier: Apache-2.0
 *
 * numerics.c - how far the results are from the exact ones, beside how far a
 * plain f32 evaluation of the formula is: the table of docs/NUMERICS.md.
 *
 *   numerics [DRAWS]    of each storage, 1000 by default
 *
 * Not a test of its own: it takes minutes, and says so much in numbers that a
 * person reads them.  The same draws are tests with a bound each in
 * test_differential.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "attention_plain.h"

enum {
    DRAWS = 1000,
    SHAPES = 40 /* of one configuration, so that programs are few */
};

/* Whose results are measured. */
static const char *const WAYS[] = {
    "plain f32", "fused", "materialised", "tiled16"};

enum {
    N_WAYS = sizeof WAYS / sizeof WAYS[0]
};

/* Errors of one output over all draws of one storage, each as a share of the
   largest number in its draw's output. */
typedef struct errors {
    double largest, sum;
    size_t count;
} errors;

static double largest_of(const expected *exact)
{
    double largest = 0;
    for (size_t n = 0; n < exact->count; ++n)
        if (isfinite(exact->value[n]))
            largest = fmax(largest, fabs(exact->value[n]));
    return largest > 0 ? largest : 1;
}

static void add_errors(
    errors *e, const expected *exact, const arena *a, size_t slot)
{
    double *got = arena_dense(a, slot);
    const double size = largest_of(exact);
    for (size_t n = 0; got != NULL && n < exact->count; ++n) {
        const double error = fabs(got[n] - exact->value[n]) / size;
        if (!isfinite(exact->value[n]) || isinf(exact->slack[n]))
            continue;
        if (!(error <= e->largest))
            e->largest = error;
        e->sum += error;
        ++e->count;
    }
    free(got);
}

/* False if the way does not compute such problems, or fails. */
static bool compute(
    attention_trial *trial, const char *way, clattn_context *ctx)
{
    clattn_error error;
    arena_restore(&trial->memory);
    if (strcmp(way, WAYS[0]) == 0)
        return attention_plain(trial, &PLAIN);
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    trial->problem.kernel = way;
    const clattn_status status =
        clattn_attention_host(ctx, &trial->problem, &args, &error);
    if (status != CLATTN_OK)
        fprintf(stderr, "%s: %s\n", way, error.message);
    return status == CLATTN_OK;
}

/* Numbers in [-1, 1) and every option, in one storage; no matrix, since that
   takes another path. */
static attention_case draw_case(int32_t dtype, size_t index)
{
    attention_case c = attention_case_configure(index / SHAPES);
    attention_case_reshape(&c, 1000003 * (uint64_t)dtype + index);
    c.dtype.q = c.dtype.k = c.dtype.v = c.dtype.out = dtype;
    c.fill = FILL_RANDOM;
    c.returns = CLATTN_RETURN_LSE;
    c.precision = CLATTN_PRECISION_F32;
    attention_case_mend(&c);
    return c;
}

static bool measure(
    errors out[], errors lse[], const attention_case *c, clattn_context *ctx)
{
    clattn_error error;
    attention_trial trial;
    attention_expected exact;
    if (!attention_trial_create(&trial, c))
        return false;
    bool done = attention_expect(&exact, &trial, &error) == CLATTN_OK;
    for (size_t way = 0; done && way < N_WAYS; ++way) {
        done = compute(&trial, WAYS[way], ctx);
        if (done) {
            add_errors(&out[way], &exact.out, &trial.memory, SLOT_OUT);
            add_errors(&lse[way], &exact.lse, &trial.memory, SLOT_LSE);
        }
    }
    attention_expected_free(&exact);
    attention_trial_destroy(&trial);
    return done;
}

static double mean(const errors *e)
{
    return e->count > 0 ? e->sum / (double)e->count : 0;
}

static void print_rows(
    const char *storage, const char *output, const errors e[])
{
    for (size_t way = 0; way < N_WAYS; ++way)
        printf("| %s | %s | %s | %.2e | %.2e | %.2f | %.2f |\n", storage,
            output, WAYS[way], e[way].largest, mean(&e[way]),
            e[way].largest / e[0].largest, mean(&e[way]) / mean(&e[0]));
}

static bool measure_storage(
    const char *storage, int32_t dtype, size_t draws, clattn_context *ctx)
{
    errors out[N_WAYS] = {{0, 0, 0}}, lse[N_WAYS] = {{0, 0, 0}};
    for (size_t n = 0; n < draws; ++n) {
        const attention_case c = draw_case(dtype, n);
        char text[ARENA_TEXT];
        if (!measure(out, lse, &c, ctx)) {
            fprintf(stderr, "failed: %s\n", attention_case_text(&c, text));
            return false;
        }
    }
    print_rows(storage, "out", out);
    print_rows(storage, "lse", lse);
    return true;
}

int main(int argc, char **argv)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    const size_t draws = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : DRAWS;
    if (clattn_context_create(&ctx, NULL, &error) != CLATTN_OK) {
        fprintf(stderr, "%s\n", error.message);
        return EXIT_FAILURE;
    }
    printf("| storage | output | computed by | largest | mean | largest / "
           "plain | mean / plain |\n|---|---|---|---|---|---|---|\n");
    const bool done = measure_storage("f32", CLATTN_F32, draws, ctx) &&
                      measure_storage("f16", CLATTN_F16, draws, ctx) &&
                      measure_storage("bf16", CLATTN_BF16, draws, ctx);
    clattn_context_destroy(ctx);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
