/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_rows.h - the kernel rows that do attention: those whose names begin
 * with "matmul" do products alone.
 */
#ifndef CLATTN_TESTS_ATTENTION_ROWS_H
#define CLATTN_TESTS_ATTENTION_ROWS_H

#include <stddef.h>

/* Best first; NULL past the last. */
const char *attention_row_name(size_t index);

#endif
