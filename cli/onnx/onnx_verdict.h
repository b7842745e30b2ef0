/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_verdict.h - runs one case folder from its files to a line of text.
 */
#ifndef CLATTN_CLI_ONNX_VERDICT_H
#define CLATTN_CLI_ONNX_VERDICT_H

#include "onnx_runner.h"

enum onnx_verdict {
    ONNX_PASSED,
    ONNX_FAILED,
    ONNX_SKIPPED,   /* the kernels that are allowed do not compute this */
    ONNX_NO_MEMORY, /* so nothing is known */
    ONNX_VERDICTS
};

/* Prints the line of the case `name` in `root`; with `verbose` also what it
   was taken to mean, and the plan. */
enum onnx_verdict onnx_verdict_of(FILE *to, const onnx_runner *r,
    const char *root, const char *name, bool verbose);

#endif
