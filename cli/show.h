/* SPDX-License-Identifier: Apache-2.0
 *
 * show.h - weights in a terminal: for each word the few words it reads most,
 * with bars, and a shaded matrix for short sentences.
 */
#ifndef CLATTN_CLI_SHOW_H
#define CLATTN_CLI_SHOW_H

#include <stdio.h>

#include "words.h"

typedef struct show_style {
    int colour;   /* 0: plain text without escape sequences */
    size_t width; /* columns of the terminal */
} show_style;

/* Plain when `to` is no terminal or NO_COLOR is set and not empty; else colour
   and the terminal's width. */
show_style show_style_of(FILE *to);

void show_reading(FILE *to, const reading *r, show_style style);

#endif
