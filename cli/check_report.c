/* SPDX-License-Identifier: Apache-2.0
 *
 * check_report.c - names, counts and the verdict.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attention_rows.h"
#include "check_report.h"
#include "ticks.h"

const char *check_storage_name(enum check_storage storage)
{
    static const char *const NAMES[CHECK_STORAGES] = {
        "f32", "f16", "bf16", "mixed"};
    return NAMES[storage];
}

const char *check_part_name(size_t part)
{
    static const char *const NAMES[CHECK_PARTS] = {"attention", "linear",
        "layer", "draws", "repeated shapes", "ONNX cases"};
    return NAMES[part];
}

const char *check_row_name(size_t row)
{
    return row == 0 ? "choice" : clattn_kernel_name(row - 1);
}

size_t check_row_count(void)
{
    size_t count = 1;
    while (count <= CHECK_ROWS && clattn_kernel_name(count - 1))
        count++;
    return count;
}

/* Whether one like it, before it, was built. */
static bool one_like_it_is_built(
    const check_report *report, const char *row, const char *storage)
{
    for (size_t i = 0; i < report->n_builds; i++) {
        const check_build *b = &report->build[i];
        if (!b->refused[0] && strcmp(b->storage, storage) == 0 &&
            attention_row_is_like(b->row, row))
            return true;
    }
    return false;
}

bool check_wants_row(const check_report *report, size_t row,
    enum check_storage storage, bool foreign)
{
    const check_extent *extent = report->extent;
    const bool few = foreign && extent->rows != CHECK_ALL_ROWS;
    return storage < (few ? 0 : extent->all_builds) ||
           (storage < (few ? 1 : extent->storages) &&
               !one_like_it_is_built(
                   report, check_row_name(row), check_storage_name(storage)));
}

bool check_is_built(const check_report *report, size_t row)
{
    for (size_t i = 0; i < report->n_builds; i++) {
        const check_build *b = &report->build[i];
        if (!b->refused[0] && strcmp(b->row, check_row_name(row)) == 0 &&
            strcmp(b->operation, "attention") == 0 &&
            strcmp(b->storage, check_storage_name(CHECK_F32)) == 0)
            return true;
    }
    return false;
}

void check_fail(check_report *report, const char *format, ...)
{
    va_list arguments;
    const size_t at = report->failed++;
    if (at >= CHECK_FAILURES)
        return;
    va_start(arguments, format);
    vsnprintf(report->failure[at], CHECK_TEXT, format, arguments);
    va_end(arguments);
}

const char *check_reason(const char *why)
{
    static const char COMMON[] = "no kernel can run: ";
    const char *common = strstr(why, COMMON);
    return common ? common + strlen(COMMON) : why;
}

void check_refuse(check_report *report, size_t row, const char *why)
{
    const char *reason = check_reason(why);
    check_refusal *r = report->refusal;
    for (size_t i = 0; i < report->n_refusals; i++, r++)
        if (r->row == row &&
            strncmp(r->reason, reason, sizeof r->reason - 1) == 0) {
            r->times++;
            return;
        }
    if (report->n_refusals == CHECK_REFUSALS) {
        report->other_refusals++;
        return;
    }
    report->n_refusals++;
    r->row = row;
    r->times = 1;
    snprintf(r->reason, sizeof r->reason, "%s", reason);
}

bool check_has_time(const check_run *run, size_t part, double begin_ms)
{
    const double seconds = run->extent->seconds;
    if (seconds == 0.0 || ticks_ms() - begin_ms < 1e3 * seconds)
        return true;
    run->report->left_out[part]++;
    return false;
}

static void add(check_score *to, size_t right, size_t wrong, size_t refused)
{
    to->right += right;
    to->wrong += wrong;
    to->refused += refused;
}

static void add_builds(check_score *to, const check_report *report)
{
    for (size_t i = 0; i < report->n_builds; i++) {
        const check_build *b = &report->build[i];
        add(to, !b->refused[0], b->failed, b->refused[0] && !b->failed);
    }
}

check_score check_total(const check_report *report)
{
    check_score all = {.right = 0};
    const check_score *score = &report->score[0][0][0];
    const size_t scores = sizeof report->score / sizeof *score;
    add_builds(&all, report);
    for (size_t i = 0; i < scores; i++)
        add(&all, score[i].right, score[i].wrong, score[i].refused);
    for (size_t i = 0; i < CHECK_ROWS; i++) {
        const check_repeat *r = &report->repeat[i];
        add(&all, r->shapes - r->wrong - r->refused, r->wrong, r->refused);
    }
    for (size_t i = 0; i < report->n_onnx; i++) {
        const check_onnx *o = &report->onnx[i];
        add(&all, o->passed, o->failed, o->skipped);
    }
    return all;
}

bool check_verdict(const check_report *report, char *text, size_t capacity)
{
    const check_score all = check_total(report);
    const bool good = report->failed == 0 && all.right > 0;
    size_t left_out = 0;
    for (size_t part = 0; part < CHECK_PARTS; part++)
        left_out += report->left_out[part];
    if (good && left_out > 0)
        snprintf(text, capacity,
            "Right: all %zu checks for which there was time hold; %zu were "
            "refused, for the reasons told, and %zu cases left out.",
            all.right, all.refused, left_out);
    else if (good)
        snprintf(text, capacity,
            "Right: all %zu checks that this device takes hold; %zu were "
            "refused, for the reasons told.",
            all.right, all.refused);
    else if (report->failed > 0)
        snprintf(text, capacity,
            "WRONG: %zu of %zu checks fail on this device, driver and "
            "compiler; do not rely on the rows that are named.",
            report->failed, all.right + report->failed);
    else
        snprintf(text, capacity,
            "Nothing is known: this device takes none of the kernels.");
    const size_t used = strlen(text);
    if (report->limits[0])
        snprintf(text + used, capacity - used, " That is with %s set.",
            report->limits);
    return good;
}

void check_report_free(check_report *report)
{
    bench_report_free(&report->speed);
}
