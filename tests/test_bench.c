/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench.c - which samples count, how operations are counted, and what the
 * table of goals says.  Needs no device.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge_goals.h"
#include "plan_words.h"
#include "samples.h"
#include "speed_table.h"
#include "suite.h"

/* ---- Samples ------------------------------------------------------------ */

static const struct sample_case {
    const char *about;
    double before, after; /* beside a best probe of 100 */
    size_t counted;
} SAMPLES[] = {
    {"both probes are the best", 100.0, 100.0, 1},
    {"both probes 10 % below it", 90.0, 90.0, 1},
    {"the probe before is lower", 89.9, 100.0, 0},
    {"the probe after is lower", 100.0, 89.9, 0},
};

START_TEST(a_sample_counts_between_two_good_probes)
{
    const struct sample_case *row = &SAMPLES[_i];
    samples s = {.count = 0};
    samples_add(&s, (sample){1.0, row->before, row->after}, 100.0);
    ck_assert_msg(samples_counted(&s, 100.0) == row->counted,
        "%s: %zu, not %zu", row->about, samples_counted(&s, 100.0),
        row->counted);
}
END_TEST

START_TEST(a_better_probe_later_makes_earlier_samples_void)
{
    samples s = {.count = 0};
    for (int i = 0; i < SAMPLES_NEEDED; i++)
        samples_add(&s, (sample){1.0, 100.0, 100.0}, 100.0);
    ck_assert(!samples_figure(&s, 100.0).noisy);
    ck_assert(samples_figure(&s, 112.0).noisy);
    ck_assert_uint_eq(samples_figure(&s, 112.0).counted, 0);
}
END_TEST

START_TEST(the_figure_is_the_median_and_the_least_of_what_counts)
{
    static const double MS[] = {5.0, 3.0, 9.0, 4.0, 8.0, 6.0, 7.0};
    samples s = {.count = 0};
    for (size_t i = 0; i < COUNT(MS); i++) {
        samples_add(&s, (sample){0.5, 50.0, 100.0}, 100.0); /* does not count */
        samples_add(&s, (sample){MS[i], 100.0, 100.0}, 100.0);
    }
    const figure f = samples_figure(&s, 100.0);
    ck_assert_uint_eq(f.counted, COUNT(MS));
    ck_assert(!f.noisy);
    ck_assert_double_eq(f.ms_median, 6.0);
    ck_assert_double_eq(f.ms_min, 3.0);
}
END_TEST

START_TEST(six_samples_are_noise)
{
    samples s = {.count = 0};
    for (int i = 0; i < 6; i++)
        samples_add(&s, (sample){1.0 + i, 100.0, 100.0}, 100.0);
    ck_assert(samples_figure(&s, 100.0).noisy);
    ck_assert_double_eq(samples_figure(&s, 100.0).ms_median, 3.5);
}
END_TEST

START_TEST(a_sample_that_counts_takes_the_place_of_one_that_does_not)
{
    samples s = {.count = 0};
    for (int i = 0; i < SAMPLES_MAX; i++)
        samples_add(&s, (sample){1.0, i ? 100.0 : 50.0, 100.0}, 100.0);
    for (int i = 0; i < 3; i++)
        samples_add(&s, (sample){2.0, 100.0, 100.0}, 100.0);
    ck_assert_uint_eq(s.count, SAMPLES_MAX);
    ck_assert_uint_eq(s.tried, SAMPLES_MAX + 3);
    ck_assert_uint_eq(samples_counted(&s, 100.0), SAMPLES_MAX);
    ck_assert_double_eq(s.at[0].ms, 2.0);
}
END_TEST

START_TEST(of_no_samples_the_median_is_0)
{
    const samples s = {.count = 0};
    ck_assert_double_eq(median_of(NULL, 0), 0.0);
    ck_assert_double_eq(samples_figure(&s, 100.0).ms_median, 0.0);
}
END_TEST

/* ---- Operations --------------------------------------------------------- */

/* B = 2, H = 3, L = 8, D = 5 where nothing else is said: 64 pairs an item. */
#define SMALL .B = 2, .H = 3, .L = 8, .D = 5

