/* SPDX-License-Identifier: Apache-2.0
 *
 * test_npy.c - .npy files read, refused and written.
 */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64
#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clattn/clattn.h"
#include "npy_header.h"
#include "scratch.h"
#include "suite.h"

#define BYTES(literal) (literal), sizeof(literal) - 1

/* A header without its newline. */
#define HEADER(descr, order, shape) \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

#define ONE   "\x00\x00\x80\x3f"
#define TWO   "\x00\x00\x00\x40"
#define THREE "\x00\x00\x40\x40"
#define FOUR  "\x00\x00\x80\x40"
#define FIVE  "\x00\x00\xa0\x40"
#define SIX   "\x00\x00\xc0\x40"

/* Magic, version, length, header, newline, data; returns the bytes. */
static size_t make_file(unsigned char *to, int version, const char *header,
    const char *data, size_t bytes)
{
    size_t length = strlen(header) + 1, at = 8;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        to[at++] = (unsigned char)(length >> (8 * i));
    at += (size_t)sprintf((char *)to + at, "%s\n", header);
    memcpy(to + at, data, bytes);
    return at + bytes;
}

static const char *write_file(
    char *path, int version, const char *header, const char *data, size_t bytes)
{
    unsigned char file[2000];
    return scratch_write(
        path, "a.npy", file, make_file(file, version, header, data, bytes));
}

/* ---- Files that are read ------------------------------------------------- */

