/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend_options.c - what each option of CLATTN_PROGRAM's attend does,
 * in numbers made by hand.
 *
 * Mostly q is 0, so that all scores are equal before the option acts, and v is
 * 1, 2, 4, 8: the mean of those that a row reads tells which they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "attending.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

/* Sums of at most 8 exact terms and a division, each rounded once to f32, and
   an exp and a log of few units. */
#define ROUNDED 1e-6
/* The numbers are read as f32; results are rounded to 2^-11 or 2^-8. */
#define F16_ROUNDED  4.9e-4
#define BF16_ROUNDED 3.95e-3

#define LIST(...)    \
    (const double[]) \
    {                \
        __VA_ARGS__  \
    }
#define HIDDEN       (-(double)INFINITY)
#define ONE_HEAD     .B = 1, .Hq = 1, .Hkv = 1, .Lq = 2, .Lk = 4, .D = 1, .Dv = 1
#define POWERS       .v = LIST(1, 2, 4, 8)
#define TWO_ITEMS    .B = 2, .Hq = 1, .Hkv = 1, .Lq = 2, .Lk = 4, .D = 1, .Dv = 1
#define POWERS_TWICE .v = LIST(1, 2, 4, 8, 10, 20, 40, 80)
#define LN2          0.69314718055994531
#define LN4          1.3862943611198906

