/* SPDX-License-Identifier: Apache-2.0
 *
 * check_json.c - the report as one JSON object.
 */
#include <jansson.h>
#include <math.h>

#include "check_report.h"
#include "device_text.h"
#include "json_text.h"

/* All of these give NULL without memory, which makes what they are put into
   fail, and at last the whole. */
static json_t *number(size_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text && text[0] ? json_text(text) : json_null();
}

typedef struct member {
    const char *key;
    json_t *value;
} member;

/* An object of the members; NULL if one of them is. */
static json_t *object_of(const member *members, size_t count)
{
    json_t *o = json_object();
    int failed = o == NULL;
    for (size_t i = 0; i < count; i++)
        if (json_object_set_new(o, members[i].key, members[i].value))
            failed = 1;
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

#define OBJECT(...)                          \
    object_of((const member[]){__VA_ARGS__}, \
        sizeof((const member[]){__VA_ARGS__}) / sizeof(member))

/* Appends, or makes all of it NULL. */
static json_t *with(json_t *array, json_t *value)
{
    if (array && json_array_append_new(array, value) == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* ---- Parts -------------------------------------------------------------- */

static json_t *device_object(const clattn_device *d)
{
    json_t *o = json_object();
    if (o && device_fill_json(o, d) == 0)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *kernels_of(const check_build *b)
{
    json_t *array = json_array();
    for (size_t i = 0; i < b->count; i++) {
        const kernel_facts *k = &b->kernel[i];
        array = with(array,
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", json_text(k->name),
                "group", number(k->group), "max_group", number(k->max_group),
                "local_bytes", number(k->local_bytes), "private_bytes",
                k->private_bytes ? number(k->private_bytes) : json_null()));
    }
    return array;
}

static json_t *builds_of(const check_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_builds; i++) {
        const check_build *b = &report->build[i];
        array = with(
            array, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b}", "row",
                       b->row, "operation", b->operation, "storage", b->storage,
                       "kernels", kernels_of(b), "build_ms", real(b->plan_ms),
                       "first_ms", real(b->first_ms), "refused",
                       text_or_null(b->refused), "failed", (int)b->failed));
    }
    return array;
}

static json_t *score_object(
    const check_score *score, size_t table, size_t row, size_t storage)
{
    const bool known = score->right + score->wrong > 0;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "table",
        check_part_name(table), "row", check_row_name(row), "storage",
        check_storage_name((enum check_storage)storage), "right",
        number(score->right), "wrong", number(score->wrong), "refused",
        number(score->refused), "error",
        known ? real(score->error) : json_null(), "share",
        known ? real(score->share) : json_null());
}

static json_t *scores_of(const check_report *report)
{
    json_t *array = json_array();
    for (size_t table = 0; table < CHECK_TABLES; table++)
        for (size_t row = 0; row < check_row_count(); row++)
            for (size_t i = 0; i < CHECK_STORAGES; i++) {
                const check_score *score = &report->score[table][row][i];
                if (score->right + score->wrong + score->refused)
                    array = with(array, score_object(score, table, row, i));
            }
    return array;
}

static json_t *refusals_of(const check_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_refusals; i++) {
        const check_refusal *r = &report->refusal[i];
        array = with(array,
            json_pack("{s:s, s:o, s:o}", "row", check_row_name(r->row), "times",
                number(r->times), "reason", json_text(r->reason)));
    }
    return array;
}

static json_t *repeats_of(const check_report *report)
{
    json_t *array = json_array();
    for (size_t row = 1; row < check_row_count(); row++) {
        const check_repeat *r = &report->repeat[row - 1];
        if (r->shapes)
            array = with(
                array, json_pack("{s:s, s:o, s:o, s:o, s:o}", "row",
                           check_row_name(row), "shapes", number(r->shapes),
                           "runs", number(r->runs), "refused",
                           number(r->refused), "wrong", number(r->wrong)));
    }
    return array;
}

static json_t *left_out_of(const check_report *report)
{
    member left[CHECK_PARTS];
    for (size_t part = 0; part < CHECK_PARTS; part++)
        left[part] =
            (member){check_part_name(part), number(report->left_out[part])};
    return object_of(left, CHECK_PARTS);
}

static json_t *onnx_of(const check_report *report)
{
    json_t *array = json_array();
    if (!report->n_onnx) {
        json_decref(array);
        return json_null();
    }
    for (size_t i = 0; i < report->n_onnx; i++) {
        const check_onnx *o = &report->onnx[i];
        array = with(array,
            json_pack("{s:s, s:o, s:o, s:o}", "kernel",
                o->kernel ? o->kernel : "choice", "passed", number(o->passed),
                "failed", number(o->failed), "refused", number(o->skipped)));
    }
    return array;
}

static json_t *time_object(const check_report *report, size_t i)
{
    const bench_case *c = &report->speed_case[i];
    const bench_result *r = &report->speed.result[i];
    const double moved = r->time.ms_median > 0.0
                             ? bench_bytes(c) / r->time.ms_median * 1e-6
                             : (double)NAN;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "case",
        c->name, "shape",
        json_pack("[I,I,I,I,I]", (json_int_t)c->B, (json_int_t)c->H,
            (json_int_t)(c->Lq ? c->Lq : c->L), (json_int_t)c->L,
            (json_int_t)c->D),
        "row", text_or_null(r->kernel), "ms",
        r->reason[0] ? json_null() : real(r->time.ms_median), "gflops",
        r->reason[0] ? json_null() : real(r->gflops), "share_of_peak",
        r->reason[0] ? json_null() : real(r->share), "share_of_bandwidth",
        real(moved / report->bandwidth), "noisy", (int)r->time.noisy, "refused",
        text_or_null(r->reason));
}

static json_t *speed_of(const check_report *report)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < report->speed.count; i++)
        cases = with(cases, time_object(report, i));
    return json_pack("{s:o, s:o, s:o, s:o}", "peak_gflops",
        real(report->speed.peak), "bandwidth_gbs", real(report->bandwidth),
        "cases", cases, "why_not", text_or_null(report->no_speed));
}

static json_t *failures_of(const check_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; i < report->failed && i < CHECK_FAILURES; i++)
        array = with(array, json_text(report->failure[i]));
    return array;
}

bool check_print_json(FILE *to, const check_report *report, failure *f)
{
    char verdict[CHECK_TEXT];
    const bool right = check_verdict(report, verdict, sizeof verdict);
    json_t *o = OBJECT({"version", json_text(clattn_version_text())},
        {"day", json_text(report->day)},
        {"device", device_object(&report->device)},
        {"environment", text_or_null(report->limits)},
        {"extent", json_text(report->extent->name)},
        {"seed", json_integer((json_int_t)report->seed)},
        {"builds", builds_of(report)}, {"scores", scores_of(report)},
        {"refusals", refusals_of(report)}, {"repeats", repeats_of(report)},
        {"left_out", left_out_of(report)}, {"onnx", onnx_of(report)},
        {"speed", speed_of(report)}, {"failed", number(report->failed)},
        {"failures", failures_of(report)}, {"right", json_boolean(right)},
        {"verdict", json_text(verdict)});
    if (!o)
        return fail(f, "no memory for the report as JSON");
    json_dumpf(o, to, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    fprintf(to, "\n");
    json_decref(o);
    return true;
}