static const struct read_case {
    const char *about;
    const char *header;
    const char *data;
    size_t bytes;
    int version;
    int32_t dtype;
    size_t rank, size[3], count;
    float value[12];
} READS[] = {
    {"f4", HEADER("<f4", "False", "(2, 3)"), BYTES(ONE TWO THREE FOUR FIVE SIX),
        1, CLATTN_F32, 2, {2, 3}, 6, {1, 2, 3, 4, 5, 6}},
    {"version 2", HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO), 2, CLATTN_F32,
        1, {2}, 2, {1, 2}},
    {"version 3", HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO), 3, CLATTN_F32,
        1, {2}, 2, {1, 2}},
    {"Fortran order, handed A-F1", HEADER("<f4", "True", "(2, 3)"),
        BYTES(ONE FOUR TWO FIVE THREE SIX), 1, CLATTN_F32, 2, {2, 3}, 6,
        {1, 2, 3, 4, 5, 6}},
    {"Fortran order of rank 3", HEADER("<f2", "True", "(2, 2, 3)"),
        BYTES("\x00\x3c\x00\x47\x00\x44\x00\x49\x00\x40\x00\x48"
              "\x00\x45\x80\x49\x00\x42\x80\x48\x00\x46\x00\x4a"),
        1, CLATTN_F16, 3, {2, 2, 3}, 12,
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
    {"Fortran order of rank 1", HEADER("<f4", "True", "(3,)"),
        BYTES(ONE TWO THREE), 1, CLATTN_F32, 1, {3}, 3, {1, 2, 3}},
    {"Fortran order of rank 0", HEADER("<f4", "True", "()"), BYTES(SIX), 1,
        CLATTN_F32, 0, {0}, 1, {6}},
    {"Fortran order of nothing", HEADER("<f4", "True", "(2, 0)"), BYTES(""), 1,
        CLATTN_F32, 2, {2, 0}, 0, {0}},
    {"rank 0", HEADER("<f4", "False", "()"), BYTES(SIX), 1, CLATTN_F32, 0, {0},
        1, {6}},
    {"no elements", HEADER("<f4", "False", "(0, 3)"), BYTES(""), 1, CLATTN_F32,
        2, {0, 3}, 0, {0}},
    {"big-endian f4, handed A-F2", HEADER(">f4", "False", "(1,)"),
        BYTES("\x3f\x80\x00\x00"), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"big-endian f2, handed A-F2", HEADER(">f2", "False", "(1,)"),
        BYTES("\x3c\x00"), 1, CLATTN_F16, 1, {1}, 1, {1}},
    {"big-endian f8", HEADER(">f8", "False", "(2,)"),
        BYTES("\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"), 1, CLATTN_F64, 1, {2},
        2, {1, -2}},
    {"big-endian in Fortran order", HEADER(">f2", "True", "(2, 2)"),
        BYTES("\x3c\x00\x42\x00\x40\x00\x44\x00"), 1, CLATTN_F16, 2, {2, 2}, 4,
        {1, 2, 3, 4}},
    {"native order", HEADER("=f4", "False", "(1,)"), BYTES(TWO), 1, CLATTN_F32,
        1, {1}, 1, {2}},
    {"order not applicable", HEADER("|f4", "False", "(1,)"), BYTES(TWO), 1,
        CLATTN_F32, 1, {1}, 1, {2}},
    {"order not given", HEADER("f4", "False", "(1,)"), BYTES(TWO), 1,
        CLATTN_F32, 1, {1}, 1, {2}},
    {"f2: least subnormal, greatest finite, -0, infinity",
        HEADER("<f2", "False", "(4,)"),
        BYTES("\x01\x00\xff\x7b\x00\x80\x00\xfc"), 1, CLATTN_F16, 1, {4}, 4,
        {5.9604644775390625e-8f, 65504, -0.0f, -INFINITY}},
    {"f8: least f32, 0.1 rounded, infinity", HEADER("<f8", "False", "(3,)"),
        BYTES("\0\0\0\0\0\0\xa0\x36\x9a\x99\x99\x99\x99\x99\xb9\x3f"
              "\0\0\0\0\0\0\xf0\x7f"),
        1, CLATTN_F64, 1, {3}, 3, {1.401298464324817e-45f, 0.1f, INFINITY}},
    {"bf16 as V2, handed A-F3", HEADER("<V2", "False", "(1,)"),
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"bf16 as |V2, handed A-F3", HEADER("|V2", "False", "(1,)"),
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"bf16 as u2", HEADER("<u2", "False", "(2,)"), BYTES("\x80\x3f\x40\xc0"), 1,
        CLATTN_BF16, 1, {2}, 2, {1, -3}},
    {"bf16 as big-endian u2", HEADER(">u2", "False", "(1,)"), BYTES("\x3f\x80"),
        1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"double quotes",
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (1,)}",
        BYTES(ONE), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"another order of keys, no space, no last comma",
        "{'shape':(1,2),'fortran_order':False,'descr':'<f4'}", BYTES(ONE TWO),
        1, CLATTN_F32, 2, {1, 2}, 2, {1, 2}},
    {"much space",
        "  {\n\t'descr' : '<f4' , 'fortran_order' :True, 'shape'\t: ( 1 , 2 , "
        ") } \t  ",
        BYTES(ONE TWO), 1, CLATTN_F32, 2, {1, 2}, 2, {1, 2}},
    {"Python 2's long sizes", HEADER("<f4", "False", "(1L, 2L)"),
        BYTES(ONE TWO), 1, CLATTN_F32, 2, {1, 2}, 2, {1, 2}},
};

static void check_values(
    const char *about, const npy_array *array, const float *wanted)
{
    const float *got = array->data;
    for (size_t i = 0; i < array->count; ++i)
        ck_assert_msg(
            got[i] == wanted[i] && !signbit(got[i]) == !signbit(wanted[i]),
            "%s: element %zu is %g, not %g", about, i, (double)got[i],
            (double)wanted[i]);
}

/* Values are those that the bytes mean, so no tolerance. */
START_TEST(npy_read_gives_c_order_and_exact_values)
{
    const struct read_case *c = &READS[_i];
    char path[SCRATCH_PATH];
    failure f = {{0}};
    npy_array a;
    write_file(path, c->version, c->header, c->data, c->bytes);
    ck_assert_msg(
        npy_read(&a, path, NPY_AS_BF16, &f), "%s: %s", c->about, f.text);
    ck_assert_msg(a.dtype == c->dtype && a.rank == c->rank &&
                      a.count == c->count && a.data,
        "%s: dtype %d, rank %zu, count %zu", c->about, (int)a.dtype, a.rank,
        a.count);
    for (size_t d = 0; d < c->rank; ++d)
        ck_assert_msg(a.size[d] == c->size[d], "%s: size %zu is %zu", c->about,
            d, a.size[d]);
    ck_assert_msg(npy_to_f32(&a, path, &f), "%s: %s", c->about, f.text);
    ck_assert_int_eq(a.dtype, CLATTN_F32);
    check_values(c->about, &a, c->value);
    npy_free(&a);
    ck_assert(a.data == NULL && a.count == 0);
}
END_TEST

