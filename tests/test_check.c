/* SPDX-License-Identifier: Apache-2.0
 *
 * test_check.c - the report of a check without a device: what counts, what the
 * verdict says, how it looks; and rows and cases.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "attention_rows.h"
#include "capture.h"
#include "check_report.h"
#include "onnx_folder.h"
#include "sheet.h"
#include "subject.h"
#include "suite.h"
#include "ticks.h"

static check_report *report;
static failure f;

static void make_report(void)
{
    static const check_extent EXTENT = {.name = "made up"};
    report = calloc(1, sizeof *report);
    ck_assert_ptr_nonnull(report);
    report->extent = &EXTENT;
    strcpy(report->device.name, "a | device");
    strcpy(report->no_speed, "nobody waited");
}

static void free_report(void)
{
    free(report);
}

static void check_says(bool good, const char *begins)
{
    char text[CHECK_TEXT];
    ck_assert(check_verdict(report, text, sizeof text) == good);
    ck_assert_msg(
        strncmp(text, begins, strlen(begins)) == 0, "%s: %s", begins, text);
}

/* ---- Verdict ------------------------------------------------------------ */

START_TEST(nothing_tried_is_not_right)
{
    check_says(false, "Nothing is known");
    report->score[CHECK_ATTENTION][1][CHECK_F32].refused = 3;
    check_says(false, "Nothing is known");
}
END_TEST

START_TEST(what_is_right_and_refused_is_counted_over_all_parts)
{
    report->n_builds = 3;
    strcpy(report->build[1].refused, "too small");
    strcpy(report->build[2].refused, "no");
    report->build[2].failed = true;
    report->score[CHECK_DRAWS][0][CHECK_F16] =
        (check_score){.right = 10, .wrong = 2, .refused = 20};
    report->repeat[1] =
        (check_repeat){.shapes = 7, .runs = 50, .wrong = 1, .refused = 2};
    report->n_onnx = 1;
    report->onnx[0] = (check_onnx){.passed = 100, .failed = 3, .skipped = 200};
    const check_score all = check_total(report);
    ck_assert_uint_eq(all.right, 1 + 10 + 4 + 100);
    ck_assert_uint_eq(all.wrong, 1 + 2 + 1 + 3);
    ck_assert_uint_eq(all.refused, 1 + 20 + 2 + 200);
    check_says(true, "Right: all 115 checks that this device takes hold; 223 ");
}
END_TEST

START_TEST(what_is_left_out_is_counted_and_told)
{
    static const check_extent SHORT = {.name = "short", .seconds = 1e-9};
    const check_run run = {.extent = &SHORT, .report = report};
    report->extent = &SHORT;
    report->score[CHECK_DRAWS][0][CHECK_F32].right = 3;
    ck_assert(!check_has_time(&run, CHECK_LAYER, ticks_ms() - 1.0));
    ck_assert(check_has_time(&run, CHECK_LAYER, ticks_ms() + 1e6));
    ck_assert(!check_has_time(&run, CHECK_REPEATS, 0.0));
    ck_assert(!check_has_time(&run, CHECK_ONNX_CASES, 0.0));
    report->n_onnx = 1;
    ck_assert_uint_eq(report->left_out[CHECK_LAYER], 1);
    check_says(true,
        "Right: all 3 checks for which there was time hold; 0 were refused, "
        "for the reasons told, and 3 cases left out.");
    FILE *to = capture_begin();
    ck_assert(check_print(to, false, report, &f));
    char *text = capture_end(to);
    ck_assert_ptr_nonnull(strstr(text, "layer: 1 left out"));
    ck_assert_ptr_nonnull(strstr(text, "repeated shapes: 1 left out"));
    ck_assert_ptr_nonnull(strstr(text, "ONNX cases: 1 left out"));
    free(text);
    to = capture_begin();
    ck_assert(check_print_json(to, report, &f));
    text = capture_end(to);
    ck_assert_ptr_nonnull(strstr(text, "\"ONNX cases\": 1"));
    free(text);
}
END_TEST

