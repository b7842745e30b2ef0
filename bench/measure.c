/* SPDX-License-Identifier: Apache-2.0
 *
 * measure.c - the loop around the clock.
 */
#include "measure.h"

#include <stdlib.h>

#include "error.h"
#include "judge_goals.h"
#include "peak.h"
#include "plan_words.h"
#include "ticks.h"
#include "workload.h"

const bench_effort BENCH_EFFORT = {
    .least_ms = 300.0, .most_ms = 10e3, .again = true};

/* Until the first case: finds the best of the machine as it is. */
static const double WARM_UP_MS = 400.0;

typedef struct bench_run {
    clattn_context *ctx;
    cl_command_queue queue;
    peak probe;
    const bench_case *cases;
    bench_report *report;
    const bench_effort *effort;
    const bench_progress *progress;
} bench_run;

static clattn_status open_run(bench_run *run, clattn_error *error)
{
    cl_int code = CL_SUCCESS;
    clattn_status status = CLATTN_OK;
    run->queue = clCreateCommandQueue(
        clattn_context_cl(run->ctx), clattn_context_device(run->ctx), 0, &code);
    TRY(error_check_cl(error, code, "clCreateCommandQueue"));
    TRY(peak_create(&run->probe, run->ctx, run->queue, error));
    for (const double start = ticks_ms(); ticks_ms() - start < WARM_UP_MS;)
        TRY(peak_probe(&run->probe, run->queue, error));

cleanup:
    return status;
}

static void close_run(bench_run *run)
{
    peak_destroy(&run->probe);
    if (run->queue)
        clReleaseCommandQueue(run->queue);
}

/* ---- One group ---------------------------------------------------------- */

/* Refused is what this device or version cannot do; the run goes on. */
static bool is_refusal(clattn_status status)
{
    return status == CLATTN_UNSUPPORTED || status == CLATTN_NO_MEMORY ||
           status == CLATTN_BUILD_FAILED;
}

static clattn_status prepare(
    bench_run *run, workload **work, size_t at, clattn_error *error)
{
    bench_result *result = &run->report->result[at];
    clattn_error why;
    clattn_status status =
        workload_create(work, run->ctx, run->queue, &run->cases[at], &why);
    if (is_refusal(status)) {
        plan_reason(result->reason, sizeof result->reason, &why);
        return CLATTN_OK;
    }
    if (status != CLATTN_OK)
        return error_set(error, status, "%s", why.message);
    const clattn_plan *plan = workload_plan(*work);
    const char *text = clattn_plan_describe(plan);
    plan_kernel(result->kernel, sizeof result->kernel, text);
    plan_path(result->path, sizeof result->path, text);
    result->workspace_bytes = clattn_plan_workspace_bytes(plan);
    if (run->cases[at].kind == BENCH_WORKSPACE)
        return CLATTN_OK;
    return workload_run(*work, run->queue, error); /* warm up */
}

/* Time once, between the last probe and a new one. */
static clattn_status take_sample(
    bench_run *run, const workload *work, samples *taken, clattn_error *error)
{
    sample one = {.before = run->probe.last};
    const double start = ticks_ms();
    clattn_status status = workload_run(work, run->queue, error);
    one.ms = ticks_ms() - start;
    if (status == CLATTN_OK)
        status = peak_probe(&run->probe, run->queue, error);
    one.after = run->probe.last;
    if (status == CLATTN_OK)
        samples_add(taken, one, run->probe.best);
    return status;
}

static bool wants_more(
    const bench_run *run, const samples *taken, double elapsed_ms)
{
    const size_t counted = samples_counted(taken, run->probe.best);
    if (taken->tried < SAMPLES_NEEDED)
        return true;
    if (counted == SAMPLES_MAX || elapsed_ms > run->effort->most_ms)
        return false;
    return elapsed_ms < run->effort->least_ms || counted < SAMPLES_NEEDED;
}

static clattn_status sample_group(bench_run *run, workload *const *work,
    size_t first, size_t size, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    double spent = 0.0;
    bool more = true;
    const double start = ticks_ms();
    TRY(peak_probe(&run->probe, run->queue, error));
    while (more) {
        more = false;
        spent = (ticks_ms() - start) / (double)size;
        for (size_t i = 0; i < size; i++) {
            samples *taken = &run->report->result[first + i].taken;
            if (!work[i] || run->cases[first + i].kind == BENCH_WORKSPACE ||
                !wants_more(run, taken, spent))
                continue;
            TRY(take_sample(run, work[i], taken, error));
            more = true;
        }
    }

cleanup:
    return status;
}

static clattn_status measure_group(
    bench_run *run, size_t first, size_t size, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    workload **work = calloc(size, sizeof(*work));
    if (!work)
        return error_set(
            error, CLATTN_NO_MEMORY, "no memory for %zu cases", size);
    for (size_t i = 0; i < size; i++) {
        const bench_progress *progress = run->progress;
        if (progress)
            progress->tell(progress->to, first + i, run->report->count,
                run->cases[first + i].name);
        run->report->result[first + i].taken = (samples){.count = 0};
        TRY(prepare(run, &work[i], first + i, error));
    }
    TRY(sample_group(run, work, first, size, error));

cleanup:
    for (size_t i = 0; i < size; i++)
        workload_destroy(work[i]);
    free(work);
    return status;
}

/* ---- All groups --------------------------------------------------------- */

static bool is_noisy(const bench_run *run, size_t first, size_t size)
{
    for (size_t i = first; i < first + size; i++)
        if (run->report->result[i].taken.count &&
            samples_counted(&run->report->result[i].taken, run->probe.best) <
                SAMPLES_NEEDED)
            return true;
    return false;
}

/* Every group once; a second time those where too little counts by the probe
   that was the best in the end. */
static clattn_status measure_groups(bench_run *run, clattn_error *error)
{
    const size_t count = run->report->count;
    for (int again = 0; again < 1 + run->effort->again; again++)
        for (size_t first = 0, size = 0; first < count; first += size) {
            clattn_status status = CLATTN_OK;
            size = bench_group(run->cases + first, count - first);
            if (!again || is_noisy(run, first, size))
                status = measure_group(run, first, size, error);
            if (status != CLATTN_OK)
                return status;
        }
    return CLATTN_OK;
}

static void conclude(const bench_case *cases, bench_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        bench_result *r = &report->result[i];
        r->time = samples_figure(&r->taken, report->peak);
        if (r->taken.count && r->time.ms_median > 0.0)
            r->gflops = bench_operations(&cases[i]) / r->time.ms_median * 1e-6;
        r->share = report->peak > 0.0 ? r->gflops / report->peak : 0.0;
    }
    for (size_t i = 0; i < report->count; i++)
        judge_goal(cases, report->result, i);
}

clattn_status bench_measure(bench_report *report, clattn_context *ctx,
    const bench_case *cases, size_t count, const bench_effort *effort,
    const bench_progress *progress, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    bench_run run = {.ctx = ctx,
        .cases = cases,
        .report = report,
        .effort = effort,
        .progress = progress};
    *report = (bench_report){.count = count};
    report->result = calloc(count ? count : 1, sizeof *report->result);
    if (!report->result)
        return error_set(
            error, CLATTN_NO_MEMORY, "no memory for %zu results", count);
    TRY(open_run(&run, error));
    TRY(measure_groups(&run, error));
    report->peak = run.probe.best;
    conclude(cases, report);

cleanup:
    close_run(&run);
    return status;
}

void bench_report_free(bench_report *report)
{
    free(report->result);
    *report = (bench_report){0};
}
