/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c - the tokens of a sentence, one a line of a UTF-8 file.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"
#include "utf8.h"

enum {
    MAX_LINE_BYTES = 4096 /* a longer line is no token but another file */
};

static const char REPLACEMENT[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* A copy that is fit to be printed; NULL without memory. */
static char *clean(const char *line, size_t bytes)
{
    const size_t widest = sizeof REPLACEMENT - 1;
    char *text = malloc(widest * bytes + 1);
    size_t at = 0;
    for (size_t i = 0, length; text && i < bytes; i += length) {
        bool fit;
        length = utf8_next(&fit, line + i, bytes - i);
        size_t part = fit ? length : widest;
        memcpy(text + at, fit ? line + i : REPLACEMENT, part);
        at += part;
    }
    if (text)
        text[at] = 0;
    return text;
}

/* ---- Lines --------------------------------------------------------------- */

typedef struct lines {
    FILE *stream;
    const char *path;
    size_t number; /* of the line, from 1 */
    char text[MAX_LINE_BYTES];
    size_t bytes;
    failure *f;
} lines;

static bool lines_open(lines *l, const char *path, failure *f)
{
    struct stat status;
    l->path = path;
    l->f = f;
    l->number = 0;
    l->stream = fopen(path, "rb");
    if (!l->stream || fstat(fileno(l->stream), &status) != 0)
        return fail(f, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(f, "%s: is a folder, not a file of tokens", path);
    return true;
}

/* Windows' editors begin UTF-8 with a mark and end lines with CR LF. */
static void strip(lines *l)
{
    if (l->number == 1 && l->bytes >= 3 &&
        memcmp(l->text, "\xEF\xBB\xBF", 3) == 0) {
        l->bytes -= 3;
        memmove(l->text, l->text + 3, l->bytes);
    }
    if (l->bytes && l->text[l->bytes - 1] == '\r')
        --l->bytes;
}

/* *more is false at the end, where there is no line. */
static bool lines_next(lines *l, bool *more)
{
    int c;
    l->bytes = 0;
    ++l->number;
    while ((c = getc(l->stream)) != EOF && c != '\n') {
        if (l->bytes == MAX_LINE_BYTES)
            return fail(l->f,
                "%s: line %zu is longer than a token may be: %d bytes", l->path,
                l->number, MAX_LINE_BYTES);
        l->text[l->bytes++] = (char)c;
    }
    if (ferror(l->stream))
        return fail(l->f, "%s: cannot be read: %s", l->path, strerror(errno));
    *more = c == '\n' || l->bytes > 0;
    strip(l);
    return true;
}

/* ---- Words --------------------------------------------------------------- */

static bool words_allocate(words *w, size_t count, failure *f)
{
    w->count = 0;
    w->text = calloc(count ? count : 1, sizeof *w->text);
    return w->text || fail(f, "no memory for %zu tokens", count);
}

/* Takes `text` over, which is NULL without memory. */
static bool words_add(words *w, char *text, failure *f)
{
    if (!text)
        return fail(f, "no memory for token %zu", w->count);
    w->text[w->count++] = text;
    return true;
}

static bool read_lines(words *w, lines *l, size_t expected)
{
    bool more = true;
    size_t count = 0;
    if (!lines_next(l, &more))
        return false;
    for (; more; ++count) {
        if (count < expected && !words_add(w, clean(l->text, l->bytes), l->f))
            return false;
        if (!lines_next(l, &more))
            return false;
    }
    if (count != expected)
        return fail(l->f, "%s: %zu tokens, but %zu are needed, one a line",
            l->path, count, expected);
    return true;
}

bool words_read(words *w, const char *path, size_t expected, failure *f)
{
    lines *l = calloc(1, sizeof *l);
    *w = (words){0};
    if (!l)
        return fail(f, "%s: no memory", path);
    bool ok = lines_open(l, path, f) && words_allocate(w, expected, f) &&
              read_lines(w, l, expected);
    if (!ok)
        words_free(w);
    if (l->stream)
        fclose(l->stream);
    free(l);
    return ok;
}

bool words_number(words *w, size_t count, failure *f)
{
    bool ok = words_allocate(w, count, f);
    for (size_t i = 0; ok && i < count; ++i) {
        char text[24];
        int bytes = snprintf(text, sizeof text, "%zu", i);
        ok = words_add(w, clean(text, (size_t)bytes), f);
    }
    if (!ok)
        words_free(w);
    return ok;
}

void words_free(words *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->count; ++i)
        free(w->text[i]);
    free(w->text);
    *w = (words){0};
}

size_t words_width(const char *text)
{
    size_t columns = 0, bytes = strlen(text);
    for (size_t i = 0; i < bytes;) {
        uint32_t code;
        i += utf8_decode(&code, text + i, bytes - i);
        columns += text_columns(code);
    }
    return columns;
}

void reading_mean(
    float *mean, const float *weights, size_t heads, size_t elements)
{
    for (size_t e = 0; e < elements; ++e) {
        double sum = 0.0;
        for (size_t h = 0; h < heads; ++h)
            sum += (double)weights[h * elements + e];
        mean[e] = (float)(sum / (double)heads);
    }
}
