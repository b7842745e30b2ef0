/* SPDX-License-Identifier: Apache-2.0
 *
 * heat_map.c - the drawing of a reading: words at both axes, cells, a scale;
 * on anything that cairo draws on.
 */
#include "heat_map.h"

#ifdef CLATTN_HAVE_PANGOCAIRO

#include <math.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"
#include "heat_scale.h"
#include "label.h"
#include "pen.h"

/* In pixels of a PNG of detail 1, points of an SVG or PDF. */
#define EDGE        16.0 /* around everything */
#define GAP         6.0  /* between a word and its cells */
#define TITLE_SIZE  15.0
#define WORD_SIZE   12.0
#define LEAST_WORD  9.5 /* beside cells of 12 */
#define SMALL_SIZE  11.0
#define LONGEST     150.0 /* words are cut there */
#define SCALE_LEAST 110.0
#define SCALE_MOST  320.0
#define RIGHT_ANGLE 1.5707963267948966
#define STEEP       1.0471975511965976 /* 60 degrees */
#define STEEP_FROM  22 /* cells that leave slanted words apart */
#define VALUES_FROM 36 /* cells with room for a number */
#define LINES_FROM  12 /* cells with lines between them */

typedef struct axis {
    const words *names;
    size_t count, cell, step;
    double longest; /* of the names shown */
} axis;

