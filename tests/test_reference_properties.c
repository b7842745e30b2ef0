/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_properties.c - what attention must do whatever its numbers
 * are, over drawn problems: needs no other implementation to compare with.
 */
#include <math.h>
#include <string.h>

#include "draw.h"
#include "judge.h"
#include "suite.h"

static judge J, OTHER;

enum {
    DRAWS = 40 /* problems for each property */
};

/*
 * Sums of at most 16 keys and 12 columns of numbers below 1, in double: a
 * reordering changes each of some 30 operations by half a unit, 1.1e-16.
 */
static const double REORDERED = 1e-14;

static size_t count_of(const judge *j, char tensor)
{
    const size_t H = tensor == 'q' || tensor == 'o' ? j->a.Hq : j->a.Hkv;
    const size_t L = tensor == 'q' || tensor == 'o' ? j->a.Lq : j->a.Lk;
    const size_t D = tensor == 'q' || tensor == 'k' ? j->a.D : j->a.Dv;
    return j->a.B * H * L * D;
}

static void draw_values(draw *d, double *to, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        to[i] = (double)draw_value(d);
}

/* Any sizes, each option that hides or shifts with an even chance. */
static void draw_problem(judge *j, draw *d, size_t least_keys)
{
    const size_t Hkv = draw_between(d, 1, 2), group = draw_between(d, 1, 2);
    const size_t B = draw_between(d, 1, 2);
    const size_t Lq = draw_between(d, 1, 6);
    const size_t Lk = draw_between(d, least_keys, 16);
    const size_t D = draw_between(d, 1, 12), Dv = draw_between(d, 1, 12);

    judge_start(j, B, Hkv * group, Hkv, Lq, Lk, D, Dv);
    draw_values(d, j->q, count_of(j, 'q'));
    draw_values(d, j->k, count_of(j, 'k'));
    draw_values(d, j->v, count_of(j, 'v'));
    j->a.has_scale = 1;
    j->a.scale = 4 * draw_value(d);
    if (draw_below(d, 2))
        j->a.softcap = 0.5f;
}

static void draw_mask(judge *j, draw *d)
{
    const clattn_attention *a = &j->a;
    double mask[2 * 4 * 6 * 16];

    for (size_t i = 0; i < COUNT(mask); ++i)
        mask[i] =
            draw_below(d, 4) == 0 ? -(double)INFINITY : (double)draw_value(d);
    judge_mask(j, CLATTN_F32, a->B, a->Hq, a->Lq, a->Lk, mask);
}

/* Copy a problem together with its places. */
static void copy_problem(judge *to, const judge *from)
{
    *to = *from;
    to->args.q.host = to->q;
    to->args.k.host = to->k;
    to->args.v.host = to->v;
    to->args.out.host = to->out;
    to->args.lse.host = to->lse;
    to->args.weights.host = to->weights;
    if (from->args.mask.host != NULL)
        to->args.mask.host = to->mask;
}

START_TEST(one_key_returns_its_value)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    J.a.Lk = 1;
    judge_run(&J);
    for (size_t n = 0; n < count_of(&J, 'o'); ++n) {
        const size_t c = n % J.a.Dv, bh = n / J.a.Dv / J.a.Lq;
        const size_t kv =
            bh / J.a.Hq * J.a.Hkv + bh % J.a.Hq / (J.a.Hq / J.a.Hkv);
        judge_expect("out", J.out + n, J.v + kv * J.a.Dv + c, 1, 0);
    }
}
END_TEST

START_TEST(equal_scores_give_the_mean)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    memset(J.q, 0, sizeof J.q);
    judge_run(&J);
    for (size_t c = 0; c < J.a.Dv; ++c) {
        double sum = 0;
        for (size_t j = 0; j < J.a.Lk; ++j)
            sum += J.v[j * J.a.Dv + c];
        const double mean = sum / (double)J.a.Lk;
        judge_expect("out", J.out + c, &mean, 1, REORDERED);
    }
}
END_TEST

