/* SPDX-License-Identifier: Apache-2.0
 *
 * heat.c - weights as colours, and the sizes of a map of them: arithmetic only,
 * nothing is drawn here.
 */
#include "heat.h"

#include <math.h>
#include <string.h>

/* From paper white over green to dark blue.  The OKLab lightness falls from
   0.985 to 0.24 in even steps while the hue turns from 105 to 282 degrees, so
   that the order survives print in grey and colour-blind eyes. */
static const heat_colour SCALE[] = {{251, 251, 239}, {204, 229, 186},
    {136, 209, 163}, {31, 185, 160}, {0, 150, 157}, {0, 117, 143}, {0, 84, 130},
    {7, 46, 123}, {27, 14, 83}};
static const heat_colour ODD = {232, 84, 30};

enum {
    LAST = sizeof SCALE / sizeof SCALE[0] - 1,
    LARGEST_CELL = 56, /* more looks empty */
    NAMED_CELL = 12,   /* the least that a word's name fits beside */
    MAP_SIDE = 704,    /* what cells grow to fill */
    LONG_SIDE = 1440,  /* what names may stretch it to: 120 words */
    STRIPE_CELL = 24   /* height of the cells of few rows, many columns */
};

float heat_top(const reading *r)
{
    float top = 0.0f;
    for (size_t i = 0; i < r->rows * r->columns; ++i)
        if (isfinite(r->weight[i]) && r->weight[i] > top)
            top = r->weight[i];
    return top > 0.0f ? top : 1.0f;
}

bool heat_has_odd(const reading *r)
{
    for (size_t i = 0; i < r->rows * r->columns; ++i)
        if (!isfinite(r->weight[i]))
            return true;
    return false;
}

float heat_share(float weight, float top)
{
    if (!isfinite(weight))
        return NAN;
    const float share = weight / top;
    return share < 0.0f ? 0.0f : share > 1.0f ? 1.0f : share;
}

static unsigned char blend(unsigned char from, unsigned char to, float part)
{
    return (unsigned char)lrintf(
        (1.0f - part) * (float)from + part * (float)to);
}

heat_colour heat_colour_of(float share)
{
    if (isnan(share))
        return ODD;
    const float place = share * (float)LAST;
    const int step = place < (float)(LAST - 1) ? (int)place : LAST - 1;
    const float part = place - (float)step;
    const heat_colour from = SCALE[step], to = SCALE[step + 1];
    return (heat_colour){blend(from.red, to.red, part),
        blend(from.green, to.green, part), blend(from.blue, to.blue, part)};
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t side_of(size_t count)
{
    if (count == 0)
        return LARGEST_CELL;
    if (count <= LONG_SIDE / NAMED_CELL)
        return larger(NAMED_CELL, smaller(LARGEST_CELL, MAP_SIDE / count));
    return larger(1, LONG_SIDE / count);
}

heat_cell heat_cell_of(size_t rows, size_t columns)
{
    heat_cell cell = {side_of(columns), side_of(rows)};
    const size_t least = smaller(cell.width, cell.height);
    const size_t most = least >= NAMED_CELL ? least : STRIPE_CELL;
    cell.width = smaller(cell.width, most);
    cell.height = smaller(cell.height, most);
    return cell;
}

size_t heat_label_step(size_t cell, size_t room)
{
    static const size_t LEADING[] = {1, 2, 5};
    for (size_t power = 1;; power *= 10)
        for (size_t i = 0; i < 3; ++i)
            if (LEADING[i] * power * cell >= room)
                return LEADING[i] * power;
}

double heat_tick_step(double top)
{
    const double rough = top / 5.0;
    const double power = pow(10.0, floor(log10(rough)));
    const double leading = rough / power;
    return power * (leading <= 1.0      ? 1.0
                       : leading <= 2.0 ? 2.0
                       : leading <= 5.0 ? 5.0
                                        : 10.0);
}

static void paint_line(uint32_t *line, const float *weight, size_t columns,
    float top, size_t width)
{
    for (size_t j = 0; j < columns; ++j) {
        const heat_colour c = heat_colour_of(heat_share(weight[j], top));
        const uint32_t pixel =
            (uint32_t)c.red << 16 | (uint32_t)c.green << 8 | (uint32_t)c.blue;
        for (size_t x = 0; x < width; ++x)
            line[j * width + x] = pixel;
    }
}

void heat_paint(
    uint32_t *pixel, size_t stride, const reading *r, float top, heat_cell cell)
{
    const size_t line_bytes = r->columns * cell.width * sizeof *pixel;
    for (size_t i = 0; i < r->rows; ++i) {
        uint32_t *first = pixel + i * cell.height * stride;
        paint_line(
            first, r->weight + i * r->columns, r->columns, top, cell.width);
        for (size_t y = 1; y < cell.height; ++y)
            memcpy(first + y * stride, first, line_bytes);
    }
}
