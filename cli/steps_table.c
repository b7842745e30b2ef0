/* SPDX-License-Identifier: Apache-2.0
 *
 * steps_table.c - the numbers of one matrix with the words of its rows and
 * columns, or its corner where it is large.
 */
#include "steps_table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "column.h"

enum {
    NUMBER_BYTES = 32,
    LONGEST_ROW_WORD = 12,
    LONGEST_HEADING = 8,
    LEAST_WIDTH = 6, /* of a column: "-0.123" */
    /* The numbers, then what is not shown and the sum. */
    ALL_COLUMNS = TABLE_COLUMNS + 2
};

/* A table in text. */
typedef struct text_table {
    const table *of;
    size_t columns; /* of the text */
    char text[TABLE_ROWS][ALL_COLUMNS][NUMBER_BYTES];
    const char *heading[ALL_COLUMNS]; /* NULL: the table's own */
} text_table;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t table_rows(const table *t)
{
    return smaller(t->rows, TABLE_ROWS);
}

size_t table_columns(const table *t)
{
    return smaller(t->columns, TABLE_COLUMNS);
}

/* Three decimals suit what is neither tiny nor huge altogether. */
static const char *format_of(const table *t)
{
    double most = 0.0;
    for (size_t i = 0; i < table_rows(t); ++i)
        for (size_t j = 0; j < table_columns(t); ++j)
            if (isfinite(t->number[i][j]))
                most = fmax(most, fabs(t->number[i][j]));
    return most > 0.0 && (most < 0.01 || most >= 1e6) ? "%.3e" : "%.3f";
}

static void number_text(
    char text[NUMBER_BYTES], const char *format, double number)
{
    if (isnan(number)) {
        strcpy(text, "nan"); /* never "-nan" */
        return;
    }
    snprintf(text, NUMBER_BYTES, format, number);
    if (strcmp(text, "-0.000") == 0)
        strcpy(text, "0.000");
}

static void thousandths_text(char text[NUMBER_BYTES], long long thousandths)
{
    number_text(text, "%.3f", (double)thousandths / 1000.0);
}

static size_t column_width(const text_table *t, size_t column)
{
    const words *names = t->of->column_words;
    size_t width = LEAST_WIDTH;
    if (t->heading[column] == NULL && names != NULL)
        width = larger(
            width, smaller(LONGEST_HEADING, words_width(names->text[column])));
    for (size_t i = 0; i < table_rows(t->of); ++i)
        width = larger(width, strlen(t->text[i][column]));
    return width;
}

static void print_heading(FILE *to, const text_table *t, size_t column)
{
    char number[NUMBER_BYTES];
    const char *name = number;
    snprintf(number, sizeof number, "%zu", t->of->first_column + column);
    if (t->heading[column] != NULL)
        name = t->heading[column];
    else if (t->of->column_words != NULL)
        name = t->of->column_words->text[column];
    fputs("  ", to);
    column_print(to, name, "", column_width(t, column), COLUMN_RIGHT);
}

static size_t row_word_width(const table *t)
{
    size_t width = 3;
    for (size_t i = 0; i < table_rows(t); ++i)
        width = larger(width, words_width(t->row_words->text[i]));
    return smaller(width, LONGEST_ROW_WORD);
}

static void print_text(FILE *to, const text_table *t)
{
    const size_t rows = table_rows(t->of);
    const size_t word = row_word_width(t->of);
    if (rows == 0 || t->columns == 0)
        return;
    fprintf(to, "     %*s", (int)word, "");
    for (size_t j = 0; j < t->columns; ++j)
        print_heading(to, t, j);
    fputc('\n', to);
    for (size_t i = 0; i < rows; ++i) {
        fputs("     ", to);
        column_print(to, t->of->row_words->text[i], "", word, COLUMN_LEFT);
        for (size_t j = 0; j < t->columns; ++j)
            fprintf(to, "  %*s", (int)column_width(t, j), t->text[i][j]);
        fputc('\n', to);
    }
    if (t->of->rows > rows)
        fprintf(to, "     ... and %zu more rows\n", t->of->rows - rows);
}

void table_print(FILE *to, const table *t)
{
    text_table text = {.of = t, .columns = table_columns(t)};
    const char *format = format_of(t);
    for (size_t i = 0; i < table_rows(t); ++i)
        for (size_t j = 0; j < text.columns; ++j)
            number_text(text.text[i][j], format, t->number[i][j]);
    if (t->columns > text.columns) {
        for (size_t i = 0; i < table_rows(t); ++i)
            strcpy(text.text[i][text.columns], "...");
        text.heading[text.columns++] = "...";
    }
    print_text(to, &text);
}

/* The number most in need of being rounded up that has not been. */
static size_t most_cut(
    const long long *shown, const double *number, size_t count)
{
    size_t most = 0;
    for (size_t n = 1; n < count; ++n)
        if (1000.0 * number[n] - (double)shown[n] >
            1000.0 * number[most] - (double)shown[most])
            most = n;
    return most;
}

long long table_round(long long *shown, const double *number, size_t count)
{
    double sum = 0.0;
    long long missing = 0;
    for (size_t n = 0; n < count; ++n) {
        sum += number[n];
        shown[n] = (long long)floor(1000.0 * number[n]);
        missing -= shown[n];
    }
    const long long total = llround(1000.0 * sum);
    for (missing += total; missing > 0; --missing)
        ++shown[most_cut(shown, number, count)];
    return total;
}

/* One row: its numbers, the rest of them where some are not shown, its sum. */
static void add_up(text_table *t, size_t row, double sum)
{
    const size_t shown = table_columns(t->of);
    const size_t count = t->columns - 1;
    double number[TABLE_COLUMNS + 1], rest = sum;
    long long thousandths[TABLE_COLUMNS + 1];
    for (size_t j = 0; j < shown; ++j) {
        number[j] = t->of->number[row][j];
        rest -= number[j];
    }
    number[shown] = rest; /* counted only where there is a column for it */
    bool odd = !isfinite(sum) || fabs(sum) > 1e6;
    for (size_t j = 0; j < count; ++j)
        odd = odd || !isfinite(number[j]) || fabs(number[j]) > 1e6;
    const long long total = odd ? 0 : table_round(thousandths, number, count);
    for (size_t j = 0; j < count; ++j)
        if (odd)
            number_text(t->text[row][j], "%.3g", number[j]);
        else
            thousandths_text(t->text[row][j], thousandths[j]);
    if (odd)
        number_text(t->text[row][count], "%.3g", sum);
    else
        thousandths_text(t->text[row][count], total);
}

void table_print_sums(FILE *to, const table *t, const double *sum)
{
    const size_t shown = table_columns(t);
    text_table text = {.of = t, .columns = shown + 1};
    if (t->columns > shown)
        text.heading[text.columns++ - 1] = "rest";
    text.heading[text.columns - 1] = "sum";
    for (size_t i = 0; i < table_rows(t); ++i)
        add_up(&text, i, sum[i]);
    print_text(to, &text);
}
