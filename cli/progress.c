/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c - writing over the line.
 */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <unistd.h>

#include "terminal.h"

enum {
    MOST = 79 /* columns of a line, on wider terminals too */
};

progress progress_on(FILE *stream)
{
    return (progress){isatty(fileno(stream)) ? stream : NULL};
}

/* One less than the terminal has: some go to the next line behind the last. */
static int columns_of(FILE *to)
{
    const size_t width = terminal_width(fileno(to));
    return width > MOST ? MOST : (int)width - 1;
}

/* Over the line before, so it must be as long. */
void progress_tell_step(void *to, size_t done, size_t count, const char *name)
{
    char text[MOST + 1];
    const int columns = columns_of(to);
    snprintf(text, sizeof text, "%zu of %zu  %s", done + 1, count, name);
    fprintf(to, "\r%-*.*s", columns, columns, text);
    fflush(to);
}

void progress_tell(
    const progress *p, size_t done, size_t count, const char *name)
{
    if (p->to)
        progress_tell_step(p->to, done, count, name);
}

void progress_end(const progress *p)
{
    if (!p->to)
        return;
    fprintf(p->to, "\r%*s\r", columns_of(p->to), "");
    fflush(p->to);
}
