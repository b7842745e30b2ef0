/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_measure.c - the measuring on a device, with cases so small that
 * their figures say nothing: each kind of case has one, groups keep together.
 */
#include <math.h>
#include <string.h>

#include "measure.h"
#include "peak.h"
#include "suite.h"

static clattn_context *ctx;
static clattn_error why;

static void open_context(void)
{
    ck_assert_msg(clattn_context_create(&ctx, NULL, &why) == CLATTN_OK, "%s",
        why.message);
}

static void close_context(void)
{
    clattn_context_destroy(ctx);
    ctx = NULL;
}

#define TINY .B = 2, .H = 2, .L = 24, .D = 8

static const bench_case CASES[] = {
    {.name = "plain", TINY, .goal = GOAL_SHARE, .bound = 2.0},
    {.name = "causal",
        TINY,
        .causal = true,
        .goal = GOAL_TIME,
        .bound = 1e9,
        .base = 1},
    {.name = "lengths", TINY, .lengths_half = true, .base = 2},
    {.name = "too large",
        .B = 2000000000,
        .H = 1,
        .L = 1,
        .D = 512,
        .goal = GOAL_TIME,
        .bound = 1.0,
        .base = 3},
    {.name = "matmul", .kind = BENCH_MATMUL, .B = 1, .H = 1, .L = 16, .D = 24},
    {.name = "planned",
        .kind = BENCH_WORKSPACE,
        .B = 1,
        .H = 1,
        .L = 4096,
        .D = 16,
        .goal = GOAL_WORKSPACE,
        .bound = 1e15},
};

enum {
    PLAIN,
    CAUSAL,
    LENGTHS,
    TOO_LARGE,
    MATMUL,
    PLANNED
};

typedef struct told {
    size_t count;
    bool in_order; /* of the cases, once or twice over */
} told;

static void hear(void *to, size_t done, size_t count, const char *name)
{
    told *t = to;
    t->count++;
    t->in_order = t->in_order && done < count && count == COUNT(CASES) &&
                  strcmp(name, CASES[done].name) == 0;
}

static void check_timed(const bench_report *report, size_t at)
{
    const bench_result *r = &report->result[at];
    const char *name = CASES[at].name;
    ck_assert_msg(r->reason[0] == '\0', "%s: refused: %s", name, r->reason);
    ck_assert_msg(r->kernel[0] && r->path[0], "%s: no kernel", name);
    ck_assert_msg(r->taken.tried >= SAMPLES_NEEDED, "%s: %zu samples", name,
        r->taken.tried);
    ck_assert_msg(0.0 < r->time.ms_min && r->time.ms_min <= r->time.ms_median,
        "%s: least %g, median %g", name, r->time.ms_min, r->time.ms_median);
    ck_assert_msg(r->gflops > 0.0 &&
                      fabs(r->share * report->peak / r->gflops - 1.0) < 1e-9,
        "%s: %g GFLOP/s, share %g", name, r->gflops, r->share);
}

START_TEST(each_kind_of_case_gives_what_it_can)
{
    bench_report report;
    told t = {.in_order = true};
    const bench_progress progress = {hear, &t};
    ck_assert_msg(bench_measure(&report, ctx, CASES, COUNT(CASES),
                      &BENCH_EFFORT, &progress, &why) == CLATTN_OK,
        "%s", why.message);
    ck_assert(report.peak > 0.0);
    ck_assert(t.in_order && t.count >= COUNT(CASES));
    check_timed(&report, PLAIN);
    check_timed(&report, CAUSAL);
    check_timed(&report, LENGTHS);
    check_timed(&report, MATMUL);
    ck_assert(report.result[TOO_LARGE].reason[0]);
    ck_assert_uint_eq(report.result[TOO_LARGE].taken.count, 0);
    ck_assert(isnan(report.result[TOO_LARGE].held));
    ck_assert_uint_eq(report.result[PLANNED].taken.count, 0);
    ck_assert(report.result[PLANNED].met);
    ck_assert(!report.result[PLAIN].met); /* a share of 2 */
    bench_report_free(&report);
}
END_TEST

START_TEST(a_row_that_breaks_the_contract_ends_the_run_with_its_sentence)
{
    static const bench_case WRONG = {
        .name = "wrong", .B = 1, .H = 1, .L = 4, .D = 513};
    bench_report report;
    ck_assert_int_eq(
        bench_measure(&report, ctx, &WRONG, 1, &BENCH_EFFORT, NULL, &why),
        CLATTN_INVALID);
    ck_assert_msg(strstr(why.message, "513") != NULL, "%s", why.message);
    bench_report_free(&report);
}
END_TEST

START_TEST(an_enqueue_costs_time_and_launches)
{
    bench_report report = {.count = 0};
    ck_assert_msg(
        bench_enqueue_cost(&report, ctx, &why) == CLATTN_OK, "%s", why.message);
    ck_assert(report.has_enqueue);
    ck_assert(report.enqueue.launches >= 1);
    ck_assert(report.enqueue.call_us > 0.0 && report.enqueue.launch_us > 0.0);
    bench_report_free(&report);
}
END_TEST

START_TEST(the_best_probe_is_the_largest)
{
    peak p;
    double largest = 0.0;
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(
        clattn_context_cl(ctx), clattn_context_device(ctx), 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_msg(
        peak_create(&p, ctx, queue, &why) == CLATTN_OK, "%s", why.message);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(peak_probe(&p, queue, &why), CLATTN_OK);
        ck_assert(p.last > 0.0);
        largest = fmax(largest, p.last);
        ck_assert_double_eq(p.best, largest);
    }
    peak_destroy(&p);
    clReleaseCommandQueue(queue);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bench_measure");
    TCase *device = tcase_create("device");
    tcase_add_checked_fixture(device, open_context, close_context);
    tcase_set_timeout(device, 240.0); /* a busy machine: 10 s a case, twice */
    tcase_add_test(device, each_kind_of_case_gives_what_it_can);
    tcase_add_test(
        device, a_row_that_breaks_the_contract_ends_the_run_with_its_sentence);
    tcase_add_test(device, an_enqueue_costs_time_and_launches);
    tcase_add_test(device, the_best_probe_is_the_largest);
    suite_add_tcase(suite, device);
    return suite_main(suite, 1);
}