static const attending_case CASES[] = {
    /* ---- Window ---- */
    {"the window's left end is read", ONE_HEAD, POWERS,
        .options = {"--window", "1,0", "--diagonal", "top-left"},
        .out = LIST(1, 1.5), .tolerance = ROUNDED},
    {"the window's right end is read", ONE_HEAD, POWERS,
        .options = {"--window", "0,1", "--diagonal", "top-left"},
        .out = LIST(1.5, 3), .tolerance = ROUNDED},
    {"a window from the bottom right corner", ONE_HEAD, POWERS,
        .options = {"--window", "0,1", "--diagonal", "bottom-right"},
        .out = LIST(6, 8), .tolerance = ROUNDED},
    {"a window open to the left", ONE_HEAD, POWERS,
        .options = {"--window", "-1,0", "--diagonal", "1"},
        .out = LIST(1.5, 7.0 / 3), .tolerance = ROUNDED},
    {"a window open to the right", ONE_HEAD, POWERS,
        .options = {"--window", "1,-1", "--diagonal", "2"},
        .out = LIST(14.0 / 3, 6), .tolerance = ROUNDED},
    {"a window within causal takes its diagonal", ONE_HEAD, POWERS,
        .options = {"--window", "0,-1", "--causal", "1"}, .out = LIST(2, 4),
        .tolerance = ROUNDED},
    {"an unbounded window hides nothing and needs no diagonal", ONE_HEAD,
        POWERS, .options = {"--window", "-1,-1"}, .out = LIST(3.75, 3.75),
        .tolerance = ROUNDED},
    {"a window as wide as can be told", ONE_HEAD, POWERS,
        .options = {"--window", "2147483647,0", "--diagonal", "0"},
        .out = LIST(1, 1.5), .tolerance = ROUNDED},
    {"a diagonal for each item", TWO_ITEMS, POWERS_TWICE,
        .options = {"--window", "0,0", "--diagonal", "2,-1"},
        .out = LIST(4, 8, 0, 10), .tolerance = ROUNDED},
    {"diagonals of a file", TWO_ITEMS, POWERS_TWICE,
        .options = {"--window", "0,0", "--diagonal", "@two.npy"},
        .out = LIST(4, 8, 0, 10), .tolerance = ROUNDED},
    {"the bottom right corner follows both lengths", TWO_ITEMS, POWERS_TWICE,
        .options = {"--window", "0,0", "--diagonal", "bottom-right",
            "--lengths", "4,2", "--query-lengths", "1,2"},
        .out = LIST(8, 0, 10, 20), .tolerance = ROUNDED},
    /* ---- ALiBi: weights are powers of 2 ---- */
    {"a slope takes from the score by distance", ONE_HEAD, POWERS,
        .options = {"--alibi", "0.6931471805599453", "--diagonal", "top-left"},
        .out = LIST(4 / 1.875, 6.5 / 2.25), .tolerance = ROUNDED},
    {"ALiBi takes causal's diagonal", ONE_HEAD, POWERS,
        .options = {"--alibi", "@ln2.npy", "--causal", "1"},
        .out = LIST(2.5 / 1.5, 5.25 / 1.75), .tolerance = ROUNDED},
    {"the usual slopes of 3 heads", .B = 1, .Hq = 3, .Hkv = 1, .Lq = 1, .Lk = 3,
        .D = 1, .Dv = 1,
        .options = {"--alibi", "auto", "--diagonal", "1", "--stage", "masked"},
        .matrix = LIST(
            -0.0625, 0, -0.0625, -0.00390625, 0, -0.00390625, -0.25, 0, -0.25),
        .matrix_count = 9},
    {"the usual slopes of 7 heads", .B = 1, .Hq = 7, .Hkv = 1, .Lq = 1, .Lk = 2,
        .D = 1, .Dv = 1,
        .options = {"--alibi", "auto", "--diagonal", "0", "--stage", "masked"},
        .matrix = LIST(0, -0.25, 0, -0.0625, 0, -0.015625, 0, -0.00390625, 0,
            -0.5, 0, -0.125, 0, -0.03125),
        .matrix_count = 14},
    {"the usual slopes of 8 heads", .B = 1, .Hq = 8, .Hkv = 1, .Lq = 1, .Lk = 2,
        .D = 1, .Dv = 1,
        .options = {"--alibi", "auto", "--diagonal", "0", "--stage", "masked"},
        .matrix = LIST(0, -0.5, 0, -0.25, 0, -0.125, 0, -0.0625, 0, -0.03125, 0,
            -0.015625, 0, -0.0078125, 0, -0.00390625),
        .matrix_count = 16},
    {"a slope for each head, negative too", .B = 1, .Hq = 2, .Hkv = 1, .Lq = 1,
        .Lk = 3, .D = 1, .Dv = 1,
        .options = {"--alibi", "0.5,-2", "--diagonal", "2", "--stage",
            "masked"},
        .matrix = LIST(-1, -0.5, 0, 4, 2, 0), .matrix_count = 6},
    /* ---- Scale, softcap, stages ---- */
    {"scaled: before softcap, of hidden keys too", ONE_HEAD, POWERS,
        .q = LIST(1, 2), .k = LIST(1, 2, 3, 4),
        .options = {"--scale", "0.5", "--softcap", "2", "--causal", "top-left",
            "--lengths", "3", "--stage", "scaled"},
        .matrix = LIST(0.5, 1, 1.5, 0, 1, 2, 3, 0), .matrix_count = 8},
    {"capped: after softcap, of hidden keys too", ONE_HEAD, POWERS,
        .q = LIST(1, 2), .k = LIST(1, 2, 3, 4),
        .options = {"--scale", "0.5", "--softcap", "2", "--causal", "top-left",
            "--lengths", "3", "--stage", "capped"},
        .matrix = LIST(0.48983733, 0.92423431, 1.27029790, 0, 0.92423431,
            1.52318831, 1.81029651, 0),
        .matrix_count = 8, .tolerance = ROUNDED},
    {"masked: as softmax takes them", ONE_HEAD, POWERS, .q = LIST(1, 2),
        .k = LIST(1, 2, 3, 4), .mask_dtype = CLATTN_F32, .mask_rank = 2,
        .mask_size = {2, 4}, .mask = LIST(1, 2, 3, 4, HIDDEN, 5, 6, 7),
        .options = {"--scale", "0.5", "--causal", "1", "--alibi", "0.25",
            "--stage", "masked"},
        .matrix = LIST(1.25, 3, HIDDEN, HIDDEN, HIDDEN, 6.75, 9, HIDDEN),
        .matrix_count = 8},
    {"masked is the stage where none is named", ONE_HEAD, POWERS,
        .options = {"--causal", "0", "--stage", "masked"},
        .matrix = LIST(0, HIDDEN, HIDDEN, HIDDEN, 0, 0, HIDDEN, HIDDEN),
        .matrix_count = 8},
    {"weights as a stage", ONE_HEAD, POWERS,
        .options = {"--causal", "0", "--stage", "weights"},
        .matrix = LIST(1, 0, 0, 0, 0.5, 0.5, 0, 0), .matrix_count = 8},
    {"softcap 0 is off", ONE_HEAD, POWERS, .q = LIST(1, 2),
        .k = LIST(1, 2, 3, 4),
        .options = {"--softcap", "0", "--stage", "capped"},
        .matrix = LIST(1, 2, 3, 4, 2, 4, 6, 8), .matrix_count = 8},
    {"scale 0 makes all scores equal", ONE_HEAD, POWERS, .q = LIST(1, 2),
        .k = LIST(1, 2, 3, 4), .options = {"--scale", "0"},
        .out = LIST(3.75, 3.75), .lse = LIST(LN4, LN4), .tolerance = ROUNDED},
    /* ---- Lengths ---- */
    {"queries past their length read nothing", TWO_ITEMS, POWERS_TWICE,
        .options = {"--query-lengths", "1,0"}, .out = LIST(3.75, 0, 0, 0),
        .lse = LIST(LN4, HIDDEN, HIDDEN, HIDDEN), .tolerance = ROUNDED},
    {"query lengths of a file", TWO_ITEMS, POWERS_TWICE,
        .options = {"--query-lengths", "@lengths.npy"},
        .out = LIST(3.75, 0, 37.5, 37.5), .tolerance = ROUNDED},
    /* ---- Sinks ---- */
    {"a sink takes its share of the weight", ONE_HEAD, POWERS,
        .options = {"--sinks", "1.3862943611198906"}, .out = LIST(1.875, 1.875),
        .lse = LIST(1.5 * LN4, 1.5 * LN4),
        .matrix = LIST(0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125),
        .matrix_count = 8, .tolerance = ROUNDED},
    {"a row without keys has its sink for lse", ONE_HEAD, POWERS,
        .options = {"--sinks", "@ln2.npy", "--lengths", "0"}, .out = LIST(0, 0),
        .lse = LIST(LN2, LN2), .tolerance = ROUNDED},
    {"each head has its sink", .B = 1, .Hq = 2, .Hkv = 1, .Lq = 1, .Lk = 4,
        .D = 1, .Dv = 1, POWERS, .options = {"--sinks", "-1e4,1e4"},
        .out = LIST(3.75, 0), .tolerance = ROUNDED},
    /* ---- Dropout ---- */
    {"dropout of 0 drops nothing", ONE_HEAD, POWERS,
        .options = {"--dropout", "0", "--seed", "1", "--dropout-offset", "1"},
        .out = LIST(3.75, 3.75), .tolerance = ROUNDED},
    {"dropout of 1 drops all, and none of the lse", ONE_HEAD, POWERS,
        .options = {"--dropout", "1"}, .out = LIST(0, 0), .lse = LIST(LN4, LN4),
        .tolerance = ROUNDED},
    /* ---- Storage ---- */
    {"f16: results are f16, the lse is not", ONE_HEAD,
        .v = LIST(0.1, 0.1, 0.1, 0.1), .options = {"--dtype", "f16"},
        .out = LIST(0.0999755859375, 0.0999755859375), .lse = LIST(LN4, LN4),
        .tolerance = 1e-7},
    {"bf16: results are bf16, written as f32", ONE_HEAD,
        .v = LIST(0.1, 0.1, 0.1, 0.1), .options = {"--dtype", "bf16"},
        .out = LIST(0.10009765625, 0.10009765625), .lse = LIST(LN4, LN4),
        .tolerance = 1e-7},
    {"f16: weights are f32", ONE_HEAD, POWERS,
        .options = {"--dtype", "f16", "--causal", "2"},
        .matrix = LIST(1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0.25, 0.25, 0.25, 0.25),
        .matrix_count = 8, .tolerance = 1e-7},
    /* ---- Packed ---- */
    {"a packed batch of two items", .B = 1, .Hq = 1, .Hkv = 1, .Lq = 3, .Lk = 5,
        .D = 1, .Dv = 1, .layout = "thd", .v = LIST(1, 2, 4, 10, 30),
        .options = {"--cu-query", "0,1,3", "--cu-key", "0,3,5"},
        .out = LIST(7.0 / 3, 20, 20), .lse = LIST(1.0986122886681098, LN2, LN2),
        .matrix =
            LIST(1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0.5, 0),
        .matrix_count = 12, .tolerance = ROUNDED},
    {"cumulative offsets of files", .B = 1, .Hq = 1, .Hkv = 1, .Lq = 3, .Lk = 5,
        .D = 1, .Dv = 1, .layout = "thd", .v = LIST(1, 2, 4, 10, 30),
        .options = {"--cu-query", "@cu_query.npy", "--cu-key", "@cu_key.npy"},
        .out = LIST(7.0 / 3, 20, 20), .tolerance = ROUNDED},
    {"a packed batch with two heads, each row's side by side", .B = 1, .Hq = 2,
        .Hkv = 2, .Lq = 2, .Lk = 3, .D = 1, .Dv = 2, .layout = "thd",
        .v = LIST(1, 2, 3, 4, 10, 20, 30, 40, 50, 60, 70, 80),
        .options = {"--cu-query", "0,1,2", "--cu-key", "0,1,3"},
        .out = LIST(1, 2, 3, 4, 30, 40, 50, 60), .lse = LIST(0, LN2, 0, LN2),
        .tolerance = ROUNDED},
    {"packed items count their rows from their own begin", .B = 1, .Hq = 1,
        .Hkv = 1, .Lq = 4, .Lk = 5, .D = 1, .Dv = 1, .layout = "thd",
        .v = LIST(1, 2, 4, 10, 30),
        .options = {"--cu-query", "0,2,4", "--cu-key", "0,3,5", "--causal",
            "bottom-right"},
        .out = LIST(1.5, 7.0 / 3, 10, 20), .tolerance = ROUNDED},
    {"packed rows of no item", .B = 1, .Hq = 1, .Hkv = 1, .Lq = 4, .Lk = 3,
        .D = 1, .Dv = 1, .layout = "thd", .v = LIST(1, 3, 100),
        .options = {"--cu-query", "1,3", "--cu-key", "0,2"},
        .out = LIST(0, 2, 2, 0), .lse = LIST(HIDDEN, LN2, LN2, HIDDEN),
        .tolerance = ROUNDED},
    {"lengths shorten packed items", .B = 1, .Hq = 1, .Hkv = 1, .Lq = 3,
        .Lk = 5, .D = 1, .Dv = 1, .layout = "thd", .v = LIST(1, 2, 4, 10, 30),
        .options = {"--cu-query", "0,1,3", "--cu-key", "0,3,5", "--lengths",
            "2,1", "--query-lengths", "1,1"},
        .out = LIST(1.5, 10, 0), .lse = LIST(LN2, 0, HIDDEN),
        .tolerance = ROUNDED},
    {"a packed batch with an empty item", .B = 1, .Hq = 1, .Hkv = 1, .Lq = 2,
        .Lk = 2, .D = 1, .Dv = 1, .layout = "thd", .v = LIST(1, 3),
        .options = {"--cu-query", "0,1,1,2", "--cu-key", "0,2,2,2"},
        .out = LIST(2, 0), .lse = LIST(LN2, HIDDEN), .tolerance = ROUNDED},
    /* ---- Masks: dtypes and axes ---- */
    {"a mask of f16", ONE_HEAD, POWERS, .mask_dtype = CLATTN_F16,
        .mask_rank = 1, .mask_size = {4}, .mask = LIST(0, HIDDEN, HIDDEN, 0),
        .out = LIST(4.5, 4.5), .tolerance = ROUNDED},
    {"a mask of f64", ONE_HEAD, POWERS, .mask_dtype = CLATTN_F64,
        .mask_rank = 2, .mask_size = {1, 4},
        .mask = LIST(0, 0.69314718055994531, HIDDEN, HIDDEN),
        .out = LIST(5.0 / 3, 5.0 / 3), .tolerance = ROUNDED},
    {"a mask of bf16", ONE_HEAD, POWERS, .mask_dtype = CLATTN_BF16,
        .mask_rank = 2, .mask_size = {2, 1}, .mask = LIST(HIDDEN, 3),
        .options = {"--read-bf16"}, .out = LIST(0, 3.75),
        .lse = LIST(HIDDEN, 3 + LN4), .tolerance = ROUNDED},
    {"a mask of each item", TWO_ITEMS, POWERS_TWICE, .mask_dtype = CLATTN_BOOL,
        .mask_rank = 4, .mask_size = {2, 1, 1, 4},
        .mask = LIST(1, 0, 0, 0, 0, 0, 0, 1), .out = LIST(1, 1, 80, 80)},
    {"a mask with the axis of heads in front", .B = 2, .Hq = 2, .Hkv = 1,
        .Lq = 1, .Lk = 2, .D = 1, .Dv = 1, .v = LIST(1, 2, 3, 4),
        .mask_dtype = CLATTN_BOOL, .mask_rank = 3, .mask_size = {2, 1, 2},
        .mask = LIST(1, 0, 0, 1), .out = LIST(1, 2, 3, 4)},
};

