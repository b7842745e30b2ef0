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
    size_t width; /* columns of the terminal; below 40 counts as 40 */
    int blocks;   /* 1: bars of block characters; 0: of # */
} show_style;

/* Plain and 80 wide when `to` is no terminal, plain when NO_COLOR is set and
   not empty; else colour and the terminal's width.  Blocks go with colour where
   the locale's variables say UTF-8. */
show_style show_style_of(FILE *to);

/*
 * A line for each query word that a search can count on:
 *
 *     9 it                goat 0.83 ########   bridge 0.09 #        [CLS] 0.04
 *
 * Of words that occur more than once, ":" and the place tell which one is read:
 * "the:6".
 */
void show_reading(FILE *to, const reading *r, show_style style);

#endif
