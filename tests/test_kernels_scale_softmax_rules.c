/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_scale_softmax_rules.c - scale_softmax.cl alone: every rule and every
 * stage, against the formula and by hand-worked numbers.  Trusts no reference.
 */
#include <float.h>
#include <math.h>

#include "opencl.h"
#include "softmax.h"
#include "suite.h"

#define FAR KERNEL_UNBOUNDED

/* A rule or stage each, then all together. */
static const softmax_case CASES[] = {
    {"no LSE", 2, 2, 3, {2, 1}, -1.5f, 0.25f, .first_row = 5, .gaps = true},
    {"items by a table", 16, 2, 5, {1, 2}, 0.5f, 0.25f,
        .rules = {.items = 1, .lse = 1}, .gaps = true},
    {"softcap", 1, 2, 4, {1, 1}, 0.5f, 0.25f, .rules = {.softcap = 1, .lse = 1},
        .softcap = 2},
    {"softcap of scores to 1e4", 1, 2, 4, {2, 1}, 0.5f, 2500,
        .rules = {.softcap = 1, .lse = 1}, .softcap = 16},
    {"ALiBi", 2, 3, 4, {2, 1}, 0.5f, 0.25f, .first_row = 1,
        .rules = {.alibi = 1, .lse = 1}, .diagonal = 2, .gaps = true},
    {"ALiBi and causal, items by a table", 4, 3, 4, {2, 1}, 0.5f, 0.25f,
        .first_row = 1, .rules = {.alibi = 1, .band = 1, .items = 1, .lse = 1},
        0, FAR, 0},
    {"sinks", 2, 4, 3, {1, 1}, 0.5f, 0.25f, .rules = {.sinks = 1, .lse = 1},
        .gaps = true},
    {"sinks, some rows without keys", 2, 4, 3, {1, 1}, 0.5f, 0.25f,
        .rules = {.sinks = 1, .band = 1, .lse = 1}, -1, FAR, 0},
    {"sinks without keys", 1, 4, 2, {0, 0}, 0.5f, 0.25f,
        .rules = {.sinks = 1, .lse = 1}},
    {"sinks far below the scores", 1, 4, 2, {1, 1}, 1, 0.25f, .shift = 1000,
        .rules = {.sinks = 1, .lse = 1}},
    {"sinks far above the scores", 1, 4, 2, {1, 1}, 1, 0.25f, .shift = -1000,
        .rules = {.sinks = 1, .lse = 1}},
    {"a bool mask", 2, 3, 4, {1, 2}, 0.5f, 0.25f, .first_row = 1,
        .rules = {.mask = CLATTN_BOOL, .lse = 1}, .gaps = true},
    {"an f32 mask", 2, 3, 4, {1, 2}, 0.5f, 0.25f, .first_row = 2,
        .rules = {.mask = CLATTN_F32, .lse = 1}, .gaps = true},
    {"an f16 mask for all items", 2, 3, 4, {1, 2}, 0.5f, 0.25f,
        .rules = {.mask = CLATTN_F16, .lse = 1}, .mask_shared = {true},
        .gaps = true},
    {"a bf16 mask for all heads", 2, 3, 4, {1, 2}, 0.5f, 0.25f,
        .rules = {.mask = CLATTN_BF16, .lse = 1}, .mask_shared = {false, true}},
    {"a bool mask for all rows", 2, 3, 4, {2, 1}, 0.5f, 0.25f,
        .rules = {.mask = CLATTN_BOOL, .lse = 1},
        .mask_shared = {false, false, true}},
    {"an f32 mask for all keys", 2, 3, 4, {2, 1}, 0.5f, 0.25f,
        .rules = {.mask = CLATTN_F32, .lse = 1},
        .mask_shared = {false, false, false, true}},
    {"an f32 mask for everything", 2, 2, 3, {1, 1}, 0.5f, 0.25f,
        .rules = {.mask = CLATTN_F32, .lse = 1},
        .mask_shared = {true, true, true, true}},
    {"a bool mask, causal, items by a table", 8, 2, 5, {1, 2}, 0.5f, 0.25f,
        .first_row = 1,
        .rules = {.mask = CLATTN_BOOL, .band = 1, .items = 1, .lse = 1}, 0, FAR,
        0, .gaps = true},
    {"dropout", 2, 3, 4, {2, 2}, 0.5f, 0.25f, .first_row = 3,
        .rules = {.dropout = 1, .lse = 1}},
    {"dropout, each group for itself", 2, 3, 4, {2, 1}, 0.5f, 0.25f,
        .rules = {.dropout = 1, .lse = 1}, .grouped = true},
    {"weights", 2, 2, 3, {2, 1}, 0.5f, 0.25f, .first_row = 2,
        .rules = {.band = 1, .items = 1, .lse = 1}, 0, FAR, 0,
        .stage = STAGE_WEIGHTS, .gaps = true},
    {"weights after dropout, bf16", 2, 2, 3, {2, 1}, 0.5f, 0.25f,
        .first_row = 2, .rules = {.dropout = 1, .lse = 1},
        .stage = STAGE_WEIGHTS, .weights = CLATTN_BF16, .gaps = true},
    {"final scores", 8, 2, 3, {2, 1}, 0.5f, 0.25f, .first_row = 2,
        .rules = {.band = 1, .items = 1, .mask = CLATTN_F32, .lse = 1}, 0, FAR,
        0, .stage = STAGE_FINAL, .gaps = true},
    {"scaled scores, of hidden keys too, f16", 8, 2, 3, {2, 1}, 0.5f, 0.25f,
        .first_row = 1,
        .rules = {.band = 1, .items = 1, .softcap = 1, .lse = 1}, 0, FAR, 0, 4,
        .stage = STAGE_SCALED, .weights = CLATTN_F16, .gaps = true},
    {"capped scores, of hidden keys too", 4, 2, 3, {2, 1}, 0.5f, 0.25f,
        .first_row = 1,
        .rules = {.band = 1, .items = 1, .softcap = 1, .alibi = 1, .lse = 1}, 0,
        FAR, 0, 4, .stage = STAGE_CAPPED, .gaps = true},
    {"all rules at once", 4, 3, 4, {9, 1}, 0.5f, 0.25f, .first_row = 1,
        .rules = {1, 1, 1, 1, 1, 1, 1, CLATTN_F16, 1}, 0, 5, 3, 4,
        .stage = STAGE_WEIGHTS, .weights = CLATTN_F16, .gaps = true},
};

