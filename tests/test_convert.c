/* SPDX-License-Identifier: Apache-2.0
 *
 * test_convert.c - conversions between float dtypes: exact when they widen,
 * rounded to nearest even once when they narrow.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "convert.h"
#include "problem.h"
#include "refusal.h"
#include "suite.h"

static uint32_t store_bits(int32_t dtype, double value)
{
    uint32_t bits = 0;
    convert_store(&bits, dtype, 0, &value, 1);
    return bits;
}

static double load_bits(int32_t dtype, uint32_t bits)
{
    double value = 0.0;
    convert_load(&value, &bits, dtype, 0, 1);
    return value;
}

/* The value of a 16-bit pattern by its definition, with exponent field and
   mantissa read apart. */
static double value_of(uint32_t bits, int exponent_bits, int mantissa_bits)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int top = (1 << exponent_bits) - 1;
    const int exponent = (int)(bits >> mantissa_bits) & top;
    const double fraction =
        (double)(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
    const double sign = bits >> 15 ? -1.0 : 1.0;

    if (exponent == top)
        return fraction > 0.0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * fraction * pow(2.0, 1 - bias);
    return sign * (1.0 + fraction) * pow(2.0, exponent - bias);
}

static const struct {
    int32_t dtype;
    int exponent_bits, mantissa_bits;
} SHORT_FLOATS[] = {{CLATTN_F16, 5, 10}, {CLATTN_BF16, 8, 7}};

START_TEST(every_16_bit_pattern_has_its_value)
{
    const int32_t dtype = SHORT_FLOATS[_i].dtype;

    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const double want = value_of(bits, SHORT_FLOATS[_i].exponent_bits,
            SHORT_FLOATS[_i].mantissa_bits);
        const double got = load_bits(dtype, bits);
        const int same = isnan(want)
                             ? isnan(got)
                             : got == want && !signbit(got) == !signbit(want);
        if (!same)
            ck_abort_msg("%s 0x%04x is %g, want %g", dtype_name(dtype),
                (unsigned)bits, got, want);
    }
}
END_TEST

START_TEST(every_16_bit_pattern_comes_back)
{
    const int32_t dtype = SHORT_FLOATS[_i].dtype;

    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const double value = load_bits(dtype, bits);
        const uint32_t back = store_bits(dtype, value);
        /* A NaN may lose its payload, but neither sign nor being one. */
        const int same = isnan(value) ? isnan(load_bits(dtype, back)) &&
                                            back >> 15 == bits >> 15
                                      : back == bits;
        if (!same)
            ck_abort_msg("%s 0x%04x came back as 0x%04x", dtype_name(dtype),
                (unsigned)bits, (unsigned)back);
    }
}
END_TEST

/* Between each two neighbours: just below, at and just above the middle. */
START_TEST(between_neighbours_the_nearer_wins_and_a_tie_goes_to_even)
{
    const int32_t dtype = SHORT_FLOATS[_i].dtype;
    const uint32_t inf = store_bits(dtype, (double)INFINITY);

    for (uint32_t low = 0; low + 1 < inf; ++low) {
        const double a = load_bits(dtype, low);
        const double middle = a + (load_bits(dtype, low + 1) - a) / 2;
        const double values[3] = {
            nextafter(middle, 0.0), middle, nextafter(middle, 1e300)};
        const uint32_t want[3] = {low, low + (low & 1), low + 1};
        for (int i = 0; i < 3; ++i) {
            const uint32_t got = store_bits(dtype, values[i]);
            const uint32_t mirrored = store_bits(dtype, -values[i]);
            if (got != want[i] || mirrored != (want[i] | 0x8000))
                ck_abort_msg("%a as %s is 0x%04x, want 0x%04x", values[i],
                    dtype_name(dtype), (unsigned)got, (unsigned)want[i]);
        }
    }
}
END_TEST

