/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_runner.h - computes a problem on a device, or with the reference.
 */
#ifndef CLATTN_CLI_ONNX_RUNNER_H
#define CLATTN_CLI_ONNX_RUNNER_H

#include "onnx_problem.h"
#include "session.h"

enum onnx_path {
    ONNX_HOST,     /* clattn_attention_host */
    ONNX_ENQUEUE,  /* buffers, a plan and a queue */
    ONNX_REFERENCE /* clattn_attention_reference; needs no device */
};

typedef struct onnx_runner {
    enum onnx_path path;
    const char *kernel; /* forced, or NULL */
    bool limited; /* the environment keeps kernels out, so that what is left
                           may not compute everything */
    session device;
    cl_command_queue queue;
} onnx_runner;

/* Close in either case. */
bool onnx_runner_open(onnx_runner *r, enum onnx_path path, const char *kernel,
    const char *device, failure *f);
void onnx_runner_close(onnx_runner *r);

/* What comes out: as many bytes as the case's Y and qk_matmul_output have. */
typedef struct onnx_results {
    onnx_memory y, scores;
    bool scores_apart; /* by a kernel of the library's choice */
} onnx_results;

bool onnx_results_make(onnx_results *to, const onnx_case *c, failure *f);
void onnx_results_free(onnx_results *to);

/*
 * One call for Y and qk_matmul_output; two if they need descriptors of their
 * own, or if the forced kernel cannot return the stage that is asked for.
 * CLATTN_UNSUPPORTED with *cannot true: the forced kernel, or what the
 * environment leaves, does not compute this problem.
 */
clattn_status onnx_runner_attend(const onnx_runner *r, onnx_results *to,
    const onnx_problem *p, bool *cannot, clattn_error *error);

/* The plan of Y in one line; nothing for the reference. */
void onnx_runner_explain(FILE *to, const onnx_runner *r, const onnx_problem *p);

#endif
