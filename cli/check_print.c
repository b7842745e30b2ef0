/* SPDX-License-Identifier: Apache-2.0
 *
 * check_print.c - the report for people: as text and as Markdown.
 */
#include <inttypes.h>
#include <string.h>

#include "check_report.h"
#include "device_text.h"
#include "sheet.h"

static bool print_facts(sheet *s, const check_report *report)
{
    device_row row[DEVICE_ROWS];
    const size_t count = device_rows(row, &report->device);
    sheet_begin(s, "device|");
    sheet_cell(s, 1, "%s", report->device.name);
    for (size_t i = 0; i < count; i++) {
        sheet_row(s);
        sheet_cell(s, 0, "%s", row[i].label);
        sheet_cell(s, 1, "%s", row[i].text);
    }
    if (report->device.note[0]) {
        sheet_row(s);
        sheet_cell(s, 0, "note");
        sheet_cell(s, 1, "%s", report->device.note);
    }
    sheet_row(s);
    sheet_cell(s, 0, "clattn");
    sheet_cell(s, 1, "%s", clattn_version_text());
    sheet_row(s);
    sheet_cell(s, 0, "check");
    sheet_cell(s, 1, "%s, %s, seed %" PRIu64, report->extent->name, report->day,
        report->seed);
    if (report->limits[0]) {
        sheet_row(s);
        sheet_cell(s, 0, "environment");
        sheet_cell(s, 1, "%s", report->limits);
    }
    return sheet_end(s);
}

/* ---- Builds ------------------------------------------------------------- */

static void print_kernels(sheet *s, const check_build *b)
{
    char names[SHEET_CELL] = "";
    char bytes[SHEET_CELL] = "";
    for (size_t i = 0; i < b->count; i++) {
        const size_t used = strlen(names);
        const size_t room = strlen(bytes);
        const char *comma = i ? ", " : "";
        snprintf(names + used, sizeof names - used, "%s%s", comma,
            b->kernel[i].name);
        if (b->kernel[i].private_bytes)
            snprintf(bytes + room, sizeof bytes - room, "%s%zu", comma,
                b->kernel[i].private_bytes);
        else
            snprintf(bytes + room, sizeof bytes - room, "%s-", comma);
    }
    sheet_cell(s, 3, "%s", names);
    sheet_cell(s, 4, "%.0f", b->plan_ms);
    sheet_cell(s, 5, "%.0f", b->first_ms);
    sheet_cell(s, 6, "%s", bytes);
}

static bool print_builds(sheet *s, const check_report *report)
{
    sheet_part(s, "Kernel rows, built");
    sheet_begin(s,
        "row|operation|storage|kernels|build ms|first ms|private bytes|"
        "refused");
    for (size_t i = 0; i < report->n_builds; i++) {
        const check_build *b = &report->build[i];
        sheet_row(s);
        sheet_cell(s, 0, "%s", b->row);
        sheet_cell(s, 1, "%s", b->operation);
        sheet_cell(s, 2, "%s", b->storage);
        if (b->refused[0])
            sheet_cell(s, 7, "%s%s", b->failed ? "FAILED: " : "",
                check_reason(b->refused));
        else
            print_kernels(s, b);
    }
    return sheet_end(s);
}

static void print_left_out(sheet *s, const check_report *report, size_t part)
{
    char text[SHEET_CELL];
    if (!report->left_out[part])
        return;
    snprintf(text, sizeof text, "%s: %zu left out, since %.0f s had passed.",
        check_part_name(part), report->left_out[part], report->extent->seconds);
    sheet_say(s, text);
}

/* ---- Scores ------------------------------------------------------------- */

static void print_score(sheet *s, const check_report *report,
    enum check_table table, size_t row, enum check_storage storage)
{
    const check_score *score = &report->score[table][row][storage];
    if (score->right + score->wrong + score->refused == 0)
        return;
    sheet_row(s);
    sheet_cell(s, 0, "%s", check_part_name(table));
    sheet_cell(s, 1, "%s", check_row_name(row));
    sheet_cell(s, 2, "%s", check_storage_name(storage));
    sheet_cell(s, 3, "%zu", score->right);
    sheet_cell(s, 4, "%zu", score->wrong);
    sheet_cell(s, 5, "%zu", score->refused);
    if (score->right + score->wrong == 0)
        return;
    sheet_cell(s, 6, "%.2g", score->error);
    sheet_cell(s, 7, "%.2f", score->share);
}

static bool print_scores(sheet *s, const check_report *report)
{
    const size_t rows = check_row_count();
    sheet_part(s, "Cases against the reference");
    sheet_begin(
        s, "table|row|storage|right|wrong|refused|largest error|of allowed");
    for (size_t table = 0; table < CHECK_TABLES; table++)
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < CHECK_STORAGES; i++)
                print_score(s, report, (enum check_table)table, row,
                    (enum check_storage)i);
    const bool done = sheet_end(s);
    for (size_t part = 0; part < CHECK_TABLES; part++)
        print_left_out(s, report, part);
    return done;
}

