/* SPDX-License-Identifier: Apache-2.0
 *
 * test_program_cache.c - programs that are kept between processes: the same
 * bits as from source, whatever happens to the files or to another process.
 * Each run is a process of its own.
 */
#define _GNU_SOURCE /* syscall */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "outcome.h"
#include "suite.h"

enum {
    CROWD = 8
};

/* Where the library puts a file in place; the driver uses rename. */
int renameat(int from, const char *name, int to, const char *new_name)
{
    if (getenv("TEST_KILLED") != NULL)
        kill(getpid(), SIGKILL);
    return (int)syscall(SYS_renameat2, from, name, to, new_name, 0);
}

/* ---- Between processes ---------------------------------------------------- */

START_TEST(every_row_computes_the_same_from_the_cache)
{
    const outcome source = outcome_run("all", "all", "CLATTN_CACHE=0");
    ck_assert_uint_ge(source.built, 5);
    outcome_expect(&source, "without a cache", source.built, 0, source.result);
    const outcome first = outcome_run("all", "all", NULL);
    outcome_expect(&first, "the first run", source.built, 0, source.result);
    const outcome second = outcome_run("all", "all", NULL);
    outcome_expect(&second, "the second run", 0, source.built, source.result);
    ck_assert_uint_eq(first.noted + second.noted, 0);
    ck_assert_uint_eq(scratch_count("all/clattn"), source.built);
}
END_TEST

START_TEST(a_context_after_another_finds_what_that_one_built)
{
    const outcome o = outcome_run("contexts", "contexts", NULL);
    outcome_expect(&o, "three contexts", 1, 2, o.result);
    ck_assert_uint_eq(outcome_lines(o.child.output, o.result), 3);
}
END_TEST

START_TEST(no_value_of_a_call_is_kept_with_the_program)
{
    static const char *const want[] = {
        "1 gives 0.880797", "0.5 gives 0.731059"};
    const outcome first = outcome_run("scales", "scales", NULL);
    const outcome second = outcome_run("scales", "scales", "TEST_REVERSE=1");
    for (size_t row = 0; row < COUNT(want); ++row) {
        ck_assert_msg(strstr(first.child.output, want[row]) != NULL,
            "not %s: %s", want[row], first.child.output);
        ck_assert_msg(strstr(second.child.output, want[row]) != NULL,
            "not %s: %s", want[row], second.child.output);
    }
    ck_assert_uint_gt(first.built, 0);
    ck_assert_uint_eq(first.loaded, 0);
    ck_assert_uint_eq(second.built, 0);
    ck_assert_uint_eq(second.loaded, first.built);
}
END_TEST

START_TEST(the_key_says_all_that_a_program_depends_on)
{
    static const char *const lines[] = {"library: ", "platform: ",
        "platform version: ", "device: ", "vendor: ", "driver: ", "version: ",
        "language: ", "extensions: ", "limits: ", "kernel: matmul\n",
        "options: -cl-std=CL1.2 ", "source: "};
    entry e;
    outcome_first("key");
    entry_read(&e, "key");
    const char *at = e.key;
    for (size_t i = 0; i < COUNT(lines); ++i) {
        ck_assert_msg(strncmp(at, lines[i], strlen(lines[i])) == 0,
            "not %s: %s", lines[i], at);
        at = strchr(at, '\n') + 1;
    }
    ck_assert_str_eq(at, "");
    entry_free(&e);
}
END_TEST

/* ---- Damaged files and folders -------------------------------------------- */

START_TEST(a_damaged_file_is_built_again_and_replaced)
{
    static const size_t cuts[] = {0, 10, KEPT_HEADER + 30, 50000};
    entry e;
    const outcome before = outcome_first("damage");
    entry_read(&e, "damage");
    for (size_t i = 0; i <= COUNT(cuts); ++i) {
        e.file[e.bytes / 2] ^= 4;
        FILE *file = fopen(e.path, "wb");
        ck_assert_ptr_nonnull(file);
        fwrite(e.file, 1, i < COUNT(cuts) ? cuts[i] : e.bytes, file);
        fclose(file);
        e.file[e.bytes / 2] ^= 4;
        const outcome o = outcome_run("damage", OUTCOME_PRODUCT, NULL);
        outcome_expect(&o, "damaged", 1, 0, before.result);
        ck_assert_msg(o.noted == 1, "%s", o.child.output);
        const outcome later = outcome_run("damage", OUTCOME_PRODUCT, NULL);
        outcome_expect(&later, "afterwards", 0, 1, before.result);
    }
    entry_free(&e);
}
END_TEST

