/* SPDX-License-Identifier: Apache-2.0
 *
 * test_plan_programs.c - what a proposal compiles in and what it says: lanes,
 * options, few programs, kernels that come out of the build too small.  Needs no
 * device.
 */
#include "planning.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

typedef void change(planning *s);

static const char *const ROWS[] = {"lanes", "tiled16", "simt32"};

/* ---- Lanes ------------------------------------------------------------------- */

static const size_t WIDTHS[] = {1, 2, 4, 8, 16, 32};
static const size_t COLUMNS[] = {1, 64, 256, 257, 512};

/* Bytes of private memory that the kernel's options make: q, out and scores of
   all rows, and blocks of k and v where they are not f32. */
static size_t private_bytes(const planning *s)
{
    const size_t D = planning_option(s, 0, "D");
    const size_t Dv = planning_option(s, 0, "DV");
    const size_t BC = planning_option(s, 0, "BC");
    const size_t rows =
        planning_option(s, 0, "VW") * planning_option(s, 0, "NV");
    size_t floats = rows * (D + Dv + BC);
    if (planning_option(s, 0, "KT") != CLATTN_F32)
        floats += BC * D;
    if (planning_option(s, 0, "VT") != CLATTN_F32)
        floats += BC * Dv;
    return floats * sizeof(float);
}

/* All widths, columns, dtypes, with and without a band. */
START_TEST(lanes_follow_the_device_and_stay_within_a_threads_stack)
{
    planning s = planning_start();
    size_t n = (size_t)_i;
    s.limits.native_width = WIDTHS[n % COUNT(WIDTHS)];
    s.given.D = COLUMNS[(n /= COUNT(WIDTHS)) % COUNT(COLUMNS)];
    s.given.Dv = COLUMNS[(n /= COUNT(COLUMNS)) % COUNT(COLUMNS)];
    s.given.dtype = CLATTN_F32 + (int32_t)((n /= COUNT(COLUMNS)) % 3);
    s.given.causal = (int32_t)(n / 3);
    s.given.diagonal = s.given.causal ? CLATTN_TOP_LEFT : 0;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    const bool lanes = strcmp(s.p.row->name, "lanes") == 0;
    const size_t width = s.limits.native_width;
    ck_assert_msg(lanes == (width >= 4), "width %zu, D %zu, Dv %zu: row %s",
        width, s.given.D, s.given.Dv, s.p.row->name);
    if (!lanes)
        return;
    ck_assert_uint_eq(planning_option(&s, 0, "VW"), width < 16 ? width : 16);
    ck_assert_uint_eq(planning_option(&s, 0, "D"), s.given.D);
    ck_assert_uint_eq(planning_option(&s, 0, "DV"), s.given.Dv);
    ck_assert_uint_eq(planning_option(&s, 0, "BC") % 4, 0);
    ck_assert_msg(private_bytes(&s) <= (size_t)256 << 10,
        "width %zu, D %zu, Dv %zu, dtype %d: %zu bytes", width, s.given.D,
        s.given.Dv, (int)s.given.dtype, private_bytes(&s));
}
END_TEST

/* oclgrind and rusticl do not bear prefetching; processors without fused
   multiply-adds call a slow function. */
START_TEST(only_devices_that_can_are_told_to)
{
    planning s = planning_start();
    s.limits.prefetches = _i == 1;
    s.limits.fused_adds = _i == 2;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_uint_eq(planning_option(&s, 0, "PREFETCH"), _i == 1);
    ck_assert_uint_eq(planning_option(&s, 0, "FMA"), _i == 2);
}
END_TEST

/* ---- What is compiled in ------------------------------------------------------ */

static void nothing(planning *s)
{
    (void)s;
}

static void lengths(planning *s)
{
    s->given.Lq = 7;
    s->given.Lk = 4096;
}

static void batch_and_heads(planning *s)
{
    s->given.B = 1;
    s->given.Hq = 12;
    s->given.Hkv = 3;
}

static void strides(planning *s)
{
    s->given.q = (clattn_tensor){.batch = 70 * 4 * 64, .head = 64, .row = 256};
    s->given.out.row = 77;
    s->given.out.head = 77 * 70;
    s->given.out.batch = 77 * 70 * 4;
}

static void scale(planning *s)
{
    s->given.has_scale = 1;
    s->given.scale = -2;
}

