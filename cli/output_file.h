/* SPDX-License-Identifier: Apache-2.0
 *
 * output_file.h - files that appear whole or not at all: written under a
 * temporary name in the target's folder, then renamed.  A target that exists
 * and is no regular file (a pipe, a device), or is standard output under any
 * name, is written directly.  A symbolic link stays, and the file behind it is
 * replaced; a replaced file keeps its permissions.  A signal that ends the
 * process leaves no temporary name behind.
 */
#ifndef CLATTN_CLI_OUTPUT_FILE_H
#define CLATTN_CLI_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "failure.h"

typedef struct output_file output_file;

/* NULL with a message if the folder or file cannot be written. */
output_file *output_file_open(const char *path, failure *f);
FILE *output_file_stream(output_file *file); /* until it is finished */
/* Flush, check and close, under the temporary name still. */
bool output_file_finish(output_file *file, failure *f);
/* Finish, if it is not, and rename.  Frees `file` in either case; after a
   failure no file is left and an older target is untouched. */
bool output_file_commit(output_file *file, failure *f);
void output_file_abandon(output_file *file); /* NULL is a no-op */

/* Whether `path` could be opened for writing now, leaving nothing behind: asked
   for every output before the work begins. */
bool output_file_possible(const char *path, failure *f);

#endif