static void check_case(const softmax_case *c, size_t G, bool exact_ends)
{
    softmax p;
    softmax_create(&p, c, G);
    if (exact_ends)
        kernel_cut_guards(&p.memory);
    softmax_run(&p);
    softmax_check(&p);
    softmax_destroy(&p);
}

START_TEST(each_rule_is_what_the_formula_says)
{
    check_case(&CASES[_i], 4, false);
}
END_TEST

/* ---- Properties ------------------------------------------------------------ */

static void set_scores(softmax *p, float value)
{
    const softmax_case *c = &p->of;
    for (size_t at = 0; at < c->items * c->heads * c->rows * p->Lk; ++at) {
        const size_t row = at / p->Lk, bh = row / c->rows;
        *arena_at(&p->memory, SOFTMAX_S, bh / c->heads, bh % c->heads,
            row % c->rows, at % p->Lk) = value;
    }
}

static void set_mask(softmax *p, float value)
{
    for (size_t at = 0; at < p->Lq * p->Lk; ++at)
        *rules_mask(&p->rules, 0, 0, at / p->Lk, at % p->Lk) = value;
}

/* What hides keys 3 and 4 of 5, which are NaN. */
static const struct {
    const char *about;
    kernel_rules rules;
    wide left, right;
    float hidden;
} HIDDEN[] = {
    {"a bool false", {.mask = CLATTN_BOOL, .lse = 1}, 0, 0, 0},
    {"an f32 -inf", {.mask = CLATTN_F32, .lse = 1}, 0, 0, -INFINITY},
    {"an f16 -inf", {.mask = CLATTN_F16, .lse = 1}, 0, 0, -INFINITY},
    {"a bf16 -inf", {.mask = CLATTN_BF16, .lse = 1}, 0, 0, -INFINITY},
    {"the band's end", {.band = 1, .lse = 1}, FAR, 2, 0},
};

