/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.h - a heat map of weights with the words at both axes, a colour bar
 * and a title, as PNG, SVG or PDF by the name's ending: pango and cairo.
 */
#ifndef CLATTN_CLI_PICTURE_H
#define CLATTN_CLI_PICTURE_H

#include "outputs.h"
#include "words.h"

/* Whether the name's ending says what kind of picture it is. */
bool picture_named(const char *path, failure *f);

/* Before any work: whether the ending is known, this build can draw, and a
   picture of rows x columns is within the limits (named in the message). */
bool picture_possible(
    const char *path, size_t rows, size_t columns, failure *f);

/* As one of the outputs. */
bool picture_write(outputs *to, const char *path, const reading *r, failure *f);

#endif
