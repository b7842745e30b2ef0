/* SPDX-License-Identifier: Apache-2.0
 *
 * measure.h - cases in, figures out: a run on one device.
 */
#ifndef CLATTN_BENCH_MEASURE_H
#define CLATTN_BENCH_MEASURE_H

#include "bench_case.h"
#include "samples.h"

/* What a run found out about one case. */
typedef struct bench_result {
    char kernel[64], path[64]; /* as the plan tells; "" where refused */
    char reason[504];          /* why the library refused; "" if it did not */
    size_t workspace_bytes;
    samples taken;
    figure time;   /* nothing counted where refused or only planned */
    double gflops; /* by the median */
    double share;  /* of the best probe of the run */
    double held;   /* what the goal's bound is set against; NAN: unknown */
    bool met;      /* the goal; false where `held` is unknown */
} bench_result;

/* What an enqueue with a ready plan costs the host, in microseconds. */
typedef struct enqueue_cost {
    double call_us;   /* median of the library's call */
    double launch_us; /* median of as many clEnqueueNDRangeKernel alone */
    size_t launches;  /* of the plan */
} enqueue_cost;

typedef struct bench_report {
    bench_result *result; /* one per case */
    size_t count;
    double peak; /* the best probe, GFLOP/s */
    bool has_enqueue;
    enqueue_cost enqueue;
} bench_report;

/* Told before a case is prepared: how many groups' cases are done of `count`,
   and the name of the next. */
typedef struct bench_progress {
    void (*tell)(void *to, size_t done, size_t count, const char *name);
    void *to;
} bench_progress;

/* How much time a case may take. */
typedef struct bench_effort {
    double least_ms; /* a fast case goes on for so long, so that one hiccup does
                        not make its figure */
    double most_ms;  /* a slow one ends, at last with too few samples */
    bool again;      /* noisy groups once more at the end */
} bench_effort;

/* What docs/BENCHMARKS.md promises. */
extern const bench_effort BENCH_EFFORT;

/*
 * Measure all cases; groups in turn, the cases of a group side by side.  A case
 * that the library or the memory of the device refuses is told as such; any
 * other failure ends the run.  *report is to be freed also after a failure.
 */
clattn_status bench_measure(bench_report *report, clattn_context *ctx,
    const bench_case *cases, size_t count, const bench_effort *effort,
    const bench_progress *progress, clattn_error *error);

/* Adds the cost of an enqueue to a report. */
clattn_status bench_enqueue_cost(
    bench_report *report, clattn_context *ctx, clattn_error *error);

void bench_report_free(bench_report *report);

#endif
