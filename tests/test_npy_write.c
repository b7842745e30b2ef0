/* SPDX-License-Identifier: Apache-2.0
 *
 * test_npy_write.c - .npy files written, and shapes as they are printed.
 */
#include <stdlib.h>
#include <string.h>

#include "clattn/clattn.h"
#include "data_file.h"
#include "npy.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

START_TEST(npy_write_writes_what_numpy_would)
{
    static const char WANTED[] = "\x93NUMPY\1\0\x76\0"
                                 "{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (2, 1), }";
    const float data[] = {1, 2};
    const size_t size[] = {2, 1};
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    size_t bytes = 0;
    scratch_path(path, "written.npy");
    ck_assert_msg(
        stored_alone(path, data, CLATTN_F32, 2, size, &f), "%s", f.text);
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
        failure f = {.text = ""};
        npy_array a;
        scratch_path(path, "round.npy");
        ck_assert_msg(stored_alone(path, data, DTYPES[which], rank, size, &f),
            "%s", f.text);
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
    failure f = {.text = ""};
    size_t bytes = 0;
    scratch_path(path, "empty.npy");
    ck_assert_msg(
        stored_alone(path, NULL, CLATTN_F32, 8, none, &f), "%s", f.text);
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
    failure f = {.text = ""};
    scratch_path(path, "no/such/folder.npy");
    ck_assert(!stored_alone(path, data, CLATTN_F32, 1, size, &f));
    ck_assert_msg(strncmp(f.text, path, strlen(path)) == 0, "%s", f.text);
    ck_assert(!stored_alone("/dev/full", data, CLATTN_F32, 1, size, &f));
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

int main(void)
{
    TCase *tests = tcase_create("writing");
    tcase_add_unchecked_fixture(tests, scratch_begin, scratch_end);
    tcase_add_test(tests, npy_write_writes_what_numpy_would);
    tcase_add_test(tests, what_is_written_is_read_again);
    tcase_add_test(tests, empty_arrays_are_written_and_long_shapes_fit);
    tcase_add_test(tests, npy_write_fails_with_the_file_named);
    tcase_add_test(tests, shapes_are_printed_as_numpy_does);

    Suite *suite = suite_create("npy_write");
    suite_add_tcase(suite, tests);
    return suite_main(suite, 0);
}
