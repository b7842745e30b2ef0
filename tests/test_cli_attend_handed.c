/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend_handed.c - what users of other attention libraries have met,
 * as small problems for CLATTN_PROGRAM: masks, diagonals, the range of numbers,
 * scale, shapes.
 *
 * Expected numbers are exact, or computed in double precision and given to 8
 * digits.
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
#define HIDDEN (-(double)INFINITY)
#define NAN_D  ((double)NAN)
#define SIZES(b, hq, hkv, lq, lk, d, dv) \
    .B = b, .Hq = hq, .Hkv = hkv, .Lq = lq, .Lk = lk, .D = d, .Dv = dv
#define MASK(type, rank, ...) \
    .mask_dtype = CLATTN_##type, .mask_rank = rank, .mask_size = {__VA_ARGS__}

/* The beginnings of three sequences that are exact in every dtype. */
#define QP6  -0.5, 1.25, 0.25, -0.75, 1, 0
#define QP12 QP6, -1, 0.75, -0.25, -1.25, 0.5, -0.5
#define KP6  -1.25, 0, 1.25, -0.75, 0.5, -1.5
#define KP12 KP6, -0.25, 1, -1, 0.25, 1.5, -0.5
#define VP6  -0.75, -0.375, 0, 0.375, 0.75, -1
#define VP12 VP6, -0.625, -0.25, 0.125, 0.5, 0.875, -0.875

