/* SPDX-License-Identifier: Apache-2.0
 *
 * command_check.c - `clattn check`: whether this library computes right on this
 * machine's device, driver and compiler.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <clattn/clattn.h>

#include "check_report.h"
#include "commands.h"
#include "onnx_folder.h"
#include "output_file.h"
#include "outputs.h"
#include "session.h"
#include "subject.h"
#include "values.h"

static const option_row ROWS[] = {
    {OPTION_DEVICE, "SPEC", "CLATTN_DEVICE, else the best",
        "index, part of a name, or platform:kind:name"},
    {OPTION_QUICK, NULL, NULL, "a sample of everything, in seconds"},
    {OPTION_FULL, NULL, NULL,
        "every case on every row, and many more draws; takes long"},
    {OPTION_ONNX, "DIR", NULL,
        "also a folder of cases of ONNX's operator Attention"},
    {OPTION_SEED, "N", "the time", "of the random draws"},
    {OPTION_DRAW, "LINE", NULL,
        "only the problem of this line, as a report tells it"},
    {OPTION_JSON, NULL, NULL, "print one JSON object"},
    {OPTION_MARKDOWN, "F.md", NULL, "write the report to this file, too"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

static const check_extent QUICK = {
    .name = "quick",
    .storages = 1,
    .rows = CHECK_CHOICE,
    .stride = 40,
    .configurations = 1,
    .shapes = 5,
    .races = 5,
    .repeats = 4,
    .tries = 50,
    .seconds = 2.0,
    .effort = {.least_ms = 50.0, .most_ms = 300.0},
};

static const check_extent USUAL = {
    .name = "default",
    .all_builds = 1,
    .storages = 3,
    .rows = CHECK_ONE_MORE,
    .stride = 1,
    .configurations = 4,
    .shapes = 20,
    .races = SIZE_MAX,
    .repeats = 10,
    .tries = 100,
    .seconds = 15.0,
    .effort = {.least_ms = 200.0, .most_ms = 1000.0},
};

static const check_extent FULL = {
    .name = "full",
    .all_builds = 3,
    .storages = 3,
    .rows = CHECK_ALL_ROWS,
    .stride = 1,
    .configurations = 100,
    .shapes = 20,
    .races = SIZE_MAX,
    .repeats = 50,
    .tries = 200,
    .seconds = 100.0,
    .effort = {.least_ms = 300.0, .most_ms = 10e3, .again = true},
};

typedef struct request {
    const char *device, *onnx, *markdown;
    bool json;
    const check_extent *extent;
    uint64_t seed;
    bool has_draw;
    attention_case draw;
    char row[SUBJECT_ROW]; /* of the draw; "": all */
} request;

/* ---- Options ------------------------------------------------------------ */

static bool read_draw(request *r, const options *given, failure *f)
{
    static const option_id OTHERS[] = {OPTION_QUICK, OPTION_FULL, OPTION_ONNX,
        OPTION_SEED, OPTION_JSON, OPTION_MARKDOWN};
    char why[ARENA_TEXT];
    const char *line = given->value[OPTION_DRAW];
    r->has_draw = line != NULL;
    if (!options_exclude(given, OPTION_DRAW, OTHERS,
            sizeof OTHERS / sizeof OTHERS[0],
            "have no place together: one problem is run, and no report made",
            f))
        return false;
    if (line && !subject_parse(&r->draw, r->row, line, why))
        return fail(f, "--draw: %s", why);
    const char *missing = line ? attention_case_missing(line) : NULL;
    if (missing)
        return fail(f,
            "--draw: %s= is missing; a line tells B, Hq, Hkv, Lq, Lk, D and Dv",
            missing);
    for (size_t i = 1; r->row[0] && i < check_row_count(); i++)
        if (strcmp(r->row, check_row_name(i)) == 0)
            return true;
    return !r->row[0] ||
           fail(f, "--draw: kernel=%s is none of the library's rows", r->row);
}

/* JSON has the report's seed as a whole number with a sign. */
static bool read_seed(uint64_t *seed, const char *text, failure *f)
{
    return value_uint64(seed, OPTION_SEED, text, f) &&
           (*seed <= INT64_MAX ||
               fail(f, "--seed %s is above %" PRId64, text, INT64_MAX));
}