/* A part whose time has passed at once: nothing is run, everything is counted. */
START_TEST(onnx_cases_are_left_out_where_time_has_passed)
{
    static const check_extent SHORT = {.name = "short", .seconds = 1e-12};
    const progress shown = {NULL};
    const device_queues at = {.ctx = NULL};
    const check_run run = {&at, &SHORT, &shown, report};
    onnx_folder list = {NULL, 0};
    const char *folder = CLATTN_SOURCE_DIR "/tests/data/onnx";
    report->extent = &SHORT;
    ck_assert(onnx_folder_list(&list, folder, &f));
    ck_assert_uint_gt(list.count, CHECK_TURN);
    ck_assert_msg(check_onnx_cases(&run, folder, &f), "%s", f.text);
    ck_assert_uint_eq(report->n_onnx, CHECK_ONNX);
    ck_assert_uint_eq(report->left_out[CHECK_ONNX_CASES], list.count);
    ck_assert_uint_eq(check_total(report).right, 0);
    onnx_folder_free(&list);
}
END_TEST

START_TEST(what_the_environment_keeps_out_stands_in_report_and_verdict)
{
    report->score[CHECK_DRAWS][0][CHECK_F32].right = 3;
    strcpy(report->limits, "CLATTN_DISABLE=tiled1");
    check_says(true,
        "Right: all 3 checks that this device takes hold; 0 were refused, for "
        "the reasons told. That is with CLATTN_DISABLE=tiled1 set.");
    FILE *to = capture_begin();
    ck_assert(check_print(to, true, report, &f));
    char *text = capture_end(to);
    ck_assert_ptr_nonnull(
        strstr(text, "| environment | CLATTN_DISABLE=tiled1 |"));
    free(text);
}
END_TEST

START_TEST(one_failure_is_wrong_and_more_than_the_list_are_counted)
{
    report->score[CHECK_LINEAR][0][CHECK_F32].right = 5;
    check_fail(report, "the %s", "first");
    check_says(false, "WRONG: 1 of 6 ");
    for (int i = 1; i <= CHECK_FAILURES; i++)
        check_fail(report, "one more");
    ck_assert_uint_eq(report->failed, CHECK_FAILURES + 1);
    ck_assert_str_eq(report->failure[0], "the first");
}
END_TEST

START_TEST(equal_reasons_of_a_row_are_one_and_more_than_the_list_are_counted)
{
    char text[40];
    check_refuse(report, 1, "legal, but: no kernel can run: lanes: no weights");
    check_refuse(report, 1, "no kernel can run: lanes: no weights");
    check_refuse(report, 2, "no kernel can run: lanes: no weights");
    ck_assert_uint_eq(report->n_refusals, 2);
    ck_assert_uint_eq(report->refusal[0].times, 2);
    ck_assert_str_eq(report->refusal[0].reason, "lanes: no weights");
    for (int i = 0; i < CHECK_REFUSALS; i++) {
        snprintf(text, sizeof text, "reason %d", i);
        check_refuse(report, 1, text);
    }
    ck_assert_uint_eq(report->n_refusals, CHECK_REFUSALS);
    ck_assert_uint_eq(report->other_refusals, 2);
}
END_TEST

/* The row as check_row_name counts them. */
static size_t row_of(const char *name)
{
    for (size_t row = 1; row < check_row_count(); row++)
        if (strcmp(check_row_name(row), name) == 0)
            return row;
    ck_abort_msg("there is no row %s", name);
}

