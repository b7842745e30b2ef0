/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_bytes.c - what a case has to move at least, and that a device
 * measures a case of few query rows and its bandwidth.
 */
#include <math.h>

#include "bandwidth.h"
#include "measure.h"
#include "suite.h"

static const struct bytes_case {
    const char *about;
    bench_case of;
    double want;
} BYTES[] = {
    {"q, k, v and out", {.B = 2, .H = 3, .L = 5, .D = 7},
        4.0 * 4 * (2 * 3 * 5 * 7)},
    {"two bytes an element",
        {.B = 2, .H = 3, .L = 5, .D = 7, .dtype = CLATTN_F16},
        2.0 * 4 * (2 * 3 * 5 * 7)},
    {"two bytes for keys and values alone",
        {.B = 2, .H = 3, .L = 5, .D = 7, .kv_dtype = CLATTN_BF16},
        (4.0 + 2.0) * 2 * (2 * 3 * 5 * 7)},
    {"one query row", {.B = 2, .H = 3, .L = 5, .Lq = 1, .D = 7},
        4.0 * 2 * (2 * 3 * 5 * 7 + 2 * 3 * 7)},
    {"grouped heads", {.B = 2, .H = 6, .Hkv = 2, .L = 5, .D = 7},
        4.0 * 2 * (2 * 6 * 5 * 7 + 2 * 2 * 5 * 7)},
    {"half of the keys", {.B = 1, .H = 1, .L = 8, .D = 4, .lengths_half = true},
        4.0 * 2 * (8 * 4 + 4 * 4)},
    {"a bool mask",
        {.B = 1, .H = 1, .L = 8, .Lq = 2, .D = 4, .mask = CLATTN_BOOL},
        4.0 * 2 * (2 * 4 + 8 * 4) + 2 * 8},
    {"a packed batch of 16 and of 20 rows",
        {.B = 2, .H = 1, .L = 20, .D = 4, .ragged = true}, 4.0 * 4 * (36 * 4)},
    {"a product", {.kind = BENCH_MATMUL, .B = 1, .H = 1, .L = 3, .D = 5},
        4.0 * (3 * 5 + 5 * 5 + 3 * 5)},
};

START_TEST(every_tensor_counts_once)
{
    const struct bytes_case *row = &BYTES[_i];
    const double got = bench_bytes(&row->of);
    ck_assert_msg(got == row->want, "%s: %.0f bytes, not %.0f", row->about, got,
        row->want);
}
END_TEST

START_TEST(few_query_rows_are_few_operations)
{
    const bench_case all = {.B = 2, .H = 3, .L = 8, .D = 4};
    const bench_case one = {.B = 2, .H = 3, .L = 8, .Lq = 1, .D = 4};
    ck_assert_double_eq(bench_operations(&all), 8 * bench_operations(&one));
}
END_TEST

START_TEST(a_device_measures_few_query_rows_and_its_bandwidth)
{
    static const bench_case CASE = {
        .name = "one row", .B = 2, .H = 2, .L = 24, .Lq = 1, .D = 8};
    static const bench_effort BRIEF = {.least_ms = 1.0, .most_ms = 50.0};
    clattn_context *ctx = NULL;
    clattn_error why;
    bench_report report;
    double best = 0.0;
    ck_assert_msg(clattn_context_create(&ctx, NULL, &why) == CLATTN_OK, "%s",
        why.message);
    ck_assert_msg(
        bench_measure(&report, ctx, &CASE, 1, &BRIEF, NULL, &why) == CLATTN_OK,
        "%s", why.message);
    ck_assert_str_eq(report.result[0].reason, "");
    ck_assert_double_gt(report.result[0].time.ms_median, 0.0);
    ck_assert_double_eq_tol(report.result[0].gflops *
                                report.result[0].time.ms_median * 1e6 /
                                bench_operations(&CASE),
        1.0, 1e-9);
    bench_report_free(&report);
    ck_assert_msg(
        bandwidth_measure(&best, ctx, &why) == CLATTN_OK, "%s", why.message);
    ck_assert_msg(isfinite(best) && best > 0.0, "%g GB/s", best);
    clattn_context_destroy(ctx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bench_bytes");
    TCase *counting = tcase_create("counting");
    tcase_add_loop_test(
        counting, every_tensor_counts_once, 0, (int)COUNT(BYTES));
    tcase_add_test(counting, few_query_rows_are_few_operations);
    tcase_add_test(
        counting, a_device_measures_few_query_rows_and_its_bandwidth);
    suite_add_tcase(suite, counting);
    return suite_main(suite, 1);
}