static const struct {
    const char *about;
    int32_t dtype;
    double value;
    uint32_t bits;
} HARD[] = {
    {"the largest f16", CLATTN_F16, 65504.0, 0x7bff},
    {"just below half a step beyond", CLATTN_F16, 65519.99999, 0x7bff},
    {"half a step beyond is a tie to infinity", CLATTN_F16, 65520.0, 0x7c00},
    {"far beyond", CLATTN_F16, -1e300, 0xfc00},
    {"the smallest f16", CLATTN_F16, 0x1p-24, 0x0001},
    {"half of it ties to 0", CLATTN_F16, 0x1p-25, 0x0000},
    {"a little more than half", CLATTN_F16, 0x1.0000001p-25, 0x0001},
    {"minus half keeps its sign", CLATTN_F16, -0x1p-25, 0x8000},
    {"a quarter", CLATTN_F16, 0x1p-26, 0x0000},
    {"the smallest double", CLATTN_F16, 0x1p-1074, 0x0000},
    {"subnormal rounds up to normal", CLATTN_F16, 6.1005354e-5, 0x0400},
    {"-0", CLATTN_F16, -0.0, 0x8000},
    {"bf16 is rounded, not cut", CLATTN_BF16, 0.2691408770292272, 0x3e8a},
    {"f32's largest is beyond bf16", CLATTN_BF16, 0x1.fffffep127, 0x7f80},
    {"the smallest bf16", CLATTN_BF16, 0x1p-133, 0x0001},
    {"half of it ties to 0", CLATTN_BF16, 0x1p-134, 0x0000},
    {"once: not to f32 first, which would make a tie of it", CLATTN_BF16,
        0x1.01000000001p0, 0x3f81},
    {"once: nor for f16", CLATTN_F16, 0x1.00200000001p0, 0x3c01},
    {"once: the same below a tie", CLATTN_F16, 0x1.005fffffffp0, 0x3c01},
    {"f32 tie to even", CLATTN_F32, 0x1.000001p0, 0x3f800000},
    {"f32 just above", CLATTN_F32, 0x1.0000010000001p0, 0x3f800001},
    {"f32 overflow", CLATTN_F32, 0x1.ffffffp127, 0x7f800000},
    {"f32 at its largest", CLATTN_F32, 0x1.fffffep127, 0x7f7fffff},
    {"f32 subnormal", CLATTN_F32, 0x1.8p-149, 0x00000002},
    {"f32 infinity", CLATTN_F32, -(double)INFINITY, 0xff800000},
};

START_TEST(hard_numbers_round_as_they_should)
{
    const uint32_t got = store_bits(HARD[_i].dtype, HARD[_i].value);
    ck_assert_msg(got == HARD[_i].bits, "%s: %a as %s is 0x%x, want 0x%x",
        HARD[_i].about, HARD[_i].value, dtype_name(HARD[_i].dtype),
        (unsigned)got, (unsigned)HARD[_i].bits);
}
END_TEST

/* The compiler's own narrowing, in the default rounding mode, is the oracle. */
START_TEST(f32_is_what_the_compiler_makes_of_it)
{
    uint64_t state = 1;

    for (int n = 0; n < 100000; ++n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = 0.0;
        memcpy(&value, &state, sizeof value);
        /* Into f32's range and a little beyond, on both sides. */
        value = ldexp(frexp(value, &(int){0}), (int)(state % 300) - 160);
        const float want = (float)value;
        const uint32_t got = store_bits(CLATTN_F32, value);
        if (memcmp(&got, &want, sizeof want) != 0 && !isnan(value))
            ck_abort_msg(
                "%a is 0x%x, want %a", value, (unsigned)got, (double)want);
    }
}
END_TEST

/* ---- The public call ----------------------------------------------------- */

START_TEST(widening_and_back_changes_no_bit)
{
    enum {
        N = 1000 /* several blocks, and a part of one */
    };
    uint16_t first[N], back[N];
    float wide[N];
    double wider[N];
    clattn_error error;

    for (int i = 0; i < N; ++i)
        first[i] = (uint16_t)(i * 31);
    ck_assert_int_eq(
        clattn_convert(wide, CLATTN_F32, first, CLATTN_F16, N, &error), 0);
    ck_assert_int_eq(
        clattn_convert(wider, CLATTN_F64, wide, CLATTN_F32, N, &error), 0);
    ck_assert_int_eq(
        clattn_convert(back, CLATTN_F16, wider, CLATTN_F64, N, &error), 0);
    ck_assert_mem_eq(first, back, sizeof first);
    ck_assert_str_eq(error.message, "");
}
END_TEST

