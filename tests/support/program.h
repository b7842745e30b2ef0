/* SPDX-License-Identifier: Apache-2.0
 *
 * program.h - the program clattn as a process: arguments in; exit code and both
 * outputs out.
 */
#ifndef CLATTN_TESTS_PROGRAM_H
#define CLATTN_TESTS_PROGRAM_H

#include <stddef.h>

enum {
    PROGRAM_ARGUMENTS = 48
};

typedef struct program_result {
    int code;           /* of exit; -1 after a signal */
    char out[64 << 10]; /* cut to fit */
    char err[8 << 10];
} program_result;

/*
 * `arguments` ends with NULL and does not begin with the program's name.  Of an
 * argument "@name" is a file of the scratch folder, "%name" one of
 * examples/minilm.  `environment` is a list of "NAME=value" that ends with NULL,
 * or NULL.
 */
void program_run(program_result *result, const char *const *arguments,
    const char *const *environment);

#endif
