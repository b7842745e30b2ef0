/* SPDX-License-Identifier: Apache-2.0
 *
 * error.h - statuses: filling a caller's clattn_error, and leaving on failure.
 */
#ifndef CLATTN_HOST_ERROR_H
#define CLATTN_HOST_ERROR_H

#include "clattn/clattn.h"

#ifdef __GNUC__
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* Run `call`; on failure remember its status and leave through cleanup. */
#define TRY(call)                \
    do {                         \
        status = (call);         \
        if (status != CLATTN_OK) \
            goto cleanup;        \
    } while (0)

/* CLATTN_OK, with an empty message.  error may be NULL, here and below. */
clattn_status error_none(clattn_error *error);

/* `status` with a sentence, cut to fit and cleaned as utf8_clean does.  Returns
   status, so that a function can say:
   return error_set(error, CLATTN_INVALID, "Hkv is %zu, ...", ...). */
clattn_status error_set(clattn_error *error, clattn_status status,
    const char *format, ...) PRINTF_LIKE(3, 4);

/* What another call left in a struct of its own: status, code and message. */
clattn_status error_pass(clattn_error *error, const clattn_error *from);

/* What errno means, cut to fit. */
void error_errno_text(char *words, size_t capacity);

/*
 * The status of what an OpenCL call returned: CL_SUCCESS is CLATTN_OK and
 * leaves *error alone; allocation failures are CLATTN_NO_MEMORY, the rest
 * CLATTN_DEVICE_ERROR, and the message names the call and the code.
 */
clattn_status error_check_cl(
    clattn_error *error, cl_int code, const char *call);

/* The status of what fails with work queued: outputs are unspecified, and
   CLATTN_DEVICE_ERROR alone says so.  Message and code stay. */
clattn_status error_after_work(clattn_error *error);

/* "CL_OUT_OF_RESOURCES" for -5; "unknown code" for what has no name. */
const char *error_cl_name(cl_int code);

#endif
