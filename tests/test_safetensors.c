/* SPDX-License-Identifier: Apache-2.0
 *
 * test_safetensors.c - .safetensors files read: values, names, odd addresses.
 */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clattn/clattn.h"
#include "data_file.h"
#include "scratch.h"
#include "suite.h"

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
    {"F32", "{" TENSOR("t", "F32", "[1,2]", "[0,8]") "}", BYTES(ONE TWO), 1,
        CLATTN_F32, 2, {1, 2}, 2, {1, 2}},
    {"F16: least subnormal, -infinity",
        "{" TENSOR("t", "F16", "[2]", "[0,4]") "}", BYTES("\x01\x00\x00\xfc"),
        1, CLATTN_F16, 1, {2}, 2, {5.9604644775390625e-8f, -INFINITY}},
    {"BF16, handed A-X5", "{" TENSOR("t", "BF16", "[1]", "[0,2]") "}",
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"F64", "{" TENSOR("t", "F64", "[1]", "[0,8]") "}",
        BYTES("\0\0\0\0\0\0\xf0\x3f"), 1, CLATTN_F64, 1, {1}, 1, {1}},
    {"an odd address, handed A-X5",
        "{" TENSOR("a", "F16", "[1]", "[0,2]") "," TENSOR(
            "t", "F32", "[1]", "[2,6]") "}",
        BYTES("\x00\x3c" ONE), 2, CLATTN_F32, 1, {1}, 1, {1}},
    {"a really odd one",
        "{" TENSOR("a", "U8", "[1]", "[0,1]") "," TENSOR(
            "t", "F64", "[1]", "[1,9]") "}",
        BYTES("\7\0\0\0\0\0\0\xf0\x3f"), 2, CLATTN_F64, 1, {1}, 1, {1}},
    {"rank 0, handed A-X6", "{" TENSOR("t", "F32", "[]", "[0,4]") "}",
        BYTES(TWO), 1, CLATTN_F32, 0, {0}, 1, {2}},
    {"no elements, handed A-X6", "{" TENSOR("t", "F32", "[0,3]", "[0,0]") "}",
        BYTES(""), 1, CLATTN_F32, 2, {0, 3}, 0, {0}},
    {"two without elements, handed A-X6",
        "{" TENSOR("t", "F32", "[0,3]", "[0,0]") "," TENSOR(
            "u", "F32", "[3,0]", "[0,0]") "}",
        BYTES(""), 2, CLATTN_F32, 2, {0, 3}, 0, {0}},
    {"one without elements between two others",
        "{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("t", "F32", "[0]",
            "[4,4]") "," TENSOR("z", "F32", "[1]", "[4,8]") "}",
        BYTES(ONE TWO), 3, CLATTN_F32, 1, {0}, 0, {0}},
    {"empty metadata, handed A-X4",
        "{\"__metadata__\":{}," TENSOR("t", "F32", "[1]", "[0,4]") "}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"one space of padding, handed A-X4",
        "{" TENSOR("t", "F32", "[1]", "[0,4]") "} ", BYTES(ONE), 1, CLATTN_F32,
        1, {1}, 1, {1}},
    {"seven", "{" TENSOR("t", "F32", "[1]", "[0,4]") "}       ", BYTES(ONE), 1,
        CLATTN_F32, 1, {1}, 1, {1}},
    {"tensors out of offset order, handed A-X4",
        "{" TENSOR("z", "F32", "[1]", "[8,12]") "," TENSOR("t", "F32", "[1]",
            "[4,8]") "," TENSOR("a", "F32", "[1]", "[0,4]") "}",
        BYTES(ONE TWO ONE), 3, CLATTN_F32, 1, {1}, 1, {2}},
    {"a member that we do not know",
        "{\"t\":{\"dtype\":\"F32\",\"x\":{\"y\":[]},\"shape\":[1],"
        "\"data_offsets\":[0,4]}}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"space within",
        "{ \"t\" : { \"data_offsets\" : [ 0 , 4 ] ,\n\"shape\" : "
        "[ 1 ] , \"dtype\" : \"F32\" } }",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"an escaped name", "{" TENSOR("\\u0074", "F32", "[1]", "[0,4]") "}",
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
    failure f = {.text = ""};
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
        failure f = {.text = ""};
        snprintf(
            header, sizeof header, "%s%.*s", c->header, padding, "        ");
        safetensors_file(path, header, c->data, c->bytes);
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
        failure f = {.text = ""};
        safetensors_file(path, HEADERS[i], "", 0);
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
    failure f = {.text = ""};
    static const char HEADER[] =
        "{" TENSOR("b.2", "U8", "[1]", "[3,4]") "," TENSOR(
            "a", "I8", "[1]", "[2,3]") "," TENSOR("b.10", "BOOL", "[1]",
            "[0,1]") ",\"__metadata__\":{\"format\":\"pt\",\"empty\":\"\"}"
                     "," TENSOR("", "F8_E4M3", "[1]", "[1,2]") "}";
    static const char *const NAMES[] = {"", "a", "b.10", "b.2"};
    static const char *const DTYPES[] = {"F8_E4M3", "I8", "BOOL", "U8"};
    static const unsigned char FIRST[] = {2, 3, 1, 4};
    safetensors_file(path, HEADER, "\1\2\3\4", 4);
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
    failure f = {.text = ""};
    snprintf(header, sizeof header, "{" TENSOR("w", "%s", "%s", "[0,%zu]") "}",
        c->name, c->shape, c->bytes);
    safetensors_file(path, header, (const char[32]){0}, c->bytes);
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
    failure f = {.text = ""};
    safetensors_file(path, "{" TENSOR("w", "F64", "[1]", "[0,8]") "}",
        "\xff\xff\xff\xff\xff\xff\xef\x7f", 8);
    safetensors *file = safetensors_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    ck_assert_ptr_null(safetensor_to_f32(safetensors_at(file, 0), &f));
    ck_assert_msg(strstr(f.text, "tensor \"w\": element 0 is 1.79769e+308"),
        "%s", f.text);
    safetensors_close(file);
}
END_TEST

/* A file of 5 GiB that is nearly all hole: offsets beyond 2^32 are kept, and
   nothing but the pages asked for is read. */
START_TEST(tensors_beyond_4_gib_are_found)
{
    const uint64_t hole = ((uint64_t)5 << 30) + 1;
    char path[SCRATCH_PATH], header[300];
    failure f = {.text = ""};
    snprintf(header, sizeof header,
        "{" TENSOR("a", "U8", "[%" PRIu64 "]", "[0,%" PRIu64 "]") "," TENSOR(
            "b", "F32", "[1]", "[%" PRIu64 ",%" PRIu64 "]") "}",
        hole, hole, hole, hole + 4);
    safetensors_file(path, header, "", 0);
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

int main(void)
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

    Suite *suite = suite_create("safetensors");
    suite_add_tcase(suite, tests);
    return suite_main(suite, 0);
}