struct heat_map {
    const reading *r;
    heat_scale scale;
    label_font *font;
    axis rows, columns;
    double word_size, line, angle;  /* of the words on top */
    double left, above, wide, high; /* the cells */
    double width, height;
    bool unknown; /* a name has characters that no font has */
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Names of long sentences carry their index: "120 keeper". */
static void name_of(char text[LABEL_BYTES], const axis *a, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    const char *name = a->names->text[index];
    if (a->step > 1 && strcmp(name, number) != 0)
        label_join(text, number, name);
    else
        label_join(text, "", name);
}

static void measure_axis(heat_map *map, axis *a)
{
    for (size_t i = 0; i < a->count; i += a->step) {
        char text[LABEL_BYTES];
        name_of(text, a, i);
        const label_box box =
            label_measure(map->font, text, map->word_size, LONGEST);
        a->longest = larger(a->longest, box.width);
        map->line = larger(map->line, box.height);
        map->unknown = map->unknown || box.unknown;
    }
}

/* Upright if they fit, else slanted, else on end. */
static void choose_angle(heat_map *map)
{
    const double room = (double)(map->columns.cell * map->columns.step);
    if (map->columns.longest + 4.0 <= room)
        map->angle = 0.0;
    else
        map->angle = map->columns.cell >= STEEP_FROM ? STEEP : RIGHT_ANGLE;
}

static double names_height(const heat_map *map)
{
    return map->columns.longest * sin(map->angle) + map->line * cos(map->angle);
}

static double end_of_names(const heat_map *map)
{
    const double last = map->left + map->wide;
    if (map->angle == STEEP)
        return last + map->columns.longest * cos(map->angle);
    return last;
}

static void arrange(heat_map *map)
{
    const label_box title =
        label_measure(map->font, map->r->title, TITLE_SIZE, 0.0);
    const label_box small = label_measure(map->font, "0", SMALL_SIZE, 0.0);

    map->wide = (double)(map->columns.count * map->columns.cell);
    map->high = (double)(map->rows.count * map->rows.cell);
    map->left = ceil(EDGE + small.height + GAP + map->rows.longest + GAP);
    map->above = ceil(EDGE + title.height + GAP + small.height + GAP +
                      names_height(map) + GAP);
    map->scale.left = map->left + map->wide + 24.0;
    map->scale.above = map->above;
    map->scale.high = larger(SCALE_LEAST, smaller(SCALE_MOST, map->high));
    const double title_end =
        EDGE + smaller(title.width, larger(LONGEST * 3.0, map->wide));
    map->width = ceil(EDGE + larger(map->scale.left + HEAT_SCALE_WIDTH,
                                 larger(end_of_names(map), title_end)));
    map->height =
        ceil(map->above + larger(map->high, heat_scale_height(&map->scale)) +
             (map->unknown ? small.height + GAP : 0.0) + EDGE);
}

heat_map *heat_map_new(const reading *r)
{
    heat_map *map = calloc(1, sizeof *map);
    if (map == NULL)
        return NULL;
    map->font = label_font_new();
    if (map->font == NULL) {
        free(map);
        return NULL;
    }
    const heat_cell cell = heat_cell_of(r->rows, r->columns);
    const size_t least = cell.width < cell.height ? cell.width : cell.height;
    map->r = r;
    map->scale.top = (double)heat_top(r);
    map->scale.odd = heat_has_odd(r);
    map->word_size = least < 16 ? LEAST_WORD : WORD_SIZE;
    map->rows = (axis){
        r->queries, r->rows, cell.height, heat_label_step(cell.height, 12), 0};
    map->columns = (axis){
        r->keys, r->columns, cell.width, heat_label_step(cell.width, 12), 0};
    measure_axis(map, &map->rows);
    measure_axis(map, &map->columns);
    choose_angle(map);
    arrange(map);
    return map;
}

void heat_map_free(heat_map *map)
{
    if (map == NULL)
        return;
    label_font_free(map->font);
    free(map);
}

double heat_map_width(const heat_map *map)
{
    return map->width;
}

double heat_map_height(const heat_map *map)
{
    return map->height;
}

static void draw_row_names(const heat_map *map, cairo_t *to)
{
    const axis *a = &map->rows;
    for (size_t i = 0; i < a->count; i += a->step) {
        char text[LABEL_BYTES];
        const double y = map->above + ((double)i + 0.5) * (double)a->cell;
        name_of(text, a, i);
        cairo_save(to);
        cairo_translate(to, map->left - GAP, y);
        label_draw(map->font, to, text, map->word_size, LONGEST, LABEL_ENDS);
        cairo_restore(to);
        if (a->step > 1)
            pen_tick(to, map->left - 4.0, y, 4.0, 0.0);
    }
}

static void draw_column_names(const heat_map *map, cairo_t *to)
{
    const axis *a = &map->columns;
    const bool upright = map->angle == 0.0;
    for (size_t j = 0; j < a->count; j += a->step) {
        char text[LABEL_BYTES];
        const double x = map->left + ((double)j + 0.5) * (double)a->cell;
        name_of(text, a, j);
        cairo_save(to);
        cairo_translate(
            to, x, map->above - GAP - (upright ? map->line / 2.0 : 0.0));
        cairo_rotate(to, -map->angle);
        label_draw(map->font, to, text, map->word_size, LONGEST,
            upright ? LABEL_CENTRED : LABEL_BEGINS);
        cairo_restore(to);
        if (a->step > 1)
            pen_tick(to, x, map->above - 4.0, 0.0, 4.0);
    }
}

/* Painted with `detail` pixels a unit, so that viewers that smooth an image
   have little to smooth. */
static void draw_cells(const heat_map *map, cairo_t *to, size_t detail)
{
    const heat_cell cell = {
        map->columns.cell * detail, map->rows.cell * detail};
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
        (int)(map->columns.count * cell.width),
        (int)(map->rows.count * cell.height));
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        heat_paint((uint32_t *)(void *)cairo_image_surface_get_data(image),
            (size_t)cairo_image_surface_get_stride(image) / sizeof(uint32_t),
            map->r, (float)map->scale.top, cell);
        cairo_surface_mark_dirty(image);
    }
    cairo_save(to);
    cairo_translate(to, map->left, map->above);
    cairo_scale(to, 1.0 / (double)detail, 1.0 / (double)detail);
    cairo_set_source_surface(to, image, 0.0, 0.0); /* passes on its status */
    cairo_pattern_set_filter(cairo_get_source(to), CAIRO_FILTER_NEAREST);
    cairo_paint(to);
    cairo_restore(to);
    cairo_surface_destroy(image);
}

