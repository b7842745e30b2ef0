/* SPDX-License-Identifier: Apache-2.0
 *
 * test_case_sizes.c - problems of sizes that no memory holds: refused before
 * anything is multiplied, allocated or written.
 */
#include <stdint.h>
#include <string.h>

#include "attention_trial.h"
#include "layer_case.h"
#include "linear_case.h"
#include "suite.h"

/* As counts, as products that come out small again, and beyond int. */
static const size_t TOO_LARGE[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1,
    SIZE_MAX - 1, (size_t)INT32_MAX + 1};

enum {
    SIZES = 7
};

START_TEST(a_size_that_no_memory_holds_makes_no_trial)
{
    const size_t large = TOO_LARGE[(size_t)_i / SIZES];
    for (size_t others = 0; others < 3; ++others)
        for (int packed = 0; packed < 2; ++packed) {
            attention_case c = {.about = "too large",
                .size = {1, 1, 1, others, others, others, others},
                .returns = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS,
                .sinks = true,
                .query_starts = packed,
                .key_starts = packed};
            attention_trial trial;
            memcpy((size_t *)&c.size + _i % SIZES, &large, sizeof large);
            ck_assert_msg(!attention_trial_create(&trial, &c),
                "size %d of %zu is taken", _i % SIZES, large);
            attention_trial_destroy(&trial);
        }
}
END_TEST

START_TEST(sizes_whose_product_no_memory_holds_make_no_trial)
{
    const size_t n = INT32_MAX / 4;
    const attention_case attention = {
        .about = "too large", .size = {n, n, n, n, n, n, n}};
    attention_case packed = {.about = "too many rows",
        .size = {ARENA_ITEMS, 1, 1, n, n, 1, 1},
        .query_starts = true};
    const linear_case linear = {
        .rows = SIZE_MAX / 2 + 1, .n_in = 2, .n_out = 2};
    const layer_case layer = {.size = {n, n, n, n, n, n, n, n, 0, 0, n}};
    attention_trial trial;
    linear_trial linears;
    layer_trial layers;
    ck_assert(!attention_trial_create(&trial, &attention));
    ck_assert(!attention_trial_create(&trial, &packed));
    packed.size.B = ARENA_ITEMS + 1, packed.size.Lq = 1;
    ck_assert(!attention_trial_create(&trial, &packed));
    ck_assert(!linear_trial_create(&linears, &linear));
    ck_assert(!layer_trial_create(&layers, &layer));
}
END_TEST

START_TEST(a_tensor_that_no_memory_holds_is_not_allocated)
{
    static const arena_tensor TENSORS[] = {
        {.name = "product", .size = {1u << 31, 1u << 31, 4, 5}},
        {.name = "span", .size = {2, 1, 1, 1}, .stride = {SIZE_MAX, 1, 1}},
        {.name = "bytes", .size = {1, 1, 1, SIZE_MAX / 4 + 1}},
        {.name = "offset", .size = {1, 1, 1, 1}, .offset = SIZE_MAX},
    };
    for (size_t n = 0; n < COUNT(TENSORS); ++n) {
        arena a = {.memories = 0};
        arena_tensor t = TENSORS[n];
        t.memory = ARENA_NEW;
        arena_place(&a, 0, t);
        ck_assert_msg(!arena_allocate(&a), "%s", t.name);
        arena_free(&a);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sizes");
    tcase_add_loop_test(t, a_size_that_no_memory_holds_makes_no_trial, 0,
        (int)(COUNT(TOO_LARGE) * SIZES));
    tcase_add_test(t, sizes_whose_product_no_memory_holds_make_no_trial);
    tcase_add_test(t, a_tensor_that_no_memory_holds_is_not_allocated);
    Suite *suite = suite_create("case_sizes");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