static bool read_request(request *r, const options *given, failure *f)
{
    static const option_id FULL_ALONE[] = {OPTION_FULL};
    const char *seed = given->value[OPTION_SEED];
    *r = (request){
        .device = given->value[OPTION_DEVICE],
        .onnx = given->value[OPTION_ONNX],
        .markdown = given->value[OPTION_MARKDOWN],
        .json = given->value[OPTION_JSON] != NULL,
        .extent = given->value[OPTION_QUICK]  ? &QUICK
                  : given->value[OPTION_FULL] ? &FULL
                                              : &USUAL,
        .seed = (uint64_t)time(NULL),
    };
    return options_exclude(given, OPTION_QUICK, FULL_ALONE, 1,
               "have no place together", f) &&
           (!seed || read_seed(&r->seed, seed, f)) && read_draw(r, given, f);
}

/* Before the work begins: what would be for nothing after it. */
static bool can_begin(const request *r, failure *f)
{
    onnx_folder list = {NULL, 0};
    const bool can = (!r->onnx || onnx_folder_list(&list, r->onnx, f)) &&
                     (!r->markdown || output_file_possible(r->markdown, f));
    onnx_folder_free(&list);
    return can;
}

/* ---- The run ------------------------------------------------------------ */

static bool find_device(clattn_device *device, cl_device_id id, failure *f)
{
    clattn_error error;
    size_t count = 0;
    device->struct_size = sizeof *device;
    if (!library_ok(clattn_device_count(&count, &error), &error, f))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!library_ok(clattn_device_get(device, i, &error), &error, f))
            return false;
        if (device->id == id)
            return true;
    }
    return fail(f, "the device is no longer in the list of all devices");
}

static bool try_all(
    check_report *report, const request *r, const device_queues *at, failure *f)
{
    const progress shown = progress_on(stderr);
    const check_run run = {at, r->extent, &shown, report};
    const time_t now = time(NULL);
    const struct tm *day = gmtime(&now);
    report->extent = r->extent;
    report->seed = r->seed;
    if (day)
        strftime(report->day, sizeof report->day, "%Y-%m-%d", day);
    const bool done = find_device(&report->device, at->device, f) &&
                      check_builds(&run, f) && check_tables(&run, f) &&
                      check_draws(&run, f) && check_repeats(&run, f) &&
                      (!r->onnx || check_onnx_cases(&run, r->onnx, f));
    if (done)
        check_speed(&run);
    progress_end(&shown);
    return done;
}

static bool write_markdown(
    const char *path, const check_report *report, failure *f)
{
    outputs all = {.count = 0};
    output_file *file = output_file_open(path, f);
    if (!file)
        return false;
    if (check_print(output_file_stream(file), true, report, f))
        return outputs_take(&all, file, f) && outputs_commit(&all, f);
    output_file_abandon(file);
    return false;
}

static bool make_report(
    check_report *report, const request *r, const device_queues *at, failure *f)
{
    char verdict[CHECK_TEXT];
    if (!try_all(report, r, at, f))
        return false;
    const bool told = r->json ? check_print_json(stdout, report, f)
                              : check_print(stdout, false, report, f);
    if (!told || (r->markdown && !write_markdown(r->markdown, report, f)))
        return false;
    return check_verdict(report, verdict, sizeof verdict) ||
           fail(f, "%s", verdict);
}

/* What the library kept of an earlier run says nothing of the compiler. */
static bool switch_cache_off(failure *f)
{
    return setenv("CLATTN_CACHE", "0", 1) == 0 ||
           fail(f, "no memory for the environment");
}

static exit_code perform(const request *r, session *s, failure *f)
{
    device_queues at = {.ctx = NULL};
    clattn_error error;
    check_report *report = calloc(1, sizeof *report);
    bool done = report != NULL || fail_memory(f, "no memory for a report");
    done = done && can_begin(r, f) && switch_cache_off(f) &&
           session_open(s, r->device, f) &&
           library_ok(device_queues_open(&at, s->ctx, &error), &error, f);
    const bool known = !done || check_limits(report, s->ctx, f);
    if (done && known)
        done = r->has_draw ? check_given(&at, &r->draw, r->row, f)
                           : make_report(report, r, &at, f);
    if (report)
        check_report_free(report);
    free(report);
    device_queues_close(&at);
    return !known ? EXIT_WRONG_USE : done ? EXIT_DONE : EXIT_FAILED;
}

static exit_code run(const options *given, failure *f)
{
    request r;
    session s = {0};
    if (!read_request(&r, given, f))
        return EXIT_WRONG_USE;
    const exit_code code = perform(&r, &s, f);
    session_close(&s);
    return code;
}

const command COMMAND_CHECK = {
    .name = "check",
    .summary = "whether this library is right on a device",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
