/* SPDX-License-Identifier: Apache-2.0
 *
 * test_numbers.c - lists of real numbers in option values.
 */
#include <stdint.h>
#include <string.h>

#include <clattn/clattn.h>

#include "attending.h"
#include "numbers.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

static const struct list_case {
    const char *text;
    size_t count; /* 0: refused */
    float value[3];
} LISTS[] = {
    {"0.5", 1, {0.5f}},
    {"0.5,-2,1e-3", 3, {0.5f, -2.0f, 1e-3f}},
    {".5,+1", 2, {0.5f, 1.0f}},
    {"-0", 1, {0.0f}},
    {"", 0, {0}},
    {",", 0, {0}},
    {"1,", 0, {0}},
    {",1", 0, {0}},
    {"1,,2", 0, {0}},
    {"1, 2", 0, {0}},
    {" 1", 0, {0}},
    {"1;2", 0, {0}},
    {"--1", 0, {0}},
    {"inf", 0, {0}},
    {"1,-inf", 0, {0}},
    {"+nan", 0, {0}},
    {"1e39", 0, {0}}, /* above FLT_MAX */
    {"auto", 0, {0}},
    {"slopes.npz", 0, {0}},
};

START_TEST(lists_are_read_strictly)
{
    const struct list_case *row = &LISTS[_i];
    numbers list;
    failure f = {.text = ""};
    const bool accepted = numbers_parse(&list, OPTION_SINKS, row->text, &f);
    ck_assert_msg(accepted == (row->count > 0) && list.count == row->count,
        "\"%s\": got %d, %zu values: %s", row->text, accepted, list.count,
        f.text);
    if (!accepted)
        ck_assert_msg(strstr(f.text, "--sinks") && strstr(f.text, row->text),
            "\"%s\": %s", row->text, f.text);
    for (size_t i = 0; i < row->count; i++)
        ck_assert_msg(list.value[i] == row->value[i], "\"%s\": value %zu is %g",
            row->text, i, (double)list.value[i]);
    numbers_free(&list);
}
END_TEST

START_TEST(a_list_that_is_not_given_is_empty)
{
    numbers list;
    failure f = {.text = ""};
    ck_assert(numbers_parse(&list, OPTION_SINKS, NULL, &f));
    ck_assert(numbers_load(&list, 3, NPY_NO_BF16, "q.npy", &f));
    ck_assert_ptr_null(list.value);
}
END_TEST

START_TEST(a_list_must_fit_its_heads)
{
    numbers list;
    failure f = {.text = ""};
    ck_assert(numbers_parse(&list, OPTION_SINKS, "1,2", &f));
    ck_assert(numbers_load(&list, 2, NPY_NO_BF16, "q.npy", &f));
    ck_assert(!numbers_load(&list, 1, NPY_NO_BF16, "q.npy", &f));
    ck_assert_str_eq(f.text, "--sinks 1,2 has 2 values, but q.npy has 1 head");
    numbers_free(&list);
}
END_TEST

/* The dtypes that a file may have, and whether it takes --read-bf16. */
static const struct file_case {
    int32_t dtype;
    enum npy_two_bytes two_bytes;
    bool accepted;
} FILES[] = {
    {CLATTN_F32, NPY_NO_BF16, true},
    {CLATTN_F16, NPY_NO_BF16, true},
    {CLATTN_F64, NPY_NO_BF16, true},
    {CLATTN_BF16, NPY_AS_BF16, true},
    {CLATTN_BF16, NPY_NO_BF16, false},
    {CLATTN_BOOL, NPY_NO_BF16, false},
};

START_TEST(a_list_that_ends_in_npy_is_a_file)
{
    const struct file_case *row = &FILES[_i];
    const double values[] = {0.5, -2};
    char path[SCRATCH_PATH];
    numbers list;
    failure f = {.text = ""};
    attending_write("numbers.npy", row->dtype, 1, (const size_t[]){2}, values);
    scratch_path(path, "numbers.npy");
    ck_assert(numbers_parse(&list, OPTION_ALIBI, path, &f));
    ck_assert(list.is_file && !list.value);
    const bool accepted = numbers_load(&list, 2, row->two_bytes, "q.npy", &f);
    ck_assert_msg(
        accepted == row->accepted, "dtype %d: %s", (int)row->dtype, f.text);
    for (size_t i = 0; accepted && i < 2; i++)
        ck_assert_msg((double)list.value[i] == values[i],
            "dtype %d: value %zu is %g", (int)row->dtype, i,
            (double)list.value[i]);
    numbers_free(&list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("numbers");
    TCase *lists = tcase_create("lists");
    tcase_add_unchecked_fixture(lists, scratch_begin, scratch_end);
    tcase_add_loop_test(lists, lists_are_read_strictly, 0, COUNT(LISTS));
    tcase_add_test(lists, a_list_that_is_not_given_is_empty);
    tcase_add_test(lists, a_list_must_fit_its_heads);
    tcase_add_loop_test(
        lists, a_list_that_ends_in_npy_is_a_file, 0, COUNT(FILES));
    suite_add_tcase(suite, lists);
    return suite_main(suite, 0);
}
