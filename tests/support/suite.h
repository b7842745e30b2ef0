/* SPDX-License-Identifier: Apache-2.0
 *
 * suite.h - the main of every test program.
 */
#ifndef CLATTN_TESTS_SUITE_H
#define CLATTN_TESTS_SUITE_H

#include <check.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Run the suite, print its totals, free it; what main returns.  `uses_opencl`
   keeps all tests in one process: a driver's threads do not survive a fork. */
int suite_main(Suite *suite, int uses_opencl);

/* `few`, or `many` where CLATTN_TEST_ALL asks tests for all that they can do. */
size_t suite_count(size_t few, size_t many);

/* What main returns where its suite cannot be run, which is neither a pass nor a
   failure: says on standard error what it needs. */
int suite_skip(const char *needs);

#endif
