/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_run.c - what CLATTN_PROGRAM computes, writes and shows of layers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "scratch.h"
#include "stored.h"
#include "suite.h"
#include "tensors.h"

#define MINILM CLATTN_SOURCE_DIR "/examples/minilm/"

static program_result got; /* large */

/* ---- The real layers ---------------------------------------------------- */

/*
 * The expected results are double precision rounded to f32.  Plain f32
 * evaluations by another implementation are off by up to 1.5e-6 (lse: 2.4e-6);
 * another order of summation may triple that.  Weights that are stored in f16
 * are off by half a unit in the last place of values below 1: 2^-12.
 */
static double tolerance_of(const char *what, int32_t stored_dtype)
{
    if (stored_dtype == CLATTN_F16)
        return ldexp(1.0, -12) + 5e-6;
    return strcmp(what, "lse") == 0 ? 1e-5 : 5e-6;
}

static void compare(const char *file, const char *what, const npy_array *result)
{
    npy_array want;
    failure f = {.text = ""};
    ck_assert_msg(npy_read(&want, file, NPY_NO_BF16, &f), "%s", f.text);
    const double tolerance = tolerance_of(what, want.dtype);
    ck_assert(npy_to_f32(&want, file, &f));
    ck_assert_msg(want.rank == result->rank &&
                      memcmp(want.size, result->size, sizeof want.size) == 0,
        "%s: another shape", file);
    const float *a = result->data;
    const float *b = want.data;
    for (size_t i = 0; i < want.count; i++) {
        const double d = fabs((double)a[i] - (double)b[i]);
        ck_assert_msg(d <= tolerance,
            "%s: element %zu is %.9g, want %.9g, off by %.3g", file, i,
            (double)a[i], (double)b[i], d);
    }
    npy_free(&want);
}

/* In double precision, so that the sum itself adds nothing. */
static void check_row_sums(const char *about, const npy_array *weights)
{
    const size_t Lk = weights->size[weights->rank - 1];
    const float *values = weights->data;
    for (size_t row = 0; row < weights->count / Lk; row++) {
        double sum = 0.0;
        for (size_t j = 0; j < Lk; j++)
            sum += (double)values[row * Lk + j];
        ck_assert_msg(fabs(sum - 1.0) <= 1e-6, "%s: row %zu sums to %.9g",
            about, row, sum);
    }
}

static const struct layer_case {
    const char *folder, *model, *input, *lengths;
    bool has_output;
} LAYERS[] = {
    {"goat/layer2", "%layer2.safetensors", "%goat/layer2/x.npy", NULL, true},
    {"goat/layer3", "%layer3.safetensors", "%goat/layer3/x.npy", NULL, true},
    {"parrot/layer2", "%layer2.safetensors", "%parrot/layer2/x.npy", NULL,
        true},
    {"parrot/layer3", "%layer3.safetensors", "%parrot/layer3/x.npy", NULL,
        true},
    {"batch/layer3", "%layer3.safetensors", "%batch/layer3/x.npy",
        "%batch/lengths.npy", false},
};

START_TEST(real_layers_agree_with_another_implementation)
{
    static const struct {
        const char *name, *file;
    } RESULTS[] = {{"output", "y.npy"}, {"context", "c.npy"},
        {"weights", "a.npy"}, {"lse", "s.npy"}};
    const struct layer_case *row = &LAYERS[_i];
    const char *const arguments[] = {"run", "--model", row->model, "--input",
        row->input, "--output", "@y.npy", "--context", "@c.npy", "--attention",
        "@a.npy", "--lse", "@s.npy", row->lengths ? "--lengths" : NULL,
        row->lengths, NULL};
    program_do(&got, arguments);
    for (size_t i = row->has_output ? 0 : 1; i < COUNT(RESULTS); i++) {
        char file[SCRATCH_PATH];
        npy_array result;
        stored_read(&result, RESULTS[i].file);
        snprintf(file, sizeof file, MINILM "%s/%s.npy", row->folder,
            RESULTS[i].name);
        compare(file, RESULTS[i].name, &result);
        if (strcmp(RESULTS[i].name, "weights") == 0)
            check_row_sums(row->folder, &result);
        npy_free(&result);
    }
}
END_TEST

