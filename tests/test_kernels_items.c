/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_items.c - items.cl alone: where each item begins and ends, and
 * that nonsense in the arrays leads nowhere outside a tensor.
 */
#include <stdint.h>
#include <string.h>

#include "kernel.h"
#include "opencl.h"
#include "suite.h"

enum {
    TABLE,
    QUERY_LENGTHS,
    KEY_LENGTHS,
    QUERY_STARTS,
    KEY_STARTS,
    DIAGONALS,
    SLOTS,
    ITEMS = 5,
    LQ = 7,
    LK = 9,
    Q_ROWS = 20,
    K_ROWS = 25
};

/* Arrays by slot; of starts without lengths one value more is read. */
typedef struct item_case {
    const char *about;
    bool has[SLOTS];
    bool from_last_key;
    int32_t diagonal;
    int32_t value[SLOTS][ITEMS + 1];
} item_case;

static const item_case SENSIBLE[] = {
    {"one diagonal for all", .diagonal = -4},
    {"from the last key", .from_last_key = true},
    {"lengths of queries", .has[QUERY_LENGTHS] = true,
        .value[QUERY_LENGTHS] = {7, 0, 1, 6, 3}, .diagonal = 2},
    {"lengths of keys, from the last key", .has[KEY_LENGTHS] = true,
        .from_last_key = true, .value[KEY_LENGTHS] = {0, 9, 8, 1, 4}},
    {"lengths of both, from the last key", .has = {false, true, true},
        .from_last_key = true,
        .value = {{0}, {7, 0, 1, 6, 3}, {0, 9, 8, 1, 4}}},
    {"starts of queries", .has[QUERY_STARTS] = true,
        .value[QUERY_STARTS] = {0, 7, 7, 9, 13, 20}, .diagonal = 1},
    {"starts that begin with an item of no rows",
        .has = {false, false, false, true, true},
        .value = {{0}, {0}, {0}, {0, 0, 5, 5, 12, 12}, {0, 0, 0, 7, 16, 25}}},
    {"starts of keys", .has[KEY_STARTS] = true,
        .value[KEY_STARTS] = {0, 9, 9, 10, 17, 25}, .from_last_key = true},
    {"starts and lengths of both, a diagonal for each",
        .has = {false, true, true, true, true, true},
        .value = {{0}, {7, 0, 1, 6, 3}, {0, 9, 8, 1, 4}, {0, 7, 8, 10, 17},
            {9, 0, 2, 24, 21}, {0, -3, INT32_MAX, INT32_MIN, 5}},
        .diagonal = 99},
};

static const item_case NONSENSE[] = {
    {"lengths out of range", .has = {false, true, true}, .from_last_key = true,
        .value = {{0}, {8, -1, INT32_MAX, INT32_MIN, 7},
            {INT32_MIN, 10, -1, INT32_MAX, 0}}},
    {"starts that fall", .has = {false, false, false, true, true},
        .value = {{0}, {0}, {0}, {0, 15, 4, 20, 1, 0}, {25, 0, 24, 3, 5, 1}}},
    {"starts out of range", .has = {false, false, false, true, true},
        .value = {{0}, {0}, {0}, {-1, 21, INT32_MIN, INT32_MAX, -7, 900},
            {INT32_MIN, INT32_MAX, 26, -1, 24, INT32_MIN}}},
    {"starts and lengths that together end beyond the rows",
        .has = {false, true, true, true, true},
        .value = {{0}, {7, 7, 7, INT32_MAX, 7}, {9, 9, 9, INT32_MAX, 9},
            {14, 13, 20, 19, INT32_MAX}, {17, 16, 25, 24, INT32_MAX}}},
    {"diagonals at the ends of int32", .has[DIAGONALS] = true,
        .value[DIAGONALS] = {INT32_MAX, INT32_MIN, 0, -1, 1}},
};

static size_t count_of(const item_case *c, size_t slot)
{
    const bool ends = (slot == QUERY_STARTS && !c->has[QUERY_LENGTHS]) ||
                      (slot == KEY_STARTS && !c->has[KEY_LENGTHS]);
    return ends ? ITEMS + 1 : ITEMS;
}

static void create(arena *a, const item_case *c)
{
    static const char *const NAMES[] = {"table", "query_lengths", "key_lengths",
        "query_starts", "key_starts", "diagonals"};
    *a = (arena){.memories = 0};
    kernel_place_items(a, TABLE, ITEMS);
    for (size_t slot = QUERY_LENGTHS; slot < SLOTS; ++slot) {
        arena_tensor t =
            kernel_tensor(NAMES[slot], 1, 1, 1, count_of(c, slot), false);
        t.offset = slot;
        arena_place(a, slot, t);
    }
    a->tensor[TABLE].output = true;
    kernel_allocate(a);
    for (size_t slot = QUERY_LENGTHS; slot < SLOTS; ++slot)
        memcpy(arena_at(a, slot, 0, 0, 0, 0), c->value[slot],
            count_of(c, slot) * sizeof(int32_t));
}

static items_params params_of(const arena *a, const item_case *c)
{
    return (items_params){
        .query_lengths = kernel_place(a, QUERY_LENGTHS).offset,
        .key_lengths = kernel_place(a, KEY_LENGTHS).offset,
        .query_starts = kernel_place(a, QUERY_STARTS).offset,
        .key_starts = kernel_place(a, KEY_STARTS).offset,
        .diagonals = kernel_place(a, DIAGONALS).offset,
        .table = kernel_place(a, TABLE).offset,
        .has_query_lengths = c->has[QUERY_LENGTHS],
        .has_key_lengths = c->has[KEY_LENGTHS],
        .has_query_starts = c->has[QUERY_STARTS],
        .has_key_starts = c->has[KEY_STARTS],
        .has_diagonals = c->has[DIAGONALS],
        .from_last_key = c->from_last_key,
        .diagonal = c->diagonal,
        .B = ITEMS,
        .Lq = LQ,
        .Lk = LK,
        .q_rows = Q_ROWS,
        .k_rows = K_ROWS,
    };
}

