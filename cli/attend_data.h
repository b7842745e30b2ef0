/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_data.h - the arrays of `clattn attend`: inputs that fit each other,
 * and room for what is asked.
 */
#ifndef CLATTN_CLI_ATTEND_DATA_H
#define CLATTN_CLI_ATTEND_DATA_H

#include "attend_request.h"
#include "npy.h"
#include "outputs.h"

/* Sizes of one tensor, whatever its rank and layout. */
typedef struct attend_sizes {
    size_t B, H, L, D; /* L of the longest item of a packed batch */
    size_t rows;       /* of all items of a packed batch, else 0 */
} attend_sizes;

typedef struct attend_data {
    npy_array input[ATTEND_INPUTS], mask;
    attend_sizes size[ATTEND_INPUTS];
    npy_array out, matrix, lse; /* empty where they are not asked for; out is
                                   always there */
} attend_data;

/* Read all files of the request, its lists too, and check that they fit each
   other.  Free in either case. */
bool attend_load(attend_data *d, attend_request *r, failure *f);

/* Rows of a packed batch that belong to no item hold what a row without keys
   gives: 0, and -inf in the lse. */
bool attend_make_results(attend_data *d, const attend_request *r, failure *f);

/* bf16 has no name in numpy and is written as f32. */
bool attend_write(
    outputs *to, attend_data *d, const attend_request *r, failure *f);

void attend_data_free(attend_data *d);

#endif
