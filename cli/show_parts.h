/* SPDX-License-Identifier: Apache-2.0
 *
 * show_parts.h - the two parts of what show.h shows.
 */
#ifndef CLATTN_CLI_SHOW_PARTS_H
#define CLATTN_CLI_SHOW_PARTS_H

#include "show.h"

/* A line for each query word, with the keys it reads most. */
void show_list(FILE *to, const reading *r, show_style style);
/* Cells in shades; nothing where the sentence is too long for the width. */
void show_matrix(FILE *to, const reading *r, show_style style);

/* Columns of the longest word. */
size_t show_longest(const words *w);
/* Columns of the largest index below count. */
size_t show_index_width(size_t count);

#endif
