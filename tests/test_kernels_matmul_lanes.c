/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_matmul_lanes.c - products by the row "matmul_lanes" in all widths,
 * storages and orders, with heads and items, and through linear and layer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "convert.h"
#include "draw.h"
#include "guard_page.h"
#include "opencl.h"
#include "run.h"
#include "suite.h"
#include "tolerance.h"

enum {
    F32 = CLATTN_F32,
    F16 = CLATTN_F16,
    BF16 = CLATTN_BF16,
    GUARD = 50 /* elements that belong to nobody */
};

typedef struct product {
    const char *about;
    size_t items, heads, group, own_b;
    size_t M, N, K;
    int by_n, bias, gaps; /* by_n: a row of b is a column of c */
    int32_t a, b, c;      /* storage */
} product;

static const product PRODUCTS[] = {
    {"one of all", 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, F32, F32, F32},
    {"one row", 1, 1, 1, 0, 1, 77, 301, 0, 1, 1, F32, F32, F32},
    {"one row, by n", 1, 1, 1, 0, 1, 77, 301, 1, 1, 1, F32, F32, F32},
    {"one column", 1, 1, 1, 0, 77, 1, 301, 1, 1, 1, F32, F32, F32},
    {"a long sum", 1, 1, 1, 0, 3, 5, 5000, 0, 1, 0, F32, F32, F32},
    {"a long sum, by n", 1, 1, 1, 0, 3, 5, 5000, 1, 0, 1, F32, F32, F32},
    {"a long sum from panels", 1, 1, 1, 0, 260, 3, 1500, 1, 1, 0, F32, F32,
        F32},
    {"blocks exactly", 1, 1, 1, 0, 384, 256, 192, 0, 1, 0, F32, F32, F32},
    {"one more of each", 1, 1, 1, 0, 385, 257, 193, 0, 1, 1, F32, F32, F32},
    {"one less of each", 1, 1, 1, 0, 383, 255, 191, 1, 1, 1, F32, F32, F32},
    {"panels, by n", 1, 1, 1, 0, 301, 70, 400, 1, 1, 1, F32, F32, F32},
    {"f16 throughout", 1, 1, 1, 0, 301, 70, 400, 0, 1, 1, F16, F16, F16},
    {"bf16 throughout, by n", 1, 1, 1, 0, 301, 70, 400, 1, 1, 1, BF16, BF16,
        BF16},
    {"f16 a, bf16 b", 1, 1, 1, 0, 37, 70, 400, 1, 1, 1, F16, BF16, F32},
    {"bf16 a, f16 b", 1, 1, 1, 0, 37, 70, 400, 0, 1, 1, BF16, F16, F32},
    {"f32 into f16", 1, 1, 1, 0, 37, 70, 400, 0, 0, 1, F32, F32, F16},
    {"f32 into bf16", 1, 1, 1, 0, 37, 70, 400, 1, 1, 0, F32, F32, BF16},
    {"f16 b alone, from panels", 1, 1, 1, 0, 270, 31, 70, 1, 1, 1, F32, F16,
        F32},
    {"heads", 1, 3, 1, 0, 37, 45, 70, 0, 1, 1, F32, F32, F32},
    {"items and heads, shared b", 2, 3, 1, 0, 37, 45, 70, 1, 1, 1, F32, F32,
        F32},
    {"grouped heads of items with their own b", 2, 6, 3, 1, 19, 45, 70, 1, 0, 1,
        F32, F32, F32},
    {"the same from panels", 2, 6, 3, 1, 260, 5, 7, 1, 1, 1, F32, F32, F32},
    {"items and heads from panels", 2, 2, 1, 0, 260, 33, 9, 0, 1, 1, BF16, F32,
        F16},
};

/* A tensor (batch, heads, rows, columns) behind a guard zone. */
typedef struct matrix {
    size_t batch, heads, rows, columns, count;
    place at;
    int32_t dtype;
    double *value; /* all `count`, gaps included */
    void *bytes;
    cl_mem mem;
} matrix;

static size_t size_of(int32_t dtype)
{
    return dtype == CLATTN_F32 ? 4 : 2;
}

static size_t at(const matrix *m, size_t b, size_t h, size_t i, size_t j)
{
    return (size_t)m->at.offset + b * (size_t)m->at.batch +
           h * (size_t)m->at.head + i * (size_t)m->at.row + j;
}

