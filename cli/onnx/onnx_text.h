/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_text.h - the lines `key = value` of a case.txt.
 */
#ifndef CLATTN_CLI_ONNX_TEXT_H
#define CLATTN_CLI_ONNX_TEXT_H

#include <stddef.h>

#include "failure.h"

enum {
    ONNX_TEXT_LINES = 128,
    ONNX_TEXT_BYTES = 16 << 10
};

typedef struct onnx_text {
    const char *path; /* not a copy */
    size_t count;
    const char *key[ONNX_TEXT_LINES];
    const char *value[ONNX_TEXT_LINES];
    char bytes[ONNX_TEXT_BYTES + 1]; /* what keys and values point into */
} onnx_text;

/* ASCII, each key once, at most ONNX_TEXT_LINES lines. */
bool onnx_text_read(onnx_text *text, const char *path, failure *f);

/* The value of a key; NULL if there is none, with the sentence that says so. */
const char *onnx_text_get(const onnx_text *text, const char *key, failure *f);

/* The next of the words that blanks separate: its length, 0 after the last.
   *at is moved to its first character. */
size_t onnx_text_word(const char **at);

#endif