/* X of the padded batch with every row past its item's length NaN. */
static void poison_batch(const size_t *lengths)
{
    npy_array x;
    stored_read_path(&x, MINILM "batch/layer3/x.npy");
    const size_t L = x.size[1];
    const size_t E = x.size[2];
    float *values = x.data;
    for (size_t b = 0; b < x.size[0]; b++)
        for (size_t i = lengths[b] * E; i < L * E; i++)
            values[b * L * E + i] = NAN;
    stored_write("poison.npy", 3, x.size, values);
    npy_free(&x);
}

/* Blocks of `stride` bytes-per-row data: the first `rows` rows of each block of
   L rows must be the same bits. */
static void check_same_rows(const char *name, const npy_array *a,
    const npy_array *b, size_t rows, size_t first, size_t blocks, size_t L)
{
    const size_t columns = a->count / a->size[0] / blocks / L;
    const float *one = a->data;
    const float *other = b->data;
    for (size_t i = 0; i < blocks; i++) {
        const size_t at = (first * blocks + i) * L * columns;
        ck_assert_msg(
            memcmp(one + at, other + at, rows * columns * sizeof *one) == 0,
            "%s: item %zu, block %zu: valid rows differ", name, first, i);
    }
}

START_TEST(nan_in_padded_rows_changes_no_bit_of_valid_rows)
{
    static const size_t LENGTHS[] = {14, 12};
    /* How many blocks of L rows an item of each result has. */
    static const struct {
        const char *clean, *poisoned;
        size_t blocks;
    } RESULTS[] = {{"y.npy", "yn.npy", 1}, {"c.npy", "cn.npy", 1},
        {"a.npy", "an.npy", 12}, {"s.npy", "sn.npy", 12}};
    const char *const clean[] = {"run", "--model", "%layer3.safetensors",
        "--input", "%batch/layer3/x.npy", "--lengths", "14,12", "--output",
        "@y.npy", "--context", "@c.npy", "--attention", "@a.npy", "--lse",
        "@s.npy", NULL};
    const char *const poisoned[] = {"run", "--model", "%layer3.safetensors",
        "--input", "@poison.npy", "--lengths", "14,12", "--output", "@yn.npy",
        "--context", "@cn.npy", "--attention", "@an.npy", "--lse", "@sn.npy",
        NULL};
    poison_batch(LENGTHS);
    program_do(&got, clean);
    program_do(&got, poisoned);
    for (size_t i = 0; i < COUNT(RESULTS); i++) {
        npy_array a;
        npy_array b;
        stored_read(&a, RESULTS[i].clean);
        stored_read(&b, RESULTS[i].poisoned);
        for (size_t item = 0; item < 2; item++)
            check_same_rows(RESULTS[i].clean, &a, &b, LENGTHS[item], item,
                RESULTS[i].blocks, 14);
        npy_free(&a);
        npy_free(&b);
    }
}
END_TEST

START_TEST(goat_is_what_it_reads)
{
    const char *const arguments[] = {"run", "--model", "%layer3.safetensors",
        "--input", "%goat/layer3/x.npy", "--tokens", "%goat/tokens.txt",
        "--head", "1", "--show", "--attention", "@a.npy", NULL};
    const char *const map[] = {
        "map", "@a.npy", "--tokens", "%goat/tokens.txt", "--head", "1", NULL};
    program_do(&got, arguments);
    const char *line = strstr(got.out, "\n   9 it ");
    ck_assert_msg(line != NULL, "%s", got.out);
    line += strlen("\n   9 it ");
    line += strspn(line, " ");
    ck_assert_msg(strncmp(line, "goat 0.83", 9) == 0, "%s", got.out);
    ck_assert_msg(strstr(got.out, "layer 3, head 1") != NULL, "%s", got.out);
    program_do(&got, map);
    ck_assert_msg(strstr(got.out, "goat 0.83") != NULL, "%s", got.out);
}
END_TEST

