/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend_sizes.c - CLATTN_PROGRAM's attend at sizes that others have
 * got wrong: long rows, odd columns, masks that broadcast, many items.
 *
 * Expected numbers were computed in double precision.
 */
#include <math.h>

#include <clattn/clattn.h>

#include "attending.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

/* f32 results of scores around 1 are off by some roundings of 2^-24; a score
   of 1e4 is off by 2^-24 of that, and so is its exp. */
#define CLOSE 1e-5
#define EXACT 0
/* Two units of an f16 in [0.125, 0.25). */
#define CLOSE_F16 2.5e-4

#define LIST(...)    \
    (const double[]) \
    {                \
        __VA_ARGS__  \
    }
#define SIZES(b, hq, hkv, lq, lk, d, dv) \
    .B = b, .Hq = hq, .Hkv = hkv, .Lq = lq, .Lk = lk, .D = d, .Dv = dv
#define MASK(type, rank, ...) \
    .mask_dtype = CLATTN_##type, .mask_rank = rank, .mask_size = {__VA_ARGS__}

/* ---- Numbers that are counted out ---------------------------------------- */

/* A sequence that is exact in every dtype. */
static void fill(double *to, size_t count, int a, int b, int m, int s)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (double)((a * (int)i + b) % m - m / 2) / s;
}

/* Element `first` and those behind it. */
static void expect_at(const char *name, size_t first, const double *want,
    size_t count, double tolerance)
{
    npy_array got;
    stored_read(&got, name);
    ck_assert_uint_ge(got.count, first + count);
    for (size_t i = 0; i < count; i++) {
        const double value = (double)((const float *)got.data)[first + i];
        ck_assert_msg(fabs(value - want[i]) <= tolerance,
            "element %zu of %s is %.9g, want %.9g", first + i, name, value,
            want[i]);
    }
    npy_free(&got);
}

START_TEST(keys_that_are_masked_from_the_first_on_leave_the_others)
{
    enum {
        ITEMS = 129,
        KEYS = 130
    };
    static double v[ITEMS * KEYS], mask[ITEMS * KEYS], out[ITEMS];
    for (int b = 0; b < ITEMS; b++) {
        v[b * KEYS + 128] = 1;
        v[b * KEYS + 129] = 3;
        for (int j = 0; j < KEYS; j++)
            mask[b * KEYS + j] = j > b;
        out[b] = b < 128 ? 4.0 / (KEYS - 1 - b) : 3;
    }
    const attending_case c = {"n keys masked",
        SIZES(ITEMS, 1, 1, 1, KEYS, 1, 1), .v = v,
        MASK(BOOL, 4, ITEMS, 1, 1, KEYS), .mask = mask, .out = out,
        .tolerance = CLOSE};
    attending_check(&c, (enum attending_way)_i);
}
END_TEST

START_TEST(a_dot_product_beyond_f16_is_right)
{
    enum {
        D = 128
    };
    double q[D], k[2 * D];
    for (int d = 0; d < D; d++) {
        q[d] = k[d] = 32;
        k[D + d] = 31.984375;
    }
    const attending_case c = {"131072", SIZES(1, 1, 1, 1, 2, D, 1), .q = q,
        .k = k, .v = LIST(0, 1), .options = {"--dtype", "f16"},
        .out = LIST(0.0034813), .lse = LIST(11585.24), .tolerance = CLOSE};
    attending_check(&c, (enum attending_way)_i);
}
END_TEST

START_TEST(scores_from_0_to_minus_100_in_small_steps)
{
    enum {
        KEYS = 800
    };
    double k[KEYS], v[KEYS];
    for (int j = 0; j < KEYS; j++) {
        k[j] = -j / 8.0;
        v[j] = j % 2 == 0;
    }
    const attending_case c = {"steps of 1/8", SIZES(1, 1, 1, 1, KEYS, 1, 1),
        .q = LIST(1), .k = k, .v = v, .options = {"--scale", "1"},
        .out = LIST(0.53120937), .lse = LIST(2.1412906), .tolerance = CLOSE};
    attending_check(&c, (enum attending_way)_i);
}
END_TEST

