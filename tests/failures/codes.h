/* SPDX-License-Identifier: Apache-2.0
 *
 * codes.h - what each OpenCL call may return when it fails, as the standard
 * lists it, and the status that the library owes for it.
 */
#ifndef CLATTN_TESTS_CODES_H
#define CLATTN_TESTS_CODES_H

#include "clattn/clattn.h"
#include "shim_points.h"

enum {
    MOST_CODES = 20,
    NO_PLATFORM = -1001,                        /* CL_PLATFORM_NOT_FOUND_KHR */
    ANY_CALL_FAILS_WITH = CL_OUT_OF_HOST_MEMORY /* in each of the lists */
};

/* The codes of OpenCL 1.2, ended by CL_SUCCESS; none for the C library. */
const cl_int *codes_of(enum shim_point point);

/* Where nothing has been queued, and no other device could stand in. */
clattn_status codes_status(enum shim_point point, cl_int code);

#endif