/* More work-items than items: the last ones do nothing. */
static void run(arena *a, const item_case *c)
{
    static const int32_t BITS_32[ARENA_TENSORS] = {0};
    items_params params = params_of(a, c);
    cl_mem buffers[ARENA_TENSORS];
    kernel_call call = {.name = "items",
        .options = "",
        .memory = a,
        .buffers = buffers,
        .slots = {TABLE},
        .n_slots = SLOTS,
        .params = &params,
        .params_bytes = sizeof params,
        .groups = {ITEMS + 2, 1, 1},
        .local = {1, 1, 1}};
    for (size_t slot = QUERY_LENGTHS; slot < SLOTS; ++slot)
        call.slots[slot] = c->has[slot] ? slot : KERNEL_NONE;
    arena_remember(a);
    kernel_open(a, BITS_32, buffers);
    kernel_launch(&call);
    kernel_close(a, BITS_32, buffers);
}

/* ---- What the header says of sensible arrays -------------------------------- */

static wide rows_of(const item_case *c, size_t lengths, size_t b, wide all)
{
    const size_t starts = lengths + QUERY_STARTS - QUERY_LENGTHS;
    if (c->has[lengths])
        return c->value[lengths][b];
    if (c->has[starts])
        return (wide)c->value[starts][b + 1] - c->value[starts][b];
    return all;
}

static wide diagonal_of(const item_case *c, size_t b, wide keys, wide rows)
{
    if (c->has[DIAGONALS])
        return c->value[DIAGONALS][b];
    return c->from_last_key ? keys - rows : c->diagonal;
}

static void check_same(
    const item_case *c, size_t b, const char *what, wide got, wide want)
{
    ck_assert_msg(got == want, "%s: %s of item %zu: %lld, but must be %lld",
        c->about, what, b, (long long)got, (long long)want);
}

START_TEST(the_table_has_what_the_arrays_say)
{
    const item_case *c = &SENSIBLE[_i];
    arena a;
    char why[ARENA_TEXT];
    create(&a, c);
    run(&a, c);
    for (size_t b = 0; b < ITEMS; ++b) {
        const kernel_item it = kernel_item_at(&a, TABLE, b);
        const wide rows = rows_of(c, QUERY_LENGTHS, b, LQ);
        const wide keys = rows_of(c, KEY_LENGTHS, b, LK);
        const wide q = c->has[QUERY_STARTS] ? c->value[QUERY_STARTS][b] : 0;
        const wide k = c->has[KEY_STARTS] ? c->value[KEY_STARTS][b] : 0;
        check_same(c, b, "rows", it.rows, rows);
        check_same(c, b, "keys", it.keys, keys);
        check_same(c, b, "first query", it.q_first, q);
        check_same(c, b, "first key", it.k_first, k);
        check_same(
            c, b, "diagonal", it.diagonal, diagonal_of(c, b, keys, rows));
    }
    ck_assert_msg(arena_unharmed(&a, why), "%s: %s", c->about, why);
    arena_free(&a);
}
END_TEST

/* ---- And of others ----------------------------------------------------------- */

static void check_within(const item_case *c, size_t b, const char *what,
    wide first, wide rows, wide most, bool starts, wide capacity)
{
    ck_assert_msg(rows >= 0 && rows <= most && first >= 0 &&
                      (starts ? first + rows <= capacity : first == 0),
        "%s: item %zu has %lld %s from %lld on", c->about, b, (long long)rows,
        what, (long long)first);
}

/* Rows 0 to L are the item's; with starts they end within the tensor's rows. */
static void check_inside(const item_case *c, bool exact_ends)
{
    arena a;
    create(&a, c);
    if (exact_ends)
        kernel_cut_guards(&a);
    run(&a, c);
    for (size_t b = 0; b < ITEMS; ++b) {
        const kernel_item it = kernel_item_at(&a, TABLE, b);
        check_within(c, b, "rows", it.q_first, it.rows, LQ,
            c->has[QUERY_STARTS], Q_ROWS);
        check_within(
            c, b, "keys", it.k_first, it.keys, LK, c->has[KEY_STARTS], K_ROWS);
        check_same(
            c, b, "diagonal", it.diagonal, diagonal_of(c, b, it.keys, it.rows));
    }
    arena_free(&a);
}

START_TEST(no_array_leads_outside_a_tensor)
{
    check_inside(&NONSENSE[_i], false);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    const size_t n = (size_t)_i;
    check_inside(
        n < COUNT(SENSIBLE) ? &SENSIBLE[n] : &NONSENSE[n - COUNT(SENSIBLE)],
        true);
}
END_TEST

int main(void)
{
    TCase *table = tcase_create("table");
    tcase_add_unchecked_fixture(table, opencl_open, opencl_close);
    tcase_set_timeout(table, 300);
    tcase_add_loop_test(
        table, the_table_has_what_the_arrays_say, 0, (int)COUNT(SENSIBLE));
    tcase_add_loop_test(
        table, no_array_leads_outside_a_tensor, 0, (int)COUNT(NONSENSE));

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, opencl_open, opencl_close);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0,
        (int)(COUNT(SENSIBLE) + COUNT(NONSENSE)));

    Suite *suite = suite_create("kernels_items");
    suite_add_tcase(suite, table);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
