/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_parts.h - what the parts of the shim have of each other.
 */
#ifndef CLATTN_TESTS_SHIM_PARTS_H
#define CLATTN_TESTS_SHIM_PARTS_H

#include "shim.h"

/* Whether that is code of the program; `caller` is where a call returns to. */
bool shim_is_program(const void *caller);

/* Count a call; true, and *code, if it is the one to fail. */
bool shim_strikes(enum shim_point point, int *code);
/* The same of one of the C library's: true, and errno. */
bool shim_fails(enum shim_point point);
bool shim_is_armed(void);

/* Put the function behind ours into the function pointer at `to`. */
void shim_next(void *to, const char *name);

/* The same with one of our own, where the compiler is. */
bool shim_instead(void *to, const char *name);

/* A reference more, and one less, to an object; NULL counts for nothing. */
void shim_keep(enum shim_kind kind, const void *object);
void shim_drop(const void *object);

/* From now on standard output is a stream whose writes count. */
void shim_watch_output(void);

/* ---- What a shrunken device says ---------------------------------------------- */

/* Change an answer that has been given. */
void shim_platforms_answer(
    cl_uint room, cl_platform_id *platforms, cl_uint *count);
void shim_device_answer(
    cl_device_info what, size_t bytes, void *value, size_t *bytes_out);
void shim_kernel_answer(cl_kernel_work_group_info what, void *value);

/* Whether a kernel's text has a double in it, by name or as a number without f:
   an implementation with doubles takes it, one without may not. */
bool shim_uses_double(const char *text);

/* CL_SUCCESS, or what the device refuses with. */
cl_int shim_refuse_query(cl_device_info what);
cl_int shim_refuse_buffer(size_t bytes);
cl_int shim_refuse_source(cl_uint count, const char **text);
cl_int shim_refuse_options(const char *options);
cl_int shim_refuse_launch(cl_command_queue queue, cl_kernel kernel,
    cl_uint dimensions, const size_t *local);

#endif
