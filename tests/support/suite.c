/* SPDX-License-Identifier: Apache-2.0
 *
 * suite.c - the main of every test program.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SKIPPED = 77 /* SKIP_RETURN_CODE of tests/CMakeLists.txt */
};

int suite_main(Suite *suite, int uses_opencl)
{
    SRunner *runner = srunner_create(suite);
    if (uses_opencl)
        srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

size_t suite_count(size_t few, size_t many)
{
    const char *all = getenv("CLATTN_TEST_ALL");
    return all != NULL && *all != '\0' ? many : few;
}

int suite_skip(const char *needs)
{
    fprintf(stderr, "NOT RUN: needs %s\n", needs);
    return SKIPPED;
}
