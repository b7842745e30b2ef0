/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl.h - one context and two queues for all tests of a program, and the
 * few OpenCL calls that tests repeat.  A call that fails fails the test.
 */
#ifndef CLATTN_TESTS_OPENCL_H
#define CLATTN_TESTS_OPENCL_H

#include <check.h>
#include <stdbool.h>

#include "device_queues.h"

typedef device_queues opencl;

/* For tcase_add_unchecked_fixture, in programs that do not fork their tests. */
void opencl_open(void);
void opencl_close(void);

const opencl *opencl_get(void);

/* A test case between the two, of so many seconds. */
TCase *opencl_cases(const char *name, double seconds);

/* A buffer that holds a copy of `bytes` of data. */
cl_mem opencl_buffer(const void *data, size_t bytes);
/* A buffer full of 0xff: NaN as f32, -1 as int32. */
cl_mem opencl_blank(size_t bytes);
void opencl_read(cl_mem buffer, void *data, size_t bytes);

/* Wait for an event, release it, and tell whether its work succeeded. */
bool opencl_finish_event(cl_event event);

#endif
