/* SPDX-License-Identifier: Apache-2.0
 *
 * test_safetensors_refused.c - .safetensors files that are refused.
 */
#define _XOPEN_SOURCE 700
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data_file.h"
#include "scratch.h"
#include "suite.h"

static size_t put_length(unsigned char *to, uint64_t length)
{
    for (int i = 0; i < 8; ++i)
        to[i] = (unsigned char)(length >> (8 * i));
    return 8;
}

static void check_refusal(
    const char *about, const char *path, const char *message)
{
    failure f = {.text = ""};
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
        "{" TENSOR("q", "F32", "[1000,1000]", "[0,4]") "}",
        "\"q\": data offsets 0 to 4 hold 4 bytes, but shape and dtype need "
        "4000000"},
    {"reversed, handed A-X2", "{" TENSOR("q", "F32", "[1]", "[8,4]") "}",
        "data offsets 8 to 4 are reversed"},
    {"reversed, and the difference wraps to 4",
        "{" TENSOR("q", "F32", "[1]", "[9223372036854775807,4]") "}",
        "are reversed"},
    {"negative, handed A-X2", "{" TENSOR("q", "F32", "[1]", "[-4,0]") "}",
        "no \"data_offsets\" of two numbers from 0 on"},
    {"past the end, handed A-X2", "{" TENSOR("q", "F32", "[4]", "[0,16]") "}",
        "data offsets 0 to 16, but the file has 12 bytes of data"},
    {"wholly past the end", "{" TENSOR("q", "F32", "[1]", "[12,16]") "}",
        "but the file has 12 bytes"},
    {"beyond 2^63",
        "{" TENSOR("q", "F32", "[1]", "[0,9223372036854775808]") "}",
        "too big integer"},
    {"one offset, handed A-X2", "{" TENSOR("q", "F32", "[1]", "[0]") "}",
        "no \"data_offsets\" of two numbers"},
    {"three offsets", "{" TENSOR("q", "F32", "[1]", "[0,4,8]") "}",
        "no \"data_offsets\" of two numbers"},
    {"offsets as text", "{" TENSOR("q", "F32", "[1]", "[\"0\",\"4\"]") "}",
        "no \"data_offsets\" of two numbers"},
    {"offsets as fractions", "{" TENSOR("q", "F32", "[1]", "[0.0,4.0]") "}",
        "no \"data_offsets\" of two numbers"},
    {"no offsets", "{\"q\":{\"dtype\":\"F32\",\"shape\":[1]}}",
        "no \"data_offsets\" of two numbers"},
    {"the key of old files",
        "{\"q\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}",
        "no \"data_offsets\" of two numbers"},
    {"one name twice, handed A-X3",
        "{" TENSOR("q", "F32", "[1]", "[0,4]") "," TENSOR(
            "q", "F32", "[1]", "[4,8]") "}",
        "damaged header: duplicate object key"},
    {"one name twice, once escaped",
        "{" TENSOR("q", "F32", "[1]", "[0,4]") "," TENSOR(
            "\\u0071", "F32", "[1]", "[4,8]") "}",
        "duplicate object key"},
    {"one member twice",
        "{\"q\":{\"dtype\":\"F32\",\"dtype\":\"F16\",\"shape\":[1],"
        "\"data_offsets\":[0,4]}}",
        "duplicate object key"},
    {"an overlap",
        "{" TENSOR("q", "F32", "[2]", "[0,8]") "," TENSOR(
            "k", "F32", "[2]", "[4,12]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"one within the other",
        "{" TENSOR("q", "F32", "[3]", "[0,12]") "," TENSOR(
            "k", "F32", "[1]", "[4,8]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"both the same bytes",
        "{" TENSOR("q", "F32", "[3]", "[0,12]") "," TENSOR(
            "k", "F32", "[3]", "[0,12]") "}",
        "overlap"},
    {"nothing within another",
        "{" TENSOR("q", "F32", "[3]", "[0,12]") "," TENSOR(
            "k", "F32", "[0]", "[4,4]") "}",
        "tensors \"q\" and \"k\" overlap"},
    {"a hole at the begin", "{" TENSOR("q", "F32", "[2]", "[4,12]") "}",
        "bytes 0 to 4 of the data belong to no tensor"},
    {"a hole between",
        "{" TENSOR("q", "F32", "[1]", "[0,4]") "," TENSOR(
            "k", "F32", "[1]", "[8,12]") "}",
        "bytes 4 to 8 of the data belong to no tensor"},
    {"a hole at the end", "{" TENSOR("q", "F32", "[2]", "[0,8]") "}",
        "the tensors take 8 bytes, but the file has 12 bytes of data"},
    {"no tensor at all", "{}", "the tensors take 0 bytes, but the file has 12"},
    {"a product of 2^64",
        "{" TENSOR("q", "F32", "[4294967296,4294967296]", "[0,0]") "}",
        "the shape is beyond all memory"},
    {"a product of 2^64 beside a 0",
        "{" TENSOR("q", "F32", "[4294967296,0,4294967296]", "[0,0]") "}",
        "the shape is beyond all memory"},
    {"a product that wraps to 12 bytes",
        "{" TENSOR("q", "F32", "[4611686018427387907]", "[0,12]") "}",
        "the shape is beyond all memory"},
    {"a negative size", "{" TENSOR("q", "F32", "[-1]", "[0,4]") "}",
        "the shape holds something else than sizes"},
    {"two negative sizes", "{" TENSOR("q", "F32", "[-1,-3]", "[0,12]") "}",
        "the shape holds something else than sizes"},
    {"a fraction", "{" TENSOR("q", "F32", "[3.0]", "[0,12]") "}",
        "the shape holds something else than sizes"},
    {"a shape that is a number", "{" TENSOR("q", "F32", "3", "[0,12]") "}",
        "no \"shape\" that is an array"},
    {"no shape", "{\"q\":{\"dtype\":\"F32\",\"data_offsets\":[0,12]}}",
        "no \"shape\" that is an array"},
    {"nine dimensions",
        "{" TENSOR("q", "F32", "[1,1,1,1,1,1,1,1,3]", "[0,12]") "}",
        "9 dimensions, but at most 8"},
    {"an unknown dtype", "{" TENSOR("q", "F12", "[3]", "[0,12]") "}",
        "tensor \"q\": dtype \"F12\" is not known"},
    {"lower case", "{" TENSOR("q", "f32", "[3]", "[0,12]") "}",
        "dtype \"f32\" is not known"},
    {"a dtype that steers terminals",
        "{" TENSOR("q", "F\\u001b[2J", "[3]", "[0,12]") "}",
        "dtype \"F\" is not known"},
    {"no dtype", "{\"q\":{\"shape\":[3],\"data_offsets\":[0,12]}}",
        "no \"dtype\" that is a string"},
    {"a dtype that is a number",
        "{\"q\":{\"dtype\":32,\"shape\":[3],\"data_offsets\":[0,12]}}",
        "no \"dtype\" that is a string"},
    {"elements of half bytes", "{" TENSOR("q", "F4", "[3]", "[0,12]") "}",
        "the elements do not fill whole bytes"},
    {"an entry that is a list", "{\"q\":[]}", "the entry is no object"},
    {"an entry that is null", "{\"q\":null}", "the entry is no object"},
    {"metadata that is a list", "{\"__metadata__\":[]}",
        "__metadata__ is no object"},
    {"metadata with a number", "{\"__metadata__\":{\"heads\":12}}",
        "__metadata__ holds something else than strings"},
    {"a name that steers terminals",
        "{" TENSOR("q\\u001b[2J", "F32", "[3]", "[0,12]") "}",
        "a tensor's name has a control character at byte 1"},
    {"a name with a C1 control",
        "{" TENSOR("\xC2\x9B"
                   "2J",
            "F32", "[3]", "[0,12]") "}",
        "a tensor's name has a control character at byte 0"},
    {"a name with a zero", "{" TENSOR("q\\u0000", "F32", "[3]", "[0,12]") "}",
        "damaged header"},
    {"a name that is not UTF-8",
        "{" TENSOR("q\xFF", "F32", "[3]", "[0,12]") "}", "damaged header"},
    {"space before", " {" TENSOR("q", "F32", "[3]", "[0,12]") "}",
        "does not begin with '{'"},
    {"a list", "[]", "does not begin with '{'"},
    {"cut JSON", "{" TENSOR("q", "F32", "[3]", "[0,12]"), "damaged header"},
    {"something behind", "{" TENSOR("q", "F32", "[3]", "[0,12]") "}x",
        "damaged header"},
    {"two objects", "{" TENSOR("q", "F32", "[3]", "[0,12]") "}{}",
        "damaged header"},
    {"a last comma", "{" TENSOR("q", "F32", "[3]", "[0,12]") ",}",
        "damaged header"},
    {"control characters are not printed", "{\x1b[2J}", "near '?', at byte"},
};

START_TEST(wrong_headers_are_refused)
{
    const struct header_case *c = &HEADERS[_i];
    char path[SCRATCH_PATH];
    safetensors_file(path, c->header, "\0\0\0\0\0\0\0\0\0\0\0", 12);
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

int main(void)
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

    Suite *suite = suite_create("safetensors_refused");
    suite_add_tcase(suite, tests);
    return suite_main(suite, 0);
}
