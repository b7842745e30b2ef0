/* SPDX-License-Identifier: Apache-2.0
 *
 * picture.c - a heat map of weights in a file, as PNG, SVG or PDF by the name's
 * ending.
 */
#include "picture.h"

#include <string.h>
#include <strings.h>

#ifdef CLATTN_HAVE_PANGOCAIRO
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include "heat_map.h"
#endif

enum {
    MOST_WORDS = 4000 /* on a side; a pixel each, which no screen shows */
};

static const char *const ENDINGS[] = {".png", ".svg", ".pdf"};
enum kind {
    PNG,
    SVG,
    PDF,
    UNKNOWN
};

static enum kind kind_of(const char *path)
{
    const size_t length = strlen(path);
    int kind = PNG;
    while (kind < UNKNOWN) {
        const size_t ending = strlen(ENDINGS[kind]);
        if (length > ending &&
            strcasecmp(path + length - ending, ENDINGS[kind]) == 0)
            break;
        ++kind;
    }
    return (enum kind)kind;
}

#ifdef CLATTN_HAVE_PANGOCAIRO

static bool build_draws(const char *path, failure *f)
{
    (void)path;
    (void)f;
    return true;
}

#else

static bool build_draws(const char *path, failure *f)
{
    return fail(f,
        "%s: this build draws no pictures, because it was made without pango "
        "and cairo: install libpango1.0-dev (Debian, Ubuntu) or pango-devel "
        "(Fedora) and build again",
        path);
}

#endif

bool picture_named(const char *path, failure *f)
{
    return kind_of(path) != UNKNOWN ||
           fail(f, "%s: a picture's name must end in .png, .svg or .pdf", path);
}

bool picture_possible(const char *path, size_t rows, size_t columns, failure *f)
{
    if (!picture_named(path, f))
        return false;
    if (rows == 0 || columns == 0)
        return fail(f,
            "%s: a picture of %zu x %zu words has nothing to draw: at least 1 "
            "on each side is needed",
            path, rows, columns);
    if (rows > MOST_WORDS || columns > MOST_WORDS)
        return fail(f,
            "%s: a picture of %zu x %zu words is too large: at most %d on each "
            "side can be drawn",
            path, rows, columns, MOST_WORDS);
    return build_draws(path, f);
}

#ifdef CLATTN_HAVE_PANGOCAIRO

static cairo_status_t write_bytes(
    void *stream, const unsigned char *bytes, unsigned int count)
{
    return fwrite(bytes, 1, count, stream) == count ? CAIRO_STATUS_SUCCESS
                                                    : CAIRO_STATUS_WRITE_ERROR;
}

/* Twice the pixels where that still is a picture for a screen. */
static size_t detail_of(const heat_map *map)
{
    return heat_map_width(map) <= 1600.0 && heat_map_height(map) <= 1600.0 ? 2
                                                                           : 1;
}

static cairo_surface_t *surface_of(
    enum kind kind, const heat_map *map, FILE *stream)
{
    const double width = heat_map_width(map), height = heat_map_height(map);
    if (kind == SVG)
        return cairo_svg_surface_create_for_stream(
            write_bytes, stream, width, height);
    if (kind == PDF)
        return cairo_pdf_surface_create_for_stream(
            write_bytes, stream, width, height);
    const size_t detail = detail_of(map);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
        (int)width * (int)detail, (int)height * (int)detail);
    cairo_surface_set_device_scale(surface, (double)detail, (double)detail);
    return surface;
}

static cairo_status_t draw(enum kind kind, const heat_map *map, FILE *stream)
{
    cairo_surface_t *surface = surface_of(kind, map, stream);
    cairo_t *to = cairo_create(surface);
    heat_map_draw(map, to, detail_of(map));
    cairo_status_t status = cairo_status(to);
    cairo_destroy(to);
    if (status == CAIRO_STATUS_SUCCESS && kind == PNG)
        status =
            cairo_surface_write_to_png_stream(surface, write_bytes, stream);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

bool picture_write(outputs *to, const char *path, const reading *r, failure *f)
{
    if (!picture_possible(path, r->rows, r->columns, f))
        return false;
    heat_map *map = heat_map_new(r);
    if (map == NULL)
        return fail(f, "%s: no memory for the picture", path);
    output_file *file = output_file_open(path, f);
    if (file == NULL) {
        heat_map_free(map);
        return false;
    }
    const cairo_status_t status =
        draw(kind_of(path), map, output_file_stream(file));
    heat_map_free(map);
    if (status != CAIRO_STATUS_SUCCESS) {
        output_file_abandon(file);
        return fail(f, "%s: the picture could not be drawn: %s", path,
            cairo_status_to_string(status));
    }
    return outputs_take(to, file, f);
}

#else

bool picture_write(outputs *to, const char *path, const reading *r, failure *f)
{
    (void)to;
    return picture_possible(path, r->rows, r->columns, f);
}

#endif