START_TEST(a_constant_added_to_all_scores_changes_only_lse)
{
    draw d = draw_start((uint64_t)_i);
    const double shift = 37.5;

    draw_problem(&J, &d, 1);
    copy_problem(&OTHER, &J);
    judge_mask(&J, CLATTN_F32, 1, 1, 1, 1, &shift);
    judge_run(&J);
    judge_run(&OTHER);
    /* Scores near 37.5 have a unit of 7e-15, which their weight takes over. */
    const double units = 16 * 7.2e-15;
    judge_expect("out", J.out, OTHER.out, count_of(&J, 'o'), units);
    for (size_t n = 0; n < J.a.B * J.a.Hq * J.a.Lq; ++n)
        OTHER.lse[n] += shift;
    judge_expect("lse", J.lse, OTHER.lse, J.a.B * J.a.Hq * J.a.Lq, units);
}
END_TEST

/* Move row j of each head to row (j + 1) % rows. */
static void rotate(
    double *to, const double *from, size_t heads, size_t rows, size_t columns)
{
    for (size_t h = 0; h < heads; ++h)
        for (size_t j = 0; j < rows; ++j)
            memcpy(to + (h * rows + (j + 1) % rows) * columns,
                from + (h * rows + j) * columns, columns * sizeof *to);
}

START_TEST(keys_and_values_may_change_places_together)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    const clattn_attention *a = &J.a;
    copy_problem(&OTHER, &J);
    rotate(OTHER.k, J.k, a->B * a->Hkv, a->Lk, a->D);
    rotate(OTHER.v, J.v, a->B * a->Hkv, a->Lk, a->Dv);
    judge_run(&J);
    judge_run(&OTHER);
    judge_expect("out", OTHER.out, J.out, count_of(&J, 'o'), REORDERED);
    rotate(OTHER.mask, J.weights, a->B * a->Hq * a->Lq, a->Lk, 1);
    judge_expect("weights", OTHER.weights, OTHER.mask,
        a->B * a->Hq * a->Lq * a->Lk, REORDERED);
}
END_TEST

START_TEST(out_is_linear_in_v)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    draw_mask(&J, &d);
    copy_problem(&OTHER, &J);
    judge_run(&J);
    for (size_t n = 0; n < count_of(&J, 'v'); ++n)
        OTHER.v[n] = -3 * J.v[n];
    judge_run(&OTHER);
    for (size_t n = 0; n < count_of(&J, 'o'); ++n)
        J.out[n] *= -3;
    judge_expect("out", OTHER.out, J.out, count_of(&J, 'o'), 3 * REORDERED);
}
END_TEST

START_TEST(out_lies_between_the_values_and_weights_sum_to_1_or_0)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    draw_mask(&J, &d);
    judge_run(&J);
    for (size_t n = 0; n < count_of(&J, 'o'); ++n)
        ck_assert_msg(fabs(J.out[n]) <= 1, "out %zu is %g", n, J.out[n]);
    for (size_t r = 0; r < J.a.B * J.a.Hq * J.a.Lq; ++r) {
        double sum = 0;
        for (size_t j = 0; j < J.a.Lk; ++j) {
            const double weight = J.weights[r * J.a.Lk + j];
            ck_assert_msg(weight >= 0, "weight %zu of row %zu", j, r);
            sum += weight;
        }
        const double want = isinf(J.lse[r]) ? 0 : 1;
        ck_assert_msg(
            fabs(sum - want) <= REORDERED, "row %zu sums to %.17g", r, sum);
    }
}
END_TEST

START_TEST(a_causal_row_ignores_the_future)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 7);
    J.a.causal = 1;
    J.a.diagonal = CLATTN_TOP_LEFT;
    copy_problem(&OTHER, &J);
    judge_run(&J);
    /* Keys after the last row's are nobody's. */
    const clattn_attention *a = &J.a;
    for (size_t h = 0; h < a->B * a->Hkv; ++h)
        for (size_t j = a->Lq; j < a->Lk; ++j) {
            for (size_t c = 0; c < a->D; ++c)
                OTHER.k[(h * a->Lk + j) * a->D + c] = (double)NAN;
            for (size_t c = 0; c < a->Dv; ++c)
                OTHER.v[(h * a->Lk + j) * a->Dv + c] = (double)INFINITY;
        }
    judge_run(&OTHER);
    judge_expect("out", OTHER.out, J.out, count_of(&J, 'o'), 0);
    judge_expect("lse", OTHER.lse, J.lse, a->B * a->Hq * a->Lq, 0);
}
END_TEST

