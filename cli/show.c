/* SPDX-License-Identifier: Apache-2.0
 *
 * show.c - weights in a terminal: which words each word reads.
 */
#define _DEFAULT_SOURCE /* fileno, isatty, strcasecmp */
#include "show.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "environment.h"
#include "show_parts.h"
#include "terminal.h"

enum {
    LEAST_WIDTH = 40
};

static bool is_set(const char *variable)
{
    const char *value = environment_value(variable);
    return value != NULL && value[0] != '\0';
}

/* The first of the three that is set decides, as in POSIX. */
static bool locale_is_utf8(void)
{
    static const char *const VARIABLES[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; ++i) {
        if (!is_set(VARIABLES[i]))
            continue;
        const char *set = strchr(environment_value(VARIABLES[i]), '.');
        return set != NULL && (strncasecmp(set, ".utf-8", 6) == 0 ||
                                  strncasecmp(set, ".utf8", 5) == 0);
    }
    return false;
}

show_style show_style_of(FILE *to)
{
    const int descriptor = fileno(to);
    show_style style = {0, TERMINAL_USUAL, 0};
    if (!isatty(descriptor))
        return style;
    style.width = terminal_width(descriptor);
    style.colour = !is_set("NO_COLOR");
    style.blocks = style.colour && locale_is_utf8();
    return style;
}

size_t show_longest(const words *w)
{
    size_t longest = 0;
    for (size_t i = 0; i < w->count; ++i) {
        const size_t width = words_width(w->text[i]);
        longest = width > longest ? width : longest;
    }
    return longest;
}

size_t show_index_width(size_t count)
{
    size_t width = 1;
    for (size_t rest = count > 0 ? count - 1 : 0; rest >= 10; rest /= 10)
        ++width;
    return width;
}

void show_reading(FILE *to, const reading *r, show_style style)
{
    if (style.width < LEAST_WIDTH)
        style.width = LEAST_WIDTH;
    if (r->rows == 0 || r->columns == 0) {
        fprintf(to, "%s: nothing to show, because there are no %s words.\n",
            r->title, r->rows == 0 ? "reading" : "read");
        return;
    }
    show_list(to, r, style);
    show_matrix(to, r, style);
}
