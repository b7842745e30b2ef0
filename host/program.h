/* SPDX-License-Identifier: Apache-2.0
 *
 * program.h - (kernel, options) -> built kernel, each built once per context
 * and kept for its life, and on disk beyond; and the log of the last build that
 * failed.
 */
#ifndef CLATTN_HOST_PROGRAM_H
#define CLATTN_HOST_PROGRAM_H

#include "clattn/clattn.h"
#include "system.h"

typedef struct program_cache program_cache;

/* What a plan asks for. */
typedef struct kernel_need {
    const char *name;  /* of the kernel; its file is name.cl */
    char options[320]; /* without -cl-std */
} kernel_need;

/* A built kernel, owned by the context. */
typedef struct built_kernel {
    cl_kernel kernel;
    system_lock *lock;  /* held from the first argument to the launch: arguments
                          belong to the cl_kernel, not to a thread */
    size_t max_group;   /* CL_KERNEL_WORK_GROUP_SIZE */
    size_t local_bytes; /* CL_KERNEL_LOCAL_MEM_SIZE */
    size_t private_bytes; /* CL_KERNEL_PRIVATE_MEM_SIZE */
} built_kernel;

clattn_status program_cache_create(program_cache **cache, clattn_error *error);
void program_cache_destroy(program_cache *cache);

/* *built lives as long as the context.  Waits while another thread builds. */
clattn_status program_get(const built_kernel **built, clattn_context *ctx,
    const kernel_need *need, clattn_error *error);

/* See clattn_context_build_log. */
size_t program_cache_log(program_cache *cache, char *text, size_t capacity);

#endif
