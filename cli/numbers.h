/* SPDX-License-Identifier: Apache-2.0
 *
 * numbers.h - real numbers in option values, one per head: a comma list, or a
 * file if the value ends in .npy.
 */
#ifndef CLATTN_CLI_NUMBERS_H
#define CLATTN_CLI_NUMBERS_H

#include "failure.h"
#include "npy.h"
#include "options.h"

typedef struct numbers {
    option_id id;
    const char *text; /* of the option; NULL: not given */
    bool is_file;
    float *value; /* of a file: after numbers_load */
    size_t count;
    bool was_bf16; /* of a file: see npy_array */
} numbers;

/* Read a comma list of finite numbers; a file is only noted.  text may be
   NULL. */
bool numbers_parse(numbers *list, option_id id, const char *text, failure *f);
/* Read the file, if it is one, and check that there are `count` values.
   `whose` says whose heads they are. */
bool numbers_load(numbers *list, size_t count, enum npy_two_bytes two_bytes,
    const char *whose, failure *f);
void numbers_free(numbers *list);

#endif
