/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_text.c - the lines `key = value` of a case.txt.
 */
#include "onnx_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is not text would spoil the messages that quote it. */
static bool check_ascii(const onnx_text *text, size_t bytes, failure *f)
{
    for (size_t i = 0; i < bytes; ++i) {
        const unsigned char byte = (unsigned char)text->bytes[i];
        if (byte != '\n' && (byte < ' ' || byte > '~'))
            return fail(f, "%s: byte %zu is 0x%02x, but ASCII is needed",
                text->path, i, byte);
    }
    return true;
}

static bool read_bytes(onnx_text *text, failure *f)
{
    FILE *file = fopen(text->path, "rb");
    if (file == NULL)
        return fail(f, "%s: cannot be read: %s", text->path, strerror(errno));
    const size_t bytes = fread(text->bytes, 1, sizeof text->bytes, file);
    const bool ok = !ferror(file);
    const int code = errno;
    fclose(file);
    if (!ok)
        return fail(f, "%s: cannot be read: %s", text->path, strerror(code));
    if (bytes > ONNX_TEXT_BYTES)
        return fail(f, "%s: has more than %d bytes, and is no list of keys",
            text->path, ONNX_TEXT_BYTES);
    text->bytes[bytes] = '\0';
    return check_ascii(text, bytes, f);
}

static size_t find(const onnx_text *text, const char *key)
{
    size_t i = 0;
    while (i < text->count && strcmp(text->key[i], key) != 0)
        ++i;
    return i;
}

/* One line, which is cut in two; an empty value may have lost its blank. */
static bool take_line(onnx_text *text, char *line, failure *f)
{
    const size_t length = strlen(line);
    char *equals = strstr(line, " = ");

    if (equals == NULL && length >= 2 && strcmp(line + length - 2, " =") == 0)
        equals = line + length - 2;
    if (equals == NULL || equals == line)
        return fail(f, "%s: '%.60s' is not of the form `key = value`",
            text->path, line);
    *equals = '\0';
    if (find(text, line) < text->count)
        return fail(f, "%s: has the key '%.60s' twice", text->path, line);
    if (text->count == ONNX_TEXT_LINES)
        return fail(
            f, "%s: has more than %d lines", text->path, ONNX_TEXT_LINES);
    text->key[text->count] = line;
    text->value[text->count] = equals[2] == ' ' ? equals + 3 : equals + 2;
    ++text->count;
    return true;
}

bool onnx_text_read(onnx_text *text, const char *path, failure *f)
{
    text->path = path;
    text->count = 0;
    if (!read_bytes(text, f))
        return false;
    for (char *line = text->bytes; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        const bool last = *end == '\0';
        *end = '\0';
        if (end > line && !take_line(text, line, f))
            return false;
        line = last ? end : end + 1;
    }
    return true;
}

const char *onnx_text_get(const onnx_text *text, const char *key, failure *f)
{
    const size_t i = find(text, key);
    if (i < text->count)
        return text->value[i];
    fail(f, "%s: has no key '%s'", text->path, key);
    return NULL;
}

size_t onnx_text_word(const char **at)
{
    *at += strspn(*at, " ");
    return strcspn(*at, " ");
}
