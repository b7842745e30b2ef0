/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.c - what a function prints, as a string.
 */
#include "capture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

FILE *capture_begin(void)
{
    FILE *file = tmpfile();
    ck_assert_msg(file != NULL, "no temporary file");
    return file;
}

char *capture_end(FILE *file)
{
    const long bytes = ftell(file);
    ck_assert_msg(bytes >= 0, "printing failed");
    char *text = calloc((size_t)bytes + 1, 1);
    ck_assert_msg(text != NULL, "no memory for %ld bytes", bytes);
    rewind(file);
    ck_assert_uint_eq(fread(text, 1, (size_t)bytes, file), (size_t)bytes);
    fclose(file);
    return text;
}

const char *capture_line(char *line, size_t bytes, const char *text)
{
    const char *end = strchr(text, '\n');
    const size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
    if (*text == '\0')
        return NULL;
    ck_assert_msg(length < bytes, "a line of %zu bytes", length);
    memcpy(line, text, length);
    line[length] = '\0';
    return end != NULL ? end + 1 : text + length;
}