/* All is NaN. */
static matrix matrix_of(size_t batch, size_t heads, size_t rows, size_t columns,
    int gaps, int32_t dtype, size_t behind)
{
    matrix m = {batch, heads, rows, columns, .dtype = dtype};
    m.at.row = (wide)(columns + (gaps ? 3 : 0));
    m.at.head = (wide)rows * m.at.row + (gaps ? 5 : 0);
    m.at.batch = (wide)heads * m.at.head + (gaps ? 7 : 0);
    m.at.offset = GUARD + (gaps ? 1 : 0);
    m.count = at(&m, batch - 1, heads - 1, rows - 1, columns - 1) + 1 + behind;
    m.value = malloc(m.count * sizeof *m.value);
    ck_assert_ptr_nonnull(m.value);
    m.bytes = malloc(m.count * size_of(dtype));
    ck_assert_ptr_nonnull(m.bytes);
    memset(m.bytes, 0xff, m.count * size_of(dtype));
    return m;
}

static void matrix_fill(matrix *m, draw *d)
{
    for (size_t b = 0; b < m->batch; ++b)
        for (size_t h = 0; h < m->heads; ++h)
            for (size_t i = 0; i < m->rows; ++i)
                for (size_t j = 0; j < m->columns; ++j) {
                    const double value = draw_value(d);
                    convert_store(
                        m->bytes, m->dtype, at(m, b, h, i, j), &value, 1);
                }
}

static void input_upload(matrix *m)
{
    convert_load(m->value, m->bytes, m->dtype, 0, m->count);
    m->mem = guard_page_buffer(m->bytes, m->count * size_of(m->dtype));
}

static void matrix_free(matrix *m)
{
    clReleaseMemObject(m->mem);
    free(m->bytes);
    free(m->value);
}

typedef struct trial {
    product of;
    matrix a, b, bias, c;
    matmul_job job;
} trial;

static void trial_create(trial *t, const product *of, uint64_t seed)
{
    draw d = draw_start(seed);
    const size_t b_items = of->own_b ? of->items : 1;
    const size_t b_heads = of->heads / of->group;
    t->of = *of;
    t->a = matrix_of(of->items, of->heads, of->M, of->K, of->gaps, of->a, 0);
    t->b = matrix_of(b_items, b_heads, of->by_n ? of->N : of->K,
        of->by_n ? of->K : of->N, of->gaps, of->b, 0);
    t->bias = matrix_of(1, 1, of->heads, of->N, of->gaps, of->b, 0);
    t->c =
        matrix_of(of->items, of->heads, of->M, of->N, of->gaps, of->c, GUARD);
    matrix_fill(&t->a, &d);
    matrix_fill(&t->b, &d);
    matrix_fill(&t->bias, &d);
    input_upload(&t->a);
    input_upload(&t->b);
    input_upload(&t->bias);
    t->c.mem = opencl_buffer(t->c.bytes, t->c.count * size_of(of->c));
    t->job = (matmul_job){of->items, of->heads, of->group, of->M, of->N, of->K,
        {t->a.at.batch, t->a.at.head, t->a.at.row, 0},
        {of->own_b ? t->b.at.batch : 0, t->b.at.head, t->b.at.row, 0},
        {t->c.at.batch, t->c.at.head, t->c.at.row, 0}, of->a, of->b, of->c,
        of->by_n != 0, of->bias != 0, t->bias.at.row};
}

static void trial_destroy(trial *t)
{
    matrix_free(&t->a);
    matrix_free(&t->b);
    matrix_free(&t->bias);
    matrix_free(&t->c);
}

static region region_of(const matrix *m)
{
    return (region){m->mem, (size_t)m->at.offset};
}