START_TEST(a_window_or_causal_is_the_mask_that_says_the_same)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    copy_problem(&OTHER, &J);
    const int left = (int)draw_below(&d, 4) - 1;
    const int right = (int)draw_below(&d, 4) - 1;
    const int offset = (int)draw_below(&d, 9) - 4;
    J.a.window_left = left;
    J.a.window_right = right;
    J.a.causal = (int32_t)draw_below(&d, 2);
    if (J.a.causal || left >= 0 || right >= 0) {
        J.a.diagonal = CLATTN_OFFSET;
        J.a.diagonal_offset = offset;
    }
    double mask[6 * 16];
    for (int i = 0; i < (int)J.a.Lq; ++i)
        for (int k = 0; k < (int)J.a.Lk; ++k)
            mask[i * (int)J.a.Lk + k] = !(J.a.causal && k > i + offset) &&
                                        (left < 0 || k >= i + offset - left) &&
                                        (right < 0 || k <= i + offset + right);
    judge_mask(&OTHER, CLATTN_BOOL, 1, 1, J.a.Lq, J.a.Lk, mask);
    judge_run(&J);
    judge_run(&OTHER);
    judge_expect("out", J.out, OTHER.out, count_of(&J, 'o'), 0);
}
END_TEST

START_TEST(a_sink_is_one_more_key_of_value_0)
{
    draw d = draw_start((uint64_t)_i);
    draw_problem(&J, &d, 1);
    J.a.softcap = 0;
    copy_problem(&OTHER, &J);
    J.a.flags |= CLATTN_SINKS;
    J.args.sinks.host = J.sinks;
    for (size_t h = 0; h < J.a.Hq; ++h)
        J.sinks[h] = draw_value(&d);
    judge_run(&J);

    /* The score of that key comes from a mask, its k and v are 0. */
    const clattn_attention *a = &J.a;
    const size_t Lk = a->Lk + 1;
    double mask[4 * 17] = {0};
    for (size_t h = 0; h < a->Hq; ++h)
        mask[h * Lk + a->Lk] = (double)J.sinks[h];
    memset(OTHER.k, 0, sizeof OTHER.k);
    memset(OTHER.v, 0, sizeof OTHER.v);
    for (size_t h = 0; h < a->B * a->Hkv; ++h) {
        memcpy(OTHER.k + h * Lk * a->D, J.k + h * a->Lk * a->D,
            a->Lk * a->D * sizeof *J.k);
        memcpy(OTHER.v + h * Lk * a->Dv, J.v + h * a->Lk * a->Dv,
            a->Lk * a->Dv * sizeof *J.v);
    }
    OTHER.a.Lk = Lk;
    judge_mask(&OTHER, CLATTN_F32, 1, a->Hq, 1, Lk, mask);
    judge_run(&OTHER);
    judge_expect("out", J.out, OTHER.out, count_of(&J, 'o'), REORDERED);
    judge_expect("lse", J.lse, OTHER.lse, a->B * a->Hq * a->Lq, REORDERED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_properties");
    TCase *drawn = tcase_create("drawn");

    tcase_add_loop_test(drawn, one_key_returns_its_value, 0, DRAWS);
    tcase_add_loop_test(drawn, equal_scores_give_the_mean, 0, DRAWS);
    tcase_add_loop_test(
        drawn, a_constant_added_to_all_scores_changes_only_lse, 0, DRAWS);
    tcase_add_loop_test(
        drawn, keys_and_values_may_change_places_together, 0, DRAWS);
    tcase_add_loop_test(drawn, out_is_linear_in_v, 0, DRAWS);
    tcase_add_loop_test(
        drawn, out_lies_between_the_values_and_weights_sum_to_1_or_0, 0, DRAWS);
    tcase_add_loop_test(drawn, a_causal_row_ignores_the_future, 0, DRAWS);
    tcase_add_loop_test(
        drawn, a_window_or_causal_is_the_mask_that_says_the_same, 0, DRAWS);
    tcase_add_loop_test(drawn, a_sink_is_one_more_key_of_value_0, 0, DRAWS);
    suite_add_tcase(suite, drawn);
    return suite_main(suite, 0);
}
