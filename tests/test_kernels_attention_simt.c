/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_attention_simt.c - attention_simt.cl alone, in its tiles: blocks
 * of rows, keys and columns, each rule, each storage.  Trusts no reference.
 */
#include "fused.h"
#include "opencl.h"
#include "suite.h"

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
    FUSED_CASES,
    {"whole blocks, columns by fours", 1, 2, 1, 32, 64, 32, 64,
        .rules = {.lse = 1}, .gaps = true},
    {"one beyond whole blocks, columns by twos", 1, 1, 1, 33, 65, 33, 48,
        .rules = {.lse = 1}, .dtype = {CLATTN_F16, CLATTN_F16, CLATTN_BF16, 0}},
    {"items that are written whole", 16, 2, 1, 19, 23, 9, 5,
        .rules = {.items = 1, .lse = 1}, .grouped = true},
    {"dropout over several blocks", 1, 2, 1, 21, 150, 5, 7,
        .rules = {.dropout = 1, .lse = 1}},
};

enum {
    SMALL = 2 /* of TILES */
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
    fused_create_simt(&clean, &CASES[FUSED_CAUSAL], tile);
    fused_create_simt(&bad, &CASES[FUSED_CAUSAL], tile);
    fused_check_nan(&clean, &bad, _i / (int)COUNT(TILES));
}
END_TEST

START_TEST(equal_scores_give_the_mean_of_the_values)
{
    fused p;
    fused_create_simt(&p, &CASES[FUSED_CAUSAL], &TILES[_i]);
    fused_check_mean(&p);
}
END_TEST

START_TEST(of_vast_scores_only_the_best_count)
{
    fused p;
    fused_create_simt(&p, &CASES[0], &TILES[_i]);
    fused_check_vast(&p);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case((size_t)_i, &TILES[_i % SMALL], true);
}
END_TEST

int main(void)
{
    const int n = (int)COUNT(CASES), tiles = (int)COUNT(TILES);
    TCase *tiled = opencl_cases("tiles", 300);
    tcase_add_loop_test(tiled, every_case_is_the_formula_in_its_tiles, 0,
        n * (int)suite_count(SMALL + 1, COUNT(TILES)));

    TCase *properties = opencl_cases("properties", 300);
    tcase_add_loop_test(properties,
        nan_reaches_the_rows_that_see_it_and_no_other, 0,
        FUSED_NAN_WAYS * tiles);
    tcase_add_loop_test(
        properties, equal_scores_give_the_mean_of_the_values, 0, tiles);
    tcase_add_loop_test(
        properties, of_vast_scores_only_the_best_count, 0, tiles);

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);
    tcase_add_loop_test(
        tiny, nan_reaches_the_rows_that_see_it_and_no_other, 0, SMALL);

    Suite *suite = suite_create("kernels_attention_simt");
    suite_add_tcase(suite, tiled);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
