/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.c - writing over the line.
 */
#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <unistd.h>

progress progress_on(FILE *stream)
{
    return (progress){isatty(fileno(stream)) ? stream : NULL};
}

/* Over the line before, so it must be as long. */
void progress_tell_step(void *to, size_t done, size_t count, const char *name)
{
    fprintf(to, "\r%zu of %zu  %-60.60s", done + 1, count, name);
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
    fprintf(p->to, "\r%80s\r", "");
    fflush(p->to);
}
