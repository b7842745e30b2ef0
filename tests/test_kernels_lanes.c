/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_lanes.c - lanes.clh alone, in every width: rows of any storage,
 * transposition, powers of two, tanh, random words.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "opencl.h"
#include "philox.h"
#include "probe.h"
#include "suite.h"

enum {
    N = 1024, /* work-items of a width's probe */
    MOST = 16 /* lanes */
};

static const size_t WIDTHS[] = {1, 4, 8, 16};

static void run(
    const char *text, size_t width, int32_t dtype, const probe_call *call)
{
    static const char *const PIECES[] = {"lanes.clh", NULL};
    char options[40];
    probe p;
    snprintf(options, sizeof options, "-DVW=%zu -DT=%d", width, (int)dtype);
    probe_open(&p, PIECES, options, text);
    probe_run(&p, call);
    probe_close(&p);
}

/* ---- Functions -------------------------------------------------------------- */

static const char FUNCTIONS[] =
    "__kernel void probe(__global float *power, __global float *tangent,\n"
    "    __global float *most, __global const float *x)\n"
    "{\n"
    "    const int at = (int)get_global_id(0) * VW;\n"
    "    const V v = LOAD_ROW(1, x + at);\n"
    "    STORE_ROW(1, exp2_negative(v), power + at);\n"
    "    STORE_ROW(1, tanh_lanes(v), tangent + at);\n"
    "    STORE_ROW(1, V_MAX(v, (V)(-1.0f)), most + at);\n"
    "}\n";

static float x[MOST * N], power[MOST * N], tangent[MOST * N], most[MOST * N];

/* Numbers that have exact results, or none, and then a walk through all that
   matters. */
static void fill_x(void)
{
    static const float HARD[] = {0, -0.0f, -1, -2, -3, -64, -126, -125,
        -126.00001f, -126.5f, -127, -150, -1e30f, -FLT_MAX, -INFINITY, NAN,
        -0.5f, -0.4999999f, -0.5000001f, -1.5f, -1.4999999f, -1.5000001f,
        -1e-45f, -1e-30f, -1e-7f, -FLT_MIN, -125.5f, -125.99999f};
    for (size_t i = 0; i < MOST * N; ++i)
        x[i] = -ldexpf((float)(i % 4096) + 0.37f, (int)(i / 4096) * 4 - 17);
    memcpy(x, HARD, sizeof HARD);
}

static void run_functions(size_t width)
{
    const probe_call call = {
        .buffer = {{power, sizeof power}, {tangent, sizeof tangent},
            {most, sizeof most}, {x, sizeof x}},
        .global = {MOST * N / width, 1}};
    fill_x();
    run(FUNCTIONS, width, CLATTN_F32, &call);
}

/* The bound that the file states. */
START_TEST(powers_of_two_are_within_the_bound_and_whole_ones_exact)
{
    run_functions(WIDTHS[_i]);
    for (size_t i = 0; i < MOST * N; ++i) {
        const double want = x[i] < -126 ? 0 : exp2(x[i]);
        const double slack = x[i] == floorf(x[i]) ? 0 : 1.1e-7 * want;
        if (isnan(x[i]) ? !isnan(power[i]) : !(fabs(power[i] - want) <= slack))
            ck_abort_msg("width %zu: 2^%.9g is %.9g, but must be %.9g",
                WIDTHS[_i], (double)x[i], (double)power[i], want);
    }
}
END_TEST

/* The polynomial's terms, three products, three sums and a division round once
   each or less; an error of t = e^2x - 1 counts 2 / (t + 2) times. */
START_TEST(tanh_keeps_its_relative_precision)
{
    run_functions(WIDTHS[_i]);
    for (size_t i = 0; i < MOST * N; ++i) {
        const double want = tanh(x[i]);
        const double slack = fabs(want) * 16 * FLT_EPSILON / 2 + FLT_MIN;
        if (isnan(x[i]) ? !isnan(tangent[i])
                        : !(fabs(tangent[i] - want) <= slack))
            ck_abort_msg("width %zu: tanh(%.9g) is %.9g, but must be %.9g",
                WIDTHS[_i], (double)x[i], (double)tangent[i], want);
    }
}
END_TEST

START_TEST(tanh_is_odd_and_ends_at_1)
{
    run_functions(WIDTHS[_i]);
    float negative[MOST * N];
    memcpy(negative, tangent, sizeof tangent);
    const probe_call call = {
        .buffer = {{power, sizeof power}, {tangent, sizeof tangent},
            {most, sizeof most}, {x, sizeof x}},
        .global = {MOST * N / WIDTHS[_i], 1}};
    for (size_t i = 0; i < MOST * N; ++i)
        x[i] = -x[i];
    run(FUNCTIONS, WIDTHS[_i], CLATTN_F32, &call);
    for (size_t i = 0; i < MOST * N; ++i)
        if (!isnan(x[i]) &&
            (tangent[i] != -negative[i] || (x[i] >= 10 && tangent[i] != 1)))
            ck_abort_msg("width %zu: tanh(%.9g) is %.9g, but %.9g below 0",
                WIDTHS[_i], (double)x[i], (double)tangent[i],
                (double)negative[i]);
}
END_TEST

