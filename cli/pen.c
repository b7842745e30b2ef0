/* SPDX-License-Identifier: Apache-2.0
 *
 * pen.c - colours and ticks on a cairo context.
 */
#include "pen.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

void pen_colour(cairo_t *to, heat_colour colour)
{
    cairo_set_source_rgb(
        to, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0);
}

void pen_grey(cairo_t *to, double light)
{
    cairo_set_source_rgb(to, light, light, light);
}

void pen_tick(cairo_t *to, double x, double y, double dx, double dy)
{
    pen_grey(to, PEN_LINE);
    cairo_set_line_width(to, 1.0);
    cairo_move_to(to, x, y);
    cairo_rel_line_to(to, dx, dy);
    cairo_stroke(to);
    pen_grey(to, PEN_TEXT);
}

void pen_frame(cairo_t *to, double x, double y, double width, double height)
{
    pen_grey(to, PEN_LINE);
    cairo_set_line_width(to, 1.0);
    cairo_rectangle(to, x, y, width, height);
    cairo_stroke(to);
    pen_grey(to, PEN_TEXT);
}

#endif
