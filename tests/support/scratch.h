/* SPDX-License-Identifier: Apache-2.0
 *
 * scratch.h - a folder for the files that one test program makes.
 */
#ifndef CLATTN_TESTS_SCRATCH_H
#define CLATTN_TESTS_SCRATCH_H

#include <stddef.h>

enum {
    SCRATCH_PATH = 512
};

/* An unchecked fixture: made before the first test and removed with all that is
   in it after the last, also if a test has crashed. */
void scratch_begin(void);
void scratch_end(void);

/* "<folder>/name"; path holds SCRATCH_PATH bytes.  Returns path. */
const char *scratch_path(char *path, const char *name);

/* Write or replace a file; returns its path as above. */
const char *scratch_write(
    char *path, const char *name, const void *data, size_t bytes);

/* The bytes of a file and a 0 behind them, the caller's to free; NULL if it
   cannot be read. */
char *scratch_read(const char *path, size_t *bytes);

/* Files and folders in the folder `name` of ours; "" is the folder itself. */
size_t scratch_count(const char *name);

/* The path of a pipe that holds `bytes` of data and then ends, written by a
   process of its own, so that any size fits.  Close *fd and wait for a child
   afterwards. */
const char *scratch_pipe(char *path, int *fd, const void *data, size_t bytes);

#endif
