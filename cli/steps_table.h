/* SPDX-License-Identifier: Apache-2.0
 *
 * steps_table.h - the numbers of one matrix with the words of its rows and
 * columns, or its corner where it is large.
 */
#ifndef CLATTN_CLI_STEPS_TABLE_H
#define CLATTN_CLI_STEPS_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "words.h"

enum {
    TABLE_ROWS = 8, /* a matrix with more of either is shown as its corner */
    TABLE_COLUMNS = 8
};

/* `number` holds the rows and columns that are shown, of rows x columns that
   there are. */
typedef struct table {
    size_t rows, columns;
    const words *row_words, *column_words; /* NULL: columns are numbered, */
    size_t first_column;                   /* from here on */
    double number[TABLE_ROWS][TABLE_COLUMNS];
} table;

size_t table_rows(const table *t);
size_t table_columns(const table *t);

/* Lines of numbers with 3 decimals, or in scientific form where that says
   nothing. */
void table_print(FILE *to, const table *t);

/* Numbers of three decimals that add up: shown[n] is number[n] in thousandths,
   rounded down or up so that all together are the rounded sum, which is
   returned. The largest remainders are rounded up.  Finite numbers only. */
long long table_round(long long *shown, const double *number, size_t count);

/* As table_print, with rows that add up as table_round has it.  `sum` is of
   each row's numbers, shown or not; what is not shown is a number of its own,
   so that the row still adds up to its sum. */
void table_print_sums(FILE *to, const table *t, const double *sum);

#endif
