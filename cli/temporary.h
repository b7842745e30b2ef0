/* SPDX-License-Identifier: Apache-2.0
 *
 * temporary.h - files that have not got their own name yet, which a signal that
 * ends the process takes with it.
 */
#ifndef CLATTN_CLI_TEMPORARY_H
#define CLATTN_CLI_TEMPORARY_H

#include <stdbool.h>
#include <sys/types.h>

/* Stays where it is while the file exists: signal handlers follow `next`. */
typedef struct temporary {
    char *path; /* NULL: there is none */
    struct temporary *next;
} temporary;

/* Create `path`, which must not exist, and take the text over; a descriptor for
   writing, or -1 with errno, the text freed and t->path NULL. */
int temporary_create(temporary *t, char *path, mode_t mode);

/* Give it its name; false with errno, and it remains temporary. */
bool temporary_rename(temporary *t, const char *name);

/* Of none is a no-op. */
void temporary_remove(temporary *t);

#endif
