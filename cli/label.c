/* SPDX-License-Identifier: Apache-2.0
 *
 * label.c - one line of text in any script, measured and drawn by pango.
 */
#include "label.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <pango/pangocairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct label_font {
    PangoFontMap *map; /* our own: the shared one would outlive us */
    PangoContext *context;
    PangoFontDescription *face;
};

label_font *label_font_new(void)
{
    label_font *font = calloc(1, sizeof *font);
    if (font == NULL)
        return NULL;
    font->map = pango_cairo_font_map_new();
    font->context = pango_font_map_create_context(font->map);
    font->face = pango_font_description_from_string("Sans");

    /* Letters keep their widths in every size of the picture. */
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    pango_cairo_context_set_font_options(font->context, options);
    cairo_font_options_destroy(options);
    pango_context_set_round_glyph_positions(font->context, FALSE);
    return font;
}

void label_font_free(label_font *font)
{
    if (font == NULL)
        return;
    pango_font_description_free(font->face);
    g_object_unref(font->context);
    g_object_unref(font->map);
    free(font);
}

/* The bytes of text that fit `room` without cutting a character. */
static size_t whole_characters(const char *text, size_t room)
{
    size_t bytes = strlen(text);
    if (bytes <= room)
        return bytes;
    bytes = room;
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xC0) == 0x80)
        --bytes;
    return bytes;
}

void label_join(char text[LABEL_BYTES], const char *first, const char *second)
{
    const char *space = first[0] != '\0' ? " " : "";
    const size_t before = strlen(first) + strlen(space);
    const size_t bytes = whole_characters(second, LABEL_BYTES - 1 - before);
    snprintf(text, LABEL_BYTES, "%s%s%.*s", first, space, (int)bytes, second);
}

static PangoLayout *layout_of(
    label_font *font, const char *text, double size, double most)
{
    PangoLayout *layout = pango_layout_new(font->context);
    pango_font_description_set_absolute_size(font->face, size * PANGO_SCALE);
    pango_layout_set_font_description(layout, font->face);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(
        layout, text, (int)whole_characters(text, LABEL_BYTES));
    int width = 0;
    pango_layout_get_size(layout, &width, NULL);
    if (most > 0.0 && (double)width > most * PANGO_SCALE) {
        pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
        pango_layout_set_width(layout, (int)(most * PANGO_SCALE));
    }
    return layout;
}

label_box label_measure(
    label_font *font, const char *text, double size, double most)
{
    PangoLayout *layout = layout_of(font, text, size, most);
    int width = 0, height = 0;
    pango_layout_get_size(layout, &width, &height);
    const label_box box = {(double)width / PANGO_SCALE,
        (double)height / PANGO_SCALE,
        pango_layout_get_unknown_glyphs_count(layout) > 0};
    g_object_unref(layout);
    return box;
}

void label_draw(label_font *font, cairo_t *to, const char *text, double size,
    double most, enum label_place place)
{
    PangoLayout *layout = layout_of(font, text, size, most);
    PangoRectangle box;
    pango_layout_get_extents(layout, NULL, &box);
    const double share = place == LABEL_BEGINS    ? 0.0
                         : place == LABEL_CENTRED ? 0.5
                                                  : 1.0;
    cairo_move_to(to,
        -((double)box.x + share * (double)box.width) / PANGO_SCALE,
        -0.5 * (double)box.height / PANGO_SCALE);
    pango_cairo_show_layout(to, layout);
    cairo_new_path(to);
    g_object_unref(layout);
}

#endif