static const attending_case CASES[] = {
    /* ---- Masks ---- */
    {"a row that is all masked is 0", SIZES(1, 1, 1, 2, 3, 2, 2),
        .q = LIST(QP6), .k = LIST(KP6), .v = LIST(VP6), MASK(BOOL, 2, 2, 3),
        .mask = LIST(1, 1, 0, 0, 0, 0), .options = {"--scale", "0.125"},
        .out = LIST(-0.42595246, -0.05095246, 0, 0),
        .lse = LIST(0.64387047, HIDDEN), .tolerance = CLOSE},
    {"a masked key of 1", SIZES(1, 1, 1, 2, 2, 4, 4),
        .q = LIST(0, 1, 2, 3, 4, 5, 6, 7), .k = LIST(0, 1, 2, 3, 1, 5, 6, 7),
        .v = LIST(0, 1, 2, 3, 4, 5, 6, 7), MASK(BOOL, 1, 2), .mask = LIST(1, 0),
        .out = LIST(0, 1, 2, 3, 0, 1, 2, 3), .tolerance = EXACT},
    {"a masked key of 1e10", SIZES(1, 1, 1, 2, 2, 4, 4),
        .q = LIST(0, 1, 2, 3, 4, 5, 6, 7), .k = LIST(0, 1, 2, 3, 1e10, 5, 6, 7),
        .v = LIST(0, 1, 2, 3, 4, 5, 6, 7), MASK(BOOL, 1, 2), .mask = LIST(1, 0),
        .out = LIST(0, 1, 2, 3, 0, 1, 2, 3), .tolerance = EXACT},
    {"a masked key of NaN", SIZES(1, 1, 1, 2, 2, 4, 4),
        .q = LIST(0, 1, 2, 3, 4, 5, 6, 7),
        .k = LIST(0, 1, 2, 3, NAN_D, 5, 6, 7),
        .v = LIST(0, 1, 2, 3, NAN_D, 5, 6, 7), MASK(BOOL, 2, 2, 2),
        .mask = LIST(1, 0, 1, 0), .out = LIST(0, 1, 2, 3, 0, 1, 2, 3),
        .tolerance = EXACT},
    {"an additive -inf hides NaN too", SIZES(1, 1, 1, 2, 2, 4, 4),
        .q = LIST(0, 1, 2, 3, 4, 5, 6, 7),
        .k = LIST(0, 1, 2, 3, NAN_D, 5, 6, 7),
        .v = LIST(0, 1, 2, 3, NAN_D, 5, 6, 7), MASK(F32, 1, 2),
        .mask = LIST(0, HIDDEN), .out = LIST(0, 1, 2, 3, 0, 1, 2, 3),
        .tolerance = EXACT},
    {"a masked key does not win over a low score", SIZES(1, 1, 1, 2, 2, 1, 1),
        .q = LIST(-20000, 0), .k = LIST(1, 0), .v = LIST(1, 100),
        MASK(BOOL, 1, 2), .mask = LIST(1, 0), .options = {"--scale", "1"},
        .out = LIST(1, 1), .tolerance = EXACT},
    {"a bool mask of 1 and 0", SIZES(1, 1, 1, 1, 2, 1, 1), .v = LIST(1, 3),
        MASK(BOOL, 1, 2), .mask = LIST(1, 0), .out = LIST(1),
        .tolerance = EXACT},
    {"a float mask of 1 and 0", SIZES(1, 1, 1, 1, 2, 1, 1), .v = LIST(1, 3),
        MASK(F32, 1, 2), .mask = LIST(1, 0), .out = LIST(1.5378828),
        .tolerance = CLOSE},
    {"true may attend", SIZES(1, 1, 1, 3, 3, 1, 1), .v = LIST(1, 2, 4),
        MASK(BOOL, 2, 3, 3), .mask = LIST(1, 0, 0, 1, 1, 0, 1, 1, 1),
        .out = LIST(1, 1.5, 2.3333333), .tolerance = CLOSE},
    {"the strict upper triangle", SIZES(1, 1, 1, 3, 3, 1, 1),
        .v = LIST(1, 2, 4), MASK(BOOL, 2, 3, 3),
        .mask = LIST(0, 1, 1, 0, 0, 1, 0, 0, 0), .out = LIST(3, 4, 0),
        .tolerance = EXACT},
    {"each head has its own mask", SIZES(1, 2, 2, 1, 2, 1, 1),
        .v = LIST(1, 3, 1, 3), MASK(BOOL, 4, 1, 2, 1, 2),
        .mask = LIST(1, 0, 0, 1), .out = LIST(1, 3), .tolerance = EXACT},
    {"causal and mask both hide", SIZES(1, 1, 1, 3, 3, 1, 1),
        .v = LIST(1, 2, 4), MASK(BOOL, 2, 3, 3),
        .mask = LIST(0, 1, 1, 1, 1, 1, 1, 1, 1),
        .options = {"--causal", "top-left"}, .out = LIST(0, 1.5, 2.3333333),
        .tolerance = CLOSE},
    /* ---- The diagonal ---- */
    {"causal from the top left", SIZES(1, 1, 1, 2, 4, 1, 1),
        .v = LIST(1, 2, 4, 8), .options = {"--causal", "top-left"},
        .out = LIST(1, 1.5), .tolerance = CLOSE},
    {"causal from the bottom right", SIZES(1, 1, 1, 2, 4, 1, 1),
        .v = LIST(1, 2, 4, 8), .options = {"--causal", "bottom-right"},
        .out = LIST(2.3333333, 3.75), .tolerance = CLOSE},
    {"one query from the top left", SIZES(1, 1, 1, 1, 4, 1, 1),
        .v = LIST(1, 2, 4, 8), .options = {"--causal", "top-left"},
        .out = LIST(1), .tolerance = EXACT},
    {"one query from the bottom right", SIZES(1, 1, 1, 1, 4, 1, 1),
        .v = LIST(1, 2, 4, 8), .options = {"--causal", "bottom-right"},
        .out = LIST(3.75), .tolerance = CLOSE},
    {"the corner follows each item's keys", SIZES(2, 1, 1, 2, 6, 1, 1),
        .v = LIST(1, 2, 4, 8, 16, 32, 1, 2, 4, 8, 16, 32),
        .options = {"--causal", "bottom-right", "--lengths", "4,6"},
        .out = LIST(2.3333333, 3.75, 6.2, 10.5), .tolerance = CLOSE},
    {"a window of 2 to the left", SIZES(1, 1, 1, 5, 5, 1, 1),
        .v = LIST(1, 2, 4, 8, 16),
        .options = {"--window", "2,0", "--diagonal", "top-left"},
        .out = LIST(1, 1.5, 2.3333333, 4.6666667, 9.3333333),
        .tolerance = CLOSE},
    {"a window of 1 to the left", SIZES(1, 1, 1, 5, 5, 1, 1),
        .v = LIST(1, 2, 4, 8, 16),
        .options = {"--window", "1,0", "--causal", "bottom-right"},
        .out = LIST(1, 1.5, 3, 6, 12), .tolerance = CLOSE},
    /* ---- The range of numbers ---- */
    {"a sum of weighted values beyond f16", SIZES(1, 1, 1, 1, 2, 1, 1),
        .v = LIST(60000, 60000), .options = {"--dtype", "f16"},
        .out = LIST(60000), .tolerance = EXACT},
    {"scores about 2000", SIZES(1, 1, 1, 1, 2, 1, 1), .q = LIST(2048),
        .k = LIST(1, 1 - 0x1p-10), .v = LIST(1, 0), .options = {"--scale", "1"},
        .out = LIST(0.88079708), .lse = LIST(2048.1269), .tolerance = CLOSE},
    {"bf16 is rounded to nearest", SIZES(1, 1, 1, 1, 1, 1, 1),
        .v = LIST(0.2691408770292272), .options = {"--dtype", "bf16"},
        .out = LIST(0.26953125), .tolerance = EXACT},
    {"the smallest f16 is kept", SIZES(1, 1, 1, 1, 1, 1, 1), .v = LIST(0x1p-24),
        .options = {"--dtype", "f16"}, .out = LIST(0x1p-24),
        .tolerance = EXACT},
    {"just below f16's smallest normal", SIZES(1, 1, 1, 1, 1, 1, 1),
        .v = LIST(0x1.ffcp-15), .options = {"--dtype", "f16"},
        .out = LIST(0x1p-14), .tolerance = EXACT},
    {"a mask of f32 in a problem of f16", SIZES(1, 1, 1, 1, 2, 1, 1),
        .v = LIST(1, 3), MASK(F32, 1, 2), .mask = LIST(0, -1e9),
        .options = {"--dtype", "f16"}, .out = LIST(1), .tolerance = EXACT},
    {"finite masks shift all scores alike", SIZES(1, 1, 1, 1, 2, 1, 1),
        .v = LIST(1, 3), MASK(F32, 1, 2), .mask = LIST(-1e9, -1e9),
        .options = {"--dtype", "f16"}, .out = LIST(2), .tolerance = EXACT},
    {"f16 without f16 arithmetic", SIZES(1, 1, 1, 1, 2, 1, 1), .q = LIST(1),
        .k = LIST(1, 0), .v = LIST(1, 2),
        .options = {"--dtype", "f16", "--scale", "1"}, .out = LIST(1.2685547),
        .tolerance = 1e-7},
    {"bf16 the same", SIZES(1, 1, 1, 1, 2, 1, 1), .q = LIST(1), .k = LIST(1, 0),
        .v = LIST(1, 2), .options = {"--dtype", "bf16", "--scale", "1"},
        .out = LIST(1.265625), .tolerance = EXACT},
    /* ---- Scale and softcap ---- */
    {"a negative scale", SIZES(1, 1, 1, 1, 2, 1, 1), .q = LIST(1),
        .k = LIST(1, 2), .v = LIST(0, 1), .options = {"--scale", "-1"},
        .out = LIST(0.26894142), .tolerance = CLOSE},
    {"softcap comes before the mask", SIZES(1, 1, 1, 1, 2, 1, 1),
        .v = LIST(1, 100), MASK(F32, 1, 2), .mask = LIST(0, HIDDEN),
        .options = {"--scale", "1", "--softcap", "1"}, .out = LIST(1),
        .tolerance = EXACT},
    /* ---- Shapes ---- */
    {"a head of 3 columns", SIZES(1, 1, 1, 1, 2, 3, 1), .q = LIST(1, 1, 1),
        .k = LIST(1, 1, 1, 0, 0, 0), .v = LIST(0, 1), .out = LIST(0.15032545),
        .tolerance = CLOSE},
    {"heads of a row side by side", SIZES(1, 2, 2, 3, 3, 2, 2),
        .layout = "blhd", .q = LIST(QP12), .k = LIST(KP12), .v = LIST(VP12),
        .out = LIST(-0.21883025, 0.02312392, 0.27559967, -0.22616935,
            0.35180847, -0.57181024, -0.40259519, -0.24708305, 0.31308828,
            -0.60807360, 0.29215869, -0.25),
        .tolerance = CLOSE},
    {"rows of a mask", SIZES(1, 1, 1, 2, 3, 1, 1), .v = LIST(1, 2, 4),
        MASK(F32, 2, 2, 3),
        .mask = LIST(0, 0.69314718055994531, HIDDEN, 1.0986122886681098, 0, 0),
        .out = LIST(1.6666667, 1.8), .tolerance = CLOSE},
    {"neighbouring heads share keys", SIZES(1, 4, 2, 1, 1, 1, 1),
        .v = LIST(1, 3), .out = LIST(1, 1, 3, 3), .tolerance = EXACT},
    {"no items", SIZES(0, 10, 10, 3952, 16, 64, 64), .out = LIST(0)},
    {"no queries", SIZES(1, 2, 1, 0, 16, 4, 4), .out = LIST(0)},
    {"no keys", SIZES(1, 1, 1, 2, 0, 4, 2), .out = LIST(0, 0, 0, 0),
        .lse = LIST(HIDDEN, HIDDEN), .tolerance = EXACT},
    /* ---- Caches ---- */
    {"an empty cache beside a full one", SIZES(2, 1, 1, 1, 4, 1, 1),
        .v = LIST(1, 2, 4, 8, 1, 2, 4, 8), .options = {"--lengths", "0,3"},
        .out = LIST(0, 2.3333333), .tolerance = CLOSE},
    {"unused rows of a cache", SIZES(2, 1, 1, 1, 3, 2, 1),
        .q = LIST(0.5, 0.5, 0.5, 0.5),
        .k = LIST(
            0.5, 0.5, NAN_D, NAN_D, NAN_D, NAN_D, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
        .v = LIST(1, NAN_D, NAN_D, 1, 2, 3),
        .options = {"--lengths", "1,3", "--dtype", "f16"}, .out = LIST(1, 2),
        .tolerance = EXACT},
};

START_TEST(what_others_have_met_is_right_here)
{
    const size_t index = (size_t)_i / ATTENDING_WAYS;
    attending_check(&CASES[index], (enum attending_way)(_i % ATTENDING_WAYS));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend handed");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 300);
    tcase_add_unchecked_fixture(cases, scratch_begin, scratch_end);
    tcase_add_loop_test(cases, what_others_have_met_is_right_here, 0,
        (int)COUNT(CASES) * ATTENDING_WAYS);
    suite_add_tcase(suite, cases);
    return suite_main(suite, 0);
}
