/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where a path leads: the name behind its links, and whether another
 * path leads there too.
 */
#ifndef CLATTN_CLI_PLACE_H
#define CLATTN_CLI_PLACE_H

#include <stdbool.h>

/* Texts are the caller's to free; NULL with errno. */
char *place_copy(const char *text);
/* `name` in the folder of `path`; an absolute name stays as it is. */
char *place_beside(const char *path, const char *name);
/* The name behind all links of the last component, existing or not. */
char *place_of(const char *path);

/* Whether two paths lead to one file, by whatever spelling, link or hard link;
   of files that do not exist, to one name in one folder.  *same is false too
   where a folder cannot be looked at: opening will tell.  False: no memory. */
bool place_same(bool *same, const char *a, const char *b);

/* Whether `path` is a file on a disk: reading one that is being replaced is a
   mistake, whereas a terminal or a socket is often both. */
bool place_is_file(const char *path);

#endif
