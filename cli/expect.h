/* SPDX-License-Identifier: Apache-2.0
 *
 * expect.h - a result compared with a stored one.
 */
#ifndef CLATTN_CLI_EXPECT_H
#define CLATTN_CLI_EXPECT_H

#include <stdio.h>

#include "failure.h"
#include "npy.h"
#include "options.h"

typedef struct expectation {
    const char *path; /* NULL: nothing is expected */
    float tolerance;
    size_t count;
    double *values; /* after expectation_load */
} expectation;

/* --expect and --tolerance.  False is wrong use. */
bool expectation_parse(expectation *e, const options *given, failure *f);
/* Before the work: read, and compare the shape with the result's. */
bool expectation_load(
    expectation *e, size_t rank, const size_t *size, failure *f);
void expectation_free(expectation *e);

/* The largest absolute difference of an f32 result, printed unless `to` is
   NULL.  False if it is above the tolerance or if one side alone is NaN. */
bool expectation_check(
    const expectation *e, const npy_array *result, FILE *to, failure *f);

#endif
