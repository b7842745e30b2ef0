/* SPDX-License-Identifier: Apache-2.0
 *
 * reference.h - the parts of the references that build on each other: all of
 * them after the checks, in double precision.
 */
#ifndef CLATTN_HOST_REFERENCE_H
#define CLATTN_HOST_REFERENCE_H

#include "clattn/clattn.h"

/* What the formula's scale is: the caller's, or 1 / sqrt(D) unrounded.  A
   completed descriptor has only a float. */
double reference_scale(const clattn_attention *given);

/* Fails only for want of memory, and then has written nothing. */
clattn_status reference_attention(const clattn_attention *complete,
    const clattn_attention_args *args, double scale, clattn_error *error);

/* W and b of y = x W + b, as they lie in memory. */
typedef struct reference_map {
    const void *w, *b;       /* b: NULL if there is none */
    size_t w_first, b_first; /* elements to skip */
    size_t w_row;            /* stride */
    size_t n_in, n_out;
    int32_t dtype, weight_order;
} reference_map;

/* One row of it.  `scratch` holds a row of W, n_in or n_out elements. */
void reference_map_row(
    double *y, const double *x, const reference_map *map, double *scratch);

#endif
