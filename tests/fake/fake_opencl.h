/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_opencl.h - an OpenCL whose one device computes nothing: linked in place
 * of the loader, it lets whole public calls run without a driver, on a device
 * of any limits, and counts what is not released.  Threads may use it as they
 * may use OpenCL: all but the arguments of one kernel.
 */
#ifndef CLATTN_TESTS_FAKE_OPENCL_H
#define CLATTN_TESTS_FAKE_OPENCL_H

#include <stdbool.h>

#include "clattn/clattn.h"

/* What its queries answer. */
typedef struct fake_device {
    cl_device_type type;
    const char *platform, *name;
    size_t max_group, max_group_dim[3];
    size_t kernel_group; /* what a kernel takes, as built */
    cl_ulong local_bytes, buffer_bytes;
    cl_uint native_width, address_bits;
    bool refuses_to_build; /* with a log */
    const char *build_log; /* NULL: a short one */
} fake_device;

/* To be changed before a context is made. */
extern fake_device FAKE_DEVICE;

/* A CPU with vectors of 16 floats, and a GPU of usual size. */
fake_device fake_cpu(void);
fake_device fake_gpu(void);

/* Contexts, queues, buffers, programs, kernels and events still there. */
size_t fake_live(void);

/* Kernels enqueued so far. */
size_t fake_launches(void);
/* Those with an argument that was set by another thread than the one that
   enqueued them. */
size_t fake_mixed(void);

#endif