/* A score of 0 for what is no key would have all the weight.  Each of the sums
   may round once a key. */
START_TEST(no_key_past_the_last_is_counted)
{
    static const size_t KEYS[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 129};
    double k[129], v[129];
    for (int j = 0; j < 129; j++) {
        k[j] = -1;
        v[j] = 1;
    }
    const attending_case c = {"scores of -50",
        SIZES(1, 1, 1, 1, KEYS[(size_t)_i / ATTENDING_WAYS], 1, 1),
        .q = LIST(50), .k = k, .v = v, .options = {"--scale", "1"},
        .out = LIST(1),
        .tolerance = 2 * 6e-8 * (double)KEYS[(size_t)_i / ATTENDING_WAYS]};
    attending_check(&c, (enum attending_way)(_i % ATTENDING_WAYS));
}
END_TEST

START_TEST(a_head_of_59_columns)
{
    enum {
        D = 59
    };
    double q[2 * D], k[3 * D], v[3 * D];
    fill(q, COUNT(q), 7, 3, 11, 4);
    fill(k, COUNT(k), 5, 1, 13, 4);
    fill(v, COUNT(v), 3, 2, 17, 8);
    const attending_case c = {"59", SIZES(1, 1, 1, 2, 3, D, D), .q = q, .k = k,
        .v = v, .lse = LIST(1.1844362, 1.0983225), .tolerance = CLOSE};
    attending_check(&c, (enum attending_way)_i);
    expect_at("o.npy", 0, LIST(-0.2896165, -0.2271708, 0.1478292), 3, CLOSE);
    expect_at(
        "o.npy", D - 1, LIST(-0.1021708, 0.3924302, -0.2796610), 3, CLOSE);
    expect_at("o.npy", 2 * D - 1, LIST(-0.1546610), 1, CLOSE);
}
END_TEST

START_TEST(a_mask_of_43_columns)
{
    enum {
        L = 43,
        D = 4
    };
    double q[L * D], k[L * D], v[L * D], mask[L * L];
    fill(q, COUNT(q), 7, 3, 11, 4);
    fill(k, COUNT(k), 5, 1, 13, 4);
    fill(v, COUNT(v), 3, 2, 17, 8);
    for (int n = 0; n < L * L; n++)
        mask[n] = ((n / L + 2 * (n % L)) % 5 - 2) / 2.0;
    const attending_case c = {"43", SIZES(1, 1, 1, L, L, D, D), .q = q, .k = k,
        .v = v, MASK(F16, 2, L, L), .mask = mask,
        .options = {"--dtype", "f16"}};
    attending_check(&c, (enum attending_way)_i);
    expect_at("o.npy", 0,
        LIST(-0.01612193, 0.07865471, 0.04990618, -0.14644148), 4, CLOSE_F16);
    expect_at("o.npy", 42 * D,
        LIST(0.09133591, -0.09796700, 0.02116862, 0.00795960), 4, CLOSE_F16);
    expect_at("l.npy", 42, LIST(4.2947161), 1, CLOSE);
}
END_TEST

/* ---- Masks that broadcast ------------------------------------------------ */

enum {
    B = 2,
    H = 4,
    LQ = 7,
    LK = 5
};

static const struct broadcast {
    size_t rank, size[4];
} BROADCASTS[] = {
    {1, {LK}},
    {2, {LQ, LK}},
    {2, {LQ, 1}},
    {3, {H, 1, LK}},
    {4, {1, 1, 1, 1}},
    {4, {B, 1, 1, LK}},
    {4, {B, H, LQ, LK}},
};

