/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_rows.h - the kernel rows that do attention: those whose names begin
 * with "matmul" do products alone.
 */
#ifndef CLATTN_CASES_ATTENTION_ROWS_H
#define CLATTN_CASES_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "clattn/clattn.h"

/* Best first; NULL past the last. */
const char *attention_row_name(size_t index);

/* Whether a row is one of them. */
bool attention_row_is(const char *row);

/* Whether any row, of products too, is shaped for other devices than this one,
   and taken only where it is asked for. */
bool row_needs_asking(const clattn_context *ctx, const char *row);

/* Rows of one family, as tiled16 and tiled8, share their kernels' text and
   differ in the tile, so that one of them is enough for a configuration. */
bool attention_row_is_like(const char *row, const char *other);
/* Whether it is this row's turn in its family. */
bool attention_row_has_turn(const char *row, size_t configuration);

#endif
