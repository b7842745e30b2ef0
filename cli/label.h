/* SPDX-License-Identifier: Apache-2.0
 *
 * label.h - one line of text in any script, measured and drawn by pango.
 */
#ifndef CLATTN_CLI_LABEL_H
#define CLATTN_CLI_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <cairo.h>

enum {
    LABEL_BYTES = 256 /* longer text is cut between characters */
};

enum label_place {
    LABEL_BEGINS,  /* at the current origin, */
    LABEL_CENTRED, /* is centred on it, */
    LABEL_ENDS     /* ends at it; its line's middle lies there in each case */
};

typedef struct label_font label_font;

typedef struct label_box {
    double width, height;
    bool unknown; /* some character is in no font */
} label_box;

label_font *label_font_new(void);       /* NULL if there is no memory */
void label_font_free(label_font *font); /* NULL is a no-op */

/* "first second", or "second" alone where the first is empty. */
void label_join(char text[LABEL_BYTES], const char *first, const char *second);

/* Text of `size` pixels, cut with an ellipsis at `most` pixels; 0: never. */
label_box label_measure(
    label_font *font, const char *text, double size, double most);
void label_draw(label_font *font, cairo_t *to, const char *text, double size,
    double most, enum label_place place);

#endif
#endif
