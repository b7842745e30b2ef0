/* SPDX-License-Identifier: Apache-2.0
 *
 * child.h - runs this test program again as a process of its own, with another
 * environment: a driver reads its variables once per process.
 */
#ifndef CLATTN_TESTS_CHILD_H
#define CLATTN_TESTS_CHILD_H

typedef struct child_result {
    int exit_code; /* -1: ended by a signal, or by us for lack of time */
    double seconds;
    char output[32000]; /* both streams, cut to fit */
} child_result;

/* argv[1] of the child is `mode`; `environment` is a list of "NAME=value" that
   ends with NULL. */
child_result child_run(
    const char *mode, const char *const *environment, int limit_seconds);

#endif
