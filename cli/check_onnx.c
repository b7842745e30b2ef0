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
#include "ticks.h"

static const char *const KERNELS[CHECK_ONNX] = {NULL, "fused", "materialised"};

/* One case with one kernel.  The lines of cases that pass are not kept. */
static bool run_kernel(const check_run *run, check_onnx *score,
    const char *root, const char *name, failure *f)
{
    const onnx_runner r = {.path = ONNX_ENQUEUE,
        .kernel = score->kernel,
        .limited = run->report->limits[0] != '\0',
        .device = {.ctx = run->at->ctx},
        .queue = run->at->in_order};
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return fail_memory(f, "no memory for the line of a case");
    const enum onnx_verdict verdict =
        onnx_verdict_of(to, &r, root, name, false);
    const bool told = fclose(to) == 0 && text;
    score->passed += verdict == ONNX_PASSED;
    score->failed += verdict == ONNX_FAILED;
    score->skipped += verdict == ONNX_SKIPPED;
    if (verdict == ONNX_FAILED)
        check_fail(run->report, "ONNX, kernel %s: %s",
            r.kernel ? r.kernel : "choice", told ? text : name);
    if (verdict == ONNX_NO_MEMORY)
        fail_memory(f, "ONNX: %s", told ? text : name);
    free(text);
    return verdict != ONNX_NO_MEMORY;
}

static bool run_case(
    const check_run *run, const char *root, const char *name, failure *f)
{
    check_report *report = run->report;
    bool done = true;
    for (size_t k = 0; done && k < report->n_onnx; k++)
        done = run_kernel(run, &report->onnx[k], root, name, f);
    return done;
}

/* In rounds, as a table: neighbours by name are of one kind. */
bool check_onnx_cases(const check_run *run, const char *folder, failure *f)
{
    check_report *report = run->report;
    onnx_folder list = {NULL, 0};
    bool done = onnx_folder_list(&list, folder, f);
    const double begin = ticks_ms();
    size_t told = 0;
    for (; report->n_onnx < CHECK_ONNX; report->n_onnx++)
        report->onnx[report->n_onnx].kernel = KERNELS[report->n_onnx];
    for (size_t round = 0; round < CHECK_TURN; round++)
        for (size_t i = round; i < list.count && done; i += CHECK_TURN) {
            progress_tell(run->shown, told++, list.count,
                check_part_name(CHECK_ONNX_CASES));
            if (check_has_time(run, CHECK_ONNX_CASES, begin))
                done = run_case(run, folder, list.name[i], f);
        }
    onnx_folder_free(&list);
    return done;
}
