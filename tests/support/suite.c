/* SPDX-License-Identifier: Apache-2.0
 *
 * suite.c - the main of every test program.
 */
#include "suite.h"

#include <stdlib.h>

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
