/* SPDX-License-Identifier: Apache-2.0
 *
 * outputs.h - the files that one command writes: none is another or an input,
 * and none gets its name before all are whole.
 */
#ifndef CLATTN_CLI_OUTPUTS_H
#define CLATTN_CLI_OUTPUTS_H

#include <stddef.h>

#include "failure.h"
#include "options.h"
#include "output_file.h"

enum {
    OUTPUTS_MAX = 8 /* more than any command has */
};

/* Files whose data are written and that wait for their names. */
typedef struct outputs {
    output_file *file[OUTPUTS_MAX];
    size_t count;
} outputs;

/* Take the file over, and check that all of it was written: false leaves
   nothing of it. */
bool outputs_take(outputs *all, output_file *file, failure *f);

/* Give all their names, after a check that standard output took what was
   printed: after a failure before the first name older files are as they were.
   Empty afterwards in either case. */
bool outputs_commit(outputs *all, failure *f);
void outputs_abandon(outputs *all); /* of none is a no-op */

/* The options that name a command's files; of those in `listed` the value may
   be a comma list instead. */
typedef struct file_options {
    const option_id *written, *read, *listed;
    size_t written_count, read_count, listed_count;
} file_options;

/* Whether no two of the files written are one, and none is an option's or the
   operand's input.  False is wrong use. */
bool outputs_distinct(
    const options *given, const file_options *files, failure *f);

/* What a place for a result has to be before the work begins. */
bool outputs_possible(
    const options *given, const file_options *files, failure *f);

#endif
