/* SPDX-License-Identifier: Apache-2.0
 *
 * test_failures_check.c - `check` of CLATTN_PROGRAM, while the n-th allocation
 * of memory fails, for every n: it says that memory is short and ends, and
 * never calls the device wrong, which has nothing to do with it.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "scratch.h"
#include "shim.h"
#include "suite.h"

#ifndef CLATTN_PRELOAD
#error "CLATTN_PRELOAD is where the shim lies"
#endif

/* All of a trial's memories, and those of the library's host calls. */
static const char *const ARGUMENTS[] = {"check", "--draw",
    "B=1 Hq=2 Hkv=1 Lq=3 Lk=5 D=8 Dv=8 seed=7 returns=3 mask=f32 dropout=0.5 "
    "key_lengths=1 kernel=tiled16",
    NULL};

static const enum shim_point POINTS[] = {
    SHIM_malloc, SHIM_calloc, SHIM_realloc};

static program_result got;

/* Whether the n-th call was made, and so failed. */
static bool run(enum shim_point point, size_t n)
{
    char what[100], to[SCRATCH_PATH + 30], path[SCRATCH_PATH];
    int struck = -1;
    snprintf(what, sizeof what, "CLATTN_SHIM=%s:%zu:%d", shim_name(point), n,
        ENOMEM);
    snprintf(
        to, sizeof to, "CLATTN_SHIM_REPORT=%s", scratch_path(path, "report"));
    const char *const environment[] = {
        "LD_PRELOAD=" CLATTN_PRELOAD, "CLATTN_CACHE=0", what, to, NULL};
    program_run(&got, ARGUMENTS, environment);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file && fscanf(file, "struck %d", &struck) == 1,
        "%s: no report; exit code %d: %s", what, got.code, got.err);
    fclose(file);
    return struck == 1;
}

START_TEST(memory_that_is_short_is_no_fault_of_the_device)
{
    const char *name = shim_name(POINTS[_i]);
    size_t n = 1, told = 0;
    for (; run(POINTS[_i], n); ++n) {
        ck_assert_msg(!strstr(got.out, "WRONG") && !strstr(got.err, "wrong"),
            "%s %zu: %s%s", name, n, got.out, got.err);
        if (got.code == 0)
            continue; /* what can be done without */
        ck_assert_msg(got.code == 1 && (strstr(got.err, "memory") != NULL ||
                                           strstr(got.err, "allocate") != NULL),
            "%s %zu: exit code %d: %s", name, n, got.code, got.err);
        ++told;
    }
    ck_assert_msg(got.code == 0, "undisturbed: %s", got.err);
    ck_assert_msg(told > 0, "%s: none of %zu failures is told", name, n - 1);
    printf("%s: %zu failures, %zu told\n", name, n - 1, told);
}
END_TEST

int main(void)
{
    TCase *list = tcase_create("memory");
    tcase_add_unchecked_fixture(list, scratch_begin, scratch_end);
    tcase_add_loop_test(list, memory_that_is_short_is_no_fault_of_the_device, 0,
        (int)COUNT(POINTS));
    Suite *suite = suite_create("failures_check");
    suite_add_tcase(suite, list);
    /* No forks: nothing here rests on the time that a busy machine takes. */
    return suite_main(suite, 1);
}