/* Element n of the whole mask is this one of the smaller one. */
static size_t place(const struct broadcast *m, size_t n)
{
    static const size_t WHOLE[4] = {B, H, LQ, LK};
    size_t at = 0, step = 1;
    for (size_t d = 4; d-- > 4 - m->rank; n /= WHOLE[d]) {
        const size_t size = m->size[d - (4 - m->rank)];
        at += size == 1 ? 0 : n % WHOLE[d] * step;
        step *= size;
    }
    return at;
}

START_TEST(a_mask_that_broadcasts_is_the_whole_one)
{
    const struct broadcast *m = &BROADCASTS[(size_t)_i / ATTENDING_WAYS];
    static double q[B * H * LQ * 16], k[B * H * LK * 16], v[B * H * LK * 32];
    double part[B * H * LQ * LK], whole[B * H * LQ * LK];
    fill(q, COUNT(q), 7, 3, 11, 4);
    fill(k, COUNT(k), 5, 1, 13, 4);
    fill(v, COUNT(v), 3, 2, 17, 8);
    fill(part, COUNT(part), 7, 3, 11, 4);
    for (size_t n = 0; n < COUNT(whole); n++)
        whole[n] = part[place(m, n)];
    attending_case c = {"whole", SIZES(B, H, H, LQ, LK, 16, 32), .q = q, .k = k,
        .v = v, MASK(F32, 4, B, H, LQ, LK), .mask = whole};
    attending_check(&c, (enum attending_way)(_i % ATTENDING_WAYS));
    attending_keep("o.npy", "whole.npy");
    c.about = "part";
    c.mask = part;
    c.mask_rank = m->rank;
    for (size_t d = 0; d < 4; d++)
        c.mask_size[d] = m->size[d];
    attending_check(&c, (enum attending_way)(_i % ATTENDING_WAYS));
    ck_assert_msg(attending_same("o.npy", "whole.npy"), "row %zu, %s",
        (size_t)_i / ATTENDING_WAYS,
        attending_name((enum attending_way)(_i % ATTENDING_WAYS)));
}
END_TEST

/* ---- Many ---------------------------------------------------------------- */

START_TEST(items_and_heads_beyond_65535)
{
    enum {
        MANY = 65536
    };
    static double v[MANY];
    for (int n = 0; n < MANY; n++)
        v[n] = n % 7;
    attending_case c = {"items", SIZES(MANY, 1, 1, 1, 1, 1, 1), .v = v,
        .out = v, .tolerance = EXACT};
    attending_check(&c, (enum attending_way)_i);
    c.about = "heads";
    c.B = 1;
    c.Hq = c.Hkv = MANY;
    attending_check(&c, (enum attending_way)_i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend sizes");
    TCase *sizes = tcase_create("sizes");
    tcase_set_timeout(sizes, 300);
    tcase_add_unchecked_fixture(sizes, scratch_begin, scratch_end);
    tcase_add_loop_test(sizes,
        keys_that_are_masked_from_the_first_on_leave_the_others, 0,
        ATTENDING_WAYS);
    tcase_add_loop_test(
        sizes, a_dot_product_beyond_f16_is_right, 0, ATTENDING_WAYS);
    tcase_add_loop_test(
        sizes, scores_from_0_to_minus_100_in_small_steps, 0, ATTENDING_WAYS);
    tcase_add_loop_test(
        sizes, no_key_past_the_last_is_counted, 0, 10 * ATTENDING_WAYS);
    tcase_add_loop_test(sizes, a_head_of_59_columns, 0, ATTENDING_WAYS);
    tcase_add_loop_test(sizes, a_mask_of_43_columns, 0, ATTENDING_WAYS);
    tcase_add_loop_test(sizes, a_mask_that_broadcasts_is_the_whole_one, 0,
        (int)COUNT(BROADCASTS) * ATTENDING_WAYS);
    tcase_add_loop_test(sizes, items_and_heads_beyond_65535, 0, ATTENDING_WAYS);
    suite_add_tcase(suite, sizes);
    return suite_main(suite, 0);
}
