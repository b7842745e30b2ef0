/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.h - a piece of kernels/ alone: a kernel of the test's own that includes
 * it, and buffers that go in and come back.
 */
#ifndef CLATTN_TESTS_PROBE_H
#define CLATTN_TESTS_PROBE_H

#include <stddef.h>

#include "clattn/clattn.h"

enum {
    PROBE_BUFFERS = 4
};

typedef struct probe {
    cl_kernel kernel;
} probe;

/* The kernel "probe" of `text`, behind the pieces (NULL behind the last) with
   their includes; from CLATTN_KERNEL_DIR where that is set. */
void probe_open(
    probe *p, const char *const *pieces, const char *options, const char *text);
void probe_close(probe *p);

typedef struct probe_call {
    struct {
        void *data; /* what goes in and comes back; NULL: no such argument */
        size_t bytes;
    } buffer[PROBE_BUFFERS];
    const void *params; /* the last argument; NULL: none */
    size_t params_bytes;
    size_t global[2];
} probe_call;

void probe_run(const probe *p, const probe_call *call);

#endif