START_TEST(without_all_builds_one_row_of_a_family_is_enough_if_it_was_built)
{
    static const check_extent SOME = {.storages = 2};
    static const check_extent ALL = {.all_builds = 3, .storages = 3};
    const size_t row = row_of("tiled8");
    report->extent = &SOME;
    ck_assert(check_wants_row(report, row, CHECK_F32, false));
    report->n_builds = 1;
    report->build[0] = (check_build){
        .row = "tiled16", .operation = "attention", .storage = "f32"};
    ck_assert(!check_wants_row(report, row, CHECK_F32, false));
    ck_assert(check_wants_row(report, row, CHECK_F16, false));
    ck_assert(!check_wants_row(report, row, CHECK_BF16, false));
    ck_assert(check_is_built(report, row_of("tiled16")));
    ck_assert(!check_is_built(report, row));
    strcpy(report->build[0].refused, "too large");
    ck_assert(check_wants_row(report, row, CHECK_F32, false));
    ck_assert(!check_is_built(report, row_of("tiled16")));
    report->build[0].refused[0] = '\0';
    report->extent = &ALL;
    ck_assert(check_wants_row(report, row, CHECK_F32, false));
    ck_assert(check_wants_row(report, row, CHECK_BF16, false));
}
END_TEST

START_TEST(of_rows_for_other_devices_one_of_a_family_is_built_in_one_storage)
{
    static const check_extent SOME = {
        .all_builds = 1, .storages = 3, .rows = CHECK_ONE_MORE};
    static const check_extent ALL = {
        .all_builds = 3, .storages = 3, .rows = CHECK_ALL_ROWS};
    const size_t row = row_of("tiled8");
    report->extent = &SOME;
    ck_assert(check_wants_row(report, row, CHECK_F32, true));
    ck_assert(!check_wants_row(report, row, CHECK_F16, true));
    report->n_builds = 1;
    report->build[0] = (check_build){
        .row = "tiled16", .operation = "attention", .storage = "f32"};
    ck_assert(!check_wants_row(report, row, CHECK_F32, true));
    ck_assert(check_wants_row(report, row, CHECK_F32, false));
    report->extent = &ALL;
    ck_assert(check_wants_row(report, row, CHECK_F32, true));
    ck_assert(check_wants_row(report, row, CHECK_BF16, true));
}
END_TEST

/* ---- Looks -------------------------------------------------------------- */

START_TEST(what_fails_stands_in_all_forms)
{
    check_fail(report, "row x: <odd>");
    report->score[CHECK_DRAWS][row_of("tiled16")][CHECK_BF16] =
        (check_score){.right = 4, .error = 0.25, .share = 0.5};
    for (int markdown = 0; markdown < 2; markdown++) {
        FILE *to = capture_begin();
        ck_assert(check_print(to, markdown, report, &f));
        char *text = capture_end(to);
        ck_assert_ptr_nonnull(
            strstr(text, markdown ? "- row x: \\<odd>\n" : "- row x: <odd>\n"));
        ck_assert_ptr_nonnull(strstr(text,
            markdown ? "| draws | tiled16 | bf16 | 4 | 0 | 0 | 0.25 | 0.50 |"
                     : "draws  tiled16  bf16     4      0      0        0.25"
                       "           0.50\n"));
        free(text);
    }
    FILE *to = capture_begin();
    ck_assert(check_print_json(to, report, &f));
    char *text = capture_end(to);
    json_t *o = json_loads(text, 0, NULL);
    ck_assert_msg(o != NULL, "%s", text);
    ck_assert_str_eq(
        json_string_value(json_array_get(json_object_get(o, "failures"), 0)),
        "row x: <odd>");
    ck_assert(json_is_null(json_object_get(o, "onnx")));
    json_decref(o);
    free(text);
}
END_TEST

static void check_begins(const char *text, const char *want)
{
    ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
}

static char *table_as(bool markdown)
{
    FILE *to = capture_begin();
    sheet s = {.to = to, .markdown = markdown};
    sheet_begin(&s, "a|long heading|c");
    sheet_row(&s);
    sheet_cell(&s, 0, "%d", 12345);
    sheet_cell(&s, 1, "x|y");
    for (int i = 0; i < 40; i++) /* more than the first room */
        sheet_row(&s);
    sheet_cell(&s, 2, "end\n");
    ck_assert(sheet_end(&s));
    return capture_end(to);
}

