/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_request.h - the options of `clattn bench`, read.
 */
#ifndef CLATTN_CLI_BENCH_REQUEST_H
#define CLATTN_CLI_BENCH_REQUEST_H

#include "bench_case.h"
#include "options.h"

typedef struct bench_request {
    const char *device;
    bool suite, json;
    size_t count;
    const bench_case *cases; /* the table's, or `own` */
    bench_case own[OPTIONS_REPEATS];
    char name[OPTIONS_REPEATS][160];
} bench_request;

/* False is wrong use.  *r may not be copied: own cases point to their names. */
bool bench_request_read(bench_request *r, const options *given, failure *f);

#endif
