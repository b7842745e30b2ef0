/* SPDX-License-Identifier: Apache-2.0
 *
 * values.h - numbers and lists in option values, read strictly: the whole text
 * counts, and a message names option, value and what is allowed.
 */
#ifndef CLATTN_CLI_VALUES_H
#define CLATTN_CLI_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"
#include "options.h"

/* In [low, high]. */
bool value_size(size_t *to, option_id id, const char *text, size_t low,
    size_t high, failure *f);
bool value_uint64(uint64_t *to, option_id id, const char *text, failure *f);
/* Finite, and not so small that it would become 0. */
bool value_float(float *to, option_id id, const char *text, failure *f);
/* In [low, high] too; high is FLT_MAX where there is no limit. */
bool value_float_in(float *to, option_id id, const char *text, float low,
    float high, failure *f);

/* A word of a table and what it stands for; the table ends with {NULL, 0}. */
typedef struct value_word {
    const char *word;
    int32_t meaning;
} value_word;

bool value_one_of(int32_t *to, option_id id, const char *text,
    const value_word *table, failure *f);

/* The value of --precision, NULL: f32, for tensors of this clattn_dtype. */
bool value_precision(int32_t *to, const char *text, int32_t dtype, failure *f);

/* A path of kernels, or the name of one of the library's. */
bool value_kernel(option_id id, const char *text, failure *f);

/* Whole numbers, one per item of the batch: a comma list, or a file if the
   value ends in .npy. */
typedef struct integers {
    option_id id;
    const char *text; /* of the option; NULL: not given */
    bool is_file;
    int32_t *value; /* of a file: after integers_load */
    size_t count;
} integers;

bool value_is_file(const char *text);

/* Read one number at *at into *to and move *at behind it. */
typedef bool value_take(void *to, const char **at);

/* Read the comma list `text`: *value is the caller's to free, *count elements
   of so many bytes.  `kind` names them: "whole numbers". */
bool value_list(void **value, size_t *count, size_t bytes, value_take *take,
    const char *kind, option_id id, const char *text, failure *f);

/* Read a comma list; a file is only noted.  text may be NULL. */
bool integers_parse(integers *list, option_id id, const char *text, failure *f);
/* Read the file, if it is one. */
bool integers_read(integers *list, failure *f);
/* Read the file, if it is one, and check that there are `count` values from
   low to high.  `whose` says whose items they are. */
bool integers_load(integers *list, size_t count, int32_t low, int32_t high,
    const char *whose, failure *f);
void integers_free(integers *list);

#endif
