/* SPDX-License-Identifier: Apache-2.0
 *
 * column.c - words in columns of a terminal: padded, or cut where they are too
 * long.
 */
#include "column.h"

#include <stdbool.h>
#include <string.h>

#include "words.h"

enum {
    CHARACTER = 4 /* bytes of the longest in UTF-8 */
};

static size_t character_bytes(const char *text)
{
    size_t bytes = 1;
    while (bytes < CHARACTER && ((unsigned char)text[bytes] & 0xC0) == 0x80)
        ++bytes;
    return bytes;
}

/* The bytes of the longest beginning of the text within `room` columns;
   *width receives its columns. */
static size_t fitting(const char *text, size_t room, size_t *width)
{
    size_t bytes = 0;
    *width = 0;
    while (text[bytes] != '\0') {
        char character[CHARACTER + 1] = {0};
        const size_t next = character_bytes(text + bytes);
        memcpy(character, text + bytes, next);
        const size_t columns = words_width(character);
        if (*width + columns > room)
            break;
        *width += columns;
        bytes += next;
    }
    return bytes;
}

static void pad(FILE *to, size_t columns)
{
    fprintf(to, "%*s", (int)columns, "");
}

void column_print(FILE *to, const char *text, const char *tail, size_t width,
    enum column_side side)
{
    const size_t kept = strlen(tail);
    const size_t room = width > kept ? width - kept : 0;
    size_t bytes = strlen(text);
    size_t used = words_width(text);
    const bool cut = used > room;
    if (cut) {
        bytes = fitting(text, room > 0 ? room - 1 : 0, &used);
        used += room > 0;
    }
    const size_t space = room > used ? room - used : 0;
    if (side == COLUMN_RIGHT)
        pad(to, space);
    fprintf(to, "%.*s%s%s", (int)bytes, text, cut && room > 0 ? "~" : "", tail);
    if (side == COLUMN_LEFT)
        pad(to, space);
}
