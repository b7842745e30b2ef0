/* SPDX-License-Identifier: Apache-2.0
 *
 * test_launches.c - problems that take many groups, blocks or launches: the
 * same bits however they are split.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

static void check_ok(clattn_status status, const clattn_error *error)
{
    ck_assert_msg(status == CLATTN_OK, "%s", error->message);
}

/* "launches=12" of a plan's description. */
static size_t launches_of(const clattn_plan *plan)
{
    const char *text = clattn_plan_describe(plan);
    const char *at = strstr(text, "launches=");
    ck_assert_msg(at != NULL, "no launches= in: %s", text);
    return strtoul(at + strlen("launches="), NULL, 10);
}

/* ---- Sizes that divide nothing, and long ones ---------------------------- */

static const size_t QUERIES[] = {1, 10, 500}, KEYS[] = {64, 500};

START_TEST(global_sizes_that_divide_by_no_group_are_right)
{
    const attention_case c = {"odd global sizes",
        {1, 2, 2, QUERIES[_i % 3], KEYS[_i / 3 % 2], 64, 64},
        .returns = CLATTN_RETURN_LSE};
    char why[ARENA_TEXT];
    clattn_error error;
    attention_trial trial;
    attention_expected expected;
    rows_create(&trial, &c, _i / 6);
    check_ok(attention_expect(&expected, &trial, &error), &error);
    check_ok(run_attention(&trial, RUN_ENQUEUE, &error), &error);
    ck_assert_msg(attention_meets(&expected, &trial, why), "%s", why);
    attention_expected_free(&expected);
    attention_trial_destroy(&trial);
}
END_TEST

/* One row and key each: out is v, exactly. */
START_TEST(more_items_or_heads_than_65535_are_right)
{
    const size_t many = 65536 + 3;
    attention_case c = {"many", {1, 1, 1, 1, 1, 1, 1}, .returns = 0};
    attention_trial trial;
    if (_i % 2 == 0)
        c.size.B = many;
    else
        c.size.Hq = c.size.Hkv = many;
    rows_create(&trial, &c, _i / 2);
    float *v = rows_at(&trial, SLOT_V, 0, 0, 0, 0);
    for (size_t i = 0; i < many; ++i)
        v[i] = (float)(i % 7);
    rows_rerun(&trial);
    ck_assert_mem_eq(
        rows_at(&trial, SLOT_OUT, 0, 0, 0, 0), v, many * sizeof(float));
    attention_trial_destroy(&trial);
}
END_TEST

/* ---- Blocks of scores ---------------------------------------------------- */

/* More scores than exist at once: in blocks of whole heads, or of some rows of
   one.  Strides are given, so that a part is a problem of its own. */
static const struct {
    attention_case of;
    size_t b, first, rows; /* the part: in a later block, and in one block */
} BLOCKS[] = {
    {{"blocks of heads", {2, 3, 1, 1100, 1300, 9, 9}, .causal = 1,
         .diagonal = CLATTN_TOP_LEFT, .key_lengths = true,
         .layout = LAYOUT_PADDED, .returns = CLATTN_RETURN_LSE},
        1, 200, 900},
    {{"blocks of rows", {1, 1, 1, 3000, 4001, 9, 9}, .causal = 1,
         .diagonal = CLATTN_TOP_LEFT, .layout = LAYOUT_PADDED,
         .returns = CLATTN_RETURN_LSE},
        0, 2100, 900},
};

static size_t part_of(const clattn_tensor *t, size_t b, size_t first)
{
    return b * t->batch + first * t->row;
}

/* Rows [first, first + rows) of item b, into their places. */
static void run_part(
    attention_trial *trial, size_t b, size_t first, size_t rows)
{
    clattn_error error;
    clattn_attention p = trial->problem;
    clattn_attention_args args = attention_trial_args(trial, NULL);
    args.q.offset += part_of(&p.q, b, first);
    args.k.offset += part_of(&p.k, b, 0);
    args.v.offset += part_of(&p.v, b, 0);
    args.out.offset += part_of(&p.out, b, first);
    args.lse.offset += part_of(&p.lse, b, first);
    args.key_lengths.offset += args.key_lengths.host ? b : 0;
    p.B = 1;
    p.Lq = rows;
    p.diagonal = CLATTN_OFFSET;
    p.diagonal_offset = (int32_t)first;
    check_ok(
        clattn_attention_host(opencl_get()->ctx, &p, &args, &error), &error);
}

static void check_in_blocks(attention_trial *trial)
{
    const attention_case *c = &trial->of;
    clattn_plan *plan = NULL;
    clattn_error error;
    check_ok(clattn_attention_plan(
                 &plan, opencl_get()->ctx, &trial->problem, &error),
        &error);
    const size_t scores = c->size.B * c->size.Hq * c->size.Lq * c->size.Lk;
    ck_assert_msg(clattn_plan_workspace_bytes(plan) < scores * sizeof(float),
        "%s: not in blocks: %s", c->about, clattn_plan_describe(plan));
    clattn_plan_destroy(plan);
}

