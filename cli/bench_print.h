/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_print.h - what `clattn bench` found out, as a table or as JSON.
 */
#ifndef CLATTN_CLI_BENCH_PRINT_H
#define CLATTN_CLI_BENCH_PRINT_H

#include <stdio.h>

#include "failure.h"
#include "measure.h"

/* Where and with what it was measured. */
typedef struct bench_place {
    const char *device, *driver, *commit;
} bench_place;

void bench_print_table(FILE *to, const bench_place *place,
    const bench_case *cases, const bench_report *report);

bool bench_print_json(FILE *to, const bench_place *place,
    const bench_case *cases, const bench_report *report, failure *f);

#endif
