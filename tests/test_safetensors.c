/* SPDX-License-Identifier: Apache-2.0
 *
 * test_safetensors.c - .safetensors files read and refused.
 */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clattn/clattn.h"
#include "scratch.h"
#include "suite.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

/* One entry of a header. */
#define ENTRY(name, dtype, shape, offsets)                   \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape \
    ",\"data_offsets\":" offsets "}"

#define ONE "\x00\x00\x80\x3f"
#define TWO "\x00\x00\x00\x40"

static size_t put_length(unsigned char *to, uint64_t length)
{
    for (int i = 0; i < 8; ++i)
        to[i] = (unsigned char)(length >> (8 * i));
    return 8;
}

static const char *write_file(
    char *path, const char *header, const char *data, size_t bytes)
{
    unsigned char file[4000];
    size_t length = strlen(header);
    size_t at = put_length(file, length);
    memcpy(file + at, header, length);
    memcpy(file + at + length, data, bytes);
    return scratch_write(path, "a.safetensors", file, at + length + bytes);
}

/* ---- Files that are read ------------------------------------------------- */

/* Every file holds a tensor "t" of these values, beside others perhaps. */
static const struct read_case {
    const char *about;
    const char *header;
    const char *data;
    size_t bytes;
    size_t tensors;
    int32_t dtype;
    size_t rank, size[3], count;
    float value[4];
} READS[] = {
    {"F32", "{" ENTRY("t", "F32", "[1,2]", "[0,8]") "}", BYTES(ONE TWO), 1,
        CLATTN_F32, 2, {1, 2}, 2, {1, 2}},
    {"F16: least subnormal, -infinity",
        "{" ENTRY("t", "F16", "[2]", "[0,4]") "}", BYTES("\x01\x00\x00\xfc"), 1,
        CLATTN_F16, 1, {2}, 2, {5.9604644775390625e-8f, -INFINITY}},
    {"BF16, handed A-X5", "{" ENTRY("t", "BF16", "[1]", "[0,2]") "}",
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"F64", "{" ENTRY("t", "F64", "[1]", "[0,8]") "}",
        BYTES("\0\0\0\0\0\0\xf0\x3f"), 1, CLATTN_F64, 1, {1}, 1, {1}},
    {"an odd address, handed A-X5",
        "{" ENTRY("a", "F16", "[1]", "[0,2]") "," ENTRY(
            "t", "F32", "[1]", "[2,6]") "}",
        BYTES("\x00\x3c" ONE), 2, CLATTN_F32, 1, {1}, 1, {1}},
    {"a really odd one",
        "{" ENTRY("a", "U8", "[1]", "[0,1]") "," ENTRY(
            "t", "F64", "[1]", "[1,9]") "}",
        BYTES("\7\0\0\0\0\0\0\xf0\x3f"), 2, CLATTN_F64, 1, {1}, 1, {1}},
    {"rank 0, handed A-X6", "{" ENTRY("t", "F32", "[]", "[0,4]") "}",
        BYTES(TWO), 1, CLATTN_F32, 0, {0}, 1, {2}},
    {"no elements, handed A-X6", "{" ENTRY("t", "F32", "[0,3]", "[0,0]") "}",
        BYTES(""), 1, CLATTN_F32, 2, {0, 3}, 0, {0}},
    {"two without elements, handed A-X6",
        "{" ENTRY("t", "F32", "[0,3]", "[0,0]") "," ENTRY(
            "u", "F32", "[3,0]", "[0,0]") "}",
        BYTES(""), 2, CLATTN_F32, 2, {0, 3}, 0, {0}},
    {"one without elements between two others",
        "{" ENTRY("a", "F32", "[1]", "[0,4]") "," ENTRY("t", "F32", "[0]",
            "[4,4]") "," ENTRY("z", "F32", "[1]", "[4,8]") "}",
        BYTES(ONE TWO), 3, CLATTN_F32, 1, {0}, 0, {0}},
    {"empty metadata, handed A-X4",
        "{\"__metadata__\":{}," ENTRY("t", "F32", "[1]", "[0,4]") "}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"one space of padding, handed A-X4",
        "{" ENTRY("t", "F32", "[1]", "[0,4]") "} ", BYTES(ONE), 1, CLATTN_F32,
        1, {1}, 1, {1}},
    {"seven", "{" ENTRY("t", "F32", "[1]", "[0,4]") "}       ", BYTES(ONE), 1,
        CLATTN_F32, 1, {1}, 1, {1}},
    {"tensors out of offset order, handed A-X4",
        "{" ENTRY("z", "F32", "[1]", "[8,12]") "," ENTRY("t", "F32", "[1]",
            "[4,8]") "," ENTRY("a", "F32", "[1]", "[0,4]") "}",
        BYTES(ONE TWO ONE), 3, CLATTN_F32, 1, {1}, 1, {2}},
    {"a member that we do not know",
        "{\"t\":{\"dtype\":\"F32\",\"x\":{\"y\":[]},\"shape\":[1],"
        "\"data_offsets\":[0,4]}}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"space within",
        "{ \"t\" : { \"data_offsets\" : [ 0 , 4 ] ,\n\"shape\" : "
        "[ 1 ] , \"dtype\" : \"F32\" } }",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"an escaped name", "{" ENTRY("\\u0074", "F32", "[1]", "[0,4]") "}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
};

static void check_tensor(const struct read_case *c, const safetensor *t)
{
    ck_assert_msg(t != NULL, "%s: 't' is not found", c->about);
    ck_assert_str_eq(t->name, "t");
    ck_assert_msg(
        t->dtype == c->dtype && t->rank == c->rank && t->count == c->count,
        "%s: dtype %d, rank %zu, count %zu", c->about, (int)t->dtype, t->rank,
        t->count);
    for (size_t d = 0; d < c->rank; ++d)
        ck_assert_msg(t->size[d] == c->size[d], "%s: size %zu is %zu", c->about,
            d, t->size[d]);
    failure f = {{0}};
    float *values = safetensor_to_f32(t, &f);
    ck_assert_msg(values != NULL, "%s: %s", c->about, f.text);
    for (size_t i = 0; i < c->count; ++i)
        ck_assert_msg(values[i] == c->value[i], "%s: element %zu is %g, not %g",
            c->about, i, (double)values[i], (double)c->value[i]);
    free(values);
}

/* Under the alignment sanitizer, with the data at every offset to a word. */
START_TEST(tensors_are_found_and_converted_exactly)
{
    const struct read_case *c = &READS[_i];
    for (int padding = 0; padding < 8; ++padding) {
        char path[SCRATCH_PATH], header[2000];
        failure f = {{0}};
        snprintf(
            header, sizeof header, "%s%.*s", c->header, padding, "        ");
        write_file(path, header, c->data, c->bytes);
        safetensors *file = safetensors_open(path, &f);
        ck_assert_msg(file != NULL, "%s: %s", c->about, f.text);
        ck_assert_msg(safetensors_count(file) == c->tensors, "%s: %zu tensors",
            c->about, safetensors_count(file));
        check_tensor(c, safetensors_find(file, "t"));
        safetensors_close(file);
    }
}
END_TEST

START_TEST(a_file_without_tensors_is_empty)
{
    static const char *const HEADERS[] = {"{}", "{\"__metadata__\":{}}"};
    for (size_t i = 0; i < COUNT(HEADERS); ++i) {
        char path[SCRATCH_PATH];
        failure f = {{0}};
        write_file(path, HEADERS[i], "", 0);
        safetensors *file = safetensors_open(path, &f);
        ck_assert_msg(file != NULL, "%s: %s", HEADERS[i], f.text);
        ck_assert_uint_eq(safetensors_count(file), 0);
        ck_assert_ptr_null(safetensors_at(file, 0));
        ck_assert_ptr_null(safetensors_find(file, "t"));
        ck_assert_ptr_null(safetensors_metadata(file, "t"));
        safetensors_close(file);
    }
    safetensors_close(NULL);
}
END_TEST

START_TEST(tensors_come_in_the_order_of_their_names)
{
    char path[SCRATCH_PATH];
    failure f = {{0}};
    write_file(path,
        "{" ENTRY("b.2", "U8", "[1]", "[3,4]") "," ENTRY(
            "a", "I8", "[1]", "[2,3]") "," ENTRY("b.10", "BOOL", "[1]",
            "[0,1]") ","
                     "\"__metadata__\":{\"format\":\"pt\",\"empty\":\"\"}," ENTRY(
                         "", "F8_E4M3", "[1]", "[1,2]") "}",
        "\1\2\3\4", 4);
    static const char *const NAMES[] = {"", "a", "b.10", "b.2"};
    static const char *const DTYPES[] = {"F8_E4M3", "I8", "BOOL", "U8"};
    static const unsigned char FIRST[] = {2, 3, 1, 4};
    safetensors *file = safetensors_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    ck_assert_uint_eq(safetensors_count(file), 4);
    for (size_t i = 0; i < 4; ++i) {
        const safetensor *t = safetensors_at(file, i);
        ck_assert_str_eq(t->name, NAMES[i]);
        ck_assert_str_eq(t->dtype_name, DTYPES[i]);
        ck_assert_int_eq(t->dtype, 0);
        ck_assert_uint_eq(t->bytes, 1);
        ck_assert_int_eq(*(const unsigned char *)t->data, FIRST[i]);
        ck_assert_ptr_eq(safetensors_find(file, NAMES[i]), t);
    }
    ck_assert_ptr_null(safetensors_at(file, 4));
    ck_assert_ptr_null(safetensors_find(file, "b"));
    ck_assert_str_eq(safetensors_metadata(file, "format"), "pt");
    ck_assert_str_eq(safetensors_metadata(file, "empty"), "");
    ck_assert_ptr_null(safetensors_metadata(file, "a"));
    safetensors_close(file);
}
END_TEST

/* Sizes of dtypes that are listed and not converted. */
static const struct dtype_case {
    const char *name, *shape;
    size_t bytes;
} DTYPES[] = {
    {"BOOL", "[4]", 4},
    {"U8", "[4]", 4},
    {"I8", "[4]", 4},
    {"U16", "[4]", 8},
    {"I16", "[4]", 8},
    {"U32", "[4]", 16},
    {"I32", "[4]", 16},
    {"U64", "[4]", 32},
    {"I64", "[4]", 32},
    {"F8_E4M3", "[4]", 4},
    {"F8_E5M2", "[4]", 4},
    {"F8_E8M0", "[4]", 4},
    {"F6_E2M3", "[4]", 3},
    {"F6_E3M2", "[4]", 3},
    {"F4", "[4]", 2},
    {"C64", "[4]", 32},
};

START_TEST(dtypes_that_are_not_converted_are_listed_and_named)
{
    const struct dtype_case *c = &DTYPES[_i];
    char path[SCRATCH_PATH], header[200], text[200];
    failure f = {{0}};
    snprintf(header, sizeof header, "{" ENTRY("w", "%s", "%s", "[0,%zu]") "}",
        c->name, c->shape, c->bytes);
    write_file(path, header, (const char[32]){0}, c->bytes);
    safetensors *file = safetensors_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    const safetensor *t = safetensors_at(file, 0);
    ck_assert_uint_eq(t->bytes, c->bytes);
    ck_assert_int_eq(t->dtype, 0);
    ck_assert_ptr_null(safetensor_to_f32(t, &f));
    snprintf(text, sizeof text,
        "tensor \"w\": dtype %s, but F32, F16, BF16 or F64 is needed", c->name);
    ck_assert_str_eq(f.text, text);
    safetensors_close(file);
}
END_TEST

START_TEST(a_finite_f64_beyond_f32_is_refused)
{
    char path[SCRATCH_PATH];
    failure f = {{0}};
    write_file(path, "{" ENTRY("w", "F64", "[1]", "[0,8]") "}",
        "\xff\xff\xff\xff\xff\xff\xef\x7f", 8);
    safetensors *file = safetensors_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    ck_assert_ptr_null(safetensor_to_f32(safetensors_at(file, 0), &f));
    ck_assert_msg(strstr(f.text, "tensor \"w\": element 0 is 1.79769e+308"),
        "%s", f.text);
    safetensors_close(file);
}
END_TEST

/* ---- Files that are refused ---------------------------------------------- */

static void check_refusal(
    const char *about, const char *path, const char *message)
{
    failure f = {{0}};
    safetensors *file = safetensors_open(path, &f);
    ck_assert_msg(file == NULL, "%s: is read", about);
    ck_assert_msg(strncmp(f.text, path, strlen(path)) == 0,
        "%s: '%s' names not the file", about, f.text);
    ck_assert_msg(
        strstr(f.text, message), "%s: '%s' lacks '%s'", about, f.text, message);
}

/* Handed A-X1: what the first 8 bytes of a file of `size` say. */
static const struct length_case {
    const char *about;
    uint64_t length;
    size_t size;
    const char *message;
} LENGTHS[] = {
    {"all bits set", UINT64_MAX, 100,
        "18446744073709551615 bytes, but at most 100000000 are allowed"},
    {"2^64 - 8, which wraps", UINT64_MAX - 7, 100, "at most 100000000"},
    {"2^40", (uint64_t)1 << 40, 100, "1099511627776 bytes, but at most"},
    {"one above the limit", 100000001, 100, "100000001 bytes, but at most"},
    {"the limit, in a small file", 100000000, 100, "but 92 follow its length"},
    {"0", 0, 100, "does not begin with '{'"},
    {"one more than there is", 93, 100, "93 bytes, but 92 follow its length"},
    {"7 bytes less than the file", 100 - 7, 100, "93 bytes, but 92 follow"},
    {"7 bytes", 0, 7, "has 7 bytes, but a .safetensors file has 8 and"},
    {"nothing", 0, 0, "has 0 bytes"},
    {"only the length", 0, 8, "does not begin with '{'"},
    {"a header of zero bytes", 92, 100, "does not begin with '{'"},
};

START_TEST(header_lengths_are_checked_against_limit_and_file)
{
    const struct length_case *c = &LENGTHS[_i];
    char path[SCRATCH_PATH];
    unsigned char file[100] = {0};
    put_length(file, c->length);
    scratch_write(path, "length.safetensors", file, c->size);
    check_refusal(c->about, path, c->message);
}
END_TEST

/* Twelve bytes of data follow. */
static const struct header_case {
    const char *about;
    const char *header;
    const char *message;
} HEADERS[] = {
    {"4 bytes for 10^6 elements, handed A-X2",
        "{" ENTRY("q", "F32", "[1000,1000]", "[0,4]") "}",
        "\"q\": data offsets 0 to 4 hold 4 bytes, but shape and dtype need "
        "4000000"},
    {"reversed, handed A-X2", "{" ENTRY("q", "F32", "[1]", "[8,4]") "}",
        "data offsets 8 to 4 are reversed"},
    {"reversed, and the difference wraps to 4",
        "{" ENTRY("q", "F32", "[1]", "[9223372036854775807,4]") "}",
        "are reversed"},
    {"negative, handed A-X2", "{" ENTRY("q", "F32", "[1]", "[-4,0]") "}",
        "no \"data_offsets\" of two numbers from 0 on"},
    {"past the end, handed A-X2", "{" ENTRY("q", "F32", "[4]", "[0,16]") "}",
        "data offsets 0 to 16, but the file has 12 bytes of data"},
    {"wholly past the end", "{" ENTRY("q", "F32", "[1]", "[12,16]") "}",
        "but the file has 12 bytes"},
    {"beyond 2^63", "{" ENTRY("q", "F32", "[1]", "[0,9223372036854775808]") "}",
        "too big integer"},
    {"one offset, handed A-X2", "{" ENTRY("q", "F32", "[1]", "[0]") "}",
        "no \"data_offsets\" of two numbers"},
    {"three offsets", "{" ENTRY("q", "F32", "[1]", "[0,4,8]") "}",
        "no \"data_offsets\" of two numbers"},
    {"offsets as text", "{" ENTRY("q", "F32", "[1]", "[\"0\",\"4\"]") "}",
        "no \"data_offsets\" of two numbers"},
    {"offsets as fractions", "{" ENTRY("q", "F32", "[1]", "[0.0,4.0]") "}",
        "no \"data_offsets\" of two numbers"},
    {"no offsets", "{\"q\":{\"dtype\":\"F32\",\"shape\":[1]}}",
        "no \"data_offsets\" of two numbers"},
    {"the key of old files",
        "{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}",
        "no \"data_offsets\" of two numbers"},
    {"one name twice, handed A-X3",
        "{" ENTRY("q", "F32", "[1]", "[0,4]") "," ENTRY(
            "q", "F32", "[1]", "[4,8]") "}",
        "damaged header: duplicate object key"},
    {"one name twice, once escaped",
        "{" ENTRY("q", "F32", "[1]", "[0,4]") "," ENTRY(
            "\\u0071", "F32", "[1]", "[4,8]") "}",
        "duplicate object key"},
    {"one member twice",
        "{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F16\",\"shape\":[1],"
        "\"data_offsets\":[0,4]}}",
        "duplicate object key"},
    {"an overlap",
        "{" ENTRY("q", "F32", "[2]", "[0,8]") "," ENTRY(
            "k", "F32", "[2]", "[4,12]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"one within the other",
        "{" ENTRY("q", "F32", "[3]", "[0,12]") "," ENTRY(
            "k", "F32", "[1]", "[4,8]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"both the same bytes",
        "{" ENTRY("q", "F32", "[3]", "[0,12]") "," ENTRY(
            "k", "F32", "[3]", "[0,12]") "}",
        "overlap"},
    {"nothing within another",
        "{" ENTRY("q", "F32", "[3]", "[0,12]") "," ENTRY(
            "k", "F32", "[0]", "[4,4]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"a hole at the begin", "{" ENTRY("q", "F32", "[2]", "[4,12]") "}",
        "bytes 0 to 4 of the data belong to no tensor"},
    {"a hole between",
        "{" ENTRY("q", "F32", "[1]", "[0,4]") "," ENTRY(
            "k", "F32", "[1]", "[8,12]") "}",
        "bytes 4 to 8 of the data belong to no tensor"},
    {"a hole at the end", "{" ENTRY("q", "F32", "[2]", "[0,8]") "}",
        "the tensors take 8 bytes, but the file has 12 bytes of data"},
    {"no tensor at all", "{}", "the tensors take 0 bytes, but the file has 12"},
    {"a product of 2^64",
        "{" ENTRY("q", "F32", "[4294967296,4294967296]", "[0,0]") "}",
        "the shape is beyond all memory"},
    {"a product of 2^64 beside a 0",
        "{" ENTRY("q", "F32", "[4294967296,0,4294967296]", "[0,0]") "}",
        "the shape is beyond all memory"},
    {"a product that wraps to 12 bytes",
        "{" ENTRY("q", "F32", "[4611686018427387907]", "[0,12]") "}",
        "the shape is beyond all memory"},
    {"a negative size", "{" ENTRY("q", "F32", "[-1]", "[0,4]") "}",
        "the shape holds something else than sizes"},
    {"two negative sizes", "{" ENTRY("q", "F32", "[-1,-3]", "[0,12]") "}",
        "the shape holds something else than sizes"},
    {"a fraction", "{" ENTRY("q", "F32", "[3.0]", "[0,12]") "}",
        "the shape holds something else than sizes"},
    {"a shape that is a number", "{" ENTRY("q", "F32", "3", "[0,12]") "}",
        "no \"shape\" that is an array"},
    {"no shape", "{\"q\":{\"dtype\":\"F32\",\"data_offsets\":[0,12]}}",
        "no \"shape\" that is an array"},
    {"nine dimensions",
        "{" ENTRY("q", "F32", "[1,1,1,1,1,1,1,1,3]", "[0,12]") "}",
        "9 dimensions, but at most 8"},
    {"an unknown dtype", "{" ENTRY("q", "F12", "[3]", "[0,12]") "}",
        "tensor \"q\": dtype \"F12\" is not known"},
    {"lower case", "{" ENTRY("q", "f32", "[3]", "[0,12]") "}",
        "dtype \"f32\" is not known"},
    {"a dtype that steers terminals",
        "{" ENTRY("q", "F\\u001b[2J", "[3]", "[0,12]") "}",
        "dtype \"F\" is not known"},
    {"no dtype", "{\"q\":{\"shape\":[3],\"data_offsets\":[0,12]}}",
        "no \"dtype\" that is a string"},
    {"a dtype that is a number",
        "{\"q\":{\"dtype\":32,\"shape\":[3],\"data_offsets\":[0,12]}}",
        "no \"dtype\" that is a string"},
    {"elements of half bytes", "{" ENTRY("q", "F4", "[3]", "[0,12]") "}",
        "the elements do not fill whole bytes"},
    {"an entry that is a list", "{\"q\":[]}", "the entry is no object"},
    {"an entry that is null", "{\"q\":null}", "the entry is no object"},
    {"metadata that is a list", "{\"__metadata__\":[]}",
        "__metadata__ is no object"},
    {"metadata with a number", "{\"__metadata__\":{\"heads\":12}}",
        "__metadata__ holds something else than strings"},
    {"a name that steers terminals",
        "{" ENTRY("q\\u001b[2J", "F32", "[3]", "[0,12]") "}",
        "a tensor's name has a control character at byte 1"},
    {"a name with a C1 control",
        "{" ENTRY("\xC2\x9B"
                  "2J",
            "F32", "[3]", "[0,12]") "}",
        "a tensor's name has a control character at byte 0"},
    {"a name with a zero", "{" ENTRY("q\\u0000", "F32", "[3]", "[0,12]") "}",
        "damaged header"},
    {"a name that is not UTF-8", "{" ENTRY("q\xFF", "F32", "[3]", "[0,12]") "}",
        "damaged header"},
    {"space before", " {" ENTRY("q", "F32", "[3]", "[0,12]") "}",
        "does not begin with '{'"},
    {"a list", "[]", "does not begin with '{'"},
    {"cut JSON", "{" ENTRY("q", "F32", "[3]", "[0,12]"), "damaged header"},
    {"something behind", "{" ENTRY("q", "F32", "[3]", "[0,12]") "}x",
        "damaged header"},
    {"two objects", "{" ENTRY("q", "F32", "[3]", "[0,12]") "}{}",
        "damaged header"},
    {"a last comma", "{" ENTRY("q", "F32", "[3]", "[0,12]") ",}",
        "damaged header"},
    {"control characters are not printed", "{\x1b[2J}", "near '?', at byte"},
};

START_TEST(wrong_headers_are_refused)
{
    const struct header_case *c = &HEADERS[_i];
    char path[SCRATCH_PATH];
    write_file(path, c->header, "\0\0\0\0\0\0\0\0\0\0\0", 12);
    check_refusal(c->about, path, c->message);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    char path[SCRATCH_PATH];
    const size_t depth = 1000000;
    unsigned char *file = malloc(8 + depth);
    ck_assert_ptr_nonnull(file);
    memset(file + put_length(file, depth), '[', depth);
    memcpy(file + 8, "{\"a\":", 5);
    scratch_write(path, "deep.safetensors", file, 8 + depth);
    free(file);
    check_refusal(
        "a million brackets", path, "damaged header: maximum parsing");
}
END_TEST

START_TEST(what_is_no_regular_file_is_refused)
{
    char path[SCRATCH_PATH];
    check_refusal("missing", scratch_path(path, "missing"), "No such file");
    check_refusal("a folder", scratch_path(path, ""), "is a folder");
    check_refusal("a device", "/dev/zero", "is no regular file");
    ck_assert_int_eq(mkfifo(scratch_path(path, "fifo"), 0600), 0);
    check_refusal("a pipe that nobody writes", path, "is no regular file");
}
END_TEST

/* A file of 5 GiB that is nearly all hole: offsets beyond 2^32 are kept, and
   nothing but the pages asked for is read. */
START_TEST(tensors_beyond_4_gib_are_found)
{
    const uint64_t hole = ((uint64_t)5 << 30) + 1;
    char path[SCRATCH_PATH], header[300];
    failure f = {{0}};
    snprintf(header, sizeof header,
        "{" ENTRY("a", "U8", "[%" PRIu64 "]", "[0,%" PRIu64 "]") "," ENTRY(
            "b", "F32", "[1]", "[%" PRIu64 ",%" PRIu64 "]") "}",
        hole, hole, hole, hole + 4);
    write_file(path, header, "", 0);
    off_t start = (off_t)(8 + strlen(header));
    ck_assert_int_eq(truncate(path, start + (off_t)hole), 0);
    FILE *stream = fopen(path, "ab");
    ck_assert(stream && fwrite(TWO, 1, 4, stream) == 4 && fclose(stream) == 0);
    safetensors *file = safetensors_open(path, &f);
    remove(path);
    ck_assert_msg(file != NULL, "%s", f.text);
    ck_assert_uint_eq(safetensors_find(file, "a")->bytes, hole);
    float *value = safetensor_to_f32(safetensors_find(file, "b"), &f);
    ck_assert(value && *value == 2.0f);
    free(value);
    safetensors_close(file);
}
END_TEST

static TCase *reading(void)
{
    TCase *tests = tcase_create("reading");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_add_loop_test(
        tests, tensors_are_found_and_converted_exactly, 0, (int)COUNT(READS));
    tcase_add_test(tests, a_file_without_tensors_is_empty);
    tcase_add_test(tests, tensors_come_in_the_order_of_their_names);
    tcase_add_loop_test(tests,
        dtypes_that_are_not_converted_are_listed_and_named, 0,
        (int)COUNT(DTYPES));
    tcase_add_test(tests, a_finite_f64_beyond_f32_is_refused);
    tcase_add_test(tests, tensors_beyond_4_gib_are_found);
    return tests;
}

static TCase *refusing(void)
{
    TCase *tests = tcase_create("refusing");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_add_loop_test(tests,
        header_lengths_are_checked_against_limit_and_file, 0,
        (int)COUNT(LENGTHS));
    tcase_add_loop_test(
        tests, wrong_headers_are_refused, 0, (int)COUNT(HEADERS));
    tcase_add_test(tests, deep_nesting_is_refused);
    tcase_add_test(tests, what_is_no_regular_file_is_refused);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("safetensors");
    suite_add_tcase(suite, reading());
    suite_add_tcase(suite, refusing());
    return suite_main(suite, 0);
}