static const struct operations_case {
    const char *about;
    bench_case of;
    double pairs; /* of one item and head */
} OPERATIONS[] = {
    {"all", {.name = "", SMALL}, 64},
    {"causal is half by definition", {.name = "", SMALL, .causal = true}, 32},
    {"half of the keys", {.name = "", SMALL, .lengths_half = true}, 32},
    {"causal on half of the keys: 1 + 2 + 3 + 4, then four rows of 4",
        {.name = "", SMALL, .causal = true, .lengths_half = true}, 26},
    {"window of itself", {.name = "", SMALL, .has_window = true}, 8},
    {"window 2,0: 1 + 2, then six rows of 3",
        {.name = "", SMALL, .has_window = true, .window_left = 2}, 21},
    {"window 1,1: 2, six rows of 3, 2",
        {.name = "",
            SMALL,
            .has_window = true,
            .window_left = 1,
            .window_right = 1},
        22},
    {"window without limits",
        {.name = "",
            SMALL,
            .has_window = true,
            .window_left = -1,
            .window_right = -1},
        64},
    {"window 1,1 and causal: 1, then seven rows of 2",
        {.name = "",
            SMALL,
            .causal = true,
            .has_window = true,
            .window_left = 1,
            .window_right = 1},
        15},
    {"window 1,0 on half of the keys: 1, three rows of 2, one of 1",
        {.name = "",
            SMALL,
            .lengths_half = true,
            .has_window = true,
            .window_left = 1},
        8},
};

START_TEST(operations_are_4_D_for_each_query_and_key_that_meet)
{
    const struct operations_case *row = &OPERATIONS[_i];
    const double got = bench_operations(&row->of);
    const double want = 4.0 * 5.0 * 2.0 * 3.0 * row->pairs;
    ck_assert_msg(
        got == want, "%s: %.0f operations, not %.0f", row->about, got, want);
}
END_TEST

START_TEST(a_matrix_product_has_two_operations_for_each_multiply_add)
{
    const bench_case c = {
        .name = "", .kind = BENCH_MATMUL, .B = 1, .H = 1, .L = 3, .D = 7};
    ck_assert_double_eq(bench_operations(&c), 2.0 * 3 * 7 * 7);
}
END_TEST

START_TEST(ragged_items_are_from_16_to_the_longest_and_all_count)
{
    const bench_case c = {
        .name = "", .B = 64, .H = 1, .L = 512, .D = 1, .ragged = true};
    double squares = 0.0;
    int32_t shortest = 512;
    int32_t longest = 0;
    for (size_t b = 0; b < c.B; b++) {
        const int32_t rows = bench_item_rows(&c, b);
        shortest = rows < shortest ? rows : shortest;
        longest = rows > longest ? rows : longest;
        squares += (double)rows * rows;
    }
    ck_assert_int_eq(shortest, 16);
    ck_assert_int_eq(longest, 512);
    ck_assert_double_eq(bench_operations(&c), 4.0 * squares);
}
END_TEST

START_TEST(short_ragged_batches_stay_within_their_length)
{
    const bench_case one = {.name = "", .B = 1, .L = 9, .ragged = true};
    const bench_case two = {.name = "", .B = 2, .L = 20, .ragged = true};
    ck_assert_int_eq(bench_item_rows(&one, 0), 9);
    ck_assert_int_eq(bench_item_rows(&two, 0), 16);
    ck_assert_int_eq(bench_item_rows(&two, 1), 20);
}
END_TEST

/* ---- The table ---------------------------------------------------------- */

START_TEST(each_row_has_its_base_in_its_group)
{
    const bench_case *c = &SPEED_TABLE[_i];
    const bool relative = c->goal == GOAL_TIME || c->goal == GOAL_OPERATIONS ||
                          c->goal == GOAL_SHARE_OF;
    ck_assert_msg(!relative || c->base, "%s: compared with itself", c->name);
    ck_assert_msg(c->base <= (size_t)_i, "%s: no row so far up", c->name);
    ck_assert_msg(SPEED_TABLE[(size_t)_i - c->base].base == 0,
        "%s: its base has a base", c->name);
    ck_assert_msg(
        c->goal == GOAL_NONE || c->bound > 0.0, "%s: no bound", c->name);
    for (size_t i = (size_t)_i - c->base + 1; i < (size_t)_i; i++)
        ck_assert_msg(SPEED_TABLE[i].base, "%s: %s parts it from its base",
            c->name, SPEED_TABLE[i].name);
}
END_TEST

