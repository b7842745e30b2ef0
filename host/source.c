/* SPDX-License-Identifier: Apache-2.0
 *
 * source.c - the text of a kernel file with its includes put in.
 */
#include "source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "kernel_source.h"
#include "system.h"

enum {
    MAX_DEPTH = 8
}; /* of includes in includes: an end to circles */

typedef struct text_buffer {
    char *text;
    size_t length, capacity;
} text_buffer;

static clattn_status append(
    text_buffer *buffer, const char *text, size_t length, clattn_error *error)
{
    if (buffer->length + length + 1 > buffer->capacity) {
        const size_t capacity = 2 * (buffer->length + length + 1);
        char *larger = realloc(buffer->text, capacity);
        if (!larger)
            return error_set(error, CLATTN_NO_MEMORY,
                "no memory for %zu bytes of kernel source", capacity);
        buffer->text = larger;
        buffer->capacity = capacity;
    }
    memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
    return CLATTN_OK;
}

static clattn_status append_line_mark(
    text_buffer *buffer, unsigned line, const char *file, clattn_error *error)
{
    char mark[96];
    const int n = snprintf(mark, sizeof mark, "#line %u \"%s\"\n", line, file);
    return append(buffer, mark, (size_t)n, error);
}

static const char *embedded(const char *file)
{
    for (const kernel_source *s = KERNEL_SOURCES; s->file; ++s)
        if (strcmp(s->file, file) == 0)
            return s->text;
    return NULL;
}

/* *text is a file's; *read is to be freed, and NULL if the library holds it. */
static clattn_status load(const char **text, char **read, const char *file,
    const char *directory, clattn_error *error)
{
    const bool ours = directory[0] == '\0';
    errno = 0;
    *read = ours ? NULL : system_read_file(directory, file);
    *text = ours ? embedded(file) : *read;
    if (*text)
        return CLATTN_OK;
    if (errno == ENOMEM)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for kernel source %s of %s", file, directory);
    return error_set(error, CLATTN_BUILD_FAILED,
        "kernel source %s cannot be read from %s", file,
        ours ? "the library" : directory);
}

/* The x of a line `#include "x"`; false if it is no such line. */
static bool included(char *name, size_t capacity, const char *line)
{
    static const char directive[] = "#include \"";
    if (strncmp(line, directive, sizeof directive - 1) != 0)
        return false;
    const char *begin = line + sizeof directive - 1;
    const size_t length = strcspn(begin, "\"\n");
    if (begin[length] != '"' || length >= capacity)
        return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    return true;
}

static clattn_status append_file(text_buffer *buffer, const char *file,
    const char *directory, int depth, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const char *text = NULL;
    char *read = NULL;
    char name[64];
    unsigned line = 1;

    if (depth > MAX_DEPTH)
        return error_set(error, CLATTN_BUILD_FAILED,
            "kernel source %s is included %d files deep", file, depth);
    TRY(load(&text, &read, file, directory, error));
    TRY(append_line_mark(buffer, 1, file, error));
    for (const char *at = text; *at != '\0'; ++line) {
        const size_t length = strcspn(at, "\n");
        const size_t whole = length + (at[length] == '\n');
        if (included(name, sizeof name, at)) {
            TRY(append_file(buffer, name, directory, depth + 1, error));
            TRY(append_line_mark(buffer, line + 1, file, error));
        } else {
            TRY(append(buffer, at, whole, error));
        }
        at += whole;
    }

cleanup:
    free(read);
    return status;
}

clattn_status source_assemble(
    char **text, const char *file, const char *directory, clattn_error *error)
{
    text_buffer buffer = {NULL, 0, 0};
    const clattn_status status =
        append_file(&buffer, file, directory, 1, error);
    if (status != CLATTN_OK) {
        free(buffer.text);
        buffer.text = NULL;
    }
    *text = buffer.text;
    return status;
}
