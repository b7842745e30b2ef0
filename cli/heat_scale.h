/* SPDX-License-Identifier: Apache-2.0
 *
 * heat_scale.h - the bar beside a heat map that tells what its colours mean.
 */
#ifndef CLATTN_CLI_HEAT_SCALE_H
#define CLATTN_CLI_HEAT_SCALE_H

#include "label.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#define HEAT_SCALE_WIDTH 98.0 /* with its numbers */

typedef struct heat_scale {
    double left, above, high; /* where the bar is */
    double top;               /* the weight at its upper end */
    bool odd;                 /* also name the colour of what is not finite */
} heat_scale;

/* What it takes downwards from `above`. */
double heat_scale_height(const heat_scale *scale);
void heat_scale_draw(const heat_scale *scale, label_font *font, cairo_t *to);

#endif
#endif
