/* SPDX-License-Identifier: Apache-2.0
 *
 * shim.h - stands between a program and its OpenCL loader and C library: makes
 * the n-th call of an entry point fail, counts the objects that are alive, and
 * makes the device look smaller than it is.  For tests only.
 *
 * It defines the symbols themselves, and finds the real ones behind its own.
 * The same code thereby serves a test program, which contains it and steers it
 * by the functions below, and the program clattn as users get it, which has it
 * as a shared object under LD_PRELOAD and is steered by the environment:
 *
 *     CLATTN_SHIM         NAME:N:CODE, the failure to bring about; N = 0: none
 *     CLATTN_SHIM_REPORT  a file that gets what came of it when the process
 *                         ends: "struck 1", "objects 0", "blocks 0", "calls NAME 3"
 *
 * Wrapping at link time would need a clattn of its own; an OpenCL layer or an
 * .icd file sees neither the C library's calls nor what the loader answers; a
 * library linked before the loader depends on an order that CMake does not
 * promise.
 *
 * Only those calls count and fail that are made by the program's own code, the
 * library linked into it included, or by jansson for it: a driver or loader
 * that runs out of memory may abort, which would prove nothing.
 */
#ifndef CLATTN_TESTS_SHIM_H
#define CLATTN_TESTS_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#include <CL/cl.h>

#include "shim_points.h"

/* "clCreateBuffer" */
const char *shim_name(enum shim_point point);
bool shim_is_opencl(enum shim_point point);

/* ---- The n-th failure ------------------------------------------------------ */

/*
 * From now on calls are counted anew, and the n-th of `point` fails: an OpenCL
 * call with `code`, one of the C library's with `code` as errno.  n = 0: none
 * does.  A release that fails has released all the same, as in a driver that
 * only tells.
 */
void shim_arm(enum shim_point point, size_t n, int code);
/* Until now.  Whether the failure came about. */
bool shim_disarm(void);
/* Calls between the two, the one that failed included. */
size_t shim_calls(enum shim_point point);

/* ---- Objects --------------------------------------------------------------- */

enum shim_kind {
    SHIM_CONTEXT,
    SHIM_QUEUE,
    SHIM_BUFFER,
    SHIM_PROGRAM,
    SHIM_KERNEL,
    SHIM_EVENT,
    SHIM_KINDS
};

/* References that the program owns, in all and of a kind. */
size_t shim_objects(void);
size_t shim_objects_of(enum shim_kind kind);
/* Releases of what was not alive, since the program began. */
size_t shim_strays(void);

/* Blocks of memory that were asked for between arm and disarm, and not freed
   since. */
size_t shim_blocks(void);

/* ---- Smaller devices, and such as lie ----------------------------------------- */

/* Limits of 0, flags that are false and texts that are NULL leave things as they
   are.  What is beyond a limit is refused with the code that the standard has
   for it. */
typedef struct shim_device {
    size_t max_group;
    cl_ulong local_bytes;
    cl_ulong max_buffer_bytes;
    bool gpu; /* of scalar items, by its own word */
    bool no_double;
    bool only_1_2;                  /* as a device that knows nothing newer */
    cl_ulong claimed_local_bytes;   /* said, though there are fewer */
    const char *claimed_extensions; /* said beside those that there are */
    cl_ulong private_bytes;         /* of every kernel */
    const char *find, *instead; /* in the text of programs: what a device that
                                   computes wrong makes of it */
} shim_device;

/* For the whole process, until the next call; NULL: as it is.  The struct is
   copied. */
void shim_shrink(const shim_device *device);

/* From now on there is no other platform; NULL: all that there are. */
void shim_only_platform(cl_platform_id platform);

/* ---- Compilers ------------------------------------------------------------- */

enum shim_compiler {
    SHIM_COMPILER_REAL,
    SHIM_COMPILER_NONE,  /* takes no time; its kernels are not to be launched */
    SHIM_COMPILER_FAILS, /* with a log */
    SHIM_COMPILER_SILENT /* fails with an empty one */
};

/* From now on.  Kernels of one are not to be released under another. */
void shim_compile(enum shim_compiler compiler);

#endif
