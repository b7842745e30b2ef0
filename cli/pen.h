/* SPDX-License-Identifier: Apache-2.0
 *
 * pen.h - colours and ticks on a cairo context.
 */
#ifndef CLATTN_CLI_PEN_H
#define CLATTN_CLI_PEN_H

#include "heat.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <cairo.h>

#define PEN_TEXT 0.13 /* what is written */
#define PEN_SIDE 0.45 /* what is written beside that */
#define PEN_LINE 0.58 /* frames and ticks */

void pen_colour(cairo_t *to, heat_colour colour);
void pen_grey(cairo_t *to, double light); /* 0 black, 1 white */
/* A line, after which the pen writes text. */
void pen_tick(cairo_t *to, double x, double y, double dx, double dy);
void pen_frame(cairo_t *to, double x, double y, double width, double height);

#endif
#endif