static void softcap(planning *s)
{
    s->given.softcap = 30;
}

static void dropout(planning *s)
{
    s->given.dropout_p = 0.25f;
}

static void window(planning *s)
{
    s->given.window_left = 5;
    s->given.diagonal = CLATTN_BOTTOM_RIGHT;
}

static void causal(planning *s)
{
    s->given.causal = 1;
    s->given.diagonal = CLATTN_OFFSET;
    s->given.diagonal_offset = -3;
}

/* Two problems of one program each: what the first has, the second varies. */
static const struct {
    const char *about;
    change *one, *other;
} SAME[] = {
    {"lengths", nothing, lengths},
    {"batch and heads", nothing, batch_and_heads},
    {"strides", nothing, strides},
    {"scale", nothing, scale},
    {"a band of another kind", causal, window},
};

static void compare_options(const char *about, change *one, change *other,
    const char *kernel, bool same)
{
    planning s = planning_start(), t = planning_start();
    one(&s);
    other(&t);
    s.wishes.kernel = t.wishes.kernel = kernel;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_int_eq(planning_run(&t), CLATTN_OK);
    bool equal = s.p.n_needs == t.p.n_needs;
    for (size_t i = 0; equal && i < s.p.n_needs; ++i)
        equal = strcmp(s.p.need[i].name, t.p.need[i].name) == 0 &&
                strcmp(s.p.need[i].options, t.p.need[i].options) == 0;
    ck_assert_msg(equal == same, "%s, %s: %s and %s", about, kernel,
        s.p.need[0].options, t.p.need[0].options);
}

START_TEST(sizes_strides_and_values_make_no_other_program)
{
    const size_t n = (size_t)_i % COUNT(SAME);
    compare_options(SAME[n].about, SAME[n].one, SAME[n].other,
        ROWS[(size_t)_i / COUNT(SAME)], true);
}
END_TEST

static void softcap_2(planning *s)
{
    s->given.softcap = 2;
}

static void dropout_1(planning *s)
{
    s->given.dropout_p = 1;
}

START_TEST(an_options_value_makes_no_other_program_and_the_option_does)
{
    const char *row = ROWS[_i];
    compare_options("softcap", softcap, softcap_2, row, true);
    compare_options("dropout", dropout, dropout_1, row, true);
    compare_options("softcap", nothing, softcap, row, false);
    compare_options("dropout", nothing, dropout, row, false);
    compare_options("causal", nothing, causal, row, false);
}
END_TEST

static void everything(planning *s)
{
    static const float SLOPES[4] = {1, 1, 1, 1};
    clattn_attention *a = &s->given;
    softcap(s);
    dropout(s);
    causal(s);
    a->D = 512;
    a->Dv = 256;
    a->dtype = CLATTN_BF16;
    a->mask = (clattn_mask){.size = {1, 1, 1, 90}, .dtype = CLATTN_BF16};
    a->alibi_slopes = SLOPES;
    a->flags = CLATTN_RETURN_LSE | CLATTN_SINKS | CLATTN_QUERY_STARTS |
               CLATTN_KEY_STARTS | CLATTN_QUERY_LENGTHS | CLATTN_KEY_LENGTHS |
               CLATTN_DIAGONAL_OFFSETS;
    a->q_rows = a->k_rows = 1000;
    a->diagonal_offset = 0;
}

START_TEST(the_options_of_all_rules_at_once_are_whole)
{
    planning s = planning_start();
    everything(&s);
    s.wishes.kernel = ROWS[_i];
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    for (size_t i = 0; i < s.p.n_needs; ++i)
        ck_assert_uint_lt(
            strlen(s.p.need[i].options), sizeof s.p.need[i].options - 1);
    const size_t need = s.p.row->tile == 16 ? 1 : 0; /* tiled: the softmax */
    ck_assert_uint_eq(planning_option(&s, need, "MASK"), CLATTN_BF16);
    ck_assert_uint_eq(planning_option(&s, need, "PACKED"), 1);
    ck_assert_str_eq(s.p.need[s.p.items_need].name, "items");
}
END_TEST

/* ---- After the build ---------------------------------------------------------- */

