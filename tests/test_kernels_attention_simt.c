/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_attention_simt.c - attention_simt.cl alone, in its tiles: blocks
 * of rows, keys and columns, each rule, each storage.  Trusts no reference.
 */
#include "fused.h"
#include "opencl.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

/* The first two are for drivers that watch bounds and races: small.  Then those
   of the rows. */
static const fused_tile TILES[] = {
    {8, 8, 4, 4, 4, 4},
    {16, 12, 4, 2, 12, 8},
    {32, 32, 8, 8, 16, 16},
    {64, 64, 8, 16, 32, 32},
    {64, 64, 16, 8, 16, 16},
    {64, 64, 16, 16, 16, 16},
};

static const fused_case CASES[] = {
    {"sizes that divide nothing", 2, 4, 2, 21, 37, 5, 7, .rules = {.lse = 1},
        .gaps = true},
    {"one row and key", 1, 2, 2, 1, 1, 5, 7, .rules = {.lse = 1}},
    {"no keys", 1, 2, 1, 5, 0, 5, 7, .rules = {.lse = 1}},
    {"whole blocks, columns by fours", 1, 2, 1, 32, 64, 32, 64,
        .rules = {.lse = 1}, .gaps = true},
    {"one beyond whole blocks, columns by twos", 1, 1, 1, 33, 65, 33, 48,
        .rules = {.lse = 1}, .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_BF16, 0}},
    {"more rows than any group", 1, 1, 1, 141, 19, 5, 7, .rules = {.lse = 1},
        .grouped = true},
    {"causal", 2, 2, 2, 40, 45, 5, 7, .rules = {.band = 1, .lse = 1}, 2, FAR, 0,
        .gaps = true},
    {"a window", 1, 2, 1, 70, 75, 5, 7, .rules = {.band = 1, .lse = 1}, 3, 5,
        2},
    {"rows that see nothing", 1, 2, 1, 20, 30, 5, 7,
        .rules = {.band = 1, .lse = 1}, -9, 4, 0},
    {"packed items, causal", 16, 2, 2, 19, 23, 8, 4,
        .rules = {.band = 1, .items = 1, .packed = 1, .lse = 1}, 0, FAR, 0,
        .dtype = {0, CLATTN_F16, CLATTN_F16, 0}, .gaps = true},
    {"items that are written whole", 16, 2, 1, 19, 23, 9, 5,
        .rules = {.items = 1, .lse = 1}, .grouped = true},
    {"all rules at once", 8, 3, 1, 19, 27, 9, 5,
        .rules = {1, 1, 0, 1, 1, 1, 1, CLATTN_F16, 1}, 0, 9, 4, 4,
        .dtype = {CLATTN_F16, CLATTN_BF16, CLATTN_F16, CLATTN_BF16},
        .gaps = true},
    {"dropout over several blocks", 1, 2, 1, 21, 150, 5, 7,
        .rules = {.dropout = 1, .lse = 1}},
    {"a bool mask, causal, no LSE", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 4, FAR, 0,
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .gaps = true},
    {"a bool mask for all rows", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FAR, FAR,
        .mask_shared = {false, false, true},
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}},
    {"a bool mask for all keys", 2, 2, 1, 37, 41, 16, 8,
        .rules = {.band = 1, .mask = CLATTN_BOOL}, 0, FAR, FAR,
        .mask_shared = {true, false, false, true},
        .dtype = {CLATTN_BF16, 0, CLATTN_BF16, CLATTN_F16}, .grouped = true},
    {"softcap and nothing else", 1, 2, 1, 21, 37, 5, 7,
        .rules = {.softcap = 1, .lse = 1}, .softcap = 4},
    {"ALiBi and nothing else", 1, 2, 1, 21, 37, 5, 7,
        .rules = {.alibi = 1, .lse = 1}},
};

enum {
    CAUSAL = 6, /* in CASES: row i sees keys up to i + 2 */
    SMALL = 2   /* of TILES */
};

/* Tiles of the rows take seconds to build: small tiles meet every case, those
   of the rows share them, unless all are asked for. */
static const fused_tile *tile_of_turn(size_t turn, size_t n)
{
    const size_t shared = SMALL + n % (COUNT(TILES) - SMALL);
    return &TILES[turn < SMALL ? turn : suite_count(shared, turn)];
}

static void check_case(size_t n, const fused_tile *tile, bool exact_ends)
{
    fused p;
    fused_create_simt(&p, &CASES[n], tile);
    fused_check_run(&p, exact_ends);
}

START_TEST(every_case_is_the_formula_in_its_tiles)
{
    const size_t n = (size_t)_i % COUNT(CASES);
    check_case(n, tile_of_turn((size_t)_i / COUNT(CASES), n), false);
}
END_TEST

START_TEST(nan_reaches_the_rows_that_see_it_and_no_other)
{
    const fused_tile *tile = &TILES[_i % COUNT(TILES)];
    fused clean, bad;
    fused_create_simt(&clean, &CASES[CAUSAL], tile);
    fused_create_simt(&bad, &CASES[CAUSAL], tile);
    fused_check_nan(&clean, &bad, _i / (int)COUNT(TILES));
}
END_TEST

START_TEST(equal_scores_give_the_mean_of_the_values)
{
    fused p;
    fused_create_simt(&p, &CASES[CAUSAL], &TILES[_i]);
    fused_check_mean(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case((size_t)_i, &TILES[_i % SMALL], true);
}
END_TEST

static TCase *cases(const char *name)
{
    TCase *t = tcase_create(name);
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    return t;
}

int main(void)
{
    const int n = (int)COUNT(CASES), tiles = (int)COUNT(TILES);
    TCase *tiled = cases("tiles");
    tcase_add_loop_test(tiled, every_case_is_the_formula_in_its_tiles, 0,
        n * (int)suite_count(SMALL + 1, COUNT(TILES)));

    TCase *properties = cases("properties");
    tcase_add_loop_test(properties,
        nan_reaches_the_rows_that_see_it_and_no_other, 0,
        FUSED_NAN_WAYS * tiles);
    tcase_add_loop_test(
        properties, equal_scores_give_the_mean_of_the_values, 0, tiles);

    TCase *tiny = cases("tiny");
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);
    tcase_add_loop_test(
        tiny, nan_reaches_the_rows_that_see_it_and_no_other, 0, SMALL);

    Suite *suite = suite_create("kernels_attention_simt");
    suite_add_tcase(suite, tiled);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