START_TEST(bool_is_read_as_it_is)
{
    static const char *const DESCRS[] = {"|b1", "?", "<b1"};
    for (size_t i = 0; i < COUNT(DESCRS); ++i) {
        char path[SCRATCH_PATH], header[200];
        failure f = {{0}};
        npy_array a;
        snprintf(
            header, sizeof header, HEADER("%s", "True", "(2, 2)"), DESCRS[i]);
        write_file(path, 1, header, "\1\0\0\1", 4);
        ck_assert_msg(npy_read(&a, path, NPY_NO_BF16, &f), "%s", f.text);
        ck_assert_int_eq(a.dtype, CLATTN_BOOL);
        ck_assert_mem_eq(a.data, "\1\0\0\1", 4);
        ck_assert(!npy_to_f32(&a, path, &f));
        ck_assert_msg(strstr(f.text, "dtype bool"), "%s", f.text);
        npy_free(&a);
    }
}
END_TEST

START_TEST(a_finite_f8_beyond_f32_is_refused_not_made_infinite)
{
    char path[SCRATCH_PATH];
    failure f = {{0}};
    npy_array a;
    /* 1 and -DBL_MAX, which people write into masks. */
    write_file(path, 1, HEADER("<f8", "False", "(2,)"),
        BYTES("\0\0\0\0\0\0\xf0\x3f\xff\xff\xff\xff\xff\xff\xef\xff"));
    ck_assert_msg(npy_read(&a, path, NPY_NO_BF16, &f), "%s", f.text);
    ck_assert(!npy_to_f32(&a, path, &f));
    ck_assert_msg(strstr(f.text, "a.npy: element 1 is -1.79769e+308, but f32 "
                                 "holds at most 3.4028235e+38"),
        "%s", f.text);
    ck_assert_int_eq(a.dtype, CLATTN_F64);
    npy_free(&a);
}
END_TEST

/* ---- Files that are refused ---------------------------------------------- */