START_TEST(a_kernel_that_was_built_too_small_is_declined_for_the_next_row)
{
    planning s = planning_start();
    char text[2000];
    planning_only(&s, "tiled");
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, "tiled16");
    built_kernel large = {.max_group = 256}, small = {.max_group = 63};
    const built_kernel *const fits[MAX_NEEDS] = {&large, &large, &large};
    const built_kernel *const fails[MAX_NEEDS] = {&large, &small, &large};
    ck_assert(plan_accept(&s.p, fits, &s.declined));
    ck_assert(!plan_accept(&s.p, fails, &s.declined));
    ck_assert_msg(
        strstr(s.declined.text, "64") && strstr(s.declined.text, "63"), "%s",
        s.declined.text);
    ck_assert_int_eq(plan_attention(&s.p, &s.problem, &s.limits, &s.wishes,
                         &s.declined, &s.error),
        CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, "tiled8");
    plan_text(text, sizeof text, &s.p, &s.declined);
    ck_assert_msg(strncmp(text, "tiled8", 6) == 0 &&
                      strstr(text, "launches=3 ") != NULL &&
                      strstr(text, s.declined.text) != NULL,
        "%s", text);
}
END_TEST

/* What an item keeps in memory instead of registers, as the driver tells. */
START_TEST(a_kernel_that_spills_is_declined_unless_it_was_asked_for)
{
    planning s = planning_start();
    const built_kernel whole = {.max_group = 256, .private_bytes = 64};
    const built_kernel spilt = {.max_group = 256, .private_bytes = 65};
    const built_kernel *const fits[MAX_NEEDS] = {&whole};
    const built_kernel *const spills[MAX_NEEDS] = {&spilt};
    s.limits = planning_gpu();
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, "simt64");
    ck_assert(plan_accept(&s.p, fits, &s.declined));
    ck_assert(!plan_accept(&s.p, spills, &s.declined));
    ck_assert_msg(strstr(s.declined.text,
                      "simt64: attention_simt as built keeps 65 bytes"),
        "%s", s.declined.text);
    ck_assert_int_eq(plan_attention(&s.p, &s.problem, &s.limits, &s.wishes,
                         &s.declined, &s.error),
        CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, "simt64m");
    s.wishes.kernel = "simt64";
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert(plan_accept(&s.p, spills, &s.declined));
}
END_TEST

/* However little room there is, it is text. */
START_TEST(the_text_of_a_plan_is_cut_to_fit)
{
    planning s = planning_start();
    char all[2400], text[2400];
    everything(&s);
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    plan_text(all, sizeof all, &s.p, &s.declined);
    for (size_t capacity = 1; capacity < sizeof text; ++capacity) {
        const size_t fits = strlen(all) < capacity ? strlen(all) : capacity - 1;
        memset(text, 'x', sizeof text);
        plan_text(text, capacity, &s.p, &s.declined);
        ck_assert_uint_eq(strlen(text), fits);
        ck_assert(strncmp(text, all, fits) == 0);
        ck_assert(text[fits + 1] == 'x' || fits + 2 > sizeof text);
    }
}
END_TEST

int main(void)
{
    TCase *lanes = tcase_create("lanes");
    tcase_add_loop_test(lanes,
        lanes_follow_the_device_and_stay_within_a_threads_stack, 0,
        (int)(COUNT(WIDTHS) * COUNT(COLUMNS) * COUNT(COLUMNS) * 3 * 2));

    tcase_add_loop_test(lanes, only_devices_that_can_are_told_to, 0, 3);

    TCase *programs = tcase_create("programs");
    tcase_add_loop_test(programs,
        sizes_strides_and_values_make_no_other_program, 0,
        (int)(COUNT(ROWS) * COUNT(SAME)));
    tcase_add_loop_test(programs,
        an_options_value_makes_no_other_program_and_the_option_does, 0,
        (int)COUNT(ROWS));
    tcase_add_loop_test(programs, the_options_of_all_rules_at_once_are_whole, 0,
        (int)COUNT(ROWS));
    tcase_add_test(programs,
        a_kernel_that_was_built_too_small_is_declined_for_the_next_row);
    tcase_add_test(
        programs, a_kernel_that_spills_is_declined_unless_it_was_asked_for);
    tcase_add_test(programs, the_text_of_a_plan_is_cut_to_fit);

    Suite *suite = suite_create("plan_programs");
    suite_add_tcase(suite, lanes);
    suite_add_tcase(suite, programs);
    return suite_main(suite, 0);
}