/* ---- The textbook ------------------------------------------------------- */

/* One head of width 8 on X (2, 5, 8): the formula in double precision. */
enum {
    B = 2,
    L = 5,
    E = 8
};

static double at(const float *m, size_t row, size_t column)
{
    return (double)m[row * E + column];
}

static void project(double *y, const float *x, const float *w, const float *b)
{
    for (size_t i = 0; i < L; i++)
        for (size_t c = 0; c < E; c++) {
            y[i * E + c] = (double)b[c];
            for (size_t e = 0; e < E; e++)
                y[i * E + c] += at(x, i, e) * at(w, e, c);
        }
}

static void attend(
    double *out, const double *q, const double *k, const double *v)
{
    for (size_t i = 0; i < L; i++) {
        double p[L];
        double sum = 0.0;
        for (size_t j = 0; j < L; j++) {
            double s = 0.0;
            for (size_t d = 0; d < E; d++)
                s += q[i * E + d] * k[j * E + d];
            p[j] = exp(s / sqrt(E));
            sum += p[j];
        }
        for (size_t d = 0; d < E; d++) {
            out[i * E + d] = 0.0;
            for (size_t j = 0; j < L; j++)
                out[i * E + d] += p[j] / sum * v[j * E + d];
        }
    }
}

/* Neither regular nor large. */
static float wave(const tensor_row *row, size_t i)
{
    return sinf(row->first + 1.7f * (float)i);
}

static void fill(float *values, size_t count, float first)
{
    const tensor_row row = {"", 1, {count}, first};
    for (size_t i = 0; i < count; i++)
        values[i] = wave(&row, i);
}

START_TEST(one_head_with_plain_names_is_the_textbooks_self_attention)
{
    float x[B * L * E];
    float w[3][E * E];
    float b[3][E];
    double y[3][L * E];
    double want[L * E];
    fill(x, COUNT(x), 0.3f);
    for (size_t i = 0; i < 3; i++) {
        fill(w[i], E * E, (float)i);
        fill(b[i], E, 10.0f + (float)i);
    }
    const tensor_row rows[] = {{"W_Q", 2, {E, E}, 0}, {"W_K", 2, {E, E}, 1},
        {"W_V", 2, {E, E}, 2}, {"b_Q", 1, {E}, 10}, {"b_K", 1, {E}, 11},
        {"b_V", 1, {E}, 12}, {NULL, 0, {0}, 0}};
    const char *const arguments[] = {"run", "--model", "@text.safetensors",
        "--input", "@x.npy", "--heads", "1", "--output", "@y.npy", NULL};
    char path[SCRATCH_PATH];
    tensors_write(path, "text.safetensors", rows, NULL, wave);
    stored_write("x.npy", 3, (const size_t[]){B, L, E}, x);
    program_do(&got, arguments);
    npy_array result;
    stored_read(&result, "y.npy");
    ck_assert_uint_eq(result.count, B * L * E);
    for (size_t item = 0; item < B; item++) {
        for (size_t i = 0; i < 3; i++)
            project(y[i], x + item * L * E, w[i], b[i]);
        attend(want, y[0], y[1], y[2]);
        for (size_t i = 0; i < L * E; i++) {
            const float value = ((float *)result.data)[item * L * E + i];
            ck_assert_msg(fabs((double)value - want[i]) <= 1e-6,
                "item %zu, element %zu: %.9g, want %.9g", item, i,
                (double)value, want[i]);
        }
    }
    npy_free(&result);
}
END_TEST

/* ---- What is printed ---------------------------------------------------- */

