/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_source.h - the files of kernels/, embedded by the build.
 */
#ifndef CLATTN_HOST_KERNEL_SOURCE_H
#define CLATTN_HOST_KERNEL_SOURCE_H

typedef struct kernel_source {
    const char *file; /* "matmul.cl"; NULL in the last row */
    const char *text;
} kernel_source;

extern const kernel_source KERNEL_SOURCES[];

#endif