static void draw_lines(const heat_map *map, cairo_t *to)
{
    cairo_set_source_rgba(to, 1.0, 1.0, 1.0, 0.55);
    cairo_set_line_width(to, map->columns.cell >= STEEP_FROM ? 1.0 : 0.5);
    for (size_t j = 1; j < map->columns.count; ++j) {
        cairo_move_to(
            to, map->left + (double)(j * map->columns.cell), map->above);
        cairo_rel_line_to(to, 0.0, map->high);
    }
    for (size_t i = 1; i < map->rows.count; ++i) {
        cairo_move_to(to, map->left, map->above + (double)(i * map->rows.cell));
        cairo_rel_line_to(to, map->wide, 0.0);
    }
    cairo_stroke(to);
}

static void draw_value(
    const heat_map *map, cairo_t *to, size_t row, size_t column)
{
    const float weight = map->r->weight[row * map->r->columns + column];
    const float share = heat_share(weight, (float)map->scale.top);
    if (fabsf(weight) < 0.005f || fabsf(weight) >= 100.0f)
        return;
    char text[LABEL_BYTES];
    snprintf(text, sizeof text, "%.2f", (double)weight);
    cairo_save(to);
    cairo_translate(to,
        map->left + ((double)column + 0.5) * (double)map->columns.cell,
        map->above + ((double)row + 0.5) * (double)map->rows.cell);
    pen_grey(to, share > 0.4f ? 1.0 : 0.2);
    label_draw(map->font, to, isnan(weight) ? "nan" : text, SMALL_SIZE, 0.0,
        LABEL_CENTRED);
    cairo_restore(to);
}

static void draw_values(const heat_map *map, cairo_t *to)
{
    for (size_t i = 0; i < map->rows.count; ++i)
        for (size_t j = 0; j < map->columns.count; ++j)
            draw_value(map, to, i, j);
}

static void draw_map(const heat_map *map, cairo_t *to, size_t detail)
{
    const size_t w = map->columns.cell, h = map->rows.cell;
    draw_cells(map, to, detail);
    if (w >= LINES_FROM && h >= LINES_FROM)
        draw_lines(map, to);
    if (w >= VALUES_FROM && h >= VALUES_FROM)
        draw_values(map, to);
    pen_frame(to, map->left, map->above, map->wide, map->high);
}

static void draw_captions(const heat_map *map, cairo_t *to)
{
    const double line = label_measure(map->font, "0", SMALL_SIZE, 0.0).height;
    pen_grey(to, PEN_SIDE);
    cairo_save(to);
    cairo_translate(
        to, map->left, map->above - GAP - names_height(map) - GAP - line / 2.0);
    label_draw(
        map->font, to, "word that is read", SMALL_SIZE, 0.0, LABEL_BEGINS);
    cairo_restore(to);
    cairo_save(to);
    cairo_translate(to, EDGE + line / 2.0, map->above + map->high / 2.0);
    cairo_rotate(to, -RIGHT_ANGLE);
    label_draw(
        map->font, to, "word that reads", SMALL_SIZE, 0.0, LABEL_CENTRED);
    cairo_restore(to);
}

static void draw_title(const heat_map *map, cairo_t *to)
{
    const char *title = map->r->title;
    const double most = map->width - 2.0 * EDGE;
    const double line =
        label_measure(map->font, title, TITLE_SIZE, most).height;
    pen_grey(to, PEN_TEXT);
    cairo_save(to);
    cairo_translate(to, EDGE, EDGE + line / 2.0);
    label_draw(map->font, to, title, TITLE_SIZE, most, LABEL_BEGINS);
    cairo_restore(to);
}

static void draw_note(const heat_map *map, cairo_t *to)
{
    if (!map->unknown)
        return;
    pen_grey(to, PEN_SIDE);
    cairo_save(to);
    cairo_translate(to, EDGE, map->height - EDGE - SMALL_SIZE / 2.0);
    label_draw(map->font, to, "No font here has all of these characters.",
        SMALL_SIZE, map->width - 2.0 * EDGE, LABEL_BEGINS);
    cairo_restore(to);
}

void heat_map_draw(const heat_map *map, cairo_t *to, size_t detail)
{
    pen_grey(to, 1.0);
    cairo_paint(to);
    draw_map(map, to, detail);
    draw_title(map, to);
    draw_row_names(map, to);
    draw_column_names(map, to);
    heat_scale_draw(&map->scale, map->font, to);
    draw_captions(map, to);
    draw_note(map, to);
}

#endif