START_TEST(nothing_is_printed_unless_it_is_asked_for)
{
    char line[2 * SHA256_TEXT];
    entry e;
    const outcome before = outcome_first("quiet");
    entry_read(&e, "quiet");
    entry_store(&e, "no binary", 9);
    const outcome o = outcome_run("quiet", OUTCOME_PRODUCT, "CLATTN_VERBOSE=");
    snprintf(line, sizeof line, "result %s\n", before.result);
    ck_assert_str_eq(o.child.output, line);
    entry_free(&e);
}
END_TEST

static const char *const NOWHERE[] = {"CLATTN_CACHE=0", "CLATTN_CACHE_LIMIT=0",
    "XDG_CACHE_HOME=relative", "XDG_CACHE_HOME=/dev/null",
    "XDG_CACHE_HOME=/proc", "XDG_CACHE_HOME=/etc/passwd",
    "XDG_CACHE_HOME=/nonexistent/a/b"};

START_TEST(a_place_that_is_none_costs_a_build_and_no_more)
{
    char home[20], name[40];
    snprintf(home, sizeof home, "nowhere%d", _i);
    const outcome before = outcome_first(home);
    for (int i = 0; i < 2; ++i) {
        const outcome o = outcome_run(home, OUTCOME_PRODUCT, NOWHERE[_i]);
        outcome_expect(&o, NOWHERE[_i], 1, 0, before.result);
    }
    snprintf(name, sizeof name, "%s/clattn", home);
    ck_assert_uint_eq(scratch_count(name), 1);
    ck_assert_int_ne(access("relative", F_OK), 0);
    ck_assert_int_ne(access("/nonexistent", F_OK), 0);
}
END_TEST

/* putenv of a name without a value unsets it. */
START_TEST(no_home_is_no_cache_and_a_home_is_one)
{
    char variable[SCRATCH_PATH + 10], path[SCRATCH_PATH];
    const outcome before = outcome_first("homeless");
    outcome_environment("homeless");
    const char *const homeless[] = {"XDG_CACHE_HOME", "HOME", NULL};
    outcome o = {
        .child = child_run(OUTCOME_PRODUCT, homeless, OUTCOME_FOR_EVER)};
    outcome_judge(&o, o.child.output);
    outcome_expect(&o, "neither HOME nor XDG_CACHE_HOME", 1, 0, before.result);
    ck_assert_ptr_nonnull(strstr(o.child.output, "program cache: none"));

    ck_assert_int_eq(mkdir(scratch_path(path, "home"), 0700), 0);
    snprintf(variable, sizeof variable, "HOME=%s", path);
    const char *const home[] = {"XDG_CACHE_HOME", variable, NULL};
    for (size_t i = 0; i < 2; ++i) {
        o = (outcome){
            .child = child_run(OUTCOME_PRODUCT, home, OUTCOME_FOR_EVER)};
        outcome_judge(&o, o.child.output);
        outcome_expect(&o, "HOME alone", 1 - i, i, before.result);
    }
    ck_assert_uint_eq(scratch_count("home/.cache/clattn"), 1);

    const char *const missing[] = {
        "XDG_CACHE_HOME=", "HOME=/nonexistent", NULL};
    o = (outcome){
        .child = child_run(OUTCOME_PRODUCT, missing, OUTCOME_FOR_EVER)};
    outcome_judge(&o, o.child.output);
    outcome_expect(&o, "a HOME that is missing", 1, 0, before.result);
    ck_assert_int_ne(access("/nonexistent", F_OK), 0);
}
END_TEST

START_TEST(a_home_may_have_any_name)
{
    static const char home[] = "two  words, \xc3\xa4\xe2\x82\xac%s'";
    const outcome before = outcome_first(home);
    const outcome later = outcome_run(home, OUTCOME_PRODUCT, NULL);
    outcome_expect(&later, home, 0, 1, before.result);
}
END_TEST

/* ---- Other processes ------------------------------------------------------ */