static void check_refusal(
    const char *about, const char *path, const char *message)
{
    failure f = {{0}};
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
    {"bf16 untold, handed A-F3", HEADER("<V2", "False", "(1,)"),
        "dtype '<V2' holds bf16 or something else: --read-bf16"},
    {"u2 untold", HEADER("<u2", "False", "(1,)"), "--read-bf16"},
    {"<f1, handed A-F3", HEADER("<f1", "False", "(1,)"),
        "dtype '<f1' is not read here, but f2, f4, f8 and bool are"},
    {"<g2, handed A-F3", HEADER("<g2", "False", "(1,)"), "dtype '<g2'"},
    {"f16 in C's sense", HEADER("<f16", "False", "(1,)"), "dtype '<f16'"},
    {"a name", HEADER("float32", "False", "(1,)"), "dtype 'float32'"},
    {"no dtype", HEADER("", "False", "(1,)"), "dtype ''"},
    {"only an order", HEADER("<", "False", "(1,)"), "dtype '<'"},
    {"two orders", HEADER("<<f4", "False", "(1,)"), "dtype '<<f4'"},
    {"a letter behind", HEADER("<f4x", "False", "(1,)"), "dtype '<f4x'"},
    {"a long dtype is cut",
        HEADER("<f444444444444444444444444444444444444444444444444444444444444",
            "False", "(1,)"),
        "dtype '<f444444444444444444444444444444444444444444444' is"},
    {"the longest dtype that is kept",
        HEADER(
            "<f44444444444444444444444444444444444444444444~", "False", "(1,)"),
        "dtype '<f44444444444444444444444444444444444444444444~' is"},
    {"control characters are not printed", HEADER("<\x1b[2J", "False", "(1,)"),
        "dtype '<?[2J'"},
    {"whole numbers", HEADER("<i8", "False", "(1,)"),
        "dtype '<i8' (whole numbers)"},
    {"objects", HEADER("|O", "False", "(1,)"), "(Python objects, pickled)"},
    {"complex", HEADER("<c8", "False", "(1,)"), "(complex numbers)"},
    {"unicode", HEADER("<U5", "False", "(1,)"), "(text)"},
    {"bytes", HEADER("|S5", "False", "(1,)"), "(text)"},
    {"dates", HEADER("<M8[ns]", "False", "(1,)"), "(dates or times)"},
    {"other void", HEADER("|V4", "False", "(1,)"), "(bytes without a type)"},
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
    {"an escape", HEADER("\\x3cf4", "False", "(1,)"),
        "a string without escapes expected"},
    {"a string without end", "{'descr", "the end of a string expected"},
    {"order is a number", HEADER("<f4", "0", "(1,)"),
        "True or False expected at byte 34"},
    {"order is lower case", HEADER("<f4", "false", "(1,)"), "True or False"},
    {"order goes on", HEADER("<f4", "Falsely", "(1,)"), "a comma or '}'"},
    {"shape is a number", HEADER("<f4", "False", "1"), "a tuple of sizes"},
    {"shape is a number in parentheses", HEADER("<f4", "False", "(1)"),
        "a comma after the size"},
    {"shape is a list", HEADER("<f4", "False", "[1]"), "a tuple of sizes"},
    {"shape is a comma", HEADER("<f4", "False", "(,)"), "a size expected"},
    {"two commas", HEADER("<f4", "False", "(1,,)"), "a size expected"},
    {"no comma", HEADER("<f4", "False", "(1 1)"), "a comma or ')'"},
    {"a negative size", HEADER("<f4", "False", "(-1,)"), "a negative size"},
    {"a hexadecimal size", HEADER("<f4", "False", "(0x1,)"), "a comma or ')'"},
    {"a fraction", HEADER("<f4", "False", "(1.0,)"), "a comma or ')'"},
    {"two Ls", HEADER("<f4", "False", "(1LL,)"), "a comma or ')'"},
    {"a size of 2^64", HEADER("<f4", "False", "(18446744073709551616,)"),
        "a size beyond 64 bits"},
    {"a size of 2^64 - 1", HEADER("<f4", "False", "(18446744073709551615,)"),
        "shape (18446744073709551615,) of '<f4' is beyond all memory"},
    {"a size of many digits",
        HEADER("<f4", "False", "(99999999999999999999999999,)"),
        "a size beyond 64 bits"},
    {"nine sizes", HEADER("<f4", "False", "(1,1,1,1,1,1,1,1,1)"),
        "more than 8 dimensions"},
    {"a product of 2^64, handed A-F4c",
        HEADER("<f4", "False", "(4294967296, 4294967296)"),
        "shape (4294967296, 4294967296) of '<f4' is beyond all memory"},
    {"a product of 2^64 beside a 0",
        HEADER("<f4", "False", "(4294967296, 0, 4294967296)"),
        "beyond all memory"},
    {"a product that wraps to 4 bytes",
        HEADER("<f4", "False", "(4611686018427387905,)"), "beyond all memory"},
    {"more than the file has", HEADER("<f4", "False", "(1000000000000,)"),
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
    {"something behind", HEADER("<f4", "False", "(1,)") " x",
        "the end expected"},
    {"no dict", "['descr']", "a dict expected"},
};

/* Data of four bytes follow, which is right for one f4. */
START_TEST(npy_read_refuses_wrong_headers)
{
    const struct header_case *c = &HEADERS[_i];
    char path[SCRATCH_PATH];
    for (int version = 1; version <= 3; ++version) {
        write_file(path, version, c->header, BYTES(ONE));
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
    failure f = {{0}};
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
    write_file(path, 1, HEADER("<f4", "False", "(2, 3)"),
        BYTES(ONE TWO THREE FOUR FIVE));
    check_refusal("20 data bytes, handed A-F4a", path,
        "shape (2, 3) of '<f4' needs 24 bytes of data, but the file has 20");
    write_file(path, 1, HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO "x"));
    check_refusal("a byte more", path,
        "shape (2,) of '<f4' needs 8 bytes of data, but the file has 9");
    write_file(path, 1, HEADER("<f4", "False", "(0,)"), BYTES(ONE));
    check_refusal("data of nothing", path,
        "shape (0,) of '<f4' needs 0 bytes of data, but the file has 4");
    write_file(path, 1, HEADER("<f4", "False", "()"), BYTES(""));
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
        strcat(write_file(path, 1, "", "", 0) ? path : path, "/x"),
        "Not a directory");
    check_refusal("a device without end", "/dev/zero", "is no .npy file");
    check_refusal("a device without data", "/dev/null", "is empty");
}
END_TEST

