/* SPDX-License-Identifier: Apache-2.0
 *
 * sheet.h - headings, facts, tables and sentences, as text for a terminal or as
 * Markdown.
 */
#ifndef CLATTN_CLI_SHEET_H
#define CLATTN_CLI_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    SHEET_COLUMNS = 10,
    SHEET_CELL = 600 /* bytes */
};

typedef struct sheet {
    FILE *to;
    bool markdown;
    /* The table that is being made: */
    size_t columns, rows, capacity;
    char (*cell)[SHEET_CELL]; /* row by row; the first are the headings */
    bool short_of_memory;     /* a row is missing */
} sheet;

/* The title of all, or of a part. */
void sheet_title(sheet *s, const char *text);
void sheet_part(sheet *s, const char *text);
/* One paragraph. */
void sheet_say(sheet *s, const char *text);
/* One of a list. */
void sheet_item(sheet *s, const char *text);

/* A table: headings separated by "|", then rows, then its end, which prints
   it. */
void sheet_begin(sheet *s, const char *headings);
/* The next row, all cells "". */
void sheet_row(sheet *s);
/* Write a cell of the last row; a cell of a sheet that lacks memory is lost. */
void sheet_cell(sheet *s, size_t column, const char *format, ...);
/* False where memory was short. */
bool sheet_end(sheet *s);

#endif
