/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h - the device of one command: opened, timed and named.
 */
#ifndef CLATTN_CLI_SESSION_H
#define CLATTN_CLI_SESSION_H

#include <stdio.h>

#include <clattn/clattn.h>

#include "failure.h"

typedef struct session {
    clattn_context *ctx;
    char device[400];                 /* name and platform */
    double open_ms, build_ms, run_ms; /* wall clock */
} session;

/* spec as for clattn_context_create. */
bool session_open(session *s, const char *spec, failure *f);
void session_close(session *s);

/* The library's sentence, passed on; true after CLATTN_OK. */
bool library_ok(clattn_status status, const clattn_error *error, failure *f);

/* Milliseconds of a clock that only goes forward. */
double clock_ms(void);

/* Lines "device ..." and "time ...". */
void session_print_device(FILE *to, const session *s);
void session_print_time(FILE *to, const session *s);

#endif