START_TEST(columns_line_up_as_text_and_cells_cannot_break_a_markdown_table)
{
    char *text = table_as(false);
    char *markdown = table_as(true);
    check_begins(text, "a      long heading  c\n12345  x|y\n\n");
    check_begins(markdown,
        "| a | long heading | c |\n|---|---|---|\n| 12345 | x\\|y |  |\n");
    ck_assert_ptr_nonnull(strstr(text, "\n                     end \n\n"));
    free(text);
    free(markdown);
}
END_TEST

/* ---- Cases -------------------------------------------------------------- */

START_TEST(every_row_has_its_turn_once_in_a_round_of_its_family)
{
    const char *row = NULL;
    for (size_t n = 0; (row = attention_row_name(n)) != NULL; n++) {
        size_t turns = 0;
        for (size_t configuration = 0; configuration < 12; configuration++)
            turns += attention_row_has_turn(row, configuration);
        ck_assert_msg(turns > 0 && 12 % turns == 0, "row %s: %zu of 12 turns",
            row, turns);
    }
    ck_assert(attention_row_has_turn("matmul_lanes", 5));
}
END_TEST

START_TEST(shapes_prone_to_races_are_problems_the_reference_takes)
{
    const attention_case c = attention_race_at((size_t)_i);
    attention_trial trial;
    attention_expected e;
    clattn_error error;
    ck_assert(attention_trial_create(&trial, &c));
    ck_assert_msg(attention_expect(&e, &trial, &error) == CLATTN_OK, "%s: %s",
        c.about, error.message);
    attention_expected_free(&e);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(the_largest_error_is_absolute_and_passes_over_what_is_not_finite)
{
    arena a = {.memories = 0};
    expected e;
    arena_place(&a, 0,
        (arena_tensor){.name = "out",
            .size = {1, 1, 1, 4},
            .memory = ARENA_NEW,
            .output = true});
    ck_assert(arena_allocate(&a) && expected_create(&e, 4));
    for (size_t i = 0; i < 4; i++)
        *arena_at(&a, 0, 0, 0, 0, i) = (float)i;
    e.value[0] = 0.5;
    e.value[1] = 1;
    e.value[2] = (double)INFINITY;
    e.value[3] = 9, e.slack[3] = (double)INFINITY;
    ck_assert_double_eq(expected_error(&e, &a, 0), 0.5);
    *arena_at(&a, 0, 0, 0, 0, 1) = NAN;
    ck_assert(isinf(expected_error(&e, &a, 0)));
    expected_free(&e);
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *reports = tcase_create("reports");
    tcase_add_checked_fixture(reports, make_report, free_report);
    tcase_add_test(reports, nothing_tried_is_not_right);
    tcase_add_test(
        reports, what_is_right_and_refused_is_counted_over_all_parts);
    tcase_add_test(reports, what_is_left_out_is_counted_and_told);
    tcase_add_test(reports, onnx_cases_are_left_out_where_time_has_passed);
    tcase_add_test(
        reports, what_the_environment_keeps_out_stands_in_report_and_verdict);
    tcase_add_test(
        reports, one_failure_is_wrong_and_more_than_the_list_are_counted);
    tcase_add_test(reports,
        equal_reasons_of_a_row_are_one_and_more_than_the_list_are_counted);
    tcase_add_test(reports,
        without_all_builds_one_row_of_a_family_is_enough_if_it_was_built);
    tcase_add_test(reports,
        of_rows_for_other_devices_one_of_a_family_is_built_in_one_storage);
    tcase_add_test(reports, what_fails_stands_in_all_forms);
    tcase_add_test(reports,
        columns_line_up_as_text_and_cells_cannot_break_a_markdown_table);
    suite_add_tcase(suite, reports);
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 300); /* the reference, watched by sanitizers */
    tcase_add_test(cases, every_row_has_its_turn_once_in_a_round_of_its_family);
    tcase_add_loop_test(cases,
        shapes_prone_to_races_are_problems_the_reference_takes, 0,
        (int)attention_race_count());
    tcase_add_test(cases,
        the_largest_error_is_absolute_and_passes_over_what_is_not_finite);
    suite_add_tcase(suite, cases);
    return suite_main(suite, 0);
}