/* ---- Pipes: no size to ask for ------------------------------------------- */

static const struct pipe_case {
    const char *about, *shape;
    size_t bytes; /* of data, f4 */
    const char *message;
} PIPES[] = {
    {"whole", "(2, 3)", 24, NULL},
    {"empty", "(0,)", 0, NULL},
    {"larger than the first portion of memory", "(786433,)", 3145732, NULL},
    {"exactly that portion", "(262144,)", 1048576, NULL},
    {"too short", "(2, 3)", 20, "bytes, within the data"},
    {"too short by far: memory follows what arrives, not the shape",
        "(1000000000000,)", 2000000, "bytes, within the data"},
    {"too long", "(2, 3)", 25, "24 bytes of data are needed, but there are"},
};

START_TEST(npy_read_takes_pipes)
{
    const struct pipe_case *c = &PIPES[_i];
    char path[SCRATCH_PATH], header[200];
    failure f = {{0}};
    npy_array a;
    int fd = -1;
    unsigned char *file = calloc(1, c->bytes + 500);
    char *data = calloc(1, c->bytes + 1);
    ck_assert(file && data);
    if (c->bytes >= 4)
        memcpy(data + (c->bytes - 4) / 4 * 4, SIX, 4);
    snprintf(header, sizeof header, HEADER("<f4", "False", "%s"), c->shape);
    scratch_pipe(path, &fd, file, make_file(file, 1, header, data, c->bytes));
    bool ok = npy_read(&a, path, NPY_NO_BF16, &f);
    if (c->message)
        ck_assert_msg(
            !ok && strstr(f.text, c->message), "%s: '%s'", c->about, f.text);
    else
        ck_assert_msg(
            ok && a.count * 4 == c->bytes, "%s: %s", c->about, f.text);
    if (ok && a.count)
        ck_assert(((float *)a.data)[a.count - 1] == 6.0f);
    npy_free(&a);
    close(fd);
    wait(NULL);
    free(data);
    free(file);
}
END_TEST

START_TEST(a_pipe_cannot_ask_for_a_huge_header)
{
    char path[SCRATCH_PATH];
    failure f = {{0}};
    npy_array a;
    int fd = -1;
    scratch_pipe(path, &fd, BYTES("\x93NUMPY\2\0\xff\xff\xff\xff{"));
    ck_assert(!npy_read(&a, path, NPY_NO_BF16, &f));
    ck_assert_msg(
        strstr(f.text, "4294967295 bytes, but at most 1048576"), "%s", f.text);
    close(fd);
    wait(NULL);
}
END_TEST

/* ---- Beyond 2 GiB -------------------------------------------------------- */

/* KiB that this machine can give without swapping; 0 if unknown. */
static long available_kib(void)
{
    long kib = 0;
    char line[200];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && !kib && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %ld", &kib) != 1)
            kib = 0;
    if (file)
        fclose(file);
    return kib;
}

