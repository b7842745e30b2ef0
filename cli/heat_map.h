/* SPDX-License-Identifier: Apache-2.0
 *
 * heat_map.h - the drawing of a reading: words at both axes, cells, a scale;
 * on anything that cairo draws on.
 */
#ifndef CLATTN_CLI_HEAT_MAP_H
#define CLATTN_CLI_HEAT_MAP_H

#include "words.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <cairo.h>

typedef struct heat_map heat_map;

/* Measures everything, draws nothing; the reading must outlive it.  NULL if
   there is no memory. */
heat_map *heat_map_new(const reading *r);
void heat_map_free(heat_map *map);
double heat_map_width(const heat_map *map);
double heat_map_height(const heat_map *map);

/* `detail` device pixels a unit are worth painting.  What goes wrong is the
   context's status afterwards. */
void heat_map_draw(const heat_map *map, cairo_t *to, size_t detail);

#endif
#endif
