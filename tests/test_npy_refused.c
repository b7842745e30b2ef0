/* SPDX-License-Identifier: Apache-2.0
 *
 * test_npy_refused.c - .npy files that are refused, each with its reason.
 */
#include "npy.h"

#include <stdlib.h>
#include <string.h>

#include "data_file.h"
#include "npy_header.h"
#include "scratch.h"
#include "suite.h"

static void check_refusal(
    const char *about, const char *path, const char *message)
{
    failure f = {.text = ""};
    npy_array a = {.rank = 5};
    ck_assert_msg(!npy_read(&a, path, NPY_NO_BF16, &f), "%s: is read", about);
    ck_assert_msg(strncmp(f.text, path, strlen(path)) == 0,
        "%s: '%s' names not the file", about, f.text);
    ck_assert_msg(
        strstr(f.text, message), "%s: '%s' lacks '%s'", about, f.text, message);
    ck_assert_msg(a.data == NULL && a.rank == 0 && a.count == 0,
        "%s: the array is not empty", about);
}

static const struct raw_case {
    const char *about;
    const char *bytes;
    size_t count;
    const char *message;
} RAWS[] = {
    {"an empty file", BYTES(""), "is empty, not an .npy file"},
    {"zero bytes, handed A-F4d", BYTES("\0\0\0\0\0\0\0\0\0\0"),
        "is no .npy file"},
    {"one wrong letter", BYTES("\x93NUMPX\1\0\4\0{}\n "), "is no .npy file"},
    {"an archive", BYTES("PK\3\4\x14\0\0\0\0\0\0\0"), "is an .npz archive"},
    {"version 0", BYTES("\x93NUMPY\0\0\4\0{}\n "), "version 0.0, but 1.0"},
    {"version 4", BYTES("\x93NUMPY\4\0\4\0\0\0{}\n "), "version 4.0, but 1.0"},
    {"version 1.1", BYTES("\x93NUMPY\1\1\4\0{}\n "), "version 1.1, but 1.0"},
    {"version 200", BYTES("\x93NUMPY\xc8\0\4\0{}\n "), "version 200.0, but"},
    {"cut within the magic", BYTES("\x93NUM"), "ends after 4 bytes"},
    {"cut before the length", BYTES("\x93NUMPY\1\0"), "ends after 8 bytes"},
    {"cut within the length", BYTES("\x93NUMPY\2\0\4\0\0"),
        "ends after 11 bytes, within the length of the header"},
    {"header length 2^32 - 1 in 40 bytes, handed A-F4b",
        BYTES("\x93NUMPY\2\0\xff\xff\xff\xff{'descr': '<f4', 'fortran_or"),
        "the header is to have 4294967295 bytes, but the file has 28"},
    {"header length one too long", BYTES("\x93NUMPY\1\0\5\0{}\n "),
        "the header is to have 5 bytes, but the file has 4"},
    {"no header", BYTES("\x93NUMPY\1\0\0\0"), "a dict expected at byte 0"},
};

START_TEST(npy_read_refuses_damaged_beginnings)
{
    const struct raw_case *c = &RAWS[_i];
    char path[SCRATCH_PATH];
    scratch_write(path, "raw.npy", c->bytes, c->count);
    check_refusal(c->about, path, c->message);
}
END_TEST