static void prepare_files(void)
{
    static const int32_t TWO[] = {2, -1};
    static const int64_t LENGTHS[] = {1, 2};
    static const uint8_t CU_QUERY[] = {0, 1, 3};
    static const int16_t CU_KEY[] = {0, 3, 5};
    static const double VALUE = LN2;
    scratch_begin();
    attending_store("two.npy", "<i4", 1, (const size_t[]){2}, TWO);
    attending_store("lengths.npy", "<i8", 1, (const size_t[]){2}, LENGTHS);
    attending_store("cu_query.npy", "|u1", 1, (const size_t[]){3}, CU_QUERY);
    attending_store("cu_key.npy", "<i2", 1, (const size_t[]){3}, CU_KEY);
    attending_write("ln2.npy", CLATTN_F64, 1, (const size_t[]){1}, &VALUE);
}

START_TEST(each_option_means_what_the_docs_say)
{
    const size_t index = (size_t)_i / ATTENDING_WAYS;
    attending_check(&CASES[index], (enum attending_way)(_i % ATTENDING_WAYS));
}
END_TEST

/* ---- Storage ------------------------------------------------------------- */

/* The dtype of a file, as the header has it. */
static void check_descr(const char *name, const char *descr)
{
    char path[SCRATCH_PATH];
    size_t bytes;
    char *file = scratch_read(scratch_path(path, name), &bytes);
    ck_assert(file && bytes > 30);
    ck_assert_msg(strstr(file + 10, descr) != NULL, "%s has %s, want %s", name,
        file + 10, descr);
    free(file);
}

