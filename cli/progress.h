/* SPDX-License-Identifier: Apache-2.0
 *
 * progress.h - one line that is written over again and again, on a terminal
 * only.
 */
#ifndef CLATTN_CLI_PROGRESS_H
#define CLATTN_CLI_PROGRESS_H

#include <stddef.h>
#include <stdio.h>

typedef struct progress {
    FILE *to; /* NULL: nothing is shown */
} progress;

/* On a stream, if that is a terminal. */
progress progress_on(FILE *stream);
/* "7 of 12  name": what is being done, counted from 0. */
void progress_tell(
    const progress *p, size_t done, size_t count, const char *name);
/* The same on a stream, for those who know of streams alone. */
void progress_tell_step(void *to, size_t done, size_t count, const char *name);
/* Clears the line. */
void progress_end(const progress *p);

#endif