START_TEST(no_two_rows_have_one_name)
{
    for (size_t i = 0; i < (size_t)_i; i++)
        ck_assert_str_ne(SPEED_TABLE[i].name, SPEED_TABLE[_i].name);
}
END_TEST

START_TEST(groups_cover_the_table)
{
    size_t at = 0;
    while (at < N_SPEED_TABLE)
        at += bench_group(SPEED_TABLE + at, N_SPEED_TABLE - at);
    ck_assert_uint_eq(at, N_SPEED_TABLE);
    ck_assert_uint_gt(bench_group(SPEED_TABLE, N_SPEED_TABLE), 1);
}
END_TEST

START_TEST(the_equal_batch_has_the_operations_of_the_ragged_one)
{
    size_t found = 0;
    for (size_t i = 0; i < N_SPEED_TABLE; i++) {
        const bench_case *c = &SPEED_TABLE[i];
        if (c->goal != GOAL_SHARE_OF)
            continue;
        const double ratio =
            bench_operations(c) / bench_operations(c - c->base);
        ck_assert_msg(fabs(ratio - 1.0) < 0.005, "%s: %.4f", c->name, ratio);
        found++;
    }
    ck_assert_uint_eq(found, 1);
}
END_TEST

/* ---- Goals -------------------------------------------------------------- */

static const struct goal_case {
    const char *about;
    enum bench_goal goal;
    double bound;
    double held;
    bool met;
} GOALS[] = {
    {"share above", GOAL_SHARE, 0.29, 0.3, true},
    {"share below", GOAL_SHARE, 0.31, 0.3, false},
    {"three times the time", GOAL_TIME, 3.0, 3.0, true},
    {"more than so many times", GOAL_TIME, 2.9, 3.0, false},
    {"twice the time for each operation", GOAL_OPERATIONS, 2.0, 2.0, true},
    {"more than that", GOAL_OPERATIONS, 1.9, 2.0, false},
    {"half of the share", GOAL_SHARE_OF, 0.5, 0.5, true},
    {"less than asked", GOAL_SHARE_OF, 0.51, 0.5, false},
    {"workspace within", GOAL_WORKSPACE, 64, 64, true},
    {"workspace beyond", GOAL_WORKSPACE, 63, 64, false},
};

/* A base of 2 ms and a share of 0.6, and a row of 6 ms and 0.3. */
static void two_rows(
    bench_case cases[2], bench_result result[2], const struct goal_case *row)
{
    cases[0] = (bench_case){.name = "base"};
    cases[1] = (bench_case){
        .name = "row", .goal = row->goal, .bound = row->bound, .base = 1};
    for (int i = 0; i < 2; i++) {
        result[i] = (bench_result){.share = i ? 0.3 : 0.6};
        result[i].taken.count = SAMPLES_NEEDED;
        result[i].time.ms_median = i ? 6.0 : 2.0;
        result[i].workspace_bytes = 64;
    }
}

START_TEST(goals_are_judged_by_what_stands_against_them)
{
    const struct goal_case *row = &GOALS[_i];
    static bench_case cases[2];
    static bench_result result[2];
    two_rows(cases, result, row);
    judge_goal(cases, result, 1);
    ck_assert_msg(
        fabs(result[1].held - row->held) < 1e-12 && result[1].met == row->met,
        "%s: %g against %g is %s", row->about, result[1].held, row->bound,
        result[1].met ? "met" : "missed");
}
END_TEST

START_TEST(noise_is_not_judged_nor_what_stands_beside_it)
{
    static bench_case cases[2];
    static bench_result result[2];
    char text[80];
    for (int noisy = 0; noisy < 2; noisy++) {
        two_rows(cases, result, &GOALS[2]);
        result[noisy].time.noisy = true;
        judge_goal(cases, result, 1);
        ck_assert(isnan(result[1].held) && !result[1].met);
        ck_assert_str_eq(
            held_text(text, sizeof text, cases + 1, result + 1), "");
    }
}
END_TEST

