/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.h - code points of UTF-8 and the columns that they take in a terminal.
 */
#ifndef CLATTN_CLI_UTF8_H
#define CLATTN_CLI_UTF8_H

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

/* 0 for what combines or is invisible, 2 for what East Asian scripts print
   wide, else 1. */
size_t utf8_columns(uint32_t code);

#endif
