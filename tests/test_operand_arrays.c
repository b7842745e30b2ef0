/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operand_arrays.c - which lengths and starts in host memory are legal,
 * and which rows they give an item.  Needs no device.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "operand.h"
#include "problem.h"
#include "refusal.h"
#include "suite.h"

enum {
    NONE = -99 /* ends an array; alone it means: not given */
};

/* Three items of at most 4 queries and 5 keys, 10 and 12 rows if packed. */
typedef struct arrays_case {
    const char *about;
    int32_t query_lengths[5], key_lengths[5], query_starts[5], key_starts[5];
    const char *words; /* NULL: legal */
} arrays_case;

#define NO   \
    {        \
        NONE \
    }
#define A(...)            \
    {                     \
        __VA_ARGS__, NONE \
    }

static const arrays_case CASES[] = {
    {"nothing given", NO, NO, NO, NO, NULL},
    {"lengths from nothing to all", A(0, 4, 1), A(5, 0, 3), NO, NO, NULL},
    {"a negative query length", A(0, -1, 1), NO, NO, NO,
        "query_lengths[1] is -1, but must be 0 to Lq, which is 4"},
    {"a query length above Lq", A(0, 4, 5), NO, NO, NO,
        "query_lengths[2] is 5, but must be 0 to Lq, which is 4"},
    {"a key length above Lk", NO, A(6, 4, 5), NO, NO,
        "key_lengths[0] is 6, but must be 0 to Lk, which is 5"},
    {"a key length of INT_MIN", NO, A(0, 4, INT32_MIN), NO, NO,
        "key_lengths[2] is -2147483648"},
    {"starts alone", NO, NO, A(0, 4, 4, 7), A(0, 5, 10, 12), NULL},
    {"rows before the first and after the last item", NO, NO, A(2, 3, 5, 9), NO,
        NULL},
    {"starts that descend", NO, NO, A(0, 4, 3, 7), NO,
        "query_starts[2] is 3, but must be at least query_starts[1], which is "
        "4"},
    {"an item longer than Lq", NO, NO, A(0, 5, 6, 7), NO,
        "query_starts[0] and [1] are 0 and 5, but an item may have at most Lq "
        "rows, which is 4"},
    {"an item longer than Lk", NO, NO, NO, A(0, 5, 6, 12),
        "key_starts[2] and [3] are 6 and 12, but an item may have at most Lk"},
    {"a last start beyond the rows", NO, NO, A(0, 4, 8, 11), NO,
        "query_starts[3] is 11, but must be 0 to q_rows, which is 10"},
    {"a negative start", NO, NO, A(-1, 2, 4, 6), NO,
        "query_starts[0] is -1, but must be 0 to q_rows, which is 10"},
    {"starts and lengths with gaps", A(2, 3, 4), A(1, 2, 3), A(0, 3, 6),
        A(0, 4, 8), NULL},
    {"items in any order", A(2, 3, 4), NO, A(8, 4, 0), NO, NULL},
    {"key items that overlap", NO, A(5, 5, 5), NO, A(0, 1, 7), NULL},
    {"query items that overlap", A(2, 3, 4), NO, A(8, 3, 0), NO,
        "give one item rows 0 to 3 and another 3 to 5, but query items may"},
    {"two query items in one place", A(2, 2, 2), NO, A(4, 4, 0), NO,
        "give one item rows 4 to 5 and another 4 to 5"},
    {"query items that overlap in ascending order", A(3, 1, 1), NO, A(0, 2, 4),
        NO, "give one item rows 0 to 2 and another 2 to 2"},
    {"an empty item within another", A(4, 0, 4), NO, A(0, 2, 4), NO, NULL},
    {"a query item that ends beyond the rows", A(1, 1, 3), NO, A(0, 1, 8), NO,
        "query_starts[2] + query_lengths[2] is 8 + 3, but must be at most "
        "q_rows, which is 10"},
    {"a key item that ends beyond the rows", NO, A(5, 1, 3), NO, A(8, 0, 0),
        "key_starts[0] + key_lengths[0] is 8 + 5, but must be at most k_rows"},
    {"a start beyond the rows, with lengths", A(0, 0, 0), NO, A(0, 11, 0), NO,
        "query_starts[1] is 11"},
};

