/* SPDX-License-Identifier: Apache-2.0
 *
 * test_heat.c - weights as colours, and the sizes of a map of them.
 */
#include "heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* ---- Colours ------------------------------------------------------------- */

static double linear(unsigned char channel)
{
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* The lightness L of CIELAB for sRGB, 0 to 100: IEC 61966-2-1, CIE 15. */
static double lightness(heat_colour c)
{
    const double y = 0.2126 * linear(c.red) + 0.7152 * linear(c.green) +
                     0.0722 * linear(c.blue);
    return y > 216.0 / 24389.0 ? 116.0 * cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

START_TEST(colours_darken_evenly_from_0_to_1)
{
    const double all =
        lightness(heat_colour_of(0.0f)) - lightness(heat_colour_of(1.0f));
    ck_assert_double_gt(all, 80.0); /* of 100 */
    for (int i = 0; i < 10; ++i) {
        const double drop = lightness(heat_colour_of((float)i / 10.0f)) -
                            lightness(heat_colour_of((float)(i + 1) / 10.0f));
        ck_assert_msg(drop > all / 20.0 && drop < all / 5.0,
            "from %d to %d tenths lightness drops by %f of %f", i, i + 1, drop,
            all);
    }
}
END_TEST

START_TEST(what_is_not_finite_has_a_colour_off_the_scale)
{
    const heat_colour odd = heat_colour_of(heat_share(NAN, 1.0f));
    for (int i = 0; i <= 256; ++i) {
        const heat_colour c = heat_colour_of((float)i / 256.0f);
        const int apart = abs(c.red - odd.red) + abs(c.green - odd.green) +
                          abs(c.blue - odd.blue);
        ck_assert_msg(apart > 100, "%d / 256 is only %d apart", i, apart);
    }
}
END_TEST

static const struct {
    const char *about;
    float weight, top, share;
} SHARES[] = {
    {"none", 0.0f, 0.5f, 0.0f},
    {"half", 0.25f, 0.5f, 0.5f},
    {"all", 0.5f, 0.5f, 1.0f},
    {"negative counts as none", -1.0f, 0.5f, 0.0f},
    {"more than all is all", 2.0f, 0.5f, 1.0f},
    {"tiny", 1e-38f, 1e-38f, 1.0f},
    {"NaN", NAN, 0.5f, NAN},
    {"infinity", INFINITY, 0.5f, NAN},
    {"minus infinity", -INFINITY, 0.5f, NAN},
};

START_TEST(a_share_is_between_0_and_1_or_nan)
{
    const float got = heat_share(SHARES[_i].weight, SHARES[_i].top);
    ck_assert_msg(
        isnan(SHARES[_i].share) ? isnan(got) : got == SHARES[_i].share,
        "%s: %g", SHARES[_i].about, (double)got);
}
END_TEST

static const struct {
    const char *about;
    float weight[3], top;
    bool odd;
} TOPS[] = {
    {"the largest", {0.1f, 0.7f, 0.2f}, 0.7f, false},
    {"NaN is passed over", {0.1f, NAN, 0.2f}, 0.2f, true},
    {"so is infinity", {0.1f, INFINITY, 0.2f}, 0.2f, true},
    {"nothing above 0", {0.0f, 0.0f, -1.0f}, 1.0f, false},
    {"nothing finite", {NAN, NAN, NAN}, 1.0f, true},
};

START_TEST(the_top_is_the_largest_finite_weight)
{
    const reading r = {1, 3, TOPS[_i].weight, NULL, NULL, ""};
    ck_assert_msg(heat_top(&r) == TOPS[_i].top, "%s: %g", TOPS[_i].about,
        (double)heat_top(&r));
    ck_assert_msg(heat_has_odd(&r) == TOPS[_i].odd, "%s", TOPS[_i].about);
}
END_TEST

/* ---- Sizes --------------------------------------------------------------- */

START_TEST(cells_fit_a_screen_or_take_a_pixel)
{
    static const size_t counts[] = {1, 2, 14, 59, 95, 120, 121, 500, 4000};
    for (size_t a = 0; a < COUNT(counts); ++a)
        for (size_t b = 0; b < COUNT(counts); ++b) {
            const heat_cell cell = heat_cell_of(counts[a], counts[b]);
            ck_assert_msg(cell.width > 0 && cell.height > 0,
                "%zu x %zu: no cells", counts[a], counts[b]);
            ck_assert_msg(cell.height * counts[a] <= 4000 &&
                              cell.width * counts[b] <= 4000,
                "%zu x %zu: cells of %zu x %zu", counts[a], counts[b],
                cell.width, cell.height);
            if (counts[a] <= 120 && counts[b] <= 120)
                ck_assert_msg(cell.width == cell.height && cell.width >= 12,
                    "%zu x %zu: cells of %zu x %zu are no squares with room "
                    "for words",
                    counts[a], counts[b], cell.width, cell.height);
        }
}
END_TEST

START_TEST(labels_are_thinned_by_round_steps)
{
    static const struct {
        size_t cell, step;
    } steps[] = {{56, 1}, {12, 1}, {11, 2}, {6, 2}, {5, 5}, {2, 10}, {1, 20}};
    for (size_t i = 0; i < COUNT(steps); ++i)
        ck_assert_msg(heat_label_step(steps[i].cell, 12) == steps[i].step,
            "cells of %zu: every %zu", steps[i].cell,
            heat_label_step(steps[i].cell, 12));
}
END_TEST

START_TEST(a_scale_has_3_to_6_round_ticks)
{
    for (double top = 1e-30; top < 1e30; top *= 1.37) {
        const double step = heat_tick_step(top);
        const double leading = step / pow(10.0, floor(log10(step * 1.001)));
        const double ticks = floor(top / step) + 1.0; /* with that of 0 */
        ck_assert_msg(ticks >= 3.0 && ticks <= 6.0, "0 to %g by %g: %g ticks",
            top, step, ticks);
        ck_assert_msg(fabs(leading - 1.0) < 1e-6 ||
                          fabs(leading - 2.0) < 1e-6 ||
                          fabs(leading - 5.0) < 1e-6,
            "0 to %g by %g", top, step);
    }
}
END_TEST

static uint32_t pixel_of(float share)
{
    const heat_colour c = heat_colour_of(share);
    return (uint32_t)c.red << 16 | (uint32_t)c.green << 8 | (uint32_t)c.blue;
}

START_TEST(queries_run_down_and_keys_across)
{
    enum {
        STRIDE = 13, /* 3 keys of 4 pixels, and one that is not ours */
        LINES = 4,   /* 2 queries of 2 pixels */
        OURS = 12
    };
    static const float weight[6] = {0.0f, 0.25f, 0.5f, NAN, 1.0f, 0.125f};
    const reading r = {2, 3, weight, NULL, NULL, ""};
    uint32_t pixel[STRIDE * LINES];
    memset(pixel, 0xEE, sizeof pixel);
    heat_paint(pixel, STRIDE, &r, 1.0f, (heat_cell){4, 2});
    for (size_t y = 0; y < LINES; ++y)
        for (size_t x = 0; x < STRIDE; ++x) {
            const uint32_t want =
                x < OURS ? pixel_of(weight[y / 2 * 3 + x / 4]) : 0xEEEEEEEE;
            ck_assert_msg(pixel[y * STRIDE + x] == want,
                "pixel (%zu, %zu) is %06x, not %06x", x, y,
                (unsigned)pixel[y * STRIDE + x], (unsigned)want);
        }
}
END_TEST

int main(void)
{
    TCase *heat = tcase_create("heat");
    tcase_add_test(heat, colours_darken_evenly_from_0_to_1);
    tcase_add_test(heat, what_is_not_finite_has_a_colour_off_the_scale);
    tcase_add_loop_test(
        heat, a_share_is_between_0_and_1_or_nan, 0, (int)COUNT(SHARES));
    tcase_add_loop_test(
        heat, the_top_is_the_largest_finite_weight, 0, (int)COUNT(TOPS));
    tcase_add_test(heat, cells_fit_a_screen_or_take_a_pixel);
    tcase_add_test(heat, labels_are_thinned_by_round_steps);
    tcase_add_test(heat, a_scale_has_3_to_6_round_ticks);
    tcase_add_test(heat, queries_run_down_and_keys_across);
    Suite *suite = suite_create("heat");
    suite_add_tcase(suite, heat);
    return suite_main(suite, 0);
}
