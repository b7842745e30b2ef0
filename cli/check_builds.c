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
#include "workload.h"

static const int32_t DTYPES[] = {CLATTN_F32, CLATTN_F16, CLATTN_BF16};

/* A model's head, and rows enough for a tile of any row. */
static bench_case case_of(const char *row, enum bench_kind kind, int32_t dtype)
{
    return (bench_case){.name = row,
        .kind = kind,
        .B = 1,
        .H = 2,
        .L = 64,
        .D = 64,
        .dtype = dtype,
        .kernel = row};
}

static void refuse(
    check_run const *run, check_build *b, const clattn_error *error)
{
    plan_reason(b->refused, sizeof b->refused, error);
    b->failed = error->status != CLATTN_UNSUPPORTED;
    if (b->failed)
        check_fail(run->report, "row %s, %s, %s does not build or run: %s",
            b->row, b->operation, b->storage, b->refused);
}

/* A row of attention alone leaves products to others; those are not its own. */
static bool is_own(const check_build *b, const workload *w)
{
    char kernel[64];
    plan_kernel(kernel, sizeof kernel, clattn_plan_describe(workload_plan(w)));
    return strcmp(kernel, b->row) == 0;
}

/* False: the row leaves that operation to others. */
static bool build(const check_run *run, check_build *b, const bench_case *c)
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
        return false;
    }
    if (status == CLATTN_OK) {
        const double first = clock_ms();
        b->count = kernel_facts_of(b->kernel, workload_plan(w));
        status = workload_run(w, at->in_order, &error);
        b->first_ms = clock_ms() - first;
    }
    if (status != CLATTN_OK)
        refuse(run, b, &error);
    workload_destroy(w);
    return true;
}

static void build_row(
    const check_run *run, const char *row, enum bench_kind kind, size_t storage)
{
    check_report *report = run->report;
    const bench_case c = case_of(row, kind, DTYPES[storage]);
    check_build *b = &report->build[report->n_builds];
    if (report->n_builds == CHECK_BUILDS)
        return;
    *b = (check_build){.row = row,
        .operation = kind == BENCH_MATMUL ? "product" : "attention",
        .storage = check_storage_name((enum check_storage)storage)};
    report->n_builds += build(run, b, &c);
}

void check_builds(const check_run *run)
{
    const size_t rows = check_row_count();
    for (size_t row = 1; row < rows; row++)
        for (size_t i = 0; i < sizeof DTYPES / sizeof DTYPES[0]; i++) {
            progress_tell(run->shown, row - 1, rows - 1, "rows are built");
            if (!check_wants_row(run->report, row, (enum check_storage)i))
                continue;
            if (attention_row_is(check_row_name(row)))
                build_row(run, check_row_name(row), BENCH_ATTENTION, i);
            build_row(run, check_row_name(row), BENCH_MATMUL, i);
        }
}