START_TEST(a_maximum_passes_over_nan)
{
    run_functions(WIDTHS[_i]);
    for (size_t i = 0; i < MOST * N; ++i)
        if (most[i] != (x[i] > -1 ? x[i] : -1))
            ck_abort_msg("width %zu: the maximum of %g and -1 is %g",
                WIDTHS[_i], (double)x[i], (double)most[i]);
}
END_TEST

/* ---- Rows ------------------------------------------------------------------- */

static const char COPIES[] =
    "DEFINE_LOAD_PART(load_part, T)\n"
    "__kernel void probe(__global float *rows, __global ELEMENT(T) *copies,\n"
    "    __global float *parts, __global const ELEMENT(T) *from)\n"
    "{\n"
    "    const int i = (int)get_global_id(0), at = i * (VW + 1) + 1;\n"
    "    const V v = LOAD_ROW(T, from + at);\n"
    "    STORE_ROW(1, v, rows + at);\n"
    "    STORE_ROW(T, v, copies + at);\n"
    "    STORE_ROW(1, load_part(from + at, i % (VW + 2)), parts + at);\n"
    "}\n";

static uint16_t halves[(MOST + 1) * N + 1], copies[(MOST + 1) * N + 1];
static float wide_rows[(MOST + 1) * N + 1], parts[(MOST + 1) * N + 1];

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* Behind every width of elements one is left alone. */
START_TEST(rows_are_loaded_and_stored_as_elements_are)
{
    const size_t width = WIDTHS[_i % 4], count = N * (width + 1) + 1;
    const int32_t dtype = _i < 4 ? CLATTN_F16 : CLATTN_BF16;
    for (size_t i = 0; i < count; ++i)
        halves[i] = (uint16_t)(i * 40503u);
    memset(copies, 0x11, sizeof copies);
    memset(wide_rows, 0x11, sizeof wide_rows);
    const probe_call call = {
        .buffer = {{wide_rows, count * sizeof(float)}, {copies, count * 2},
            {parts, count * sizeof(float)}, {halves, count * 2}},
        .global = {N, 1}};
    run(COPIES, width, dtype, &call);
    for (size_t i = 0; i < count; ++i) {
        double want, copy, untouched = 0;
        convert_load(&want, halves, dtype, i, 1);
        convert_load(&copy, copies, dtype, i, 1);
        if (i % (width + 1) == 0) {
            untouched = wide_rows[i];
            ck_assert(copies[i] == 0x1111 && untouched == wide_rows[0]);
            continue;
        }
        const size_t part = (i - 1) / (width + 1) % (width + 2);
        const bool inside = (i - 1) % (width + 1) < part;
        if (!same(want, wide_rows[i]) || !same(want, copy) ||
            !same(inside ? want : 0, parts[i]))
            ck_abort_msg("width %zu, dtype %d: 0x%x gives %g, %g and %g", width,
                (int)dtype, (unsigned)halves[i], (double)wide_rows[i], copy,
                (double)parts[i]);
    }
}
END_TEST

static const char ROUNDS[] =
    "__kernel void probe(__global ELEMENT(T) *to, __global const float *from)\n"
    "{\n"
    "    const int at = (int)get_global_id(0) * VW;\n"
    "    STORE_ROW(T, LOAD_ROW(1, from + at), to + at);\n"
    "}\n";

/* Middles of neighbours, and a little to both sides. */
START_TEST(rows_are_rounded_as_elements_are)
{
    const size_t width = WIDTHS[_i % 4];
    const int32_t dtype = _i < 4 ? CLATTN_F16 : CLATTN_BF16;
    const uint32_t half_step = dtype == CLATTN_F16 ? 0x1000 : 0x8000;
    for (size_t i = 0; i < MOST * N; ++i) {
        const uint32_t bits = (uint32_t)(i / 3) * 0x2e1c6000u + half_step;
        const uint32_t near = (bits & ~(half_step - 1)) + (uint32_t)(i % 3) - 1;
        memcpy(&x[i], &near, sizeof near);
    }
    const probe_call call = {.buffer = {{copies, MOST * N * 2}, {x, sizeof x}},
        .global = {MOST * N / width, 1}};
    run(ROUNDS, width, dtype, &call);
    for (size_t i = 0; i < MOST * N; ++i) {
        const double value = x[i];
        double back;
        uint16_t want;
        convert_store(&want, dtype, 0, &value, 1);
        convert_load(&back, copies, dtype, i, 1);
        if (isnan(value) ? !isnan(back) : copies[i] != want)
            ck_abort_msg("width %zu, dtype %d: %.9g is stored as 0x%x", width,
                (int)dtype, value, (unsigned)copies[i]);
    }
}
END_TEST

static const char TRUTHS[] =
    "__kernel void probe(__global float *to, __global const uchar *from)\n"
    "{\n"
    "    const int at = (int)get_global_id(0) * VW;\n"
    "    STORE_ROW(1, LOAD_ROW(4, from + at), to + at);\n"
    "}\n";