START_TEST(pointers_need_no_alignment)
{
    unsigned char from[1 + 4 * 3], to[1 + 8 * 3];
    const float values[3] = {1.5f, -2.0f, 0x1p-149f};
    double got[3];

    memcpy(from + 1, values, sizeof values);
    ck_assert_int_eq(
        clattn_convert(to + 1, CLATTN_F64, from + 1, CLATTN_F32, 3, NULL), 0);
    memcpy(got, to + 1, sizeof got);
    for (int i = 0; i < 3; ++i)
        ck_assert(got[i] == (double)values[i]);
}
END_TEST

START_TEST(a_conversion_in_place_is_right)
{
    uint16_t values[600];
    for (int i = 0; i < 600; ++i)
        values[i] = (uint16_t)store_bits(CLATTN_F16, i * 0.25);
    ck_assert_int_eq(
        clattn_convert(values, CLATTN_BF16, values, CLATTN_F16, 600, NULL), 0);
    for (int i = 0; i < 600; ++i)
        ck_assert_uint_eq(values[i], store_bits(CLATTN_BF16, i * 0.25));
}
END_TEST

static float PLACE[8];

static const struct {
    const char *about;
    void *to;
    int32_t to_dtype;
    const void *from;
    int32_t from_dtype;
    size_t count;
    const char *words;
} CALLS[] = {
    {"nothing", NULL, CLATTN_F32, NULL, CLATTN_F16, 0, NULL},
    {"to bool", PLACE, CLATTN_BOOL, PLACE + 4, CLATTN_F32, 1,
        "to_dtype is 4 (bool), but must be f32, f16, bf16 or f64"},
    {"from nothing known", PLACE, CLATTN_F32, PLACE + 4, 0, 1,
        "from_dtype is 0 (not set)"},
    {"a dtype of no elements", NULL, 9, NULL, CLATTN_F32, 0, "to_dtype is 9"},
    {"to NULL", NULL, CLATTN_F32, PLACE, CLATTN_F32, 2,
        "to is NULL, but must hold 2 elements"},
    {"from NULL", PLACE, CLATTN_F32, NULL, CLATTN_F32, 2, "from is NULL"},
    {"in place, of other sizes", PLACE, CLATTN_F16, PLACE, CLATTN_F32, 2,
        "to (4 bytes) overlaps from (8 bytes)"},
    {"one element further on", PLACE + 1, CLATTN_F32, PLACE, CLATTN_F32, 2,
        "to (8 bytes) overlaps from (8 bytes)"},
    {"side by side", PLACE + 2, CLATTN_F32, PLACE, CLATTN_F32, 2, NULL},
    {"a count whose bytes wrap", PLACE, CLATTN_F64, PLACE, CLATTN_F64,
        SIZE_MAX / 8 + 1, "count is 2305843009213693952"},
};

START_TEST(wrong_calls_are_refused_and_write_nothing)
{
    clattn_error error;
    const float before[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    memcpy(PLACE, before, sizeof before);
    const clattn_status got = clattn_convert(CALLS[_i].to, CALLS[_i].to_dtype,
        CALLS[_i].from, CALLS[_i].from_dtype, CALLS[_i].count, &error);

    refusal_check(CALLS[_i].about, got,
        CALLS[_i].words ? CLATTN_INVALID : CLATTN_OK, &error, CALLS[_i].words);
    if (CALLS[_i].words)
        ck_assert_mem_eq(PLACE, before, sizeof before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convert");
    TCase *elements = tcase_create("elements");
    TCase *calls = tcase_create("calls");

    tcase_add_loop_test(elements, every_16_bit_pattern_has_its_value, 0, 2);
    tcase_add_loop_test(elements, every_16_bit_pattern_comes_back, 0, 2);
    tcase_add_loop_test(elements,
        between_neighbours_the_nearer_wins_and_a_tie_goes_to_even, 0, 2);
    tcase_add_loop_test(
        elements, hard_numbers_round_as_they_should, 0, (int)COUNT(HARD));
    tcase_add_test(elements, f32_is_what_the_compiler_makes_of_it);
    suite_add_tcase(suite, elements);

    tcase_add_test(calls, widening_and_back_changes_no_bit);
    tcase_add_test(calls, pointers_need_no_alignment);
    tcase_add_test(calls, a_conversion_in_place_is_right);
    tcase_add_loop_test(
        calls, wrong_calls_are_refused_and_write_nothing, 0, (int)COUNT(CALLS));
    suite_add_tcase(suite, calls);
    return suite_main(suite, 0);
}