/* One row and 5 keys, of which the first 3 are seen. */
static void run_hidden(softmax *p, size_t n)
{
    const softmax_case c = {HIDDEN[n].about, 1, 1, 1, {1, 1}, 1, 0.25f,
        .rules = HIDDEN[n].rules, 0, HIDDEN[n].left, HIDDEN[n].right};
    softmax_create(p, &c, 4);
    if (c.rules.mask)
        set_mask(p, c.rules.mask == CLATTN_BOOL ? 1 : 0);
    for (size_t j = 0; j < 5; ++j) {
        *arena_at(&p->memory, SOFTMAX_S, 0, 0, 0, j) =
            j < 3 ? (float)j : arena_poison();
        if (j >= 3 && c.rules.mask)
            *rules_mask(&p->rules, 0, 0, 0, j) = HIDDEN[n].hidden;
    }
    softmax_run(p);
}

START_TEST(a_hidden_key_is_hidden_whatever_hides_it)
{
    softmax p, other;
    run_hidden(&p, 0);
    run_hidden(&other, (size_t)_i);
    for (size_t j = 0; j < 5; ++j)
        ck_assert_msg(softmax_weight(&p, 0, 0, 0, j) ==
                          softmax_weight(&other, 0, 0, 0, j),
            "%s: weight %zu is %.9g, but %.9g by a bool false",
            HIDDEN[_i].about, j, (double)softmax_weight(&other, 0, 0, 0, j),
            (double)softmax_weight(&p, 0, 0, 0, j));
    ck_assert(softmax_lse(&p, 0, 0, 0) == softmax_lse(&other, 0, 0, 0));
    ck_assert(softmax_weight(&p, 0, 0, 0, 3) == -1);
    softmax_destroy(&p);
    softmax_destroy(&other);
}
END_TEST

START_TEST(a_large_finite_mask_hides_nothing)
{
    static const float LARGE[] = {-1e9f, -FLT_MAX, 1e9f};
    const softmax_case c = {"a large mask", 1, 1, 2, {1, 0}, 1, 0,
        .rules = {.mask = CLATTN_F32, .lse = 1}};
    softmax p;
    softmax_create(&p, &c, 4);
    set_scores(&p, 0);
    set_mask(&p, LARGE[_i]);
    softmax_run(&p);
    for (size_t j = 0; j < 4; ++j)
        ck_assert_msg(softmax_weight(&p, 0, 0, 1, j) == 0.25f,
            "mask %g: weight %zu is %.9g, but must be 1/4", (double)LARGE[_i],
            j, (double)softmax_weight(&p, 0, 0, 1, j));
    softmax_destroy(&p);
}
END_TEST

/* Head 0 has the sink 0.5 and head 1 none; one key of score 0.5. */
START_TEST(a_sink_takes_what_a_key_of_its_score_would)
{
    const softmax_case c = {
        "a sink", 1, 2, 1, {0, 1}, 1, 0, .rules = {.sinks = 1, .lse = 1}};
    const double ln2 = 0.69314718055994531;
    softmax p;
    softmax_create(&p, &c, 4);
    set_scores(&p, 0.5f);
    softmax_run(&p);
    ck_assert(softmax_weight(&p, 0, 0, 0, 0) == 0.5f);
    ck_assert(softmax_weight(&p, 0, 1, 0, 0) == 1);
    ck_assert_double_eq_tol(softmax_lse(&p, 0, 0, 0), 0.5 + ln2, 4e-7);
    ck_assert(softmax_lse(&p, 0, 1, 0) == 0.5f);
    softmax_destroy(&p);
}
END_TEST

/* With slope ln 2 a key counts half as much as one that is a step nearer. */
START_TEST(alibi_falls_with_the_distance_on_both_sides)
{
    const softmax_case c = {"slope ln 2", 1, 1, 3, {2, 1}, 1, 0,
        .rules = {.alibi = 1, .lse = 1}, .diagonal = 2};
    softmax p;
    softmax_create(&p, &c, 4);
    set_scores(&p, 0);
    *arena_at(&p.memory, RULES_SLOPES, 0, 0, 0, 0) = 0.693147181f;
    softmax_run(&p);
    for (size_t row = 0; row < 3; ++row)
        for (size_t j = 1; j < p.Lk; ++j) {
            const double want = j <= row + 2 ? 2 : 0.5;
            const double got = (double)softmax_weight(&p, 0, 0, row, j) /
                               (double)softmax_weight(&p, 0, 0, row, j - 1);
            ck_assert_msg(fabs(got - want) <= 2e-6,
                "row %zu: key %zu counts %.9g times as much as the one before",
                row, j, got);
        }
    softmax_destroy(&p);
}
END_TEST

