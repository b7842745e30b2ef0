/* SPDX-License-Identifier: Apache-2.0
 *
 * show_matrix.c - the weights of a short sentence as cells in shades.
 */
#include "show_parts.h"

#include <math.h>
#include <string.h>

#include "column.h"
#include "heat.h"

static const char SHADES[] = " .:-=+*#%@";

/* Of the 256 that terminals have: the scale of heat.h, light to dark. */
static const unsigned char COLOURS[] = {
    231, 194, 151, 115, 79, 43, 37, 31, 25, 24, 18, 17};

enum {
    MOST_WORDS = 30,
    LONGEST_WORD = 16,
    ROOMY = 3, /* columns of a cell, */
    NARROW = 2,
    LAST_SHADE = sizeof SHADES - 2,
    LAST_COLOUR = sizeof COLOURS - 1,
    ODD = 202 /* orange */
};

typedef struct matrix {
    const reading *r;
    float top;
    size_t index, query, cell;
    int colour;
} matrix;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int terminal_colour(float share)
{
    return isnan(share) ? ODD : COLOURS[lrintf(share * (float)LAST_COLOUR)];
}

static char shade_of(float share)
{
    return isnan(share) ? '?' : SHADES[lrintf(share * (float)LAST_SHADE)];
}

static void print_cell(FILE *to, const matrix *m, float share)
{
    if (m->colour) {
        fprintf(to, "\033[48;5;%dm%*s\033[0m", terminal_colour(share),
            (int)m->cell, "");
        return;
    }
    const char shade = shade_of(share);
    fprintf(to, "%s%c%c", m->cell == ROOMY ? " " : "", shade, shade);
}

/* Above the cells; every second index where cells are narrow. */
static void print_indices(FILE *to, const matrix *m)
{
    const size_t step = m->cell == ROOMY ? 1 : 2;
    fprintf(to, "%*s", (int)(2 + m->index + 1 + m->query + 1), "");
    for (size_t j = 0; j < m->r->columns; j += step) {
        const int blanks =
            j + step < m->r->columns ? (int)(m->cell * (step - 1)) : 0;
        fprintf(to, "%*zu%*s", (int)m->cell, j, blanks, "");
    }
    fputc('\n', to);
}

static void print_row(FILE *to, const matrix *m, size_t row)
{
    const float *weight = m->r->weight + row * m->r->columns;
    const char *query = m->r->queries->text[row];
    const size_t width = smaller(words_width(query), m->query);
    size_t cells = m->r->columns;
    while (!m->colour && cells > 0 &&
           shade_of(heat_share(weight[cells - 1], m->top)) == ' ')
        --cells; /* no blanks at a line's end */
    fprintf(to, "  %*zu ", (int)m->index, row);
    column_print(to, query, "", cells > 0 ? m->query : width, COLUMN_LEFT);
    fputs(cells > 0 ? " " : "", to);
    for (size_t j = 0; j < cells; ++j)
        print_cell(to, m, heat_share(weight[j], m->top));
    fputc('\n', to);
}

static void print_scale(FILE *to, const matrix *m)
{
    fputs("  0 ", to);
    if (m->colour)
        for (int i = 0; i <= LAST_COLOUR; ++i)
            fprintf(to, "\033[48;5;%dm  \033[0m", COLOURS[i]);
    else
        fprintf(to, "\"%s\"", SHADES);
    fprintf(to, " %.2g\n", (double)m->top);
}

/* Columns are known by their index; the rows' words tell which one that is,
   unless the keys are other words. */
static bool keys_need_names(const reading *r)
{
    for (size_t j = 0; j < r->columns; ++j) {
        char number[24];
        snprintf(number, sizeof number, "%zu", j);
        const bool same =
            j < r->rows && strcmp(r->queries->text[j], r->keys->text[j]) == 0;
        if (!same && strcmp(number, r->keys->text[j]) != 0)
            return true;
    }
    return false;
}

static void print_key_names(FILE *to, const reading *r, size_t width)
{
    size_t used = 0;
    for (size_t j = 0; j < r->columns; ++j) {
        char number[24];
        snprintf(number, sizeof number, "%zu ", j);
        const size_t shown =
            smaller(words_width(r->keys->text[j]), LONGEST_WORD);
        const size_t next = 2 + strlen(number) + shown;
        if (used > 0 && used + next > width) {
            fputc('\n', to);
            used = 0;
        }
        fprintf(to, "  %s", number);
        column_print(to, r->keys->text[j], "", shown, COLUMN_LEFT);
        used += next;
    }
    fputc('\n', to);
}

void show_matrix(FILE *to, const reading *r, show_style style)
{
    matrix m = {r, heat_top(r), show_index_width(r->rows),
        smaller(show_longest(r->queries), LONGEST_WORD), ROOMY, style.colour};
    if (r->rows > MOST_WORDS || r->columns > MOST_WORDS)
        return;
    const size_t left = 2 + m.index + 1 + m.query + 1;
    if (left + m.cell * r->columns > style.width)
        m.cell = NARROW;
    if (left + m.cell * r->columns > style.width)
        return;
    fputs("\nrows read columns:\n", to);
    print_indices(to, &m);
    for (size_t i = 0; i < r->rows; ++i)
        print_row(to, &m, i);
    if (keys_need_names(r))
        print_key_names(to, r, style.width);
    print_scale(to, &m);
}