START_TEST(goals_are_told_with_bound_and_base)
{
    static const bench_case CASES[] = {
        {.name = "a", .goal = GOAL_SHARE, .bound = 0.8},
        {.name = "b", .goal = GOAL_TIME, .bound = 1.12, .base = 1},
        {.name = "c"},
    };
    char text[80];
    ck_assert_str_eq(goal_text(text, sizeof text, CASES, 0), "share >= 80 %");
    ck_assert_str_eq(
        goal_text(text, sizeof text, CASES, 1), "time <= 1.12 x that of a");
    ck_assert_str_eq(goal_text(text, sizeof text, CASES, 2), "");
}
END_TEST

/* ---- Plans in words ----------------------------------------------------- */

static const struct words_case {
    const char *described, *kernel, *path;
    size_t launches;
} WORDS[] = {
    {"attention: tiled16 (materialised): matmul T=16; launches=3 workspace=64 "
     "bytes",
        "tiled16", "materialised", 3},
    {"lanes (fused): attention_lanes", "lanes", "fused", 1},
    {"attention: nothing to do", "", "", 1},
    {"", "", "", 1},
};

START_TEST(kernel_path_and_launches_are_found_in_a_plans_line)
{
    const struct words_case *row = &WORDS[_i];
    char text[40];
    plan_kernel(text, sizeof text, row->described);
    ck_assert_str_eq(text, row->kernel);
    plan_path(text, sizeof text, row->described);
    ck_assert_str_eq(text, row->path);
    ck_assert_uint_eq(plan_launches(row->described), row->launches);
}
END_TEST

static void add_table(Suite *suite)
{
    TCase *table = tcase_create("table");
    tcase_add_loop_test(
        table, each_row_has_its_base_in_its_group, 0, (int)N_SPEED_TABLE);
    tcase_add_loop_test(
        table, no_two_rows_have_one_name, 0, (int)N_SPEED_TABLE);
    tcase_add_test(table, groups_cover_the_table);
    tcase_add_test(table, the_equal_batch_has_the_operations_of_the_ragged_one);
    suite_add_tcase(suite, table);
    TCase *goals = tcase_create("goals");
    tcase_add_loop_test(
        goals, goals_are_judged_by_what_stands_against_them, 0, COUNT(GOALS));
    tcase_add_test(goals, noise_is_not_judged_nor_what_stands_beside_it);
    tcase_add_test(goals, goals_are_told_with_bound_and_base);
    tcase_add_loop_test(goals,
        kernel_path_and_launches_are_found_in_a_plans_line, 0, COUNT(WORDS));
    suite_add_tcase(suite, goals);
}

int main(void)
{
    Suite *suite = suite_create("bench");
    TCase *counting = tcase_create("samples");
    tcase_add_loop_test(
        counting, a_sample_counts_between_two_good_probes, 0, COUNT(SAMPLES));
    tcase_add_test(counting, a_better_probe_later_makes_earlier_samples_void);
    tcase_add_test(
        counting, the_figure_is_the_median_and_the_least_of_what_counts);
    tcase_add_test(counting, six_samples_are_noise);
    tcase_add_test(
        counting, a_sample_that_counts_takes_the_place_of_one_that_does_not);
    tcase_add_test(counting, of_no_samples_the_median_is_0);
    suite_add_tcase(suite, counting);
    TCase *operations = tcase_create("operations");
    tcase_add_loop_test(operations,
        operations_are_4_D_for_each_query_and_key_that_meet, 0,
        COUNT(OPERATIONS));
    tcase_add_test(
        operations, a_matrix_product_has_two_operations_for_each_multiply_add);
    tcase_add_test(
        operations, ragged_items_are_from_16_to_the_longest_and_all_count);
    tcase_add_test(operations, short_ragged_batches_stay_within_their_length);
    suite_add_tcase(suite, operations);
    add_table(suite);
    return suite_main(suite, 0);
}
