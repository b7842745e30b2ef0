/* SPDX-License-Identifier: Apache-2.0
 *
 * convert.c - elements of every float dtype to and from double.
 *
 * A float of any width is sign, exponent and mantissa; only how many bits the
 * latter two have differs, so one function widens and one narrows them all.
 */
#include "convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "problem.h"
#include "problem_tensor.h"

typedef struct layout {
    int exponent, mantissa; /* bits of each */
} layout;

static const layout F16 = {5, 10};
static const layout BF16 = {8, 7};
static const layout F32 = {8, 23};

enum {
    DOUBLE_MANTISSA = 52,
    DOUBLE_BIAS = 1023
};

static double widen(uint32_t bits, layout f)
{
    const int bias = (1 << (f.exponent - 1)) - 1;
    const uint32_t inf = (1u << f.exponent) - 1;
    const uint32_t mantissa = bits & ((1u << f.mantissa) - 1);
    const uint32_t exponent = bits >> f.mantissa & inf;
    const uint64_t sign = bits >> (f.exponent + f.mantissa);

    if (exponent == 0) {
        const double size = ldexp((double)mantissa, 1 - bias - f.mantissa);
        return sign ? -size : size;
    }
    /* The same fields, moved to where a double has them; what is left of a
       signalling NaN is made quiet, as arithmetic would. */
    const uint64_t quiet = exponent == inf && mantissa != 0;
    const uint64_t wide =
        exponent == inf ? 2 * DOUBLE_BIAS + 1
                        : (uint64_t)exponent + (uint64_t)(DOUBLE_BIAS - bias);
    const uint64_t fields =
        sign << 63 | wide << DOUBLE_MANTISSA | quiet << (DOUBLE_MANTISSA - 1) |
        (uint64_t)mantissa << (DOUBLE_MANTISSA - f.mantissa);
    double value = 0.0;
    memcpy(&value, &fields, sizeof value);
    return value;
}

/* mantissa >> shift, to nearest, ties to even. */
static uint64_t shift_rounded(uint64_t mantissa, int shift)
{
    const uint64_t kept = mantissa >> shift;
    const uint64_t rest = mantissa & ((1ull << shift) - 1);
    const uint64_t half = 1ull << (shift - 1);

    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

static uint32_t narrow(double value, layout f)
{
    const int bias = (1 << (f.exponent - 1)) - 1;
    const uint32_t inf = ((1u << f.exponent) - 1) << f.mantissa;
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << (f.exponent + f.mantissa);

    if (isnan(value))
        return sign | inf | 1u << (f.mantissa - 1);
    if (isinf(value))
        return sign | inf;

    const uint64_t fraction = bits & ((1ull << DOUBLE_MANTISSA) - 1);
    const int exponent = (int)(bits >> DOUBLE_MANTISSA & 0x7ff) - DOUBLE_BIAS;
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0;
    const int shift = DOUBLE_MANTISSA - f.mantissa + below;
    /* Less than half of the smallest number, as every subnormal double is. */
    if (shift > DOUBLE_MANTISSA + 1)
        return sign;

    /* The leading 1 adds one to the exponent field, and so does a carry. */
    const uint64_t rounded =
        shift_rounded(fraction | 1ull << DOUBLE_MANTISSA, shift);
    const uint64_t field = below > 0 ? 0 : (uint64_t)(exponent + bias - 1);
    const uint64_t result = (field << f.mantissa) + rounded;
    return sign | (result < inf ? (uint32_t)result : inf);
}

static void load_16(
    double *to, const unsigned char *from, layout f, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        uint16_t bits = 0;
        memcpy(&bits, from + i * sizeof bits, sizeof bits);
        to[i] = widen(bits, f);
    }
}

/* The compiler's own conversion, which is exact and fast. */
static void load_32(double *to, const unsigned char *from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        float value = 0.0f;
        memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] = (double)value;
    }
}

void convert_load(
    double *to, const void *from, int32_t dtype, size_t first, size_t count)
{
    if (count == 0)
        return;
    const unsigned char *bytes =
        (const unsigned char *)from + first * dtype_bytes(dtype);

    switch (dtype) {
    case CLATTN_F16:
        load_16(to, bytes, F16, count);
        break;
    case CLATTN_BF16:
        load_16(to, bytes, BF16, count);
        break;
    case CLATTN_F32:
        load_32(to, bytes, count);
        break;
    case CLATTN_F64:
        memmove(to, bytes, count * sizeof *to);
        break;
    }
}

static void store_16(
    unsigned char *to, const double *from, layout f, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint16_t bits = (uint16_t)narrow(from[i], f);
        memcpy(to + i * sizeof bits, &bits, sizeof bits);
    }
}

/* Not the compiler's conversion: that one follows the rounding mode. */
static void store_32(unsigned char *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const uint32_t bits = narrow(from[i], F32);
        memcpy(to + i * sizeof bits, &bits, sizeof bits);
    }
}

void convert_store(
    void *to, int32_t dtype, size_t first, const double *from, size_t count)
{
    if (count == 0)
        return;
    unsigned char *bytes = (unsigned char *)to + first * dtype_bytes(dtype);

    switch (dtype) {
    case CLATTN_F16:
        store_16(bytes, from, F16, count);
        break;
    case CLATTN_BF16:
        store_16(bytes, from, BF16, count);
        break;
    case CLATTN_F32:
        store_32(bytes, from, count);
        break;
    case CLATTN_F64:
        memmove(bytes, from, count * sizeof *from);
        break;
    }
}

/* Equal pointers are fine if no element is written before it is read. */
static clattn_status check_apart(const void *to, size_t to_bytes,
    const void *from, size_t from_bytes, clattn_error *error)
{
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;

    if (a >= b + from_bytes || b >= a + to_bytes)
        return CLATTN_OK;
    if (a == b && to_bytes == from_bytes)
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "to (%zu bytes) overlaps from (%zu bytes), but may only be equal to "
        "it, with elements of one size",
        to_bytes, from_bytes);
}

static clattn_status check_conversion(const void *to, int32_t to_dtype,
    const void *from, int32_t from_dtype, size_t count, clattn_error *error)
{
    const unsigned floats = DTYPES_FLOAT | DTYPES_F64;
    clattn_status status = CLATTN_OK;

    TRY(dtype_check(to_dtype, floats, "to_dtype", error));
    TRY(dtype_check(from_dtype, floats, "from_dtype", error));
    if (count == 0)
        return CLATTN_OK;
    if (to == NULL || from == NULL)
        return error_set(error, CLATTN_INVALID,
            "%s is NULL, but must hold %zu elements", to ? "from" : "to",
            count);
    if (count > SIZE_MAX / sizeof(double))
        return error_set(error, CLATTN_INVALID,
            "count is %zu, but must be at most %zu", count,
            SIZE_MAX / sizeof(double));
    TRY(check_apart(to, count * dtype_bytes(to_dtype), from,
        count * dtype_bytes(from_dtype), error));

cleanup:
    return status;
}

clattn_status clattn_convert(void *to, int32_t to_dtype, const void *from,
    int32_t from_dtype, size_t count, clattn_error *error)
{
    enum {
        BLOCK = 256 /* elements at a time, so that nothing is allocated */
    };
    double block[BLOCK];
    const clattn_status status =
        check_conversion(to, to_dtype, from, from_dtype, count, error);

    if (status != CLATTN_OK)
        return status;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        convert_load(block, from, from_dtype, i, n);
        convert_store(to, to_dtype, i, block, n);
    }
    return error_none(error);
}