static const attending_case F16 = {
    "f16", ONE_HEAD, POWERS, .options = {"--dtype", "f16"}, .matrix_count = 8};
static const attending_case BF16 = {"bf16", ONE_HEAD, POWERS,
    .options = {"--dtype", "bf16"}, .matrix_count = 8};

START_TEST(files_of_f16_are_f2_and_all_others_f4)
{
    attending_do(&F16, (enum attending_way)_i);
    check_descr("o.npy", "'<f2'");
    check_descr("l.npy", "'<f4'");
    check_descr("s.npy", "'<f4'");
    attending_do(&BF16, (enum attending_way)_i);
    check_descr("o.npy", "'<f4'");
}
END_TEST

static const attending_case ONE_KEY = {"one key", .B = 1, .Hq = 1, .Hkv = 1,
    .Lq = 1, .Lk = 1, .D = 1, .Dv = 2, .v = LIST(2049, 1 + 0x1p-8 + 0x1p-40),
    .options = {"--dtype", "f16"}, .out = LIST(2048, 1 + 0x1p-8)};

/* 2049 is a tie in f16, and 1 + 2^-8 + 2^-40 is just above one in bf16: through
   f32, which cuts the 2^-40, it would go the other way. */
START_TEST(f64_inputs_are_rounded_once)
{
    attending_case other = ONE_KEY;
    attending_check(&ONE_KEY, (enum attending_way)_i);
    other.options[1] = "bf16";
    other.out = LIST(2048, 1 + 0x1p-7);
    attending_check(&other, (enum attending_way)_i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend options");
    TCase *options = tcase_create("options");
    tcase_set_timeout(options, 120);
    tcase_add_unchecked_fixture(options, prepare_files, scratch_end);
    tcase_add_loop_test(options, each_option_means_what_the_docs_say, 0,
        (int)COUNT(CASES) * ATTENDING_WAYS);
    tcase_add_loop_test(
        options, files_of_f16_are_f2_and_all_others_f4, 0, ATTENDING_FUSED);
    tcase_add_loop_test(
        options, f64_inputs_are_rounded_once, 0, ATTENDING_WAYS);
    suite_add_tcase(suite, options);
    return suite_main(suite, 0);
}
