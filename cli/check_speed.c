/* SPDX-License-Identifier: Apache-2.0
 *
 * check_speed.c - a few cases timed, beside the device's own peak and
 * bandwidth.  What cannot be timed is told and fails nothing.
 */
#include <stdio.h>

#include "bandwidth.h"
#include "check_report.h"
#include "peak.h"
#include "plan_words.h"

/* How large a case may be for a device so fast. */
static const struct {
    double peak; /* GFLOP/s, at least */
    size_t L, keys, n;
} SIZES[] = {
    {20.0, 1024, 16384, 1024}, {1.0, 256, 4096, 256}, {0.0, 32, 256, 32}};

static clattn_status find_peak(
    double *peak_found, const check_run *run, clattn_error *error)
{
    peak p;
    clattn_status status =
        peak_create(&p, run->at->ctx, run->at->in_order, error);
    if (status == CLATTN_OK)
        status = peak_probe(&p, run->at->in_order, error);
    *peak_found = p.best;
    peak_destroy(&p);
    return status;
}

static void choose_cases(bench_case *c, double peak_found)
{
    size_t i = 0;
    while (peak_found < SIZES[i].peak)
        i++;
    const size_t L = SIZES[i].L;
    const bench_case square = {
        .name = "attention", .B = 1, .H = 8, .L = L, .D = 64};
    for (size_t n = 0; n < CHECK_SPEED; n++)
        c[n] = square;
    c[1].name = "attention, causal";
    c[1].causal = true;
    c[2].name = "attention, f16";
    c[2].dtype = CLATTN_F16;
    c[3].name = "one query row";
    c[3].L = SIZES[i].keys;
    c[3].Lq = 1;
    c[4] = (bench_case){.name = "product",
        .kind = BENCH_MATMUL,
        .B = 1,
        .H = 1,
        .L = SIZES[i].n,
        .D = SIZES[i].n};
}

static void tell(void *to, size_t done, size_t count, const char *name)
{
    progress_tell(to, done, count, name);
}

void check_speed(const check_run *run)
{
    check_report *report = run->report;
    clattn_error error;
    double peak_found = 0.0;
    progress shown = *run->shown;
    const bench_progress told = {tell, &shown};
    clattn_status status = find_peak(&peak_found, run, &error);
    choose_cases(report->speed_case, peak_found);
    if (status == CLATTN_OK)
        status = bandwidth_measure(&report->bandwidth, run->at->ctx, &error);
    if (status == CLATTN_OK)
        status = bench_measure(&report->speed, run->at->ctx, report->speed_case,
            CHECK_SPEED, &run->extent->effort, &told, &error);
    if (status == CLATTN_OK)
        return;
    plan_reason(report->no_speed, sizeof report->no_speed, &error);
    bench_report_free(&report->speed);
}
