/* SPDX-License-Identifier: Apache-2.0
 *
 * display.h - which weights `run` and `map` show, in the terminal and as a
 * picture, and with which words.
 */
#ifndef CLATTN_CLI_DISPLAY_H
#define CLATTN_CLI_DISPLAY_H

#include <stddef.h>
#include <stdio.h>

#include "failure.h"
#include "options.h"
#include "outputs.h"
#include "words.h"

/* Weights (B, H, Lq, Lk). */
typedef struct display_shape {
    size_t B, H, Lq, Lk;
} display_shape;

typedef struct display {
    const char *tokens;  /* file; NULL: numbers stand in for words */
    const char *picture; /* file; NULL: none */
    bool show;
    bool mean; /* over the heads; else `head` */
    bool head_given;
    size_t head, batch;
    display_shape shape;
    words queries, keys; /* after display_prepare */
} display;

/* The options --tokens, --head, --batch, --picture and --show.  False is wrong
   use. */
bool display_parse(display *d, const options *given, failure *f);

/* Before the work: read the words, check head, item and picture against the
   shape, which belongs to the file `of`. */
bool display_prepare(
    display *d, const display_shape *shape, const char *of, failure *f);
void display_free(display *d);

bool display_wanted(const display *d);

/* weights: all of the shape.  `subject` begins the title ("layer 3") and may be
   empty.  The picture is one of the outputs. */
bool display_draw(const display *d, FILE *to, outputs *files,
    const float *weights, const char *subject, failure *f);

#endif
