/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - texts in a terminal: the columns they take, and no controls.
 */
#ifndef CLATTN_CLI_TEXT_H
#define CLATTN_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Of a code point: 0 for what combines or is invisible, 2 for what East Asian
   scripts print wide, else 1. */
size_t text_columns(uint32_t code);

/* What others wrote, arguments, names of files and devices, as one line: what
   is not fit for a terminal becomes '?', in place or on its way to a stream. */
void text_clean(char *text);
void text_put(FILE *to, const char *text);
void text_put_part(FILE *to, const char *text, size_t bytes);

/* "label     path rest" on standard output, the path cleaned. */
void text_print_path(const char *label, const char *path, const char *rest);

#endif
