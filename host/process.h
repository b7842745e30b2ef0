/* SPDX-License-Identifier: Apache-2.0
 *
 * process.h - whether this process may use OpenCL.
 */
#ifndef CLATTN_HOST_PROCESS_H
#define CLATTN_HOST_PROCESS_H

#include <stdbool.h>

/*
 * A driver's threads and locks do not survive fork().  The first call marks
 * this process as the one that uses OpenCL; in a child of a marked process the
 * answer is false from then on.
 */
bool process_may_use_opencl(void);

#endif
