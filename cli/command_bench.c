/* SPDX-License-Identifier: Apache-2.0
 *
 * command_bench.c - `clattn bench`: how fast attention is on a device.
 */
#include <string.h>

#include <clattn/clattn.h>

#include "bench_print.h"
#include "bench_request.h"
#include "commands.h"
#include "environment.h"
#include "measure.h"
#include "progress.h"
#include "session.h"

static const option_row ROWS[] = {
    {OPTION_SHAPE, "B,H,L,D", NULL,
        "measure attention of this shape; may be given several times"},
    {OPTION_CAUSAL, NULL, NULL, "query i reads no key after i"},
    {OPTION_DTYPE, "f32|f16|bf16", "f32", "storage of all tensors"},
    {OPTION_PRECISION, "f32|storage", "f32",
        "storage: weights may be rounded as values are, for matrix units"},
    {OPTION_MASK, "bool|f32", NULL, "a drawn mask for all items and heads"},
    {OPTION_WINDOW, "L,R", NULL,
        "query i reads keys i - L to i + R; -1: no limit"},
    {OPTION_HEADS_KV, "N", "H", "heads of keys and values"},
    {OPTION_LENGTHS_HALF, NULL, NULL,
        "half of each item's keys lie past its length"},
    {OPTION_KERNEL, "ROW", "the best", "the path or row that has to compute"},
    {OPTION_SUITE, NULL, NULL,
        "measure the table of docs/BENCHMARKS.md, with its goals"},
    {OPTION_JSON, NULL, NULL, "print one JSON object"},
    {OPTION_DEVICE, "SPEC", "CLATTN_DEVICE, else the best",
        "index, part of a name, or platform:kind:name.  Set POCL_AFFINITY=1 "
        "for PoCL: without it two of its threads may share a core"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

static const option_id REPEATS = OPTION_SHAPE;

/* ---- The device --------------------------------------------------------- */

typedef struct place {
    char driver[128];
    char commit[64];
} place;

static void look_around(place *p, const session *s)
{
    const char *version = clattn_version_text();
    const char *open = strchr(version, '(');
    const char *commit = open ? open + 1 : version;
    snprintf(p->driver, sizeof p->driver, "unknown");
    clGetDeviceInfo(clattn_context_device(s->ctx), CL_DRIVER_VERSION,
        sizeof p->driver, p->driver, NULL);
    snprintf(
        p->commit, sizeof p->commit, "%.*s", (int)strcspn(commit, ")"), commit);
}

/* PoCL reads its environment before we could set it. */
static void warn_of_shared_cores(const session *s)
{
    const char *affinity = environment_value("POCL_AFFINITY");
    const bool pocl = strstr(s->device, "(Portable Computing Language)");
    if (pocl && (!affinity || strcmp(affinity, "1") != 0))
        fprintf(stderr,
            "clattn: POCL_AFFINITY=1 is not set, so that two threads of PoCL "
            "may share a core and figures be too low\n");
}

/* ---- The run ------------------------------------------------------------ */

static bool measure(
    const bench_request *r, const session *s, bench_report *report, failure *f)
{
    clattn_error error;
    const progress shown = progress_on(stderr);
    const bench_progress told = {progress_tell_step, shown.to};
    clattn_status status = bench_measure(report, s->ctx, r->cases, r->count,
        &BENCH_EFFORT, shown.to ? &told : NULL, &error);
    if (status == CLATTN_OK && r->suite)
        status = bench_enqueue_cost(report, s->ctx, &error);
    progress_end(&shown);
    return library_ok(status, &error, f);
}

static bool any_measured(const bench_report *report, failure *f)
{
    for (size_t i = 0; i < report->count; i++)
        if (!report->result[i].reason[0])
            return true;
    return fail(f, "nothing could be measured: %s", report->result[0].reason);
}

static bool perform(
    const bench_request *r, session *s, bench_report *report, failure *f)
{
    place at;
    if (!session_open(s, r->device, f))
        return false;
    warn_of_shared_cores(s);
    look_around(&at, s);
    if (!measure(r, s, report, f))
        return false;
    const bench_place place = {s->device, at.driver, at.commit};
    if (r->json && !bench_print_json(stdout, &place, r->cases, report, f))
        return false;
    if (!r->json)
        bench_print_table(stdout, &place, r->cases, report);
    return any_measured(report, f);
}

static exit_code run(const options *given, failure *f)
{
    bench_request r;
    bench_report report = {0};
    session s = {0};
    if (!bench_request_read(&r, given, f))
        return EXIT_WRONG_USE;
    const bool done = perform(&r, &s, &report, f);
    bench_report_free(&report);
    session_close(&s);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const command COMMAND_BENCH = {
    .name = "bench",
    .summary = "how fast attention is on a device",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .repeats = &REPEATS,
    .run = run,
};