/* Handed A-F5.  The file is a hole with one value at its end. */
START_TEST(values_beyond_2_gib_are_found)
{
    const size_t count = ((size_t)1 << 31) + 64;
    char path[SCRATCH_PATH], header[200];
    unsigned char start[300];
    failure f = {{0}};
    npy_array a;
    if (available_kib() < 6L << 20) {
        puts("test_npy: less than 6 GiB of memory: the test beyond 2 GiB is "
             "left out");
        return;
    }
    snprintf(header, sizeof header, HEADER("|b1", "False", "(%zu,)"), count);
    size_t bytes = make_file(start, 1, header, "", 0);
    scratch_write(path, "huge.npy", start, bytes);
    ck_assert_int_eq(truncate(path, (off_t)(bytes + count - 1)), 0);
    FILE *file = fopen(path, "ab");
    ck_assert(file && fputc(1, file) == 1 && fclose(file) == 0);
    bool ok = npy_read(&a, path, NPY_NO_BF16, &f);
    remove(path);
    ck_assert_msg(ok, "%s", f.text);
    ck_assert_uint_eq(a.count, count);
    ck_assert_int_eq(((char *)a.data)[count - 1], 1);
    ck_assert_int_eq(((char *)a.data)[63], 0);
    npy_free(&a);
}
END_TEST

/* ---- Whole numbers ------------------------------------------------------- */

static const struct whole_case {
    const char *about, *descr, *shape;
    const char *data;
    size_t bytes;
    size_t count;
    int32_t value[3];
    const char *message; /* NULL: values are right */
} WHOLES[] = {
    {"i1", "|i1", "(3,)", BYTES("\x80\xff\x7f"), 3, {-128, -1, 127}, NULL},
    {"u1", "|u1", "(3,)", BYTES("\x80\xff\x00"), 3, {128, 255, 0}, NULL},
    {"i2", "<i2", "(2,)", BYTES("\x00\x80\xff\x7f"), 2, {-32768, 32767}, NULL},
    {"u2 is no bf16 here", "<u2", "(2,)", BYTES("\x00\x80\x80\x3f"), 2,
        {32768, 16256}, NULL},
    {"i4, both ends", "<i4", "(2,)", BYTES("\x00\x00\x00\x80\xff\xff\xff\x7f"),
        2, {INT32_MIN, INT32_MAX}, NULL},
    {"big-endian i4", ">i4", "(2,)", BYTES("\xff\xff\xff\xfe\x00\x00\x01\x02"),
        2, {-2, 258}, NULL},
    {"u4, greatest allowed", "<u4", "(1,)", BYTES("\xff\xff\xff\x7f"), 1,
        {INT32_MAX}, NULL},
    {"i8, both ends", "<i8", "(2,)",
        BYTES("\x00\x00\x00\x80\xff\xff\xff\xff\xff\xff\xff\x7f\0\0\0\0"), 2,
        {INT32_MIN, INT32_MAX}, NULL},
    {"big-endian u8", ">u8", "(1,)", BYTES("\0\0\0\0\0\0\x01\x00"), 1, {256},
        NULL},
    {"any rank, C order", "|i1", "(1, 3)", BYTES("\1\2\3"), 3, {1, 2, 3}, NULL},
    {"rank 0", "|i1", "()", BYTES("\7"), 1, {7}, NULL},
    {"none", "<i4", "(0,)", BYTES(""), 0, {0}, NULL},
    {"u4 beyond", "<u4", "(2,)", BYTES("\0\0\0\0\x00\x00\x00\x80"), 0, {0},
        "element 1 is 2147483648, but -2147483648 to 2147483647 is allowed"},
    {"i8 beyond", "<i8", "(1,)", BYTES("\xff\xff\xff\x7f\xff\xff\xff\xff"), 0,
        {0}, "element 0 is -2147483649, but"},
    {"i8, least", "<i8", "(1,)", BYTES("\0\0\0\0\0\0\0\x80"), 0, {0},
        "element 0 is -9223372036854775808, but"},
    {"u8, greatest", "<u8", "(1,)", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"),
        0, {0}, "element 0 is 18446744073709551615, but"},
    {"f4 of whole numbers", "<f4", "(1,)", BYTES(TWO), 0, {0},
        "dtype '<f4', but whole numbers (i1 to i8, u1 to u8) are needed: "
        "numpy's astype('int32') makes them"},
    {"f8", "<f8", "(1,)", BYTES("\0\0\0\0\0\0\xf0\x3f"), 0, {0}, "dtype '<f8'"},
    {"bool", "|b1", "(1,)", BYTES("\1"), 0, {0}, "dtype '|b1'"},
    {"V2", "<V2", "(1,)", BYTES("\1\0"), 0, {0}, "dtype '<V2'"},
    {"objects", "|O", "(1,)", BYTES("\1"), 0, {0}, "(Python objects, pickled)"},
    {"too short", "<i4", "(2,)", BYTES("\1\0\0\0"), 0, {0},
        "needs 8 bytes of data, but the file has 4"},
};

