/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention.c - every kernel row over every case of the table, in every way
 * of calling, against the double-precision reference.
 * Of matrix units alone: see units.h.
 */
#include <stdio.h>
#include <string.h>

#include "attention_expected.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"
#include "units.h"

enum {
    MAX_ROWS = 32
};

/* How often each row took a case, and how often it said that it cannot. */
static struct {
    size_t taken, declined, too_small;
    bool without_unit; /* for the storage of all cases */
} tally[MAX_ROWS];

/* `before` is what an earlier run of the same problem left; all runs must
   leave the same bits. */
static void check_same_bits(
    const arena *a, const arena *before, const char *text, const char *way)
{
    for (size_t m = 0; m < a->memories; ++m)
        ck_assert_msg(memcmp(a->memory[m].data, before->memory[m].data,
                          a->memory[m].count * sizeof(float)) == 0,
            "%s, %s: not the bits of the first run", text, way);
}

/* A trial with the same problem, to hold the bits of the first run. */
static void keep(attention_trial *kept, const attention_trial *trial)
{
    for (size_t m = 0; m < trial->memory.memories; ++m)
        memcpy(kept->memory.memory[m].data, trial->memory.memory[m].data,
            trial->memory.memory[m].count * sizeof(float));
}

/* Some declines supported cannot know of: the kernel as built takes smaller
   groups than the device, and no other row may take its place.  A row of
   products alone can take no case on any device, and one of matrix units none
   where there is no such unit. */
static void declined(size_t row, const clattn_error *error)
{
    ++tally[row].declined;
    if (strstr(error->message, "its unit") != NULL)
        tally[row].without_unit = true;
    static const char *const LACKS[] = {
        "work-items", "does no attention", "its unit", "as built there"};
    for (size_t n = 0; n < COUNT(LACKS); ++n)
        if (strstr(error->message, LACKS[n]) != NULL) {
            ++tally[row].too_small;
            return;
        }
}

/* One row, all ways, one of them twice; or the planner's choice, which may not
   decline. */
static void check_row(attention_trial *trial, attention_trial *first,
    const attention_expected *expected, size_t row, const char *text)
{
    clattn_error error;
    char why[ARENA_TEXT];
    const clattn_status supported =
        clattn_attention_supported(opencl_get()->ctx, &trial->problem, &error);
    for (int run = 0; run <= RUN_WAYS; ++run) {
        const enum run_way way = run < RUN_WAYS ? run : RUN_ENQUEUE;
        const clattn_status status = run_attention(trial, way, &error);
        if (status == CLATTN_UNSUPPORTED && trial->problem.kernel != NULL &&
            (supported == status ||
                strstr(error.message, "as built") != NULL)) {
            declined(row, &error);
            return;
        }
        ck_assert_msg(status == supported,
            "%s, %s: supported says \"%s\", the call \"%s\" (%s)", text,
            run_way_name(way), clattn_status_text(supported),
            clattn_status_text(status), error.message);
        ck_assert_msg(status == CLATTN_OK, "%s, %s: %s", text,
            run_way_name(way), error.message);
        ck_assert_msg(attention_meets(expected, trial, why), "%s, %s: %s", text,
            run_way_name(way), why);
        if (run == 0)
            keep(first, trial);
        else
            check_same_bits(
                &trial->memory, &first->memory, text, run_way_name(way));
    }
    if (trial->problem.kernel != NULL)
        ++tally[row].taken;
}

/* The planner's choice, then each row by its name. */
static void check_case(const attention_case *c, size_t number)
{
    clattn_error error;
    char text[ARENA_TEXT], line[ARENA_TEXT + 100];
    attention_trial trial, first;
    attention_expected expected;
    attention_case_text(c, text);
    ck_assert(attention_trial_create(&trial, c));
    ck_assert(attention_trial_create(&first, c));
    const clattn_status status = attention_expect(&expected, &trial, &error);
    ck_assert_msg(
        status == CLATTN_OK, "%s: the reference says: %s", text, error.message);

    if (!units_asked())
        check_row(&trial, &first, &expected, 0, text);
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row) {
        ck_assert_uint_lt(row, MAX_ROWS);
        if (!rows_has_turn(clattn_kernel_name(row), number) ||
            !units_have_turn(clattn_kernel_name(row), number))
            continue;
        trial.problem.kernel = clattn_kernel_name(row);
        snprintf(line, sizeof line, "%s, row %s", text, trial.problem.kernel);
        check_row(&trial, &first, &expected, row, line);
    }
    attention_expected_free(&expected);
    attention_trial_destroy(&first);
    attention_trial_destroy(&trial);
}

START_TEST(every_row_agrees_with_the_reference_in_every_way)
{
    attention_case c = attention_case_at((size_t)_i);
    units_round(&c);
    check_case(&c, (size_t)_i);
}
END_TEST

START_TEST(every_row_took_cases_unless_the_device_is_too_small)
{
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row) {
        printf("row %s: %zu cases, declined %zu, %zu for what is not there\n",
            clattn_kernel_name(row), tally[row].taken, tally[row].declined,
            tally[row].too_small);
        /* Without its unit a row may give a reason that comes before that. */
        ck_assert_msg(tally[row].taken > 0 || tally[row].without_unit ||
                          tally[row].declined == tally[row].too_small,
            "row %s took no case", clattn_kernel_name(row));
    }
}
END_TEST

int main(void)
{
    TCase *rows = tcase_create("rows");
    tcase_add_unchecked_fixture(rows, opencl_open, opencl_close);
    tcase_set_timeout(rows, 300);
    tcase_add_loop_test(rows, every_row_agrees_with_the_reference_in_every_way,
        0, (int)attention_case_count());
    tcase_add_test(rows, every_row_took_cases_unless_the_device_is_too_small);

    Suite *suite = suite_create("attention");
    suite_add_tcase(suite, rows);
    return suite_main(suite, 1);
}
