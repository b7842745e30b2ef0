/* SPDX-License-Identifier: Apache-2.0
 *
 * test_minilm.c - two layers of a real model on real sentences, against results
 * that another implementation computed in double precision: see
 * examples/minilm/README.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "opencl.h"
#include "safetensors.h"
#include "suite.h"

/* How far results may be off, by what plain f32 elsewhere is off: 1.5e-6 in
   values of up to 2.4 and 2.4e-6 in LSE of up to 8.2. */
static const double SLACK = 5e-6, LSE_SLACK = 1e-5;
/* Half a unit in the last place of an f16 below 1, where weights are stored
   in f16. */
static const double HALF_SLACK = 2.5e-4;

enum {
    HEADS = 12,
    WIDTH = 32,
    E = HEADS * WIDTH
};

static const struct {
    const char *folder;
    int layer;
    bool half_weights, has_output;
} CASES[] = {
    {"goat/layer2", 2, false, true},
    {"goat/layer3", 3, false, true},
    {"parrot/layer2", 2, true, true},
    {"parrot/layer3", 3, true, true},
    {"batch/layer3", 3, false, false},
};

/* ---- Files --------------------------------------------------------------- */

static const char *path_of(char path[400], const char *folder, const char *file)
{
    snprintf(path, 400, "%s/examples/minilm/%s%s%s", CLATTN_SOURCE_DIR, folder,
        folder[0] != '\0' ? "/" : "", file);
    return path;
}

/* f32, whatever the file has. */
static npy_array load(const char *folder, const char *file)
{
    char path[400];
    failure f;
    npy_array array;
    path_of(path, folder, file);
    ck_assert_msg(npy_read(&array, path, NPY_NO_BF16, &f), "%s", f.text);
    ck_assert_msg(npy_to_f32(&array, path, &f), "%s", f.text);
    return array;
}

enum part {
    QUERY,
    KEY,
    VALUE,
    DENSE,
    PARTS
};

typedef struct model {
    float *weight[PARTS], *bias[PARTS];
} model;

static float *load_tensor(
    const safetensors *file, int layer, const char *part, const char *kind)
{
    char name[200];
    failure f;
    snprintf(name, sizeof name, "encoder.layer.%d.attention.%s.%s", layer, part,
        kind);
    const safetensor *tensor = safetensors_find(file, name);
    ck_assert_msg(tensor != NULL, "no tensor %s", name);
    float *values = safetensor_to_f32(tensor, &f);
    ck_assert_msg(values != NULL, "%s", f.text);
    return values;
}

static model load_model(int layer)
{
    static const char *const parts[PARTS] = {
        "self.query", "self.key", "self.value", "output.dense"};
    char name[40], path[400];
    failure f;
    model m;
    snprintf(name, sizeof name, "layer%d.safetensors", layer);
    safetensors *file = safetensors_open(path_of(path, "", name), &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    for (size_t part = 0; part < PARTS; ++part) {
        m.weight[part] = load_tensor(file, layer, parts[part], "weight");
        m.bias[part] = load_tensor(file, layer, parts[part], "bias");
    }
    safetensors_close(file);
    return m;
}

static void free_model(model *m)
{
    for (size_t part = 0; part < PARTS; ++part) {
        free(m->weight[part]);
        free(m->bias[part]);
    }
}

/* ---- Running ------------------------------------------------------------- */

typedef struct results {
    size_t B, L;
    int32_t *lengths; /* NULL: all are L */
    float *output, *context, *weights, *lse;
} results;

static float *blank(size_t count)
{
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < count; ++i)
        values[i] = NAN;
    return values;
}

static void describe(
    clattn_layer *layer, clattn_attention *attention, const results *r)
{
    clattn_attention_init(attention, sizeof *attention);
    attention->B = r->B;
    attention->Hq = attention->Hkv = HEADS;
    attention->Lq = attention->Lk = r->L;
    attention->D = attention->Dv = WIDTH;
    attention->dtype = CLATTN_F32;
    attention->flags = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS;
    if (r->lengths != NULL)
        attention->flags |= CLATTN_KEY_LENGTHS;
    clattn_layer_init(layer, sizeof *layer);
    layer->attention = attention;
    layer->E = layer->Ey = E;
    layer->weight_order = CLATTN_OUT_IN;
    layer->flags = CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V |
                   CLATTN_BIAS_O | CLATTN_PROJECT_OUT | CLATTN_KEEP_OUT;
}

