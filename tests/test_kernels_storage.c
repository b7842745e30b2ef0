/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_storage.c - storage.clh alone: every 16-bit number loaded, and
 * every border between two of them rounded.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "convert.h"
#include "opencl.h"
#include "probe.h"
#include "suite.h"

enum {
    NUMBERS = 65536,
    NEAR = 5 /* a border, the floats around it, and the numbers beside it */
};

static const char LOADS[] =
    "__kernel void probe(__global float *to, __global const ELEMENT(T) *from)\n"
    "{\n"
    "    const int i = (int)get_global_id(0);\n"
    "    to[i] = LOAD(T, from + i);\n"
    "}\n";

static const char STORES[] =
    "__kernel void probe(__global ELEMENT(T) *to, __global const float *from)\n"
    "{\n"
    "    const int i = (int)get_global_id(0);\n"
    "    STORE(T, from[i], to + i);\n"
    "}\n";

static const char MASKS[] =
    "__kernel void probe(__global float *to, __global const ELEMENT(T) *from)\n"
    "{\n"
    "    const int i = (int)get_global_id(0);\n"
    "    to[i] = MASK_AT(T, from + i);\n"
    "}\n";

static const int32_t DTYPES[] = {CLATTN_F16, CLATTN_BF16};

static void run(const char *text, int32_t dtype, void *to, size_t to_bytes,
    void *from, size_t from_bytes, size_t count)
{
    static const char *const PIECES[] = {"storage.clh", NULL};
    char options[20];
    probe p;
    snprintf(options, sizeof options, "-DT=%d", (int)dtype);
    probe_open(&p, PIECES, options, text);
    const probe_call call = {
        .buffer = {{to, to_bytes}, {from, from_bytes}}, .global = {count, 1}};
    probe_run(&p, &call);
    probe_close(&p);
}

static uint16_t numbers[NUMBERS];
static float values[NEAR * NUMBERS];
static uint16_t stored[NEAR * NUMBERS];

START_TEST(every_16_bit_number_is_loaded_exactly)
{
    const int32_t dtype = DTYPES[_i % 2];
    for (size_t i = 0; i < NUMBERS; ++i)
        numbers[i] = (uint16_t)i;
    run(_i < 2 ? LOADS : MASKS, dtype, values, NUMBERS * sizeof(float), numbers,
        sizeof numbers, NUMBERS);
    for (size_t i = 0; i < NUMBERS; ++i) {
        double want;
        convert_load(&want, numbers, dtype, i, 1);
        if (isnan(want) ? !isnan(values[i])
                        : (double)values[i] != want ||
                              !signbit(values[i]) != !signbit(want))
            ck_abort_msg("dtype %d: 0x%zx is %.9g, but must be %.9g",
                (int)dtype, i, (double)values[i], want);
    }
}
END_TEST

/* The number, the one after it, their middle, and the floats next to that. */
static void make_borders(int32_t dtype)
{
    for (size_t i = 0; i < NUMBERS; ++i) {
        const uint16_t pair[2] = {(uint16_t)i, (uint16_t)(i + 1)};
        double value[2];
        convert_load(value, pair, dtype, 0, 2);
        const float middle = (float)((value[0] + value[1]) / 2);
        float *at = values + NEAR * i;
        at[0] = (float)value[0];
        at[1] = (float)value[1];
        at[2] = middle;
        at[3] = nextafterf(middle, INFINITY);
        at[4] = nextafterf(middle, -INFINITY);
    }
}

static bool same(int32_t dtype, uint16_t got, double value)
{
    uint16_t want;
    double back;
    convert_store(&want, dtype, 0, &value, 1);
    convert_load(&back, &got, dtype, 0, 1);
    return isnan(value) ? isnan(back) : got == want;
}

START_TEST(every_border_is_rounded_to_nearest_even)
{
    const int32_t dtype = DTYPES[_i];
    make_borders(dtype);
    run(STORES, dtype, stored, sizeof stored, values, sizeof values,
        NEAR * NUMBERS);
    for (size_t i = 0; i < NEAR * NUMBERS; ++i)
        if (!same(dtype, stored[i], values[i]))
            ck_abort_msg("dtype %d: %.9g is stored as 0x%x", (int)dtype,
                (double)values[i], (unsigned)stored[i]);
}
END_TEST

static const float ENDS[] = {0, -0.0f, 65504, 65519.99f, 65520, -65520, 3.4e38f,
    -3.4e38f, 3.39e38f, INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 1e-40f,
    2.9e-8f, 3e-8f, 1.17549435e-38f};

START_TEST(the_ends_of_f32_are_stored_as_they_must)
{
    const int32_t dtype = DTYPES[_i];
    memcpy(values, ENDS, sizeof ENDS);
    run(STORES, dtype, stored, sizeof stored, values, sizeof values,
        COUNT(ENDS));
    for (size_t i = 0; i < COUNT(ENDS); ++i)
        ck_assert_msg(same(dtype, stored[i], values[i]),
            "dtype %d: %.9g is stored as 0x%x", (int)dtype, (double)values[i],
            (unsigned)stored[i]);
}
END_TEST

/* The smallest NaN of f32 loses all its bits in 16. */
START_TEST(a_nan_stays_one_whatever_its_bits)
{
    static const uint32_t NANS[] = {
        0x7f800001, 0xff800001, 0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f80ffff};
    const int32_t dtype = DTYPES[_i];
    memcpy(values, NANS, sizeof NANS);
    run(STORES, dtype, stored, sizeof stored, values, sizeof values,
        COUNT(NANS));
    for (size_t i = 0; i < COUNT(NANS); ++i) {
        double back;
        convert_load(&back, stored, dtype, i, 1);
        ck_assert_msg(isnan(back), "dtype %d: 0x%x is stored as 0x%x",
            (int)dtype, (unsigned)NANS[i], (unsigned)stored[i]);
    }
}
END_TEST

START_TEST(f32_is_copied)
{
    static float copies[COUNT(ENDS)];
    memcpy(values, ENDS, sizeof ENDS);
    run(_i == 0   ? LOADS
        : _i == 1 ? STORES
                  : MASKS,
        CLATTN_F32, copies, sizeof copies, values, sizeof values, COUNT(ENDS));
    ck_assert_mem_eq(copies, ENDS, sizeof ENDS);
}
END_TEST

START_TEST(a_bool_hides_where_it_is_0)
{
    static uint8_t bytes[256];
    for (size_t i = 0; i < COUNT(bytes); ++i)
        bytes[i] = (uint8_t)i;
    run(MASKS, CLATTN_BOOL, values, sizeof values, bytes, sizeof bytes,
        COUNT(bytes));
    for (size_t i = 0; i < COUNT(bytes); ++i)
        ck_assert_msg(values[i] == (i == 0 ? -INFINITY : 0.0f), "%zu gives %g",
            i, (double)values[i]);
}
END_TEST

int main(void)
{
    TCase *all = tcase_create("numbers");
    tcase_add_unchecked_fixture(all, opencl_open, opencl_close);
    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, every_16_bit_number_is_loaded_exactly, 0, 4);
    tcase_add_loop_test(all, every_border_is_rounded_to_nearest_even, 0, 2);

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(tiny, the_ends_of_f32_are_stored_as_they_must, 0, 2);
    tcase_add_loop_test(tiny, a_nan_stays_one_whatever_its_bits, 0, 2);
    tcase_add_loop_test(tiny, f32_is_copied, 0, 3);
    tcase_add_test(tiny, a_bool_hides_where_it_is_0);

    Suite *suite = suite_create("kernels_storage");
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