static clattn_attention attention_of(const arrays_case *row)
{
    clattn_attention a, complete;
    clattn_error error;

    clattn_attention_init(&a, sizeof a);
    a.B = 3;
    a.Hq = a.Hkv = 1;
    a.Lq = 4;
    a.Lk = 5;
    a.D = a.Dv = 1;
    a.dtype = CLATTN_F32;
    if (row->query_lengths[0] != NONE)
        a.flags |= CLATTN_QUERY_LENGTHS;
    if (row->key_lengths[0] != NONE)
        a.flags |= CLATTN_KEY_LENGTHS;
    if (row->query_starts[0] != NONE)
        a.flags |= CLATTN_QUERY_STARTS;
    if (row->key_starts[0] != NONE)
        a.flags |= CLATTN_KEY_STARTS;
    a.q_rows = a.flags & CLATTN_QUERY_STARTS ? 10 : 0;
    a.k_rows = a.flags & CLATTN_KEY_STARTS ? 12 : 0;
    ck_assert_int_eq(
        problem_attention(&complete, &a, false, false, &error), CLATTN_OK);
    return complete;
}

/* Values one by one behind a block of their exact size, so that a read past
   them is noticed by a sanitizer. */
static clattn_input array_of(const int32_t *values)
{
    clattn_input input = {0};
    size_t count = 0;

    while (values[count] != NONE)
        ++count;
    if (count == 0)
        return input;
    int32_t *copy = malloc((count + 1) * sizeof *copy);
    ck_assert_ptr_nonnull(copy);
    copy[0] = NONE;
    memcpy(copy + 1, values, count * sizeof *copy);
    input.host = copy;
    input.offset = 1;
    return input;
}

static clattn_attention_args args_of(const arrays_case *row)
{
    const clattn_attention_args args = {
        .struct_size = sizeof args,
        .query_lengths = array_of(row->query_lengths),
        .key_lengths = array_of(row->key_lengths),
        .query_starts = array_of(row->query_starts),
        .key_starts = array_of(row->key_starts),
    };
    return args;
}

static void free_args(const clattn_attention_args *args)
{
    free((void *)(uintptr_t)args->query_lengths.host);
    free((void *)(uintptr_t)args->key_lengths.host);
    free((void *)(uintptr_t)args->query_starts.host);
    free((void *)(uintptr_t)args->key_starts.host);
}

START_TEST(arrays_in_host_memory_are_refused_by_value)
{
    const arrays_case *row = &CASES[_i];
    const clattn_attention a = attention_of(row);
    const clattn_attention_args args = args_of(row);
    clattn_error error;

    refusal_check(row->about, operands_check_arrays(&a, &args, &error),
        row->words ? CLATTN_INVALID : CLATTN_OK, &error, row->words);
    free_args(&args);
}
END_TEST

static const struct {
    float sink;
    const char *words; /* NULL: legal */
} SINKS[] = {
    {0.0f, NULL},
    {-3.4e38f, NULL},
    {-INFINITY, NULL},
    {NAN, "sinks[1] is nan, but must be finite, or -inf for none"},
    {INFINITY, "sinks[1] is inf"},
};

/* The first value is before the offset, and not looked at. */
START_TEST(sinks_in_host_memory_are_no_nan_and_not_infinite)
{
    const arrays_case row = {"", NO, NO, NO, NO, NULL};
    clattn_attention a = attention_of(&row);
    const float sinks[] = {NAN, 1.0f, SINKS[_i].sink};
    const clattn_attention_args args = {
        .struct_size = sizeof args, .sinks = {.host = sinks, .offset = 1}};
    clattn_error error;

    a.Hq = 2;
    refusal_check("sinks without the flag",
        operands_check_arrays(&a, &args, &error), CLATTN_OK, &error, NULL);
    a.flags |= CLATTN_SINKS;
    refusal_check("sinks", operands_check_arrays(&a, &args, &error),
        SINKS[_i].words ? CLATTN_INVALID : CLATTN_OK, &error, SINKS[_i].words);
}
END_TEST

