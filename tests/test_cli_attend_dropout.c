/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend_dropout.c - dropout by CLATTN_PROGRAM's attend: which weights
 * it drops.
 */
#include <math.h>

#include <clattn/clattn.h>

#include "attending.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

enum {
    DROPPED_ROWS = 64,
    DROPPED_WEIGHTS = 2 * DROPPED_ROWS * DROPPED_ROWS
};

static attending_case dropout_case(const char *p, const char *seed)
{
    static double ones[2 * DROPPED_ROWS];
    for (int n = 0; n < 2 * DROPPED_ROWS; n++)
        ones[n] = 1;
    const attending_case c = {"dropout", .B = 1, .Hq = 2, .Hkv = 2,
        .Lq = DROPPED_ROWS, .Lk = DROPPED_ROWS, .D = 1, .Dv = 1, .v = ones,
        .options = {p ? "--dropout" : NULL, p, "--seed", seed}};
    return c;
}

START_TEST(dropout_of_0_changes_no_bit)
{
    attending_case c = dropout_case(NULL, NULL);
    attending_check(&c, (enum attending_way)_i);
    attending_keep("o.npy", "kept.npy");
    c = dropout_case("0", "1");
    attending_check(&c, (enum attending_way)_i);
    ck_assert(attending_same("o.npy", "kept.npy"));
}
END_TEST

START_TEST(dropout_of_1_gives_0)
{
    static const double NOTHING[2 * DROPPED_ROWS];
    attending_case c = dropout_case("1", "1");
    c.out = NOTHING;
    attending_check(&c, (enum attending_way)_i);
}
END_TEST

/* A kept weight is 1/64 * 2, a dropped one 0: any path drops the same. */
static void read_kept(bool kept[DROPPED_WEIGHTS])
{
    npy_array weights;
    stored_read(&weights, "s.npy");
    ck_assert_uint_eq(weights.count, DROPPED_WEIGHTS);
    for (int n = 0; n < DROPPED_WEIGHTS; n++) {
        const float w = ((const float *)weights.data)[n];
        kept[n] = w != 0.0f;
        ck_assert_msg(!kept[n] || fabsf(w - 1.0f / 32) <= 1e-7f,
            "weight %d is %.9g", n, (double)w);
    }
    npy_free(&weights);
}

static int differences(const bool *one, const bool *other, int count)
{
    int different = 0;
    for (int n = 0; n < count; n++)
        different += one[n] != other[n];
    return different;
}

START_TEST(a_seed_drops_the_same_weights_in_every_way)
{
    static bool first[DROPPED_WEIGHTS], again[DROPPED_WEIGHTS];
    const int half = DROPPED_WEIGHTS / 2;
    attending_case c = dropout_case("0.5", "1");
    c.matrix_count = DROPPED_WEIGHTS;
    attending_do(&c, ATTENDING_REFERENCE);
    read_kept(first);
    attending_keep("o.npy", "kept.npy");
    attending_do(&c, (enum attending_way)_i);
    read_kept(again);
    ck_assert_int_eq(differences(first, again, DROPPED_WEIGHTS), 0);
    attending_keep("o.npy", "kept.npy");
    attending_do(&c, (enum attending_way)_i);
    ck_assert_msg(attending_same("o.npy", "kept.npy"), "a second run differs");
    /* Independent fair coins: 4096 differ in 2048 places, +-32 as a standard
       deviation; 6 of them. */
    ck_assert_int_gt(differences(again, again + half, half), 2048 - 192);
    ck_assert_int_lt(differences(again, again + half, half), 2048 + 192);
    c.options[3] = "2";
    attending_do(&c, (enum attending_way)_i);
    read_kept(first);
    ck_assert_int_gt(differences(first, again, DROPPED_WEIGHTS), 4096 - 272);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend dropout");
    TCase *dropout = tcase_create("dropout");
    tcase_set_timeout(dropout, 300);
    tcase_add_unchecked_fixture(dropout, scratch_begin, scratch_end);
    tcase_add_loop_test(
        dropout, dropout_of_0_changes_no_bit, 0, ATTENDING_WAYS);
    tcase_add_loop_test(dropout, dropout_of_1_gives_0, 0, ATTENDING_WAYS);
    /* All but fused, the last, which gives no weights. */
    tcase_add_loop_test(dropout, a_seed_drops_the_same_weights_in_every_way, 0,
        ATTENDING_FUSED);
    suite_add_tcase(suite, dropout);
    return suite_main(suite, 0);
}