static bool print_refusals(sheet *s, const check_report *report)
{
    char text[SHEET_CELL];
    if (!report->n_refusals)
        return true;
    sheet_part(s, "Refused, and why");
    sheet_begin(s, "row|times|reason");
    for (size_t i = 0; i < report->n_refusals; i++) {
        const check_refusal *r = &report->refusal[i];
        sheet_row(s);
        sheet_cell(s, 0, "%s", check_row_name(r->row));
        sheet_cell(s, 1, "%zu", r->times);
        sheet_cell(s, 2, "%s", r->reason);
    }
    const bool done = sheet_end(s);
    snprintf(text, sizeof text, "%zu more for other reasons.",
        report->other_refusals);
    if (report->other_refusals)
        sheet_say(s, text);
    return done;
}

static bool print_repeats(sheet *s, const check_report *report)
{
    sheet_part(s, "The same again: equal bits");
    sheet_begin(s, "row|shapes|runs|refused|differ");
    for (size_t row = 1; row < check_row_count(); row++) {
        const check_repeat *r = &report->repeat[row - 1];
        if (!r->shapes)
            continue;
        sheet_row(s);
        sheet_cell(s, 0, "%s", check_row_name(row));
        sheet_cell(s, 1, "%zu", r->shapes);
        sheet_cell(s, 2, "%zu", r->runs);
        sheet_cell(s, 3, "%zu", r->refused);
        sheet_cell(s, 4, "%zu", r->wrong);
    }
    const bool done = sheet_end(s);
    print_left_out(s, report, CHECK_REPEATS);
    return done;
}

static bool print_onnx(sheet *s, const check_report *report)
{
    if (!report->n_onnx)
        return true;
    sheet_part(s, "ONNX cases");
    sheet_begin(s, "kernel|passed|failed|refused");
    for (size_t i = 0; i < report->n_onnx; i++) {
        const check_onnx *o = &report->onnx[i];
        sheet_row(s);
        sheet_cell(s, 0, "%s", o->kernel ? o->kernel : "choice");
        sheet_cell(s, 1, "%zu", o->passed);
        sheet_cell(s, 2, "%zu", o->failed);
        sheet_cell(s, 3, "%zu", o->skipped);
    }
    const bool done = sheet_end(s);
    print_left_out(s, report, CHECK_ONNX_CASES);
    return done;
}

/* ---- Speed -------------------------------------------------------------- */

static void print_time(sheet *s, const check_report *report, size_t i)
{
    const bench_case *c = &report->speed_case[i];
    const bench_result *r = &report->speed.result[i];
    sheet_row(s);
    sheet_cell(s, 0, "%s", c->name);
    sheet_cell(s, 1, "%zu,%zu,%zu,%zu,%zu", c->B, c->H, c->Lq ? c->Lq : c->L,
        c->L, c->D);
    if (r->reason[0]) {
        sheet_cell(s, 2, "refused: %s", r->reason);
        return;
    }
    sheet_cell(s, 2, "%s", r->kernel);
    sheet_cell(s, 3, "%.3f", r->time.ms_median);
    sheet_cell(s, 4, "%.1f %%", 100.0 * r->share);
    if (report->bandwidth > 0.0 && r->time.ms_median > 0.0)
        sheet_cell(s, 5, "%.1f %%",
            100.0 * bench_bytes(c) / r->time.ms_median * 1e-6 /
                report->bandwidth);
    sheet_cell(s, 6, "%s", r->time.noisy ? "noisy" : "");
}

/* A simulator makes a few MFLOP/s. */
static int decimals(double giga)
{
    return giga < 1.0 ? 5 : 1;
}

static bool print_speed(sheet *s, const check_report *report)
{
    char text[SHEET_CELL];
    sheet_part(s, "Speed");
    if (report->no_speed[0]) {
        snprintf(text, sizeof text, "Not measured: %s", report->no_speed);
        sheet_say(s, text);
        return true;
    }
    const double peak = report->speed.peak, bandwidth = report->bandwidth;
    snprintf(text, sizeof text, "Peak %.*f GFLOP/s, memory read at %.*f GB/s.",
        decimals(peak), peak, decimals(bandwidth), bandwidth);
    sheet_say(s, text);
    sheet_begin(s, "case|B,H,Lq,Lk,D|row|ms|share of peak|share of bandwidth|");
    for (size_t i = 0; i < report->speed.count; i++)
        print_time(s, report, i);
    return sheet_end(s);
}

/* ---- What is wrong ------------------------------------------------------ */

static void print_failures(sheet *s, const check_report *report)
{
    char text[SHEET_CELL];
    const size_t told =
        report->failed < CHECK_FAILURES ? report->failed : CHECK_FAILURES;
    if (!report->failed)
        return;
    sheet_part(s, "What is wrong");
    for (size_t i = 0; i < told; i++)
        sheet_item(s, report->failure[i]);
    snprintf(
        text, sizeof text, "%zu more are not told.", report->failed - told);
    sheet_say(s, told < report->failed ? text : "");
}

bool check_print(
    FILE *to, bool markdown, const check_report *report, failure *f)
{
    char text[SHEET_CELL];
    sheet s = {.to = to, .markdown = markdown};
    snprintf(text, sizeof text, "clattn check: %s", report->device.name);
    sheet_title(&s, text);
    const bool done = print_facts(&s, report) && print_builds(&s, report) &&
                      print_scores(&s, report) && print_refusals(&s, report) &&
                      print_repeats(&s, report) && print_onnx(&s, report) &&
                      print_speed(&s, report);
    print_failures(&s, report);
    check_verdict(report, text, sizeof text);
    sheet_part(&s, "Verdict");
    sheet_say(&s, text);
    return done || fail(f, "no memory for the report");
}