START_TEST(a_row_of_bools_hides_where_they_are_0)
{
    static uint8_t bytes[MOST * N];
    const size_t width = WIDTHS[1 + _i];
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = i % 3 ? (uint8_t)i : 0;
    const probe_call call = {.buffer = {{x, sizeof x}, {bytes, sizeof bytes}},
        .global = {MOST * N / width, 1}};
    run(TRUTHS, width, CLATTN_BOOL, &call);
    for (size_t i = 0; i < sizeof bytes; ++i)
        if (x[i] != (bytes[i] ? 0 : -INFINITY))
            ck_abort_msg(
                "width %zu: %d gives %g", width, bytes[i], (double)x[i]);
}
END_TEST

static const char TURNS[] =
    "__kernel void probe(__global float *to, __global const float *from)\n"
    "{\n"
    "    V r[VW];\n"
    "    for (int i = 0; i < VW; ++i)\n"
    "        r[i] = LOAD_ROW(1, from + i * VW);\n"
    "    transpose(r);\n"
    "    for (int i = 0; i < VW; ++i)\n"
    "        STORE_ROW(1, r[i] + 0.001f * convert_V((VI)(LANES)), "
    "to + i * VW);\n"
    "}\n";

/* And LANES counts the lanes. */
START_TEST(transposition_turns_rows_into_columns)
{
    const size_t width = WIDTHS[_i];
    for (size_t i = 0; i < width * width; ++i)
        x[i] = (float)i;
    const probe_call call = {
        .buffer = {{power, sizeof power}, {x, sizeof x}}, .global = {1, 1}};
    run(TURNS, width, CLATTN_F32, &call);
    for (size_t i = 0; i < width * width; ++i) {
        const size_t row = i / width, lane = i % width;
        const float want = (float)(lane * width + row) + 0.001f * (float)lane;
        ck_assert_msg(fabsf(power[i] - want) < 1e-4f,
            "width %zu: row %zu lane %zu is %g", width, row, lane,
            (double)power[i]);
    }
}
END_TEST

/* ---- Random words ------------------------------------------------------------ */

static const char WORDS[] =
    "__kernel void probe(__global uint *words, __global const uint *key)\n"
    "{\n"
    "    const uint i = (uint)get_global_id(0);\n"
    "    VU c[4];\n"
    "    for (uint n = 0; n < 4; ++n)\n"
    "        c[n] = (VU)(i * 0x9e3779b1u + n * 0x85ebca77u) +\n"
    "            as_VU((VI)(LANES)) * 0xc2b2ae3du;\n"
    "    philox(c, key[2 * i], key[2 * i + 1]);\n"
    "    for (uint n = 0; n < 4; ++n)\n"
    "        *(__global VU *)(words + (4 * i + n) * VW) = c[n];\n"
    "}\n";

/* Against the host's, which agrees with its authors' vectors. */
START_TEST(random_words_are_philox)
{
    static uint32_t words[4 * 64 * MOST], keys[2 * 64];
    const size_t width = WIDTHS[_i];
    for (size_t i = 0; i < COUNT(keys); ++i)
        keys[i] = (uint32_t)(i * 0x27d4eb2fu);
    const probe_call call = {
        .buffer = {{words, sizeof words}, {keys, sizeof keys}},
        .global = {64, 1}};
    run(WORDS, width, CLATTN_F32, &call);
    for (uint32_t at = 0; at < 64 * width; ++at) {
        const uint32_t i = at / (uint32_t)width, lane = at % (uint32_t)width;
        uint32_t counter[4], want[4];
        for (uint32_t n = 0; n < 4; ++n)
            counter[n] = i * 0x9e3779b1u + n * 0x85ebca77u + lane * 0xc2b2ae3du;
        philox4x32_10(want, counter, keys + 2 * i);
        for (uint32_t n = 0; n < 4; ++n)
            ck_assert_msg(words[(4 * i + n) * width + lane] == want[n],
                "width %zu: word %u of lane %u", width, n, lane);
    }
}
END_TEST

int main(void)
{
    TCase *functions = opencl_cases("functions", 300);
    tcase_add_loop_test(functions,
        powers_of_two_are_within_the_bound_and_whole_ones_exact, 0, 4);
    tcase_add_loop_test(functions, tanh_keeps_its_relative_precision, 0, 4);
    tcase_add_loop_test(functions, tanh_is_odd_and_ends_at_1, 0, 4);
    tcase_add_loop_test(functions, a_maximum_passes_over_nan, 0, 4);

    TCase *rows = opencl_cases("rows", 300);
    tcase_add_loop_test(rows, rows_are_loaded_and_stored_as_elements_are, 0, 8);
    tcase_add_loop_test(rows, rows_are_rounded_as_elements_are, 0, 8);
    tcase_add_loop_test(rows, a_row_of_bools_hides_where_they_are_0, 0, 3);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, transposition_turns_rows_into_columns, 0, 4);
    tcase_add_loop_test(tiny, random_words_are_philox, 0, 4);

    Suite *suite = suite_create("kernels_lanes");
    suite_add_tcase(suite, functions);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
