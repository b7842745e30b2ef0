/* SPDX-License-Identifier: Apache-2.0
 *
 * test_extent.c - arithmetic of sizes at the edge of a size_t, and which boxes
 * lie apart in memory.
 */
#include <stdint.h>

#include "extent.h"
#include "suite.h"

START_TEST(sums_and_products_fit_or_say_so)
{
    const size_t root = (size_t)1 << 32;
    size_t result = 0;

    ck_assert(size_add(SIZE_MAX, 0, &result) && result == SIZE_MAX);
    ck_assert(size_add(SIZE_MAX - 5, 5, &result) && result == SIZE_MAX);
    ck_assert(!size_add(SIZE_MAX - 5, 6, &result));
    ck_assert(size_mul(SIZE_MAX, 1, &result) && result == SIZE_MAX);
    ck_assert(size_mul(SIZE_MAX, 0, &result) && result == 0);
    ck_assert(size_mul(SIZE_MAX / 5, 5, &result) && result == SIZE_MAX);
    ck_assert(!size_mul(root, root, &result));
    ck_assert(size_mul(root, root - 1, &result));
}
END_TEST

static const struct {
    const char *about;
    size_t size[4], stride[4];
    size_t span; /* 0: none, or it does not fit */
    bool fits, apart;
} BOXES[] = {
    {"dense", {2, 3, 4, 5}, {60, 20, 5, 1}, 120, true, true},
    {"heads side by side", {2, 3, 4, 5}, {60, 5, 15, 1}, 120, true, true},
    {"one element", {1, 1, 1, 1}, {0, 0, 0, 0}, 1, true, true},
    {"strides of 1 do not count", {1, 1, 1, 5}, {9, 9, 9, 1}, 5, true, true},
    {"nothing", {2, 0, 4, 5}, {60, 20, 5, 1}, 0, true, true},
    {"the same item twice", {2, 3, 4, 5}, {0, 20, 5, 1}, 60, true, false},
    {"rows too narrow", {1, 1, 4, 5}, {0, 0, 4, 1}, 17, true, false},
    {"two equal strides", {1, 2, 2, 1}, {0, 3, 3, 1}, 7, true, false},
    {"a last element at the end", {1, 1, 2, 1}, {0, 0, SIZE_MAX - 1, 1},
        SIZE_MAX, true, true},
    {"one beyond it", {1, 1, 2, 1}, {0, 0, SIZE_MAX, 1}, 0, false, true},
    {"a stride that wraps", {1, 1, 3, 1}, {0, 0, SIZE_MAX / 2 + 1, 1}, 0, false,
        false},
    {"a sum that wraps", {1, 2, 2, 1}, {0, SIZE_MAX - 1, SIZE_MAX - 2, 1}, 0,
        false, false},
};

START_TEST(a_span_goes_from_the_first_element_to_the_last)
{
    size_t span = 0;
    const bool fits = extent_span(BOXES[_i].size, BOXES[_i].stride, &span);

    ck_assert_msg(fits == BOXES[_i].fits, "%s: fits %d", BOXES[_i].about, fits);
    if (fits)
        ck_assert_msg(span == BOXES[_i].span, "%s: span %zu, want %zu",
            BOXES[_i].about, span, BOXES[_i].span);
}
END_TEST

START_TEST(strides_that_nest_keep_elements_apart)
{
    ck_assert_msg(
        extent_apart(BOXES[_i].size, BOXES[_i].stride) == BOXES[_i].apart, "%s",
        BOXES[_i].about);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("extent");
    TCase *arithmetic = tcase_create("arithmetic");

    tcase_add_test(arithmetic, sums_and_products_fit_or_say_so);
    tcase_add_loop_test(arithmetic,
        a_span_goes_from_the_first_element_to_the_last, 0, (int)COUNT(BOXES));
    tcase_add_loop_test(arithmetic, strides_that_nest_keep_elements_apart, 0,
        (int)COUNT(BOXES));
    suite_add_tcase(suite, arithmetic);
    return suite_main(suite, 0);
}
