/* SPDX-License-Identifier: Apache-2.0
 *
 * passed_over.h - what is there and yet of no use: platforms and devices that
 * fail, and drivers that do not load, of which the loader says nothing.
 */
#ifndef CLATTN_HOST_PASSED_OVER_H
#define CLATTN_HOST_PASSED_OVER_H

#include <stddef.h>

#include "clattn/clattn.h"

typedef struct passed_over {
    size_t platforms; /* that the loader shows, of use or not */
    cl_int cl_code;   /* of the first call that failed, or CL_SUCCESS */
    size_t length;
    char text[4000]; /* a line for each, cut to fit */
} passed_over;

/* A line "what: why", cleaned as utf8_clean does. */
void passed_over_add(passed_over *passed, const char *what, const char *why);

/* The drivers that are registered at `vendors`, as OCL_ICD_VENDORS names it, and
   do not load, or cannot be of use because the loader shows no platform. */
void passed_over_drivers(passed_over *passed, const char *vendors);

/* Continues the sentence of a failure, cut to fit, and gives it the code.
   error may be NULL; a no-op if nothing was passed over. */
void passed_over_tell(const passed_over *passed, clattn_error *error);

#endif
