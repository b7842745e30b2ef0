/* SPDX-License-Identifier: Apache-2.0
 *
 * check_onnx.c - a folder of cases of ONNX's operator Attention, with the
 * library's choice and with each path.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "check_report.h"
#include "onnx_folder.h"
#include "onnx_verdict.h"

static const char *const KERNELS[CHECK_ONNX] = {NULL, "fused", "materialised"};

/* The lines of cases that pass are not kept. */
static void run_case(const check_run *run, const onnx_runner *r,
    check_onnx *score, const char *root, const char *name)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return;
    const enum onnx_verdict verdict = onnx_verdict_of(to, r, root, name, false);
    fclose(to);
    score->passed += verdict == ONNX_PASSED;
    score->failed += verdict == ONNX_FAILED;
    score->skipped += verdict == ONNX_SKIPPED;
    if (verdict == ONNX_FAILED)
        check_fail(run->report, "ONNX, kernel %s: %s",
            r->kernel ? r->kernel : "choice", text ? text : name);
    free(text);
}

bool check_onnx_cases(const check_run *run, const char *folder, failure *f)
{
    onnx_folder list = {NULL, 0};
    const bool done = onnx_folder_list(&list, folder, f);
    for (size_t k = 0; done && k < CHECK_ONNX; k++) {
        const onnx_runner r = {.path = ONNX_ENQUEUE,
            .kernel = KERNELS[k],
            .device = {.ctx = run->at->ctx},
            .queue = run->at->in_order};
        check_onnx *score = &run->report->onnx[run->report->n_onnx++];
        score->kernel = KERNELS[k];
        for (size_t i = 0; i < list.count; i++) {
            progress_tell(run->shown, i, list.count, "ONNX cases");
            run_case(run, &r, score, folder, list.name[i]);
        }
    }
    onnx_folder_free(&list);
    return done;
}
