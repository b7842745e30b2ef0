/* SPDX-License-Identifier: Apache-2.0
 *
 * sheet.c - headings, facts, tables and sentences, as text for a terminal or as
 * Markdown.
 */
#include "sheet.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* ---- Sentences ---------------------------------------------------------- */

#define BLANKS "\n\r\t"

/* What drivers say may hold anything: one line, and no markup of tables. */
static void put(const sheet *s, const char *text)
{
    const char *special = s->markdown ? BLANKS "|<*" : BLANKS;
    while (*text) {
        const size_t plain = strcspn(text, special);
        text_put_part(s->to, text, plain);
        text += plain;
        if (*text == '\0')
            return;
        if (strchr(BLANKS, *text))
            fputc(' ', s->to);
        else
            fprintf(s->to, "\\%c", *text);
        ++text;
    }
}

static void put_line(
    const sheet *s, const char *before, const char *text, const char *after)
{
    fputs(before, s->to);
    put(s, text);
    fputs(after, s->to);
}

void sheet_title(sheet *s, const char *text)
{
    put_line(s, s->markdown ? "# " : "", text, "\n\n");
}

void sheet_part(sheet *s, const char *text)
{
    put_line(s, s->markdown ? "## " : "== ", text, s->markdown ? "\n\n" : "\n");
}

void sheet_say(sheet *s, const char *text)
{
    put_line(s, "", text, "\n\n");
}

void sheet_item(sheet *s, const char *text)
{
    put_line(s, "- ", text, "\n");
}

/* ---- Tables ------------------------------------------------------------- */

/* Room for one more row. */
static bool grow(sheet *s)
{
    const size_t rows = s->capacity ? 2 * s->capacity : 16;
    if (s->rows < s->capacity)
        return true;
    char(*cell)[SHEET_CELL] =
        realloc(s->cell, rows * s->columns * sizeof *s->cell);
    if (!cell)
        return false;
    s->cell = cell;
    s->capacity = rows;
    return true;
}

void sheet_row(sheet *s)
{
    if (!grow(s)) {
        s->short_of_memory = true;
        return;
    }
    for (size_t i = 0; i < s->columns; i++)
        s->cell[s->rows * s->columns + i][0] = '\0';
    s->rows++;
}

void sheet_cell(sheet *s, size_t column, const char *format, ...)
{
    va_list arguments;
    if (s->short_of_memory)
        return;
    va_start(arguments, format);
    char *cell = s->cell[(s->rows - 1) * s->columns + column];
    vsnprintf(cell, SHEET_CELL, format, arguments);
    va_end(arguments);
    for (char *at = cell; *(at += strcspn(at, BLANKS)) != '\0';)
        *at = ' ';
    text_clean(cell); /* before its width is measured */
}

void sheet_begin(sheet *s, const char *headings)
{
    s->columns = 1;
    for (const char *at = headings; *at; at++)
        s->columns += *at == '|';
    sheet_row(s);
    for (size_t i = 0; i < s->columns; i++) {
        const size_t length = strcspn(headings, "|");
        sheet_cell(s, i, "%.*s", (int)length, headings);
        headings += length + (headings[length] == '|');
    }
}

static size_t column_width(const sheet *s, size_t column)
{
    size_t width = 0;
    for (size_t row = 0; row < s->rows; row++) {
        const size_t length = strlen(s->cell[row * s->columns + column]);
        width = length > width ? length : width;
    }
    return width;
}

static void put_text_row(const sheet *s, size_t row, const size_t *width)
{
    size_t last = s->columns;
    while (last > 0 && !s->cell[row * s->columns + last - 1][0])
        last--;
    for (size_t i = 0; i < last; i++) {
        const char *text = s->cell[row * s->columns + i];
        const size_t gap = i + 1 < last ? width[i] + 2 - strlen(text) : 0;
        put(s, text);
        fprintf(s->to, "%*s", (int)gap, "");
    }
    fputc('\n', s->to);
}

static void put_markdown_row(const sheet *s, size_t row)
{
    for (size_t i = 0; i < s->columns; i++)
        put_line(s, i ? " | " : "| ", s->cell[row * s->columns + i], "");
    fputs(" |\n", s->to);
}

bool sheet_end(sheet *s)
{
    const bool done = !s->short_of_memory;
    size_t width[SHEET_COLUMNS] = {0};
    for (size_t i = 0; done && i < s->columns; i++)
        width[i] = column_width(s, i);
    for (size_t row = 0; done && row < s->rows; row++) {
        if (s->markdown)
            put_markdown_row(s, row);
        else
            put_text_row(s, row, width);
        for (size_t i = 0; s->markdown && row == 0 && i < s->columns; i++)
            fputs(i + 1 < s->columns ? "|---" : "|---|\n", s->to);
    }
    fputc('\n', s->to);
    free(s->cell);
    *s = (sheet){.to = s->to, .markdown = s->markdown};
    return done;
}
