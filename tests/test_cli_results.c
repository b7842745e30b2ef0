/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_results.c - what the process CLATTN_PROGRAM computes, writes and
 * shows.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "npy.h"
#include "program.h"
#include "scratch.h"
#include "suite.h"
#include "tensors.h"

#define MINILM CLATTN_SOURCE_DIR "/examples/minilm/"

static program_result got; /* large */

/* Run, and fail unless it is done. */
static void run(const char *const *arguments)
{
    program_run(&got, arguments, NULL);
    ck_assert_msg(got.code == 0, "clattn %s: exit code %d, %s", arguments[0],
        got.code, got.err);
}

static void read_f32(npy_array *array, const char *path)
{
    failure f = {""};
    ck_assert_msg(npy_read(array, path, NPY_NO_BF16, &f), "%s", f.text);
    ck_assert_msg(npy_to_f32(array, path, &f), "%s", f.text);
}

static void read_scratch(npy_array *array, const char *name)
{
    char path[SCRATCH_PATH];
    read_f32(array, scratch_path(path, name));
}

static void write_f32(
    const char *name, size_t rank, const size_t *size, const float *values)
{
    char path[SCRATCH_PATH];
    failure f = {""};
    ck_assert_msg(
        npy_write(scratch_path(path, name), values, CLATTN_F32, rank, size, &f),
        "%s", f.text);
}

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
    failure f = {""};
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
    run(arguments);
    for (size_t i = row->has_output ? 0 : 1; i < COUNT(RESULTS); i++) {
        char file[SCRATCH_PATH];
        npy_array result;
        read_scratch(&result, RESULTS[i].file);
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
    read_f32(&x, MINILM "batch/layer3/x.npy");
    const size_t L = x.size[1];
    const size_t E = x.size[2];
    float *values = x.data;
    for (size_t b = 0; b < x.size[0]; b++)
        for (size_t i = lengths[b] * E; i < L * E; i++)
            values[b * L * E + i] = NAN;
    write_f32("poison.npy", 3, x.size, values);
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
    run(clean);
    run(poisoned);
    for (size_t i = 0; i < COUNT(RESULTS); i++) {
        npy_array a;
        npy_array b;
        read_scratch(&a, RESULTS[i].clean);
        read_scratch(&b, RESULTS[i].poisoned);
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
    run(arguments);
    const char *line = strstr(got.out, "\n   9 it ");
    ck_assert_msg(line != NULL, "%s", got.out);
    line += strlen("\n   9 it ");
    line += strspn(line, " ");
    ck_assert_msg(strncmp(line, "goat 0.83", 9) == 0, "%s", got.out);
    ck_assert_msg(strstr(got.out, "layer 3, head 1") != NULL, "%s", got.out);
    run(map);
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
    write_f32("x.npy", 3, (const size_t[]){B, L, E}, x);
    run(arguments);
    npy_array result;
    read_scratch(&result, "y.npy");
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

/* ---- attend ------------------------------------------------------------- */

/* With q = 0 a row is the mean of the values it sees, which tells by itself
   which those are. */
static const struct attend_case {
    const char *about;
    const char *options[6];
    float want[4]; /* B 2, Lq 2 */
} ATTENDS[] = {
    {"all keys", {NULL}, {3.75f, 3.75f, 37.5f, 37.5f}},
    {"top-left", {"--causal", "top-left"}, {1, 1.5f, 10, 15}},
    {"bottom-right", {"--causal", "bottom-right"},
        {7.f / 3, 3.75f, 70.f / 3, 37.5f}},
    {"an offset of 0 is top-left", {"--causal", "0"}, {1, 1.5f, 10, 15}},
    {"a negative offset hides all from row 0", {"--causal", "-1"},
        {0, 1, 0, 10}},
    {"an offset for each item", {"--causal", "2,0"}, {7.f / 3, 3.75f, 10, 15}},
    {"offsets of a file", {"--causal", "@offsets.npy"},
        {7.f / 3, 3.75f, 10, 15}},
    {"lengths", {"--lengths", "1,2"}, {1, 1, 15, 15}},
    {"no keys", {"--lengths", "0,4"}, {0, 0, 37.5f, 37.5f}},
    {"lengths of a file", {"--lengths", "@lengths.npy"}, {1, 1, 15, 15}},
    {"bottom-right of each item's length",
        {"--lengths", "3,2", "--causal", "bottom-right"},
        {1.5f, 7.f / 3, 10, 15}},
};

static void write_attend_inputs(void)
{
    static const float V[] = {1, 2, 4, 8, 10, 20, 40, 80};
    static const float ZERO[8] = {0};
    static const size_t Q_SIZE[] = {2, 1, 2, 1};
    static const size_t K_SIZE[] = {2, 1, 4, 1};
    write_f32("q.npy", 4, Q_SIZE, ZERO);
    write_f32("k.npy", 4, K_SIZE, ZERO);
    write_f32("v.npy", 4, K_SIZE, V);
}

/* Whole numbers are not written by the program, so by hand: version 1, header
   to 64 bytes. */
static void write_int32(const char *name, int32_t a, int32_t b)
{
    char path[SCRATCH_PATH];
    unsigned char file[10 + 118 + 8] = "\x93NUMPY\x01";
    const int32_t values[] = {a, b};
    file[8] = 118;
    memset(file + 10, ' ', 118);
    static const char HEADER[] =
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    memcpy(file + 10, HEADER, sizeof HEADER - 1);
    file[127] = '\n';
    memcpy(file + 128, values, sizeof values);
    scratch_write(path, name, file, sizeof file);
}

START_TEST(attend_sees_the_keys_it_should)
{
    const struct attend_case *row = &ATTENDS[_i];
    const char *arguments[20] = {"attend", "--query", "@q.npy", "--key",
        "@k.npy", "--value", "@v.npy", "--output", "@o.npy"};
    size_t count = 9;
    for (size_t i = 0; i < 6 && row->options[i]; i++)
        arguments[count++] = row->options[i];
    write_attend_inputs();
    write_int32("offsets.npy", 2, 0);
    write_int32("lengths.npy", 1, 2);
    run(arguments);
    npy_array out;
    read_scratch(&out, "o.npy");
    ck_assert_uint_eq(out.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const float value = ((float *)out.data)[i];
        /* Sums of four exact terms, one division: two roundings. */
        ck_assert_msg(fabsf(value - row->want[i]) <= 2.4e-7f * row->want[i],
            "%s: row %zu is %.9g, want %.9g", row->about, i, (double)value,
            (double)row->want[i]);
    }
    npy_free(&out);
}
END_TEST

/* (L, H, D) and (H, L, D) hold the same numbers in another order. */
START_TEST(layouts_give_the_same_numbers)
{
    enum {
        HEADS = 3,
        ROWS = 4,
        COLUMNS = 2
    };
    static const size_t HLD[] = {HEADS, ROWS, COLUMNS};
    static const size_t LHD[] = {ROWS, HEADS, COLUMNS};
    float heads_first[HEADS * ROWS * COLUMNS];
    float rows_first[HEADS * ROWS * COLUMNS];
    fill(heads_first, COUNT(heads_first), 0.0f);
    for (size_t i = 0; i < COUNT(heads_first); i++) {
        const size_t h = i / COLUMNS / ROWS;
        const size_t l = i / COLUMNS % ROWS;
        rows_first[(l * HEADS + h) * COLUMNS + i % COLUMNS] = heads_first[i];
    }
    write_f32("h.npy", 3, HLD, heads_first);
    write_f32("l.npy", 3, LHD, rows_first);
    const char *const one[] = {"attend", "--query", "@h.npy", "--key", "@h.npy",
        "--value", "@h.npy", "--output", "@oh.npy", NULL};
    const char *const other[] = {"attend", "--query", "@l.npy", "--key",
        "@l.npy", "--value", "@l.npy", "--layout", "blhd", "--output",
        "@ol.npy", NULL};
    run(one);
    run(other);
    npy_array h;
    npy_array l;
    read_scratch(&h, "oh.npy");
    read_scratch(&l, "ol.npy");
    ck_assert_uint_eq(l.size[0], ROWS);
    for (size_t i = 0; i < h.count; i++) {
        const size_t head = i / COLUMNS / ROWS;
        const size_t row = i / COLUMNS % ROWS;
        const size_t there = (row * HEADS + head) * COLUMNS + i % COLUMNS;
        /* Weighted means of values of at most 1: a few roundings of 2^-24. */
        ck_assert_msg(
            fabsf(((float *)h.data)[i] - ((float *)l.data)[there]) <= 1e-6f,
            "head %zu, row %zu", head, row);
    }
    npy_free(&h);
    npy_free(&l);
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
    run(right);
    ck_assert_msg(strstr(got.out, "largest difference") != NULL, "%s", got.out);
    program_run(&got, wrong, NULL);
    ck_assert_int_eq(got.code, 1);
    ck_assert_msg(strstr(got.err, "context.npy") != NULL, "%s", got.err);
    read_scratch(&y, "y.npy"); /* written all the same */
    npy_free(&y);
}
END_TEST

START_TEST(a_nan_on_one_side_alone_is_no_agreement)
{
    const char *const arguments[] = {GOAT, "--output", "@y.npy", NULL};
    const char *const against[] = {
        GOAT, "--expect", "@nan.npy", "--tolerance", "1e9", NULL};
    npy_array y;
    run(arguments);
    read_scratch(&y, "y.npy");
    ((float *)y.data)[7] = NAN;
    write_f32("nan.npy", 2, y.size, y.data);
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
    run(row->arguments);
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
    Suite *suite = suite_create("cli results");
    TCase *results = tcase_create("results");
    tcase_set_timeout(results, 120);
    tcase_add_unchecked_fixture(results, scratch_begin, scratch_end);
    tcase_add_loop_test(results, real_layers_agree_with_another_implementation,
        0, COUNT(LAYERS));
    tcase_add_test(results, nan_in_padded_rows_changes_no_bit_of_valid_rows);
    tcase_add_test(results, goat_is_what_it_reads);
    tcase_add_test(
        results, one_head_with_plain_names_is_the_textbooks_self_attention);
    tcase_add_loop_test(
        results, attend_sees_the_keys_it_should, 0, COUNT(ATTENDS));
    tcase_add_test(results, layouts_give_the_same_numbers);
    tcase_add_test(results, an_expected_output_is_compared);
    tcase_add_test(results, a_nan_on_one_side_alone_is_no_agreement);
    tcase_add_loop_test(
        results, what_is_printed_is_what_was_asked_for, 0, COUNT(PRINTS));
    suite_add_tcase(suite, results);
    return suite_main(suite, 0);
}
