/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_double.c - whether a kernel's text needs a device with doubles.
 */
#include "shim_parts.h"

#include <ctype.h>
#include <string.h>

/* Behind a comment that begins at `at`; `at` itself where none does. */
static const char *behind_comment(const char *at)
{
    const char *end = at;
    if (strncmp(at, "/*", 2) == 0)
        end = strstr(at, "*/");
    else if (strncmp(at, "//", 2) == 0)
        end = at + strcspn(at, "\n");
    return end ? end : at + strlen(at);
}

/* Of a word, or of a number with its point and its exponent's sign. */
static size_t length_of(const char *begin)
{
    const bool number = isdigit((unsigned char)begin[0]);
    size_t length = 0;
    for (;; ++length) {
        const char c = begin[length];
        const bool sign = number && (c == '+' || c == '-') && length > 0 &&
                          strchr("eEpP", begin[length - 1]);
        if (!isalnum((unsigned char)c) && c != '_' && !sign &&
            !(number && c == '.'))
            return length;
    }
}

static bool holds(const char *begin, size_t length, const char *any)
{
    for (size_t i = 0; i < length; ++i)
        if (strchr(any, begin[i]))
            return true;
    return false;
}

/* 1.0, 1. and 1e3 are double; 1.0f, 1 and 0x1p3f are not. */
static bool is_double_number(const char *begin, size_t length)
{
    const bool hex = holds(begin, length, "xX");
    const bool real = holds(begin, length, hex ? "pP" : ".eE");
    return real && !strchr("fFhH", begin[length - 1]);
}

bool shim_uses_double(const char *text)
{
    static const char word[] = "double";
    while (*text != '\0') {
        const char *behind = behind_comment(text);
        if (behind != text) {
            text = behind;
            continue;
        }
        const size_t length = length_of(text);
        if (length >= sizeof word - 1 &&
            strncmp(text, word, sizeof word - 1) == 0)
            return true;
        if (isdigit((unsigned char)*text) && is_double_number(text, length))
            return true;
        text += length > 0 ? length : 1;
    }
    return false;
}
