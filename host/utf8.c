/* SPDX-License-Identifier: Apache-2.0
 *
 * utf8.c - code points of UTF-8, and what of others' texts is fit to be printed.
 */
#include "utf8.h"

#include <string.h>

/* What may follow the first byte: less than any 80 to BF where a shorter form
   exists, for surrogates, and beyond U+10FFFF. */
static void second_byte(
    unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
}

size_t utf8_decode(uint32_t *code, const char *text, size_t bytes)
{
    const unsigned char *b = (const unsigned char *)text;
    unsigned char low, high;
    *code = b[0] < 0x80 ? b[0] : UTF8_REPLACEMENT;
    if (b[0] < 0xC2 || b[0] > 0xF4)
        return 1;
    size_t length = b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
    uint32_t value = b[0] & (0x7Fu >> length);
    second_byte(b[0], &low, &high);
    for (size_t i = 1; i < length; ++i) {
        if (i == bytes || b[i] < low || b[i] > high)
            return i;
        value = value << 6 | (b[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code = value;
    return length;
}

/* Not for a line of a terminal: controls, also those above U+7F, what breaks
   lines, and what turns the direction of the text around it. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 ||
           code == 0x2029 || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t utf8_next(bool *fit, const char *text, size_t bytes)
{
    uint32_t code;
    const size_t length = utf8_decode(&code, text, bytes);
    /* The only whole character that is decoded as what is not valid is. */
    const bool valid =
        code != UTF8_REPLACEMENT || (length == 3 && text[0] == '\xEF');
    *fit = valid && !is_control(code);
    return length;
}

static void clean(char *text, const char *kept)
{
    const size_t bytes = strlen(text);
    char *to = text;
    bool fit;
    for (size_t i = 0, length; i < bytes; i += length) {
        length = utf8_next(&fit, text + i, bytes - i);
        if (fit || strchr(kept, text[i])) {
            memmove(to, text + i, length);
            to += length;
        } else {
            *to++ = '?';
        }
    }
    *to = '\0';
}

void utf8_clean(char *text)
{
    clean(text, "");
}

void utf8_clean_lines(char *text)
{
    clean(text, "\n\t");
}