static const struct header_case {
    const char *about;
    const char *header;
    const char *message;
} HEADERS[] = {
    {"bf16 untold, handed A-F3", NPY_HEADER("<V2", "False", "(1,)"),
        "dtype '<V2' holds bf16 or something else: --read-bf16"},
    {"u2 untold", NPY_HEADER("<u2", "False", "(1,)"), "--read-bf16"},
    {"<f1, handed A-F3", NPY_HEADER("<f1", "False", "(1,)"),
        "dtype '<f1' is not read here, but f2, f4 and f8 are"},
    {"<g2, handed A-F3", NPY_HEADER("<g2", "False", "(1,)"), "dtype '<g2'"},
    {"f16 in C's sense", NPY_HEADER("<f16", "False", "(1,)"), "dtype '<f16'"},
    {"a name", NPY_HEADER("float32", "False", "(1,)"), "dtype 'float32'"},
    {"no dtype", NPY_HEADER("", "False", "(1,)"), "dtype ''"},
    {"only an order", NPY_HEADER("<", "False", "(1,)"), "dtype '<'"},
    {"two orders", NPY_HEADER("<<f4", "False", "(1,)"), "dtype '<<f4'"},
    {"a letter behind", NPY_HEADER("<f4x", "False", "(1,)"), "dtype '<f4x'"},
    {"a long dtype is cut",
        NPY_HEADER(
            "<f444444444444444444444444444444444444444444444444444444444444",
            "False", "(1,)"),
        "dtype '<f444444444444444444444444444444444444444444444' is"},
    {"the longest dtype that is kept",
        NPY_HEADER(
            "<f44444444444444444444444444444444444444444444~", "False", "(1,)"),
        "dtype '<f44444444444444444444444444444444444444444444~' is"},
    {"control characters are not printed",
        NPY_HEADER("<\x1b[2J", "False", "(1,)"), "dtype '<?[2J'"},
    {"whole numbers", NPY_HEADER("<i8", "False", "(1,)"),
        "dtype '<i8' (whole numbers)"},
    {"objects", NPY_HEADER("|O", "False", "(1,)"), "(Python objects, pickled)"},
    {"complex", NPY_HEADER("<c8", "False", "(1,)"), "(complex numbers)"},
    {"unicode", NPY_HEADER("<U5", "False", "(1,)"), "(text)"},
    {"bytes", NPY_HEADER("|S5", "False", "(1,)"), "(text)"},
    {"dates", NPY_HEADER("<M8[ns]", "False", "(1,)"), "(dates or times)"},
    {"other void", NPY_HEADER("|V4", "False", "(1,)"),
        "(bytes without a type)"},
    {"records",
        "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, "
        "'shape': (1,)}",
        "structured dtype [('a', '<f4'), ('b', '<f4')] is not read"},
    {"a sub-array",
        "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}",
        "structured dtype ('<f4', (2,)) is not"},
    {"many records",
        "{'descr': [('a234567890', '<f4'), ('b234567890', '<f4'), "
        "('c234567890', '<f4'), ('d234567890', '<f4')], 'fortran_order': "
        "False, 'shape': (1,)}",
        "('b234567890', '<f4'), ('c234567890', '<f4'), ('d2345678 is not"},
    {"records without end", "{'descr': [('a', '<f4'",
        "structured dtype [('a', '<f4'"},
    {"descr is a number", "{'descr': 4, 'fortran_order': False, 'shape': (1,)}",
        "a string expected at byte 10"},
    {"an escape", NPY_HEADER("\\x3cf4", "False", "(1,)"),
        "a string without escapes expected"},
    {"a string without end", "{'descr", "the end of a string expected"},
    {"order is a number", NPY_HEADER("<f4", "0", "(1,)"),
        "True or False expected at byte 34"},
    {"order is lower case", NPY_HEADER("<f4", "false", "(1,)"),
        "True or False"},
    {"order goes on", NPY_HEADER("<f4", "Falsely", "(1,)"), "a comma or '}'"},
    {"shape is a number", NPY_HEADER("<f4", "False", "1"), "a tuple of sizes"},
    {"shape is a number in parentheses", NPY_HEADER("<f4", "False", "(1)"),
        "a comma after the size"},
    {"shape is a list", NPY_HEADER("<f4", "False", "[1]"), "a tuple of sizes"},
    {"shape is a comma", NPY_HEADER("<f4", "False", "(,)"), "a size expected"},
    {"two commas", NPY_HEADER("<f4", "False", "(1,,)"), "a size expected"},
    {"no comma", NPY_HEADER("<f4", "False", "(1 1)"), "a comma or ')'"},
    {"a negative size", NPY_HEADER("<f4", "False", "(2, -13)"),
        "the shape has a negative size, -13"},
    {"a hexadecimal size", NPY_HEADER("<f4", "False", "(0x1,)"),
        "a comma or ')'"},
    {"a fraction", NPY_HEADER("<f4", "False", "(1.0,)"), "a comma or ')'"},
    {"two Ls", NPY_HEADER("<f4", "False", "(1LL,)"), "a comma or ')'"},
    {"a size of 2^64", NPY_HEADER("<f4", "False", "(18446744073709551616,)"),
        "a size beyond 64 bits"},
    {"a size of 2^64 - 1",
        NPY_HEADER("<f4", "False", "(18446744073709551615,)"),
        "shape (18446744073709551615,) of '<f4' is beyond all memory"},
    {"a size of many digits",
        NPY_HEADER("<f4", "False", "(99999999999999999999999999,)"),
        "a size beyond 64 bits"},
    {"nine sizes", NPY_HEADER("<f4", "False", "(1,1,1,1,1,1,1,1,1)"),
        "more than 8 dimensions"},
    {"a product of 2^64, handed A-F4c",
        NPY_HEADER("<f4", "False", "(4294967296, 4294967296)"),
        "shape (4294967296, 4294967296) of '<f4' is beyond all memory"},
    {"a product of 2^64 beside a 0",
        NPY_HEADER("<f4", "False", "(4294967296, 0, 4294967296)"),
        "beyond all memory"},
    {"a product that wraps to 4 bytes",
        NPY_HEADER("<f4", "False", "(4611686018427387905,)"),
        "beyond all memory"},
    {"more than the file has", NPY_HEADER("<f4", "False", "(1000000000000,)"),
        "needs 4000000000000 bytes of data, but the file has 4"},
    {"shape missing", "{'descr': '<f4', 'fortran_order': False}",
        "lacks 'shape'"},
    {"descr missing", "{'fortran_order': False, 'shape': (1,)}",
        "lacks 'descr'"},
    {"everything missing", "{}", "lacks 'descr'"},
    {"a key twice",
        "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': "
        "(1,)}",
        "has 'descr' twice"},
    {"a key more",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "has the key 'x', but only"},
    {"a key without a colon", "{'descr' '<f4'}", "a colon expected"},
    {"no comma between keys", "{'descr': '<f4' 'shape': (1,)}",
        "a comma or '}'"},
    {"only a comma", "{,}", "a string expected at byte 1"},
    {"a number as key", "{1: 2}", "a string expected"},
    {"no end", "{'descr': '<f4', ", "a string expected at byte 18"},
    {"something behind", NPY_HEADER("<f4", "False", "(1,)") " x",
        "the end expected"},
    {"no dict", "['descr']", "a dict expected"},
};

