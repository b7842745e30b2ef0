/* SPDX-License-Identifier: Apache-2.0
 *
 * failure.h - one sentence of what went wrong, on its way to standard error.
 */
#ifndef CLATTN_CLI_FAILURE_H
#define CLATTN_CLI_FAILURE_H

#include <stdbool.h>

#ifdef __GNUC__
#define FAILURE_FORMAT __attribute__((format(printf, 2, 3)))
#else
#define FAILURE_FORMAT
#endif

typedef struct failure {
    char text[4000];
    bool no_memory; /* that is what failed */
} failure;

/* Write the sentence; returns false, so that a function can say:
   return fail(f, "%s: rank %zu, but 2 or 3 is allowed", path, rank); */
bool fail(failure *f, const char *format, ...) FAILURE_FORMAT;
/* The same for want of memory. */
bool fail_memory(failure *f, const char *format, ...) FAILURE_FORMAT;

#endif