START_TEST(npy_read_int32_takes_every_width_that_fits)
{
    const struct whole_case *c = &WHOLES[_i];
    char path[SCRATCH_PATH], header[200];
    failure f = {{0}};
    int32_t *values = NULL;
    size_t count = 99;
    snprintf(
        header, sizeof header, HEADER("%s", "False", "%s"), c->descr, c->shape);
    write_file(path, 1, header, c->data, c->bytes);
    bool ok = npy_read_int32(&values, &count, path, &f);
    if (c->message)
        ck_assert_msg(!ok && !values && strstr(f.text, c->message),
            "%s: '%s' lacks '%s'", c->about, f.text, c->message);
    else
        ck_assert_msg(ok && values, "%s: %s", c->about, f.text);
    ck_assert_msg(count == c->count, "%s: %zu values", c->about, count);
    for (size_t i = 0; i < count; ++i)
        ck_assert_msg(values[i] == c->value[i], "%s: value %zu is %ld",
            c->about, i, (long)values[i]);
    free(values);
}
END_TEST

/* ---- Writing ------------------------------------------------------------- */

START_TEST(npy_write_writes_what_numpy_would)
{
    static const char WANTED[] = "\x93NUMPY\1\0\x76\0"
                                 "{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (2, 1), }";
    const float data[] = {1, 2};
    const size_t size[] = {2, 1};
    char path[SCRATCH_PATH];
    failure f = {{0}};
    size_t bytes = 0;
    scratch_path(path, "written.npy");
    ck_assert_msg(npy_write(path, data, CLATTN_F32, 2, size, &f), "%s", f.text);
    char *file = scratch_read(path, &bytes);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(bytes, 128 + 8);
    ck_assert_mem_eq(file, WANTED, sizeof WANTED - 1);
    for (size_t i = sizeof WANTED - 1; i < 127; ++i)
        ck_assert_int_eq(file[i], ' ');
    ck_assert_int_eq(file[127], '\n');
    ck_assert_mem_eq(file + 128, ONE TWO, 8);
    free(file);
}
END_TEST

/* Ranks 0 to 8, sizes that need up to 20 digits in all; the data begin at a
   multiple of 64. */
START_TEST(what_is_written_is_read_again)
{
    static const int32_t DTYPES[] = {CLATTN_F32, CLATTN_F16, CLATTN_F64};
    static const size_t BYTES_OF[] = {4, 2, 8};
    const size_t size[] = {2, 1, 3, 1, 1, 2, 1, 1};
    const double data[12] = {1.5, -2.25, 1e300, 0.0, 7.0};
    for (size_t k = 0; k < COUNT(DTYPES) * (NPY_MAX_RANK + 1); ++k) {
        size_t rank = k / COUNT(DTYPES), which = k % COUNT(DTYPES), bytes = 0;
        char path[SCRATCH_PATH];
        failure f = {{0}};
        npy_array a;
        scratch_path(path, "round.npy");
        ck_assert_msg(
            npy_write(path, data, DTYPES[which], rank, size, &f), "%s", f.text);
        ck_assert_msg(npy_read(&a, path, NPY_NO_BF16, &f), "%s", f.text);
        ck_assert(a.dtype == DTYPES[which] && a.rank == rank);
        if (rank)
            ck_assert_mem_eq(a.size, size, rank * sizeof *size);
        ck_assert_mem_eq(a.data, data, a.count * BYTES_OF[which]);
        free(scratch_read(path, &bytes));
        ck_assert_uint_eq((bytes - a.count * BYTES_OF[which]) % 64, 0);
        npy_free(&a);
    }
}
END_TEST

