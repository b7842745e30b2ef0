/* SPDX-License-Identifier: Apache-2.0
 *
 * heat.h - weights as colours, and the sizes of a map of them: arithmetic only,
 * nothing is drawn here.
 */
#ifndef CLATTN_CLI_HEAT_H
#define CLATTN_CLI_HEAT_H

#include <stddef.h>
#include <stdint.h>

#include "words.h"

typedef struct heat_colour {
    unsigned char red, green, blue;
} heat_colour;

/* What stands at the dark end of the scale: the largest finite weight, or 1
   where none is above 0. */
float heat_top(const reading *r);
/* Whether some weight is NaN or infinite. */
bool heat_has_odd(const reading *r);

/* The weight's share of top, from 0 (and below) to 1; NaN where the weight is
   not finite. */
float heat_share(float weight, float top);
/* Light for 0, dark for 1, in even steps of lightness; NaN has a colour that
   is not on the scale. */
heat_colour heat_colour_of(float share);

/* Pixels along one word's side of a cell.  Squares for sentences, and never
   below 1. */
typedef struct heat_cell {
    size_t width, height;
} heat_cell;

heat_cell heat_cell_of(size_t rows, size_t columns);
/* Every how many words one is named, so that names are `room` pixels apart:
   1, 2, 5, 10, 20 ... */
size_t heat_label_step(size_t cell, size_t room);
/* Between the ticks of a scale from 0 to top: 1, 2 or 5 times a power of ten,
   and 3 to 6 ticks. */
double heat_tick_step(double top);

/* Paint the map: rows * cell.height lines of columns * cell.width pixels, each
   0x00RRGGBB; `stride` pixels from line to line. */
void heat_paint(uint32_t *pixel, size_t stride, const reading *r, float top,
    heat_cell cell);

#endif