static void run(results *r, const model *m, const float *x)
{
    clattn_layer layer;
    clattn_attention attention;
    clattn_error error;
    describe(&layer, &attention, r);
    r->output = blank(r->B * r->L * E);
    r->context = blank(r->B * r->L * E);
    r->weights = blank(r->B * HEADS * r->L * r->L);
    r->lse = blank(r->B * HEADS * r->L);
    const clattn_attention_args inner = {.struct_size = sizeof inner,
        .out = {.host = r->context},
        .lse = {.host = r->lse},
        .weights = {.host = r->weights},
        .key_lengths = {.host = r->lengths}};
    const clattn_layer_args args = {.struct_size = sizeof args,
        .y = {.host = r->output},
        .x = {.host = x},
        .w_q = {.host = m->weight[QUERY]},
        .w_k = {.host = m->weight[KEY]},
        .w_v = {.host = m->weight[VALUE]},
        .w_o = {.host = m->weight[DENSE]},
        .b_q = {.host = m->bias[QUERY]},
        .b_k = {.host = m->bias[KEY]},
        .b_v = {.host = m->bias[VALUE]},
        .b_o = {.host = m->bias[DENSE]},
        .attention = &inner};
    const clattn_status status =
        clattn_layer_host(opencl_get()->ctx, &layer, &args, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

static void free_results(results *r)
{
    free(r->output);
    free(r->context);
    free(r->weights);
    free(r->lse);
    free(r->lengths);
}

/* x, and what its shape and the lengths beside it say. */
static npy_array load_input(results *r, const char *folder)
{
    char path[400];
    failure f;
    size_t count = 0;
    npy_array x = load(folder, "x.npy");
    *r = (results){.B = x.rank == 3 ? x.size[0] : 1, .L = x.size[x.rank - 2]};
    ck_assert_uint_eq(x.count, r->B * r->L * E);
    if (x.rank == 3) {
        ck_assert_msg(npy_read_int32(&r->lengths, &count,
                          path_of(path, "batch", "lengths.npy"), &f),
            "%s", f.text);
        ck_assert_uint_eq(count, r->B);
    }
    return x;
}

static size_t length_of(const results *r, size_t b)
{
    return r->lengths != NULL ? (size_t)r->lengths[b] : r->L;
}

/* ---- Checks -------------------------------------------------------------- */

static void check_file(
    const char *folder, const char *file, const float *got, double slack)
{
    npy_array want = load(folder, file);
    const float *expected = want.data;
    double worst = 0;
    for (size_t i = 0; i < want.count; ++i) {
        const double off = fabs((double)got[i] - (double)expected[i]);
        ck_assert_msg(off <= slack, "%s/%s[%zu] is %.9g, but must be %.9g",
            folder, file, i, (double)got[i], (double)expected[i]);
        worst = fmax(worst, off);
    }
    printf("%s/%s: off by at most %.2g\n", folder, file, worst);
    npy_free(&want);
}

static void check_row_sums(const results *r, const char *folder)
{
    for (size_t row = 0; row < r->B * HEADS * r->L; ++row) {
        double sum = 0;
        for (size_t j = 0; j < r->L; ++j)
            sum += r->weights[row * r->L + j];
        ck_assert_msg(fabs(sum - 1) <= 1e-6,
            "%s: row %zu of the weights sums to %.9g", folder, row, sum);
    }
}

START_TEST(a_real_layer_gives_the_models_numbers)
{
    const char *folder = CASES[_i].folder;
    results r;
    npy_array x = load_input(&r, folder);
    model m = load_model(CASES[_i].layer);
    run(&r, &m, x.data);
    if (CASES[_i].has_output)
        check_file(folder, "output.npy", r.output, SLACK);
    check_file(folder, "context.npy", r.context, SLACK);
    check_file(folder, "lse.npy", r.lse, LSE_SLACK);
    check_file(folder, "weights.npy", r.weights,
        CASES[_i].half_weights ? HALF_SLACK : SLACK);
    check_row_sums(&r, folder);
    free_model(&m);
    npy_free(&x);
    free_results(&r);
}
END_TEST

/* Valid rows of item b, in a tensor of `heads` rows of L of `columns`. */
static void check_item_bits(const results *r, const float *one,
    const float *other, size_t heads, size_t columns, const char *name)
{
    for (size_t item = 0; item < r->B * heads; ++item) {
        const size_t at = item * r->L * columns;
        const size_t valid = length_of(r, item / heads) * columns;
        ck_assert_msg(memcmp(one + at, other + at, valid * sizeof(float)) == 0,
            "NaN in padded rows of x changed %s of item %zu", name,
            item / heads);
    }
}

START_TEST(nan_in_padded_rows_changes_no_bit_of_the_valid_ones)
{
    static const char folder[] = "batch/layer3";
    results clean, padded;
    npy_array x = load_input(&clean, folder);
    npy_array nan = load_input(&padded, folder);
    model m = load_model(3);
    float *rows = nan.data;
    size_t written = 0;
    for (size_t b = 0; b < padded.B; ++b)
        for (size_t i = length_of(&padded, b) * E; i < padded.L * E; ++i) {
            rows[b * padded.L * E + i] = NAN;
            ++written;
        }
    ck_assert_uint_gt(written, 0);
    run(&clean, &m, x.data);
    run(&padded, &m, nan.data);
    check_item_bits(&clean, clean.output, padded.output, 1, E, "output");
    check_item_bits(&clean, clean.context, padded.context, 1, E, "context");
    check_item_bits(
        &clean, clean.weights, padded.weights, HEADS, clean.L, "weights");
    check_item_bits(&clean, clean.lse, padded.lse, HEADS, 1, "lse");
    free_model(&m);
    npy_free(&x);
    npy_free(&nan);
    free_results(&clean);
    free_results(&padded);
}
END_TEST

/* The picture that everybody knows: "it" (9) reads "goat" (2), layer 3 head 1.
   A transposed map, mixed-up heads or a missed scale would not show it. */
START_TEST(it_reads_goat_most)
{
    results r;
    npy_array x = load_input(&r, "goat/layer3");
    model m = load_model(3);
    run(&r, &m, x.data);
    const float *row = r.weights + (1 * r.L + 9) * r.L;
    for (size_t j = 0; j < r.L; ++j)
        ck_assert_msg(j == 2 || row[j] < row[2],
            "\"it\" reads token %zu with %g, \"goat\" with %g", j,
            (double)row[j], (double)row[2]);
    ck_assert_double_eq_tol(row[2], 0.83, 0.005);
    free_model(&m);
    npy_free(&x);
    free_results(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("minilm");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(
        t, a_real_layer_gives_the_models_numbers, 0, (int)COUNT(CASES));
    tcase_add_test(t, nan_in_padded_rows_changes_no_bit_of_the_valid_ones);
    tcase_add_test(t, it_reads_goat_most);

    Suite *suite = suite_create("minilm");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
