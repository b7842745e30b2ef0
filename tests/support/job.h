/* SPDX-License-Identifier: Apache-2.0
 *
 * job.h - one problem that is enqueued again and again: its plan, buffers and
 * workspace, and the bits that a right run leaves.  All but making it may be
 * done in any thread.
 */
#ifndef CLATTN_TESTS_JOB_H
#define CLATTN_TESTS_JOB_H

#include "operation.h"

/* A layer where `layer` is set, else an attention on the row `kernel`. */
typedef struct job_case {
    attention_case attention;
    const char *kernel; /* NULL: the best */
    bool layer;
} job_case;

/* Not to be copied. */
typedef struct job {
    attention_trial attention;
    layer_trial layer;
    bool is_layer;
    operation op;
    clattn_plan *plan;
    cl_command_queue queue; /* in order, for its own reads and writes */
    cl_mem buffer[ARENA_TENSORS];
    clattn_output workspace;
    float *right[ARENA_TENSORS];
} job;

/* Plan it, run it, and hold the result against the reference.  Fails the test
   if anything does. */
void job_create(job *j, clattn_context *ctx, const job_case *c, uint64_t seed);
/* NULL in place of what the caller has released already. */
void job_destroy(job *j);

/* Bytes of one of its memories. */
size_t job_bytes(const job *j, size_t m);

/* Buffers as before a call, outputs and workspace full of NaN.  Waits. */
cl_int job_reset(const job *j);

/* With a plan of the same problem, its own or another. */
clattn_status job_enqueue(const job *j, const clattn_plan *plan,
    cl_command_queue queue, const cl_event *wait, cl_event *event,
    clattn_error *error);

/* Whether the buffers hold the right bits; reads and waits.  A sentence if
   not. */
bool job_is_right(const job *j, char why[ARENA_TEXT]);
/* The same of copies of the buffers. */
bool job_holds(
    const job *j, float *const copy[ARENA_TENSORS], char why[ARENA_TEXT]);
/* Whether they hold what job_reset left. */
bool job_is_untouched(const job *j, char why[ARENA_TEXT]);

/* job_reset, job_enqueue, wait for the event, job_is_right. */
bool job_works(const job *j, const clattn_plan *plan, cl_command_queue queue,
    char why[ARENA_TEXT]);

#endif
