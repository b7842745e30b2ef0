/* SPDX-License-Identifier: Apache-2.0
 *
 * test_npy.c - .npy files read: values, orders, pipes, whole numbers, 2 GiB.
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
#include "data_file.h"
#include "scratch.h"
#include "suite.h"

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
    {"f4", NPY_HEADER("<f4", "False", "(2, 3)"),
        BYTES(ONE TWO THREE FOUR FIVE SIX), 1, CLATTN_F32, 2, {2, 3}, 6,
        {1, 2, 3, 4, 5, 6}},
    {"version 2", NPY_HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO), 2,
        CLATTN_F32, 1, {2}, 2, {1, 2}},
    {"version 3", NPY_HEADER("<f4", "False", "(2,)"), BYTES(ONE TWO), 3,
        CLATTN_F32, 1, {2}, 2, {1, 2}},
    {"Fortran order, handed A-F1", NPY_HEADER("<f4", "True", "(2, 3)"),
        BYTES(ONE FOUR TWO FIVE THREE SIX), 1, CLATTN_F32, 2, {2, 3}, 6,
        {1, 2, 3, 4, 5, 6}},
    {"Fortran order of rank 3", NPY_HEADER("<f2", "True", "(2, 2, 3)"),
        BYTES("\x00\x3c\x00\x47\x00\x44\x00\x49\x00\x40\x00\x48"
              "\x00\x45\x80\x49\x00\x42\x80\x48\x00\x46\x00\x4a"),
        1, CLATTN_F16, 3, {2, 2, 3}, 12,
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
    {"Fortran order of rank 1", NPY_HEADER("<f4", "True", "(3,)"),
        BYTES(ONE TWO THREE), 1, CLATTN_F32, 1, {3}, 3, {1, 2, 3}},
    {"Fortran order of rank 0", NPY_HEADER("<f4", "True", "()"), BYTES(SIX), 1,
        CLATTN_F32, 0, {0}, 1, {6}},
    {"Fortran order of nothing", NPY_HEADER("<f4", "True", "(2, 0)"), BYTES(""),
        1, CLATTN_F32, 2, {2, 0}, 0, {0}},
    {"rank 0", NPY_HEADER("<f4", "False", "()"), BYTES(SIX), 1, CLATTN_F32, 0,
        {0}, 1, {6}},
    {"no elements", NPY_HEADER("<f4", "False", "(0, 3)"), BYTES(""), 1,
        CLATTN_F32, 2, {0, 3}, 0, {0}},
    {"big-endian f4, handed A-F2", NPY_HEADER(">f4", "False", "(1,)"),
        BYTES("\x3f\x80\x00\x00"), 1, CLATTN_F32, 1, {1}, 1, {1}},
    {"big-endian f2, handed A-F2", NPY_HEADER(">f2", "False", "(1,)"),
        BYTES("\x3c\x00"), 1, CLATTN_F16, 1, {1}, 1, {1}},
    {"big-endian f8", NPY_HEADER(">f8", "False", "(2,)"),
        BYTES("\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0"), 1, CLATTN_F64, 1, {2},
        2, {1, -2}},
    {"big-endian in Fortran order", NPY_HEADER(">f2", "True", "(2, 2)"),
        BYTES("\x3c\x00\x42\x00\x40\x00\x44\x00"), 1, CLATTN_F16, 2, {2, 2}, 4,
        {1, 2, 3, 4}},
    {"native order", NPY_HEADER("=f4", "False", "(1,)"), BYTES(TWO), 1,
        CLATTN_F32, 1, {1}, 1, {2}},
    {"order not applicable", NPY_HEADER("|f4", "False", "(1,)"), BYTES(TWO), 1,
        CLATTN_F32, 1, {1}, 1, {2}},
    {"order not given", NPY_HEADER("f4", "False", "(1,)"), BYTES(TWO), 1,
        CLATTN_F32, 1, {1}, 1, {2}},
    {"f2: least subnormal, greatest finite, -0, infinity",
        NPY_HEADER("<f2", "False", "(4,)"),
        BYTES("\x01\x00\xff\x7b\x00\x80\x00\xfc"), 1, CLATTN_F16, 1, {4}, 4,
        {5.9604644775390625e-8f, 65504, -0.0f, -INFINITY}},
    {"f8: least f32, 0.1 rounded, infinity", NPY_HEADER("<f8", "False", "(3,)"),
        BYTES("\0\0\0\0\0\0\xa0\x36\x9a\x99\x99\x99\x99\x99\xb9\x3f"
              "\0\0\0\0\0\0\xf0\x7f"),
        1, CLATTN_F64, 1, {3}, 3, {1.401298464324817e-45f, 0.1f, INFINITY}},
    {"bf16 as V2, handed A-F3", NPY_HEADER("<V2", "False", "(1,)"),
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"bf16 as |V2, handed A-F3", NPY_HEADER("|V2", "False", "(1,)"),
        BYTES("\x80\x3f"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
    {"bf16 as u2", NPY_HEADER("<u2", "False", "(2,)"),
        BYTES("\x80\x3f\x40\xc0"), 1, CLATTN_BF16, 1, {2}, 2, {1, -3}},
    {"bf16 as big-endian u2", NPY_HEADER(">u2", "False", "(1,)"),
        BYTES("\x3f\x80"), 1, CLATTN_BF16, 1, {1}, 1, {1}},
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
    {"Python 2's long sizes", NPY_HEADER("<f4", "False", "(1L, 2L)"),
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
    failure f = {.text = ""};
    npy_array a;
    npy_file(path, c->version, c->header, c->data, c->bytes);
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
        failure f = {.text = ""};
        npy_array a;
        snprintf(header, sizeof header, NPY_HEADER("%s", "True", "(2, 2)"),
            DESCRS[i]);
        npy_file(path, 1, header, "\1\0\0\1", 4);
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
    failure f = {.text = ""};
    npy_array a;
    /* 1 and -DBL_MAX, which people write into masks. */
    npy_file(path, 1, NPY_HEADER("<f8", "False", "(2,)"),
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
    failure f = {.text = ""};
    npy_array a;
    int fd = -1;
    unsigned char *file = calloc(1, c->bytes + 500);
    char *data = calloc(1, c->bytes + 1);
    ck_assert(file && data);
    if (c->bytes >= 4)
        memcpy(data + (c->bytes - 4) / 4 * 4, SIX, 4);
    snprintf(header, sizeof header, NPY_HEADER("<f4", "False", "%s"), c->shape);
    scratch_pipe(path, &fd, file, npy_bytes(file, 1, header, data, c->bytes));
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
    failure f = {.text = ""};
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
    failure f = {.text = ""};
    npy_array a;
    if (available_kib() < 6L << 20) {
        puts("test_npy: less than 6 GiB of memory: the test beyond 2 GiB is "
             "left out");
        return;
    }
    snprintf(
        header, sizeof header, NPY_HEADER("|b1", "False", "(%zu,)"), count);
    size_t bytes = npy_bytes(start, 1, header, "", 0);
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
    failure f = {.text = ""};
    int32_t *values = NULL;
    size_t count = 99;
    snprintf(header, sizeof header, NPY_HEADER("%s", "False", "%s"), c->descr,
        c->shape);
    npy_file(path, 1, header, c->data, c->bytes);
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

int main(void)
{
    TCase *tests = tcase_create("reading");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_set_timeout(tests, 240);
    tcase_add_loop_test(
        tests, npy_read_gives_c_order_and_exact_values, 0, (int)COUNT(READS));
    tcase_add_test(tests, bool_is_read_as_it_is);
    tcase_add_test(tests, a_finite_f8_beyond_f32_is_refused_not_made_infinite);
    tcase_add_loop_test(tests, npy_read_takes_pipes, 0, (int)COUNT(PIPES));
    tcase_add_test(tests, a_pipe_cannot_ask_for_a_huge_header);
    tcase_add_test(tests, values_beyond_2_gib_are_found);
    tcase_add_loop_test(tests, npy_read_int32_takes_every_width_that_fits, 0,
        (int)COUNT(WHOLES));

    Suite *suite = suite_create("npy");
    suite_add_tcase(suite, tests);
    return suite_main(suite, 0);
}
