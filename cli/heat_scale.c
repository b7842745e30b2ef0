/* SPDX-License-Identifier: Apache-2.0
 *
 * heat_scale.c - the bar beside a heat map that tells what its colours mean.
 */
#include "heat_scale.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <math.h>
#include <stdio.h>

#include "heat.h"
#include "pen.h"

#define BAR_WIDTH 14.0
#define GAP       6.0
#define TEXT_SIZE 11.0

static void draw_text(
    label_font *font, cairo_t *to, double x, double y, const char *text)
{
    cairo_save(to);
    cairo_translate(to, x, y);
    label_draw(font, to, text, TEXT_SIZE, 0.0, LABEL_BEGINS);
    cairo_restore(to);
}

static void draw_tick(const heat_scale *scale, label_font *font, cairo_t *to,
    double value, const char *format)
{
    char text[LABEL_BYTES];
    const double right = scale->left + BAR_WIDTH;
    const double y = scale->above + scale->high * (1.0 - value / scale->top);
    pen_tick(to, right, y, 4.0, 0.0);
    snprintf(text, sizeof text, format, value);
    draw_text(font, to, right + GAP, y, text);
}

static void draw_bar(const heat_scale *scale, cairo_t *to)
{
    enum {
        BANDS = 128
    };
    for (int i = BANDS; i > 0; --i) { /* each covers the seam below it */
        pen_colour(to, heat_colour_of((float)(BANDS - i) / (float)(BANDS - 1)));
        cairo_rectangle(to, scale->left, scale->above, BAR_WIDTH,
            (double)i * scale->high / BANDS);
        cairo_fill(to);
    }
    pen_frame(to, scale->left, scale->above, BAR_WIDTH, scale->high);
}

static void draw_odd(const heat_scale *scale, label_font *font, cairo_t *to)
{
    const double y = scale->above + scale->high + 2.0 * GAP;
    pen_colour(to, heat_colour_of(NAN));
    cairo_rectangle(to, scale->left, y, BAR_WIDTH, BAR_WIDTH);
    cairo_fill(to);
    pen_grey(to, PEN_TEXT);
    draw_text(font, to, scale->left + BAR_WIDTH + GAP, y + BAR_WIDTH / 2.0,
        "not finite");
}

double heat_scale_height(const heat_scale *scale)
{
    return scale->high + GAP + (scale->odd ? BAR_WIDTH + 2.0 * GAP : 0.0);
}

void heat_scale_draw(const heat_scale *scale, label_font *font, cairo_t *to)
{
    const double step = heat_tick_step(scale->top);
    draw_bar(scale, to);
    for (int i = 0; (double)i * step < 0.92 * scale->top; ++i)
        draw_tick(scale, font, to, (double)i * step, "%.4g");
    draw_tick(scale, font, to, scale->top, "%.3g largest");
    if (scale->odd)
        draw_odd(scale, font, to);
}

#endif
