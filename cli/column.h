/* SPDX-License-Identifier: Apache-2.0
 *
 * column.h - words in columns of a terminal: padded, or cut where they are too
 * long.
 */
#ifndef CLATTN_CLI_COLUMN_H
#define CLATTN_CLI_COLUMN_H

#include <stddef.h>
#include <stdio.h>

enum column_side {
    COLUMN_LEFT,
    COLUMN_RIGHT
};

/* `tail`, ASCII and possibly "", follows the text and is never cut.  A text
   that is cut ends in "~".  Exactly `width` columns, unless the tail alone is
   wider. */
void column_print(FILE *to, const char *text, const char *tail, size_t width,
    enum column_side side);

#endif
