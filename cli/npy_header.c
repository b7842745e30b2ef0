/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_header.c - the header of an .npy file: a Python dict literal that names
 * dtype, order and shape.
 */
#include "npy_header.h"

#include <string.h>

typedef struct cursor {
    const char *start, *at, *end;
    const char *path;
    failure *f;
} cursor;

static bool expected(const cursor *c, const char *what)
{
    return fail(c->f, "%s: damaged header: %s expected at byte %zu of it",
        c->path, what, (size_t)(c->at - c->start));
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && memchr(" \t\n\r\f", *c->at, 5))
        ++c->at;
}

/* The next character after white space; 0 at the end. */
static char peek(cursor *c)
{
    skip_space(c);
    return c->at < c->end ? *c->at : 0;
}

/* `wanted` is not 0. */
static bool accept(cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    ++c->at;
    return true;
}

static bool accept_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* Copy for messages and comparison: what is not printable ASCII becomes '?'. */
static void copy_printable(
    char *to, size_t capacity, const char *from, size_t bytes)
{
    size_t n = bytes < capacity ? bytes : capacity - 1;
    for (size_t i = 0; i < n; ++i)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[n] = 0;
}

/* A string in either quotes.  Escapes are refused: no writer uses them here,
   and two readers could take them for different names. */
static bool parse_string(cursor *c, char *text, size_t capacity)
{
    char quote = peek(c);
    if (quote != '\'' && quote != '"')
        return expected(c, "a string");
    const char *first = ++c->at;
    while (c->at < c->end && *c->at != quote && *c->at != '\n') {
        if (*c->at == '\\')
            return expected(c, "a string without escapes");
        ++c->at;
    }
    if (c->at == c->end || *c->at != quote)
        return expected(c, "the end of a string");
    copy_printable(text, capacity, first, (size_t)(c->at - first));
    ++c->at;
    return true;
}

/* Bytes from an opening bracket to the one that closes it, at most `limit`. */
static size_t bracketed(const cursor *c, size_t limit)
{
    size_t depth = 0, bytes = 0;
    size_t rest = (size_t)(c->end - c->at);
    while (bytes < limit && bytes < rest) {
        char next = c->at[bytes++];
        depth += next == '[' || next == '(';
        depth -= next == ']' || next == ')';
        if (depth == 0)
            break;
    }
    return bytes;
}

static bool parse_descr(cursor *c, npy_header *header)
{
    char next = peek(c);
    if (next == '[' || next == '(') {
        char text[81];
        copy_printable(text, sizeof text, c->at, bracketed(c, sizeof text - 1));
        return fail(c->f,
            "%s: structured dtype %s is not read: save one field as an array "
            "of its own",
            c->path, text);
    }
    return parse_string(c, header->descr, sizeof header->descr);
}

static bool parse_order(cursor *c, npy_header *header)
{
    header->fortran_order = accept_word(c, "True");
    return header->fortran_order || accept_word(c, "False") ||
           expected(c, "True or False");
}

/* As strspn, of at most 40 of `bytes`. */
static size_t strspn_within(const char *text, size_t bytes, const char *accept)
{
    size_t n = 0;
    while (n < bytes && n < 40 && text[n] && strchr(accept, text[n]))
        ++n;
    return n;
}

static bool parse_size(cursor *c, size_t *size)
{
    char next = peek(c);
    if (next == '-') {
        const size_t rest = (size_t)(c->end - c->at) - 1;
        const size_t digits = strspn_within(c->at + 1, rest, "0123456789");
        return fail(c->f, "%s: the shape has a negative size, %.*s", c->path,
            (int)digits + 1, c->at);
    }
    if (next < '0' || next > '9')
        return expected(c, "a size");
    size_t value = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; ++c->at) {
        size_t digit = (size_t)(*c->at - '0');
        if (value > (SIZE_MAX - digit) / 10)
            return fail(
                c->f, "%s: the shape has a size beyond 64 bits", c->path);
        value = 10 * value + digit;
    }
    if (c->at < c->end && *c->at == 'L')
        ++c->at;
    *size = value;
    return true;
}

static bool parse_shape(cursor *c, npy_header *header)
{
    bool comma = true;
    if (!accept(c, '('))
        return expected(c, "a tuple of sizes");
    while (!accept(c, ')')) {
        if (!comma)
            return expected(c, "a comma or ')'");
        if (header->rank == NPY_MAX_RANK)
            return fail(c->f,
                "%s: more than %d dimensions, but at most %d "
                "are read",
                c->path, NPY_MAX_RANK, NPY_MAX_RANK);
        if (!parse_size(c, &header->size[header->rank]))
            return false;
        ++header->rank;
        comma = accept(c, ',');
    }
    /* Python's (3) is a number, not a tuple. */
    return (header->rank == 1 && !comma) ? expected(c, "a comma after the size")
                                         : true;
}

static const struct field {
    const char *key;
    bool (*parse)(cursor *c, npy_header *header);
} FIELDS[] = {
    {"descr", parse_descr},
    {"fortran_order", parse_order},
    {"shape", parse_shape},
};
enum {
    FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0]
};

static bool parse_field(cursor *c, npy_header *header, bool *seen)
{
    char key[48];
    if (!parse_string(c, key, sizeof key))
        return false;
    if (!accept(c, ':'))
        return expected(c, "a colon");
    for (size_t i = 0; i < FIELD_COUNT; ++i) {
        if (strcmp(key, FIELDS[i].key) != 0)
            continue;
        if (seen[i])
            return fail(c->f, "%s: the header has '%s' twice", c->path, key);
        seen[i] = true;
        return FIELDS[i].parse(c, header);
    }
    return fail(c->f,
        "%s: the header has the key '%s', but only 'descr', 'fortran_order' "
        "and 'shape' are allowed",
        c->path, key);
}

bool npy_header_parse(npy_header *header, const char *text, size_t bytes,
    const char *path, failure *f)
{
    cursor c = {text, text, text + bytes, path, f};
    bool seen[FIELD_COUNT] = {false};
    bool comma = true;

    memset(header, 0, sizeof *header);
    if (!accept(&c, '{'))
        return expected(&c, "a dict");
    while (!accept(&c, '}')) {
        if (!comma)
            return expected(&c, "a comma or '}'");
        if (!parse_field(&c, header, seen))
            return false;
        comma = accept(&c, ',');
    }
    skip_space(&c);
    if (c.at != c.end)
        return expected(&c, "the end");
    for (size_t i = 0; i < FIELD_COUNT; ++i)
        if (!seen[i])
            return fail(f, "%s: the header lacks '%s'", path, FIELDS[i].key);
    return true;
}
