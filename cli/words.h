/* SPDX-License-Identifier: Apache-2.0
 *
 * words.h - the tokens of a sentence, one a line of a UTF-8 file, and the
 * matrix of weights between them: what map, show and picture draw.
 */
#ifndef CLATTN_CLI_WORDS_H
#define CLATTN_CLI_WORDS_H

#include <stddef.h>

#include "failure.h"

typedef struct words {
    size_t count;
    char **text; /* valid UTF-8 without control characters */
} words;

/* Read a token file: a line each, the last newline optional, CR LF accepted;
   invalid UTF-8, control characters and what breaks lines or turns the
   direction of text become U+FFFD.  `expected` tokens are needed; another
   number is a failure that names both.  On false *w is empty. */
bool words_read(words *w, const char *path, size_t expected, failure *f);
/* "0", "1", ...: what stands in for tokens where there are none. */
bool words_number(words *w, size_t count, failure *f);
void words_free(words *w);

/* Columns that the text takes in a terminal (East Asian wide: 2, combining: 0). */
size_t words_width(const char *text);

/* Weights that one picture or reading list shows. */
typedef struct reading {
    size_t rows, columns; /* Lq, Lk */
    const float *weight;  /* rows x columns, dense */
    const words *queries; /* rows of them */
    const words *keys;    /* columns of them */
    const char *title;    /* "layer 3, head 1" or "mean of 12 heads" */
} reading;

/* Mean over heads of (H, Lq, Lk), or a pointer into it for one head. */
void reading_mean(
    float *mean, const float *weights, size_t heads, size_t elements);

#endif