#define GOAT \
    "run", "--model", "%layer3.safetensors", "--input", "%goat/layer3/x.npy"

START_TEST(an_expected_output_is_compared)
{
    const char *const right[] = {
        GOAT, "--expect", "%goat/layer3/output.npy", NULL};
    const char *const wrong[] = {GOAT, "--expect", "%goat/layer3/context.npy",
        "--output", "@y.npy", NULL};
    npy_array y;
    program_do(&got, right);
    ck_assert_msg(strstr(got.out, "largest difference") != NULL, "%s", got.out);
    program_run(&got, wrong, NULL);
    ck_assert_int_eq(got.code, 1);
    ck_assert_msg(strstr(got.err, "context.npy") != NULL, "%s", got.err);
    stored_read(&y, "y.npy"); /* written all the same */
    npy_free(&y);
}
END_TEST

START_TEST(a_nan_on_one_side_alone_is_no_agreement)
{
    const char *const arguments[] = {GOAT, "--output", "@y.npy", NULL};
    const char *const against[] = {
        GOAT, "--expect", "@nan.npy", "--tolerance", "1e9", NULL};
    npy_array y;
    program_do(&got, arguments);
    stored_read(&y, "y.npy");
    ((float *)y.data)[7] = NAN;
    stored_write("nan.npy", 2, y.size, y.data);
    npy_free(&y);
    program_run(&got, against, NULL);
    ck_assert_int_eq(got.code, 1);
    ck_assert_msg(strstr(got.err, "(0, 7)") != NULL, "%s", got.err);
}
END_TEST

static const struct print_case {
    const char *about;
    const char *arguments[14];
    const char *held[3];
    const char *not_held;
} PRINTS[] = {
    {"a summary names layer, device and time", {GOAT},
        {"encoder.layer.3.attention", "device ", "time "}, "plan "},
    {"quiet prints nothing", {GOAT, "--quiet"}, {""}, "\n"},
    {"explain prints the plan", {GOAT, "--explain"}, {"plan "}, NULL},
    {"steps print the formula", {GOAT, "--steps", "--quiet"},
        {"softmax", "/ √32"}, NULL},
    {"without scale nothing is divided",
        {GOAT, "--steps", "--no-scale", "--quiet"}, {"softmax"}, "/ √32"},
    {"no escapes where standard output is no terminal",
        {GOAT, "--show", "--quiet"}, {"mean of 12 heads"}, "\x1b"},
};

START_TEST(what_is_printed_is_what_was_asked_for)
{
    const struct print_case *row = &PRINTS[_i];
    program_do(&got, row->arguments);
    for (size_t i = 0; i < 3 && row->held[i]; i++)
        ck_assert_msg(strstr(got.out, row->held[i]) != NULL,
            "%s: no \"%s\" in: %s", row->about, row->held[i], got.out);
    if (row->not_held)
        ck_assert_msg(strstr(got.out, row->not_held) == NULL,
            "%s: \"%s\" in: %s", row->about, row->not_held, got.out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli run");
    TCase *results = tcase_create("run");
    tcase_set_timeout(results, 120);
    tcase_add_unchecked_fixture(results, scratch_begin, scratch_end);
    tcase_add_loop_test(results, real_layers_agree_with_another_implementation,
        0, COUNT(LAYERS));
    tcase_add_test(results, nan_in_padded_rows_changes_no_bit_of_valid_rows);
    tcase_add_test(results, goat_is_what_it_reads);
    tcase_add_test(
        results, one_head_with_plain_names_is_the_textbooks_self_attention);
    tcase_add_test(results, an_expected_output_is_compared);
    tcase_add_test(results, a_nan_on_one_side_alone_is_no_agreement);
    tcase_add_loop_test(
        results, what_is_printed_is_what_was_asked_for, 0, COUNT(PRINTS));
    suite_add_tcase(suite, results);
    return suite_main(suite, 0);
}
