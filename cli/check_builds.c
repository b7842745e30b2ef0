/* SPDX-License-Identifier: Apache-2.0
 *
 * check_builds.c - every kernel row built and run once, in every storage.
 */
#include <stdio.h>
#include <string.h>

#include "attention_rows.h"
#include "check_report.h"
#include "plan_words.h"
#include "session.h"
#include "subject.h"
#include "workload.h"

static const int32_t DTYPES[] = {CLATTN_F32, CLATTN_F16, CLATTN_BF16};

/* A model's head, and rows enough for a tile of any row.  Weights may be rounded
   where they can be: rows of matrix units take nothing else. */
static bench_case case_of(const char *row, enum bench_kind kind, int32_t dtype)
{
    return (bench_case){.name = row,
        .kind = kind,
        .B = 1,
        .H = 2,
        .L = 64,
        .D = 64,
        .dtype = dtype,
        .precision = kind == BENCH_ATTENTION && dtype != CLATTN_F32
                         ? CLATTN_PRECISION_STORAGE
                         : CLATTN_PRECISION_F32,
        .kernel = row};
}

static bool refuse(
    const check_run *run, check_build *b, const clattn_error *error, failure *f)
{
    if (subject_lacks_memory(error->status, error))
        return library_ok(error->status, error, f);
    plan_reason(b->refused, sizeof b->refused, error);
    b->failed = error->status != CLATTN_UNSUPPORTED;
    if (b->failed)
        check_fail(run->report, "row %s, %s, %s does not build or run: %s",
            b->row, b->operation, b->storage, b->refused);
    return true;
}

/* A row of attention alone leaves products to others; those are not its own. */
static bool is_own(const check_build *b, const workload *w)
{
    char kernel[64];
    plan_kernel(kernel, sizeof kernel, clattn_plan_describe(workload_plan(w)));
    return strcmp(kernel, b->row) == 0;
}

/* One more build, unless the row leaves that operation to others. */
static bool build(
    const check_run *run, check_build *b, const bench_case *c, failure *f)
{
    const device_queues *at = run->at;
    clattn_error error;
    workload *w = NULL;
    const double start = clock_ms();
    clattn_status status =
        workload_create(&w, at->ctx, at->in_order, c, &error);
    b->plan_ms = clock_ms() - start;
    if (status == CLATTN_OK && !is_own(b, w)) {
        workload_destroy(w);
        return true;
    }
    if (status == CLATTN_OK) {
        const double first = clock_ms();
        b->count = kernel_facts_of(b->kernel, workload_plan(w));
        status = workload_run(w, at->in_order, &error);
        b->first_ms = clock_ms() - first;
    }
    const bool done = status == CLATTN_OK || refuse(run, b, &error, f);
    run->report->n_builds += done;
    workload_destroy(w);
    return done;
}

static bool build_row(const check_run *run, const char *row,
    enum bench_kind kind, size_t storage, failure *f)
{
    check_report *report = run->report;
    const bench_case c = case_of(row, kind, DTYPES[storage]);
    check_build *b = &report->build[report->n_builds];
    if (report->n_builds == CHECK_BUILDS)
        return true;
    *b = (check_build){.row = row,
        .operation = kind == BENCH_MATMUL ? "product" : "attention",
        .storage = check_storage_name((enum check_storage)storage)};
    return build(run, b, &c, f);
}

bool check_builds(const check_run *run, failure *f)
{
    const size_t rows = check_row_count();
    bool done = true;
    for (size_t row = 1; done && row < rows; row++) {
        const bool foreign =
            row_needs_asking(run->at->ctx, check_row_name(row));
        for (size_t i = 0; done && i < sizeof DTYPES / sizeof DTYPES[0]; i++) {
            progress_tell(run->shown, row - 1, rows - 1, "rows are built");
            if (!check_wants_row(
                    run->report, row, (enum check_storage)i, foreign))
                continue;
            if (attention_row_is(check_row_name(row)))
                done =
                    build_row(run, check_row_name(row), BENCH_ATTENTION, i, f);
            done =
                done && build_row(run, check_row_name(row), BENCH_MATMUL, i, f);
        }
    }
    return done;
}