START_TEST(the_word_at_the_edge_is_dropped_and_the_one_above_is_kept)
{
    const softmax_case c = {"dropout", 1, 1, 1, {2, 0}, 1, 0.25f,
        .first_row = RULES_WORD_ROW, .rules = {.dropout = 1, .lse = 1}};
    softmax p;
    softmax_create(&p, &c, 4);
    p.params.dropout_last = RULES_WORD - (word)_i;
    softmax_run(&p);
    const float got = softmax_weight(&p, 0, 0, 0, RULES_WORD_KEY);
    ck_assert_msg((got == 0) == (_i == 0), "weight is %g", (double)got);
    softmax_destroy(&p);
}
END_TEST

static const struct {
    word last;
    float keep;
    double share; /* that is dropped */
} DROPS[] = {
    {0x3fffffff, 4.0f / 3, 0.25}, {0x7fffffff, 2, 0.5}, {0xffffffff, 0, 1}};

/* 4608 weights: the share's standard deviation is below 1/135. */
START_TEST(dropout_drops_its_share_and_scales_the_rest)
{
    softmax_case c = {"dropout", 2, 3, 3, {64, 0}, 1, 0.25f,
        .rules = {.dropout = 1, .lse = 1}};
    softmax p, whole_rows;
    size_t dropped = 0;
    const size_t n = 2 * 3 * 3 * 256;
    softmax_create(&p, &c, 4);
    p.params.dropout_last = DROPS[_i].last;
    p.params.dropout_keep = DROPS[_i].keep;
    c.rules.dropout = 0;
    softmax_create(&whole_rows, &c, 4);
    softmax_run(&p);
    softmax_run(&whole_rows);
    for (size_t at = 0; at < n; ++at) {
        const size_t j = at % 256, row = at / 256 % 3, bh = at / 768;
        const float got = softmax_weight(&p, bh / 3, bh % 3, row, j);
        const float want = softmax_weight(&whole_rows, bh / 3, bh % 3, row, j) *
                           DROPS[_i].keep;
        ck_assert_msg(got == 0 || got == want,
            "weight [%zu][%zu][%zu] is %.9g, but must be 0 or %.9g", bh, row, j,
            (double)got, (double)want);
        dropped += got == 0;
    }
    ck_assert_msg(fabs((double)dropped / (double)n - DROPS[_i].share) < 0.04,
        "%zu of %zu were dropped", dropped, n);
    ck_assert(softmax_lse(&p, 1, 2, 2) == softmax_lse(&whole_rows, 1, 2, 2));
    softmax_destroy(&p);
    softmax_destroy(&whole_rows);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds and races. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case(&CASES[_i], 4, true);
}
END_TEST

int main(void)
{
    const int n = (int)COUNT(CASES);
    TCase *rules = opencl_cases("rules", 300);
    tcase_add_loop_test(rules, each_rule_is_what_the_formula_says, 0, n);
    tcase_add_loop_test(
        rules, a_hidden_key_is_hidden_whatever_hides_it, 1, (int)COUNT(HIDDEN));
    tcase_add_loop_test(rules, a_large_finite_mask_hides_nothing, 0, 3);
    tcase_add_test(rules, a_sink_takes_what_a_key_of_its_score_would);
    tcase_add_test(rules, alibi_falls_with_the_distance_on_both_sides);
    tcase_add_loop_test(
        rules, the_word_at_the_edge_is_dropped_and_the_one_above_is_kept, 0, 2);
    tcase_add_loop_test(rules, dropout_drops_its_share_and_scales_the_rest, 0,
        (int)COUNT(DROPS));

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, nothing_beyond_the_ends_is_touched, 0, n);

    Suite *suite = suite_create("kernels_scale_softmax_rules");
    suite_add_tcase(suite, rules);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