START_TEST(blocks_of_scores_change_no_bit)
{
    const attention_case *c = &BLOCKS[_i].of;
    const size_t b = BLOCKS[_i].b, first = BLOCKS[_i].first;
    attention_trial blocks, part;
    rows_create(&blocks, c, 0);
    rows_create(&part, c, 0);
    blocks.problem.kernel = part.problem.kernel = "materialised";
    check_in_blocks(&blocks);
    rows_run(&blocks);
    run_part(&part, b, first, BLOCKS[_i].rows);
    for (size_t at = 0; at < c->size.Hq * BLOCKS[_i].rows; ++at) {
        const size_t h = at % c->size.Hq, i = first + at / c->size.Hq;
        rows_assert_bits(&blocks, &part, SLOT_OUT, b, h, i, "in one block");
        rows_assert_bits(&blocks, &part, SLOT_LSE, b, h, i, "in one block");
    }
    attention_trial_destroy(&blocks);
    attention_trial_destroy(&part);
}
END_TEST

START_TEST(length_16384_needs_at_most_256_mib_beside_its_tensors)
{
    clattn_attention problem;
    clattn_plan *plan = NULL;
    clattn_error error;
    clattn_attention_init(&problem, sizeof problem);
    problem.B = 1;
    problem.Hq = problem.Hkv = 4;
    problem.Lq = problem.Lk = 16384;
    problem.D = problem.Dv = 64;
    problem.dtype = CLATTN_F32;
    check_ok(clattn_attention_plan(&plan, opencl_get()->ctx, &problem, &error),
        &error);
    ck_assert_uint_le(clattn_plan_workspace_bytes(plan), (size_t)256 << 20);
    clattn_plan_destroy(plan);
}
END_TEST

/* ---- Capped launches ----------------------------------------------------- */

/* Run on a context of its own, whose launches are capped by `tuning` if that is
   not NULL; returns how many there were. */
static size_t run_capped(attention_trial *trial, const char *tuning)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    clattn_plan *plan = NULL;
    if (tuning != NULL)
        setenv("CLATTN_TUNING", tuning, 1);
    check_ok(clattn_context_create(&ctx, NULL, &error), &error);
    unsetenv("CLATTN_TUNING");
    check_ok(
        clattn_attention_plan(&plan, ctx, &trial->problem, &error), &error);
    const size_t launches = launches_of(plan);
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    arena_restore(&trial->memory);
    check_ok(
        clattn_attention_host(ctx, &trial->problem, &args, &error), &error);
    clattn_plan_destroy(plan);
    clattn_context_destroy(ctx);
    return launches;
}

/* The caps, in multiply-adds: of scores 8192 x 8192 x 64 = 2^32 in all. */
static const struct {
    const char *tuning, *kernel;
    size_t Lq, Lk;
} CAPS[] = {
    {"launch_work=100000000", "fused", 8192, 8192},
    {"launch_work=100000000", "materialised", 8192, 8192},
    {"launch_work=100000", "fused", 300, 500},
    {"launch_work=100000", "materialised", 300, 500},
    {"launch_work=1", "fused", 130, 70},
    {"launch_work=1", "materialised", 130, 70},
};

START_TEST(capped_launches_are_more_and_leave_the_same_bits)
{
    const attention_case c = {"capped",
        {1, 1, 1, CAPS[_i].Lq, CAPS[_i].Lk, 64, 64},
        .returns = CLATTN_RETURN_LSE};
    attention_trial free_run, capped;
    rows_create(&free_run, &c, 0);
    rows_create(&capped, &c, 0);
    free_run.problem.kernel = capped.problem.kernel =
        rows_or_choice(CAPS[_i].kernel);
    const size_t few = run_capped(&free_run, NULL);
    const size_t many = run_capped(&capped, CAPS[_i].tuning);
    ck_assert_msg(many > few, "%s, %s: %zu launches, without a cap %zu",
        CAPS[_i].tuning, CAPS[_i].kernel, many, few);
    rows_assert_all_bits(&free_run, &capped, CAPS[_i].tuning);
    attention_trial_destroy(&free_run);
    attention_trial_destroy(&capped);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("launches");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(
        t, global_sizes_that_divide_by_no_group_are_right, 0, 6 * rows_count());
    tcase_add_loop_test(
        t, more_items_or_heads_than_65535_are_right, 0, 2 * rows_count());
    tcase_add_loop_test(
        t, blocks_of_scores_change_no_bit, 0, (int)COUNT(BLOCKS));
    tcase_add_test(t, length_16384_needs_at_most_256_mib_beside_its_tensors);
    tcase_add_loop_test(t, capped_launches_are_more_and_leave_the_same_bits, 0,
        (int)COUNT(CAPS));

    Suite *suite = suite_create("launches");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