START_TEST(empty_arrays_are_written_and_long_shapes_fit)
{
    const size_t none[] = {0, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX,
        SIZE_MAX, SIZE_MAX};
    char path[SCRATCH_PATH], text[200];
    failure f = {{0}};
    size_t bytes = 0;
    scratch_path(path, "empty.npy");
    ck_assert_msg(npy_write(path, NULL, CLATTN_F32, 8, none, &f), "%s", f.text);
    char *file = scratch_read(path, &bytes);
    ck_assert_uint_eq(bytes % 64, 0);
    ck_assert_ptr_nonnull(strstr(file + 10, npy_shape_text(text, 8, none)));
    free(file);
}
END_TEST

START_TEST(npy_write_fails_with_the_file_named)
{
    const float data[] = {1};
    const size_t size[] = {1};
    char path[SCRATCH_PATH];
    failure f = {{0}};
    scratch_path(path, "no/such/folder.npy");
    ck_assert(!npy_write(path, data, CLATTN_F32, 1, size, &f));
    ck_assert_msg(strncmp(f.text, path, strlen(path)) == 0, "%s", f.text);
    ck_assert(!npy_write("/dev/full", data, CLATTN_F32, 1, size, &f));
    ck_assert_msg(
        strstr(f.text, "/dev/full: cannot be written: No space"), "%s", f.text);
}
END_TEST

START_TEST(shapes_are_printed_as_numpy_does)
{
    const size_t size[] = {2, 14, 384};
    char text[200];
    ck_assert_str_eq(npy_shape_text(text, 3, size), "(2, 14, 384)");
    ck_assert_str_eq(npy_shape_text(text, 1, size), "(2,)");
    ck_assert_str_eq(npy_shape_text(text, 0, NULL), "()");
}
END_TEST

static TCase *reading(void)
{
    TCase *tests = tcase_create("reading");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_set_timeout(tests, 240);
    tcase_add_loop_test(
        tests, npy_read_gives_c_order_and_exact_values, 0, (int)COUNT(READS));
    tcase_add_test(tests, bool_is_read_as_it_is);
    tcase_add_test(tests, a_finite_f8_beyond_f32_is_refused_not_made_infinite);
    tcase_add_loop_test(
        tests, npy_read_refuses_damaged_beginnings, 0, (int)COUNT(RAWS));
    tcase_add_loop_test(
        tests, npy_read_refuses_wrong_headers, 0, (int)COUNT(HEADERS));
    tcase_add_test(tests, every_cut_header_is_refused);
    tcase_add_test(tests, data_of_another_size_is_refused_with_both_numbers);
    tcase_add_test(tests, what_is_no_file_is_refused);
    tcase_add_loop_test(tests, npy_read_takes_pipes, 0, (int)COUNT(PIPES));
    tcase_add_test(tests, a_pipe_cannot_ask_for_a_huge_header);
    tcase_add_test(tests, values_beyond_2_gib_are_found);
    tcase_add_loop_test(tests, npy_read_int32_takes_every_width_that_fits, 0,
        (int)COUNT(WHOLES));
    return tests;
}

static TCase *writing(void)
{
    TCase *tests = tcase_create("writing");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_add_test(tests, npy_write_writes_what_numpy_would);
    tcase_add_test(tests, what_is_written_is_read_again);
    tcase_add_test(tests, empty_arrays_are_written_and_long_shapes_fit);
    tcase_add_test(tests, npy_write_fails_with_the_file_named);
    tcase_add_test(tests, shapes_are_printed_as_numpy_does);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("npy");
    suite_add_tcase(suite, reading());
    suite_add_tcase(suite, writing());
    return suite_main(suite, 0);
}
