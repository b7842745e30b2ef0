/* SPDX-License-Identifier: Apache-2.0
 *
 * guard_page.h - buffers that end where a page ends which has none behind it:
 * what a CPU reads past them is fatal, even if it is then not used.  Other
 * devices copy them and notice nothing.
 *
 * The program ends there and then, and no test is named: it is the one behind
 * the last that CK_TAP_LOG_FILE_NAME=- prints.
 */
#ifndef CLATTN_TESTS_GUARD_PAGE_H
#define CLATTN_TESTS_GUARD_PAGE_H

#include <CL/cl.h>
#include <stddef.h>

/* A copy of the data that kernels only read.  Its pages go with the buffer. */
cl_mem guard_page_buffer(const void *data, size_t bytes);

#endif
