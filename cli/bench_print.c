/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_print.c - table and JSON of the figures.
 */
#include "bench_print.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "json_text.h"
#include "judge_goals.h"
#include "text.h"

/* An enqueue may cost the host so much more than its launches alone. */
static const double ENQUEUE_GOAL_US = 10.0;

enum {
    TEXT = 160
};

static double enqueue_more_us(const enqueue_cost *cost)
{
    return cost->call_us - cost->launch_us;
}

/* ---- Table -------------------------------------------------------------- */

static int column_of(const bench_case *cases, size_t count)
{
    size_t width = strlen("case");
    for (size_t i = 0; i < count; i++)
        if (strlen(cases[i].name) > width)
            width = strlen(cases[i].name);
    return (int)width;
}

static void print_goal(
    FILE *to, const bench_case *cases, const bench_result *result, size_t at)
{
    char goal[TEXT];
    char held[TEXT];
    const bench_case *c = &cases[at];
    if (c->goal == GOAL_NONE)
        return;
    goal_text(goal, sizeof goal, cases, at);
    held_text(held, sizeof held, c, &result[at]);
    fprintf(to, "  %s: %s%s%s", goal, held, held[0] ? ", " : "",
        !held[0]         ? "not judged"
        : result[at].met ? "met"
                         : "missed");
}

static void print_case(FILE *to, const bench_case *cases,
    const bench_result *result, size_t at, int width)
{
    const bench_result *r = &result[at];
    fprintf(to, "%-*s  ", width, cases[at].name);
    if (r->reason[0]) {
        fprintf(to, "refused: %s\n", r->reason);
        return;
    }
    fprintf(to, "%-16s", r->kernel);
    if (r->taken.count)
        fprintf(to, " %9.3f %9.3f %9.1f %6.1f %%", r->time.ms_median,
            r->time.ms_min, r->gflops, 100.0 * r->share);
    if (r->taken.count && r->time.noisy)
        fprintf(to, "  noisy: %zu of %zu samples count", r->time.counted,
            r->taken.tried);
    print_goal(to, cases, result, at);
    fprintf(to, "\n");
}

static void print_enqueue(FILE *to, const enqueue_cost *cost)
{
    const double more = enqueue_more_us(cost);
    fprintf(to,
        "\nenqueue with a ready plan: %.1f us of host time, %zu launch%s "
        "alone %.1f us; %.1f us more, <= %.0f us: %s\n",
        cost->call_us, cost->launches, cost->launches == 1 ? "" : "es",
        cost->launch_us, more, ENQUEUE_GOAL_US,
        more <= ENQUEUE_GOAL_US ? "met" : "missed");
}

void bench_print_table(FILE *to, const bench_place *place,
    const bench_case *cases, const bench_report *report)
{
    const int width = column_of(cases, report->count);
    fputs("device    ", to);
    text_put(to, place->device);
    fputs("\ndriver    ", to);
    text_put(to, place->driver);
    fprintf(to, "\ncommit    %s\n", place->commit);
    fprintf(to, "peak      %.1f GFLOP/s\n\n", report->peak);
    fprintf(to, "%-*s  %-16s %9s %9s %9s %8s\n", width, "case", "kernel", "ms",
        "least ms", "GFLOP/s", "share");
    for (size_t i = 0; i < report->count; i++)
        print_case(to, cases, report->result, i, width);
    if (report->has_enqueue)
        print_enqueue(to, &report->enqueue);
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
    return text[0] ? json_text(text) : json_null();
}

static json_t *real_if(bool known, double value)
{
    return known && isfinite(value) ? json_real(value) : json_null();
}

/* A NULL value, as without memory, makes json_object_set_new fail. */
static int fill_figures(json_t *o, const bench_result *r)
{
    const bool timed = r->taken.count > 0;
    int failed = json_object_set_new(o, "path", text_or_null(r->path));
    failed |= json_object_set_new(o, "kernel", text_or_null(r->kernel));
    failed |=
        json_object_set_new(o, "ms_median", real_if(timed, r->time.ms_median));
    failed |= json_object_set_new(o, "ms_min", real_if(timed, r->time.ms_min));
    failed |= json_object_set_new(o, "gflops", real_if(timed, r->gflops));
    failed |= json_object_set_new(o, "share", real_if(timed, r->share));
    failed |= json_object_set_new(
        o, "counted", json_integer((json_int_t)r->time.counted));
    failed |= json_object_set_new(
        o, "samples", json_integer((json_int_t)r->taken.tried));
    failed |=
        json_object_set_new(o, "noisy", json_boolean(timed && r->time.noisy));
    failed |= json_object_set_new(
        o, "workspace_bytes", json_integer((json_int_t)r->workspace_bytes));
    failed |= json_object_set_new(o, "refused", text_or_null(r->reason));
    return failed;
}

static int fill_goal(
    json_t *o, const bench_case *cases, const bench_result *result, size_t at)
{
    char text[TEXT];
    const bench_result *r = &result[at];
    const bool has_goal = cases[at].goal != GOAL_NONE;
    const bool judged = has_goal && !isnan(r->held);
    int failed = json_object_set_new(
        o, "goal", text_or_null(goal_text(text, sizeof text, cases, at)));
    failed |=
        json_object_set_new(o, "bound", real_if(has_goal, cases[at].bound));
    failed |= json_object_set_new(o, "held", real_if(judged, r->held));
    failed |= json_object_set_new(
        o, "met", judged ? json_boolean(r->met) : json_null());
    return failed;
}

static json_t *case_object(
    const bench_case *cases, const bench_result *result, size_t at)
{
    json_t *o = json_object();
    if (!o)
        return NULL;
    int failed = json_object_set_new(o, "name", json_text(cases[at].name));
    failed |= fill_figures(o, &result[at]);
    failed |= fill_goal(o, cases, result, at);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *case_array(const bench_case *cases, const bench_report *report)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < report->count; i++) {
        if (json_array_append_new(
                array, case_object(cases, report->result, i)) == 0)
            continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}

static json_t *enqueue_object(const enqueue_cost *cost)
{
    const double more = enqueue_more_us(cost);
    return json_pack("{s:f, s:f, s:I, s:f, s:f, s:b}", "call_us", cost->call_us,
        "launch_us", cost->launch_us, "launches", (json_int_t)cost->launches,
        "more_us", more, "bound", ENQUEUE_GOAL_US, "met",
        (int)(more <= ENQUEUE_GOAL_US));
}

bool bench_print_json(FILE *to, const bench_place *place,
    const bench_case *cases, const bench_report *report, failure *f)
{
    json_t *o = json_object();
    int failed = json_object_set_new(o, "device", json_text(place->device));
    failed |= json_object_set_new(o, "driver", json_text(place->driver));
    failed |= json_object_set_new(o, "commit", json_text(place->commit));
    failed |= json_object_set_new(o, "peak_gflops", json_real(report->peak));
    if (report->has_enqueue)
        failed |=
            json_object_set_new(o, "enqueue", enqueue_object(&report->enqueue));
    failed |= json_object_set_new(o, "cases", case_array(cases, report));
    if (!failed) {
        json_dumpf(o, to, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        fprintf(to, "\n");
    }
    json_decref(o);
    return !failed || fail(f, "no memory for the figures as JSON");
}