/* Data of four bytes follow, which is right for one f4. */
START_TEST(npy_read_refuses_wrong_headers)
{
    const struct header_case *c = &HEADERS[_i];
    char path[SCRATCH_PATH];
    for (int version = 1; version <= 3; ++version) {
        npy_file(path, version, c->header, BYTES(ONE));
        check_refusal(c->about, path, c->message);
    }
}
END_TEST

/* In memory that ends where the text does, so that a sanitizer sees a byte too
   many being read. */
static bool parse_exactly(
    npy_header *header, const char *text, size_t bytes, failure *f)
{
    char *copy = malloc(bytes ? bytes : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, text, bytes);
    bool ok = npy_header_parse(header, copy, bytes, "cut.npy", f);
    free(copy);
    return ok;
}

START_TEST(every_cut_header_is_refused)
{
    static const char TEXT[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (12L, 3), }";
    const size_t whole = sizeof TEXT - 1;
    npy_header header;
    failure f = {.text = ""};
    for (size_t bytes = 0; bytes < whole; ++bytes) {
        f.text[0] = 0;
        ck_assert_msg(!parse_exactly(&header, TEXT, bytes, &f),
            "%zu bytes are enough", bytes);
        ck_assert_msg(strncmp(f.text, "cut.npy: ", 9) == 0, "%zu bytes: '%s'",
            bytes, f.text);
    }
    ck_assert_msg(parse_exactly(&header, TEXT, whole, &f), "%s", f.text);
    ck_assert_str_eq(header.descr, "<f4");
    ck_assert(!header.fortran_order && header.rank == 2);
    ck_assert(header.size[0] == 12 && header.size[1] == 3);
    ck_assert(!parse_exactly(&header, BYTES("{'descr': [('a', '<f4'"), &f));
}
END_TEST

START_TEST(data_of_another_size_is_refused_with_both_numbers)
{
    char path[SCRATCH_PATH];
    npy_file(path, 1, NPY_HEADER("<f4", "False", "(2, 3)"),
        BYTES(ONE TWO THREE FOUR FIVE));
    check_refusal("20 data bytes, handed A-F4a", path,
        "shape (2, 3) of '<f4' needs 24 bytes of data, but the file has 20");
    npy_file(path, 1, NPY_HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO "x"));
    check_refusal("a byte more", path,
        "shape (2,) of '<f4' needs 8 bytes of data, but the file has 9");
    npy_file(path, 1, NPY_HEADER("<f4", "False", "(0,)"), BYTES(ONE));
    check_refusal("data of nothing", path,
        "shape (0,) of '<f4' needs 0 bytes of data, but the file has 4");
    npy_file(path, 1, NPY_HEADER("<f4", "False", "()"), BYTES(""));
    check_refusal("a number without data", path,
        "shape () of '<f4' needs 4 bytes of data, but the file has 0");
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
    char path[SCRATCH_PATH];
    check_refusal("missing", scratch_path(path, "missing.npy"), "No such file");
    check_refusal("a folder", scratch_path(path, ""), "is a folder");
    check_refusal("a name with a file as folder",
        strcat(npy_file(path, 1, "", "", 0) ? path : path, "/x"),
        "Not a directory");
    check_refusal("a device without end", "/dev/zero", "is no .npy file");
    check_refusal("a device without data", "/dev/null", "is empty");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("refusing");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_add_loop_test(
        tests, npy_read_refuses_damaged_beginnings, 0, (int)COUNT(RAWS));
    tcase_add_loop_test(
        tests, npy_read_refuses_wrong_headers, 0, (int)COUNT(HEADERS));
    tcase_add_test(tests, every_cut_header_is_refused);
    tcase_add_test(tests, data_of_another_size_is_refused_with_both_numbers);
    tcase_add_test(tests, what_is_no_file_is_refused);

    Suite *suite = suite_create("npy_refused");
    suite_add_tcase(suite, tests);
    return suite_main(suite, 0);
}