START_TEST(arrays_on_the_device_are_not_looked_at)
{
    const arrays_case row = {
        "", A(2, 2, 2), A(5, 5, 5), A(4, 4, 0), A(8, 8, 8), NULL};
    const clattn_attention a = attention_of(&row);
    const clattn_attention_args args = {.struct_size = sizeof args};
    clattn_error error;

    refusal_check("device arrays", operands_check_arrays(&a, &args, &error),
        CLATTN_OK, &error, NULL);
}
END_TEST

START_TEST(items_with_a_batch_stride_may_share_row_numbers)
{
    const arrays_case row = {"", A(2, 2, 2), NO, A(4, 4, 0), NO, NULL};
    clattn_attention a = attention_of(&row);
    const clattn_attention_args args = args_of(&row);
    clattn_error error;

    a.out.batch = 10;
    refusal_check("left padding", operands_check_arrays(&a, &args, &error),
        CLATTN_OK, &error, NULL);
    a.flags |= CLATTN_RETURN_LSE;
    refusal_check("lse without", operands_check_arrays(&a, &args, &error),
        CLATTN_INVALID, &error, "query items may not overlap");
    a.lse.batch = 10;
    refusal_check("lse with", operands_check_arrays(&a, &args, &error),
        CLATTN_OK, &error, NULL);
    free_args(&args);
}
END_TEST

static const struct {
    const char *about;
    arrays_case arrays;
    item_rows query, key; /* of item 1 */
} ITEMS[] = {
    {"neither: the descriptor's", {"", NO, NO, NO, NO, NULL}, {0, 4}, {0, 5}},
    {"lengths", {"", A(1, 2, 3), A(2, 3, 4), NO, NO, NULL}, {0, 2}, {0, 3}},
    {"starts", {"", NO, NO, A(1, 3, 6, 8), A(0, 1, 5, 9), NULL}, {3, 3},
        {1, 4}},
    {"both", {"", A(1, 2, 3), A(2, 3, 4), A(7, 5, 1), A(0, 4, 0), NULL}, {5, 2},
        {4, 3}},
};

START_TEST(an_item_has_rows_by_lengths_then_starts_then_sizes)
{
    const clattn_attention a = attention_of(&ITEMS[_i].arrays);
    const clattn_attention_args args = args_of(&ITEMS[_i].arrays);
    const item_rows query = operand_query_rows(&a, &args, 1);
    const item_rows key = operand_key_rows(&a, &args, 1);

    ck_assert_msg(query.start == ITEMS[_i].query.start &&
                      query.count == ITEMS[_i].query.count,
        "%s: query rows %zu + %zu", ITEMS[_i].about, query.start, query.count);
    ck_assert_msg(
        key.start == ITEMS[_i].key.start && key.count == ITEMS[_i].key.count,
        "%s: key rows %zu + %zu", ITEMS[_i].about, key.start, key.count);
    free_args(&args);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operand_arrays");
    TCase *arrays = tcase_create("arrays");

    tcase_add_loop_test(arrays, arrays_in_host_memory_are_refused_by_value, 0,
        (int)COUNT(CASES));
    tcase_add_loop_test(arrays,
        sinks_in_host_memory_are_no_nan_and_not_infinite, 0, COUNT(SINKS));
    tcase_add_test(arrays, arrays_on_the_device_are_not_looked_at);
    tcase_add_test(arrays, items_with_a_batch_stride_may_share_row_numbers);
    tcase_add_loop_test(arrays,
        an_item_has_rows_by_lengths_then_starts_then_sizes, 0,
        (int)COUNT(ITEMS));
    suite_add_tcase(suite, arrays);
    return suite_main(suite, 0);
}