START_TEST(a_process_that_is_killed_leaves_nothing_wrong)
{
    const outcome before = outcome_first("before_killed");
    const outcome killed =
        outcome_run("killed", OUTCOME_PRODUCT, "TEST_KILLED=1");
    ck_assert_int_eq(killed.child.exit_code, -1);
    ck_assert_uint_eq(scratch_count("killed/clattn"), 1); /* temporary */
    const outcome next = outcome_run("killed", OUTCOME_PRODUCT, NULL);
    outcome_expect(&next, "the next one", 1, 0, before.result);
    const outcome later = outcome_run("killed", OUTCOME_PRODUCT, NULL);
    outcome_expect(&later, "and the one after", 0, 1, before.result);
    ck_assert_uint_eq(next.noted + later.noted, 0);
}
END_TEST

/* Starts a child with its output in the scratch folder's `name`. */
static pid_t start(const char *name)
{
    char path[SCRATCH_PATH], program[] = "/proc/self/exe",
                             mode[] = OUTCOME_PRODUCT;
    char *const arguments[] = {program, mode, NULL};
    scratch_path(path, name);
    fflush(NULL);
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (freopen(path, "w", stdout) == NULL ||
            dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
            _exit(126);
        execv(program, arguments);
        _exit(127);
    }
    return pid;
}

static void run_crowd(const char *home, const char *result)
{
    pid_t pid[CROWD];
    char name[60];
    for (int i = 0; i < CROWD; ++i) {
        snprintf(name, sizeof name, "%s.%d", home, i);
        pid[i] = start(name);
    }
    for (int i = 0; i < CROWD; ++i) {
        char path[SCRATCH_PATH];
        size_t bytes = 0;
        int state = 0;
        outcome o;
        snprintf(name, sizeof name, "%s.%d", home, i);
        ck_assert_int_eq(waitpid(pid[i], &state, 0), pid[i]);
        char *output = scratch_read(scratch_path(path, name), &bytes);
        ck_assert_ptr_nonnull(output);
        outcome_judge(&o, output);
        ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0 &&
                          strcmp(o.result, result) == 0 && o.noted == 0 &&
                          o.built + o.loaded == 1,
            "%s: ended with %#x: %s", name, (unsigned)state, output);
        free(output);
    }
}

/* In the first round the driver's own cache is empty as well. */
START_TEST(processes_that_build_at_once_are_all_right)
{
    const bool all = getenv("CLATTN_TEST_ALL") != NULL &&
                     getenv("CLATTN_TEST_ALL")[0] != '\0';
    const outcome before = outcome_first("alone");
    for (int round = 0; round < (all ? 20 : 4); ++round) {
        char home[40], driver[60], path[SCRATCH_PATH];
        snprintf(home, sizeof home, "crowd%d", round);
        snprintf(driver, sizeof driver, "%s.pocl", home);
        outcome_environment(home);
        if (all || round == 0) {
            ck_assert_int_eq(mkdir(scratch_path(path, driver), 0700), 0);
            setenv("POCL_CACHE_DIR", path, 1);
        }
        run_crowd(home, before.result);
        const outcome later = outcome_run(home, OUTCOME_PRODUCT, NULL);
        outcome_expect(&later, "afterwards", 0, 1, before.result);
        snprintf(driver, sizeof driver, "%s/clattn", home);
        ck_assert_uint_eq(scratch_count(driver), 1);
    }
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        return outcome_child(argv[1]);

    TCase *t = tcase_create("program_cache");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, every_row_computes_the_same_from_the_cache);
    tcase_add_test(t, a_context_after_another_finds_what_that_one_built);
    tcase_add_test(t, no_value_of_a_call_is_kept_with_the_program);
    tcase_add_test(t, the_key_says_all_that_a_program_depends_on);
    tcase_add_test(t, a_damaged_file_is_built_again_and_replaced);
    tcase_add_test(t, nothing_is_printed_unless_it_is_asked_for);
    tcase_add_loop_test(t, a_place_that_is_none_costs_a_build_and_no_more, 0,
        (int)COUNT(NOWHERE));
    tcase_add_test(t, no_home_is_no_cache_and_a_home_is_one);
    tcase_add_test(t, a_home_may_have_any_name);
    tcase_add_test(t, a_process_that_is_killed_leaves_nothing_wrong);
    tcase_add_test(t, processes_that_build_at_once_are_all_right);

    Suite *suite = suite_create("program_cache");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
