/* SPDX-License-Identifier: Apache-2.0
 *
 * device_queues.h - a context with the two kinds of queue that calls may be
 * made on.
 */
#ifndef CLATTN_CASES_DEVICE_QUEUES_H
#define CLATTN_CASES_DEVICE_QUEUES_H

#include <stdbool.h>

#include "clattn/clattn.h"

typedef struct device_queues {
    clattn_context *ctx; /* not kept alive by it */
    cl_context cl;
    cl_device_id device;
    cl_command_queue in_order;
    cl_command_queue out_of_order; /* in order where the device has no other */
    bool user_events;              /* commands may wait for one */
} device_queues;

/* To be closed also after a failure. */
clattn_status device_queues_open(
    device_queues *q, clattn_context *ctx, clattn_error *error);
void device_queues_close(device_queues *q);

/* Wait for an event and release it; what its work came to. */
clattn_status device_queues_finish(cl_event event, clattn_error *error);

#endif
