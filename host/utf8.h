/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.h - code points of UTF-8, and what of others' texts is fit to be printed.
 */
#ifndef CLATTN_HOST_UTF8_H
#define CLATTN_HOST_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UTF8_REPLACEMENT = 0xFFFD
};

/*
 * The first code point of `bytes` > 0 bytes; returns how many it takes.  What
 * is not valid gives UTF8_REPLACEMENT for each longest part that could begin a
 * character, as the Unicode Standard recommends (chapter 3.9).
 */
size_t utf8_decode(uint32_t *code, const char *text, size_t bytes);

/* The bytes that the next character takes, and whether it is fit for a line of
   a terminal: valid, no control character, also none above U+7F, nothing that
   breaks lines or turns the direction of the text around it. */
size_t utf8_next(bool *fit, const char *text, size_t bytes);

/* A '?' in place of each that is unfit.  The text is never longer after it. */
void utf8_clean(char *text);

/* The same of a text of many lines: it keeps its line ends and tabs. */
void utf8_clean_lines(char *text);

#endif
