/* SPDX-License-Identifier: Apache-2.0
 *
 * context.h - one device with its limits, environment and built kernels: the
 * only long-lived state.
 */
#ifndef CLATTN_HOST_CONTEXT_H
#define CLATTN_HOST_CONTEXT_H

#include "clattn/clattn.h"
#include "device.h"
#include "system.h"

struct program_cache;
struct trust;

struct clattn_context {
    cl_context cl;
    cl_device_id device;
    device_limits limits;
    device_facts facts;
    environment env;
    struct program_cache *programs;
    struct trust *trust;
};

void context_retain(clattn_context *ctx);

/* CLATTN_FORKED in a child of the process that made it. */
clattn_status context_check(const clattn_context *ctx, clattn_error *error);

/* One line on standard error if CLATTN_VERBOSE asks for it. */
void context_log(const clattn_context *ctx, const char *format, ...);

#endif