/* False where this device takes none of it. */
static bool trial_run(trial *t, clattn_context *ctx)
{
    clattn_error error = {.message = ""};
    choice chosen;
    chain steps = {.queue = opencl_get()->in_order};
    clattn_status status = choose_matmul(
        &chosen, ctx, &t->job, "matmul_lanes", NULL, true, &error);
    if (status == CLATTN_UNSUPPORTED) {
        printf("%s: %s\n", t->of.about, error.message);
        return false;
    }
    ck_assert_msg(status == CLATTN_OK, "%s: %s", t->of.about, error.message);
    const size_t bytes = chosen.p.workspace_bytes;
    const cl_mem workspace = opencl_blank(bytes + 8);
    const matmul_regions regions = {region_of(&t->a), region_of(&t->b),
        region_of(&t->bias), region_of(&t->c), {workspace, 1}};
    status = chain_matmul(&steps, &chosen, ctx, &t->job, &regions, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: %s", t->of.about, error.message);
    ck_assert_int_eq(chain_finish(&steps, NULL, &error), CLATTN_OK);
    opencl_read(t->c.mem, t->c.bytes, t->c.count * size_of(t->c.dtype));

    uint32_t *words = malloc(bytes + 8);
    ck_assert_ptr_nonnull(words);
    opencl_read(workspace, words, bytes + 8);
    ck_assert_msg(words[0] == UINT32_MAX && words[bytes / 4 + 1] == UINT32_MAX,
        "%s: written outside the workspace", t->of.about);
    free(words);
    clReleaseMemObject(workspace);
    return true;
}

/* An element as it must be, and how far it may be off: f32 sums and one
   rounding to the storage, of which the least step is of f16's smallest. */
static double exact(const trial *t, size_t z, size_t m, size_t n, double *slack)
{
    const product *p = &t->of;
    const size_t item = z / p->heads, head = z % p->heads;
    const size_t b_item = p->own_b ? item : 0, b_head = head / p->group;
    double sum = p->bias ? t->bias.value[at(&t->bias, 0, 0, head, n)] : 0;
    double magnitude = fabs(sum);
    for (size_t k = 0; k < p->K; ++k) {
        const double term = t->a.value[at(&t->a, item, head, m, k)] *
                            t->b.value[at(&t->b, b_item, b_head,
                                p->by_n ? n : k, p->by_n ? k : n)];
        sum += term;
        magnitude += fabs(term);
    }
    const double step = p->c == F16 ? 0x1p-11 : p->c == BF16 ? 0x1p-8 : 0;
    *slack = tolerance_sum(p->K + 1) * magnitude * (1 + step) +
             step * fabs(sum) + (step > 0 ? 0x1p-25 : 0);
    return sum;
}

/* Every element of c, and those between: untouched, thus NaN. */
static void trial_check(trial *t, size_t lanes)
{
    const product *p = &t->of;
    convert_load(t->c.value, t->c.bytes, p->c, 0, t->c.count);
    for (size_t z = 0; z < p->items * p->heads; ++z)
        for (size_t m = 0; m < p->M; ++m)
            for (size_t n = 0; n < p->N; ++n) {
                double slack = 0;
                double *got =
                    &t->c.value[at(&t->c, z / p->heads, z % p->heads, m, n)];
                const double want = exact(t, z, m, n, &slack);
                ck_assert_msg(fabs(*got - want) <= slack,
                    "%s, %zu lanes: c[%zu][%zu][%zu] is %.9g, want %.9g, at "
                    "most %.2g off",
                    p->about, lanes, z, m, n, *got, want, slack);
                *got = NAN;
            }
    for (size_t i = 0; i < t->c.count; ++i)
        ck_assert_msg(isnan(t->c.value[i]), "%s, %zu lanes: wrote element %zu",
            p->about, lanes, i);
}

/* A context of this width, of the tests' OpenCL context. */
static clattn_context *context_of(size_t lanes)
{
    clattn_context *ctx = NULL;
    clattn_error error;
    const clattn_status status = clattn_context_create_from_cl(
        &ctx, opencl_get()->cl, opencl_get()->device, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    ctx->limits.native_width = lanes;
    return ctx;
}

START_TEST(products_are_right_and_stay_in_their_place)
{
    const size_t lanes = 4u << _i % 3;
    trial t;
    clattn_context *ctx = context_of(lanes);
    trial_create(&t, &PRODUCTS[_i / 3], (uint64_t)_i);
    if (trial_run(&t, ctx))
        trial_check(&t, lanes);
    trial_destroy(&t);
    clattn_context_destroy(ctx);
}
END_TEST

/* One launch per group, and panels of one block of K. */
START_TEST(capped_launches_leave_the_same_bits)
{
    const product *of = &PRODUCTS[_i];
    trial one, other;
    clattn_context *ctx = context_of(16);
    trial_create(&one, of, 1);
    trial_create(&other, of, 1);
    const bool ran = trial_run(&one, ctx);
    ctx->limits.launch_work = 1;
    if (ran && trial_run(&other, ctx))
        ck_assert_msg(memcmp(one.c.bytes, other.c.bytes,
                          one.c.count * size_of(of->c)) == 0,
            "%s: other bits", of->about);
    trial_destroy(&other);
    trial_destroy(&one);
    clattn_context_destroy(ctx);
}
END_TEST

/* For drivers that watch bounds and races, which are slow and call themselves
   something else than a CPU.  Sizes from which panels are packed stay. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    product of = PRODUCTS[_i];
    const bool panels = of.M >= 256;
    trial t;
    clattn_context *ctx = context_of(4);
    ctx->limits.is_cpu = true;
    of.M = panels ? 257 + of.M % 3 : 1 + of.M % 12;
    of.N = 1 + of.N % (panels ? 4 : 19);
    of.K = 1 + of.K % (panels ? 7 : 21);
    trial_create(&t, &of, (uint64_t)_i);
    ck_assert(trial_run(&t, ctx));
    trial_check(&t, 4);
    trial_destroy(&t);
    clattn_context_destroy(ctx);
}
END_TEST

/* ---- Through the header ------------------------------------------------------ */

static const linear_case LINEARS[] = {
    {"shared panels", 300, 40, 50, CLATTN_IN_OUT, true, false, 1},
    {"shared panels, by rows", 300, 40, 50, CLATTN_OUT_IN, true, true, 2},
    {"a long sum from panels", 257, 5000, 3, CLATTN_OUT_IN, true, true, 3},
};

START_TEST(linear_is_right_in_every_way)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    linear_trial trial;
    expected y;
    linear_case_text(&LINEARS[_i], text);
    ck_assert(linear_trial_create(&trial, &LINEARS[_i]));
    ck_assert_int_eq(linear_expect(&y, &trial, &error), CLATTN_OK);
    for (int way = 0; way < RUN_WAYS; ++way) {
        ck_assert_msg(run_linear(&trial, way, &error) == CLATTN_OK, "%s: %s",
            text, error.message);
        ck_assert_msg(linear_meets(&y, &trial, why), "%s, %s: %s", text,
            run_way_name(way), why);
    }
    expected_free(&y);
    linear_trial_destroy(&trial);
}
END_TEST

/* Projections of different sizes share one part of the workspace. */
static const layer_case LAYERS[] = {
    {"panels between the steps", {1, 2, 2, 290, 290, 8, 8, 24, 0, 0, 40},
        CLATTN_OUT_IN,
        CLATTN_BIAS_Q | CLATTN_BIAS_V | CLATTN_PROJECT_OUT | CLATTN_BIAS_O,
        CLATTN_RETURN_LSE, .seed = 1},
    {"panels, items apart, all kept", {2, 4, 2, 290, 10, 8, 5, 24, 11, 7, 16},
        CLATTN_IN_OUT,
        CLATTN_BIAS_K | CLATTN_PROJECT_OUT | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT,
        0, .padded = true, .seed = 2},
};

START_TEST(layer_is_right_in_every_way)
{
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    layer_trial trial;
    layer_expected expected;
    layer_case_text(&LAYERS[_i], text);
    ck_assert(layer_trial_create(&trial, &LAYERS[_i]));
    ck_assert_int_eq(layer_expect(&expected, &trial, &error), CLATTN_OK);
    for (int way = 0; way < RUN_WAYS; ++way) {
        ck_assert_msg(run_layer(&trial, way, &error) == CLATTN_OK, "%s: %s",
            text, error.message);
        ck_assert_msg(layer_meets(&expected, &trial, why), "%s, %s: %s", text,
            run_way_name(way), why);
    }
    layer_expected_free(&expected);
    layer_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = opencl_cases("matmul_lanes", 120);
    tcase_add_loop_test(t, products_are_right_and_stay_in_their_place, 0,
        3 * (int)COUNT(PRODUCTS));
    tcase_add_loop_test(
        t, capped_launches_leave_the_same_bits, 0, (int)COUNT(PRODUCTS));
    tcase_add_loop_test(
        t, linear_is_right_in_every_way, 0, (int)COUNT(LINEARS));
    tcase_add_loop_test(t, layer_is_right_in_every_way, 0, (int)COUNT(LAYERS));

    TCase *tiny = opencl_cases("tiny", 120);
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, (int)COUNT(PRODUCTS));

    Suite *suite = suite_create("kernels_matmul_lanes");
    suite_add_tcase(suite, t);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
