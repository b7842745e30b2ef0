/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_parts.h - what the files of the fake OpenCL share.
 */
#ifndef CLATTN_TESTS_FAKE_PARTS_H
#define CLATTN_TESTS_FAKE_PARTS_H

#include "fake_opencl.h"

cl_device_id fake_device_handle(void);

/* A query's answer, as OpenCL gives it. */
cl_int fake_answer(
    const void *from, size_t bytes, size_t room, void *to, size_t *needed);
cl_int fake_answer_text(
    const char *text, size_t room, void *to, size_t *needed);

/* In a function with OpenCL's room, to and needed. */
#define ANSWER(value) fake_answer(&(value), sizeof(value), room, to, needed)

#endif
