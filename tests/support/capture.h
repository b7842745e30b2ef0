/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.h - what a function prints, as a string.
 */
#ifndef CLATTN_TESTS_CAPTURE_H
#define CLATTN_TESTS_CAPTURE_H

#include <stddef.h>
#include <stdio.h>

/* A file that is gone when it is closed. */
FILE *capture_begin(void);
/* All that has been printed, the caller's to free; closes the file. */
char *capture_end(FILE *file);

/* The line that begins at `text`, without its newline, in `line` of `bytes`;
   returns where the next begins, NULL at the end. */
const char *capture_line(char *line, size_t bytes, const char *text);

#endif
