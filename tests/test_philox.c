/* SPDX-License-Identifier: Apache-2.0
 *
 * test_philox.c - Philox4x32-10 against its authors' vectors, and dropout by
 * the reference against Philox.
 */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "philox.h"
#include "suite.h"

static judge J, OTHER;

/* Of the kat_vectors that Random123 publishes, philox4x32 with 10 rounds. */
static const struct {
    const char *about;
    uint32_t counter[4], key[2], word[4];
} VECTORS[] = {
    {"all 0", {0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {"all ones", {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
        {0xffffffff, 0xffffffff},
        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {"the digits of pi", {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
        {0xa4093822, 0x299f31d0},
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

START_TEST(philox_gives_its_authors_words)
{
    uint32_t word[4];
    philox4x32_10(word, VECTORS[_i].counter, VECTORS[_i].key);
    for (int w = 0; w < 4; ++w)
        ck_assert_msg(word[w] == VECTORS[_i].word[w],
            "%s: word %d is 0x%08x, want 0x%08x", VECTORS[_i].about, w,
            (unsigned)word[w], (unsigned)VECTORS[_i].word[w]);
}
END_TEST

/* ---- Dropout ------------------------------------------------------------- */

/* Two items of two heads, so that every part of the counter is used.  All
   weights are 1 / Lk before dropout. */
enum {
    B = 2,
    H = 2,
    LQ = 3,
    LK = 10
};

static void start_dropout(judge *j, float p, uint64_t seed, uint64_t offset)
{
    judge_start(j, B, H, H, LQ, LK, 1, 1);
    for (int n = 0; n < B * H * LK; ++n)
        j->v[n] = 1;
    j->a.dropout_p = p;
    j->args.dropout_seed = seed;
    j->args.dropout_offset = offset;
}

static const struct {
    const char *about;
    float p;
    uint64_t seed, offset;
} DROPOUTS[] = {
    {"half of them", 0.5f, 1, 0},
    {"one in ten", 0.1f, 42, 7},
    {"a seed of more than 32 bits", 0.5f, 0x123456789abcdef0, 0},
    {"an offset of more than 32 bits", 0.5f, 1, 0xfffffffful},
    {"an offset that wraps", 0.5f, 1, UINT64_MAX},
};

START_TEST(a_weight_is_dropped_by_its_word_alone)
{
    const double p = (double)DROPOUTS[_i].p;
    const uint64_t seed = DROPOUTS[_i].seed;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    int dropped = 0;

    start_dropout(&J, DROPOUTS[_i].p, seed, DROPOUTS[_i].offset);
    judge_run(&J);
    for (uint32_t n = 0; n < B * H * LQ * LK; ++n) {
        const uint32_t j = n % LK, i = n / LK % LQ, bh = n / LK / LQ;
        const uint64_t stream = DROPOUTS[_i].offset + bh;
        const uint32_t counter[4] = {
            j / 4, i, (uint32_t)stream, (uint32_t)(stream >> 32)};
        uint32_t word[4];
        philox4x32_10(word, counter, key);
        const int drop = word[j % 4] < p * 4294967296.0;
        const double want = drop ? 0 : 1.0 / LK / (1 - p);
        judge_expect(DROPOUTS[_i].about, J.weights + n, &want, 1, ROUNDING);
        dropped += drop;
    }
    ck_assert_int_gt(dropped, 0);
    ck_assert_int_lt(dropped, B * H * LQ * LK);
}
END_TEST

START_TEST(dropped_weights_do_not_multiply_v)
{
    start_dropout(&J, 0.5f, 3, 0);
    judge_run(&J);
    for (int r = 0; r < B * H * LQ; ++r) {
        double sum = 0;
        for (int j = 0; j < LK; ++j)
            sum += J.weights[r * LK + j];
        judge_expect("out", J.out + r, &sum, 1, ROUNDING);
    }
}
END_TEST

START_TEST(dropout_leaves_lse_alone)
{
    start_dropout(&J, 0.5f, 3, 0);
    judge_run(&J);
    for (int r = 0; r < B * H * LQ; ++r) {
        const double want = log(LK);
        judge_expect("lse", J.lse + r, &want, 1, ROUNDING);
    }
}
END_TEST

START_TEST(no_dropout_whatever_the_seed)
{
    start_dropout(&J, 0, 3, 9);
    start_dropout(&OTHER, 0, 0, 0);
    judge_run(&J);
    judge_run(&OTHER);
    ck_assert_mem_eq(J.out, OTHER.out, sizeof J.out);
    ck_assert_mem_eq(J.weights, OTHER.weights, sizeof J.weights);
}
END_TEST

START_TEST(dropping_all_gives_0_and_no_nan)
{
    const double zeros[B * H * LQ * LK] = {0};

    start_dropout(&J, 1, 3, 0);
    judge_run(&J);
    judge_expect("out", J.out, zeros, B * H * LQ, 0);
    judge_expect("weights", J.weights, zeros, B * H * LQ * LK, 0);
}
END_TEST

START_TEST(a_dropped_key_counts_as_attended)
{
    start_dropout(&J, 1, 3, 0);
    J.v[4] = (double)NAN;
    judge_run(&J);
    for (int r = 0; r < B * H * LQ; ++r)
        ck_assert_msg(isnan(J.out[r]) == (r < LQ), "row %d is %g", r, J.out[r]);
}
END_TEST

START_TEST(an_offset_of_heads_moves_to_the_next_item)
{
    start_dropout(&J, 0.5f, 3, 0);
    start_dropout(&OTHER, 0.5f, 3, H);
    judge_run(&J);
    judge_run(&OTHER);
    judge_expect("item 1 of one is item 0 of the other",
        J.weights + H * LQ * LK, OTHER.weights, H * LQ * LK, 0);
    ck_assert_mem_ne(J.weights, OTHER.weights, H * LQ * LK * sizeof *J.weights);
}
END_TEST

START_TEST(half_of_many_weights_are_kept)
{
    enum {
        L = 64
    };
    double mean = 0;

    judge_start(&J, 1, 2, 2, L, L, 1, 1);
    for (int j = 0; j < 2 * L; ++j)
        J.v[j] = 1;
    J.a.dropout_p = 0.5f;
    J.args.dropout_seed = 1;
    judge_run(&J);
    for (int i = 0; i < 2 * L; ++i)
        mean += J.out[i] / (2 * L);
    /* 8192 weights of variance 1 / L^2 each, 128 rows: a standard deviation of
       0.011. */
    ck_assert_msg(fabs(mean - 1) < 0.05, "mean %g", mean);
    ck_assert_mem_ne(J.weights, J.weights + L * L, L * L * sizeof *J.weights);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("philox");
    TCase *words = tcase_create("words");
    TCase *dropout = tcase_create("dropout");

    tcase_add_loop_test(
        words, philox_gives_its_authors_words, 0, (int)COUNT(VECTORS));
    suite_add_tcase(suite, words);

    tcase_add_loop_test(dropout, a_weight_is_dropped_by_its_word_alone, 0,
        (int)COUNT(DROPOUTS));
    tcase_add_test(dropout, dropped_weights_do_not_multiply_v);
    tcase_add_test(dropout, dropout_leaves_lse_alone);
    tcase_add_test(dropout, no_dropout_whatever_the_seed);
    tcase_add_test(dropout, dropping_all_gives_0_and_no_nan);
    tcase_add_test(dropout, a_dropped_key_counts_as_attended);
    tcase_add_test(dropout, an_offset_of_heads_moves_to_the_next_item);
    tcase_add_test(dropout, half_of_many_weights_are_kept);
    suite_add_tcase(suite, dropout);
    return suite_main(suite, 0);
}
