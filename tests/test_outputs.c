/* SPDX-License-Identifier: Apache-2.0
 *
 * test_outputs.c - the files of one command: no two are one, none is an input,
 * all get their names or none does, and a signal leaves nothing behind.
 */
#define _XOPEN_SOURCE 700
#include "outputs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"
#include "suite.h"

static void begin(void)
{
    char path[SCRATCH_PATH], file[SCRATCH_PATH];
    scratch_begin();
    ck_assert_int_eq(mkdir(scratch_path(path, "d"), 0777), 0);
    scratch_write(file, "old", "old", 3);
    ck_assert_int_eq(symlink("old", scratch_path(path, "link")), 0);
    ck_assert_int_eq(symlink("link", scratch_path(path, "outer")), 0);
    ck_assert_int_eq(link(file, scratch_path(path, "hard")), 0);
    ck_assert_int_eq(symlink("d/new", scratch_path(path, "dangling")), 0);
    ck_assert_int_eq(symlink("d", scratch_path(path, "folder")), 0);
    ck_assert_int_eq(symlink("/dev/null", scratch_path(path, "null")), 0);
    scratch_write(file, "lengths.npy", "", 0);
    scratch_write(file, "0", "", 0);
}

/* ---- One file ------------------------------------------------------------ */

static const option_id WRITTEN[] = {OPTION_OUTPUT, OPTION_LSE};
static const option_id READ[] = {OPTION_QUERY};
static const option_id LISTED[] = {OPTION_LENGTHS};
static const file_options FILES = {WRITTEN, READ, LISTED, 2, 1, 1};

/* Names in the scratch folder; "/dev/..." stays. */
static const struct pair {
    const char *output;
    option_id other; /* of the second name; OPTION_COUNT: the operand */
    const char *name;
    bool one; /* whether the two are one file */
} PAIRS[] = {
    {"old", OPTION_LSE, "old", true},
    {"old", OPTION_LSE, "./old", true},
    {"old", OPTION_LSE, "d/../old", true},
    {"old", OPTION_LSE, "link", true},
    {"link", OPTION_LSE, "outer", true},
    {"hard", OPTION_LSE, "old", true},
    {"hard", OPTION_LSE, "outer", true},
    {"d/new", OPTION_LSE, "d/./new", true},
    {"d/new", OPTION_LSE, "folder/new", true},
    {"d/new", OPTION_LSE, "dangling", true},
    {"dangling", OPTION_LSE, "folder/new", true},
    {"d/new", OPTION_LSE, "new", false},
    {"d/new", OPTION_LSE, "d/other", false},
    {"old", OPTION_LSE, "d/old", false},
    {"none/x", OPTION_LSE, "none/y", false},
    {"old", OPTION_QUERY, "old", true},
    {"d/../old", OPTION_QUERY, "hard", true},
    {"outer", OPTION_QUERY, "hard", true},
    {"old", OPTION_QUERY, "lengths.npy", false},
    {"null", OPTION_QUERY, "/dev/null", false}, /* no data to lose */
    {"lengths.npy", OPTION_LENGTHS, "d/../lengths.npy", true},
    {"old", OPTION_COUNT, "link", true},
    {"old", OPTION_COUNT, "0", false},
};

static const char *place(char *path, const char *name)
{
    return name[0] == '/' ? name : scratch_path(path, name);
}

START_TEST(one_file_under_two_options_is_told_with_both)
{
    const struct pair *p = &PAIRS[_i];
    char output[SCRATCH_PATH], other[SCRATCH_PATH];
    failure f = {.text = ""};
    options given = {.command = NULL};
    const char *name = place(other, p->name);
    given.value[OPTION_OUTPUT] = place(output, p->output);
    if (p->other == OPTION_COUNT)
        given.operand = name;
    else
        given.value[p->other] = name;
    const bool distinct = outputs_distinct(&given, &FILES, &f);
    ck_assert_msg(
        distinct == !p->one, "%s and %s: %s", p->output, p->name, f.text);
    if (distinct)
        return;
    const char *option =
        p->other == OPTION_COUNT ? name : option_name(p->other);
    ck_assert_msg(strstr(f.text, "--output") && strstr(f.text, option) &&
                      strstr(f.text, name),
        "'%s' names not both", f.text);
}
END_TEST

/* A list of one length is no file even if one has its name here. */
START_TEST(a_list_is_no_file)
{
    char folder[SCRATCH_PATH];
    failure f = {.text = ""};
    options given = {.command = NULL};
    ck_assert_int_eq(chdir(scratch_path(folder, "")), 0);
    given.value[OPTION_OUTPUT] = given.value[OPTION_LENGTHS] = "0";
    ck_assert_msg(outputs_distinct(&given, &FILES, &f), "%s", f.text);
    given.value[OPTION_OUTPUT] = given.value[OPTION_LENGTHS] = "lengths.npy";
    ck_assert(!outputs_distinct(&given, &FILES, &f));
}
END_TEST

/* ---- All or none --------------------------------------------------------- */

static bool add(outputs *all, const char *path, const char *text, failure *f)
{
    output_file *file = output_file_open(path, f);
    if (!file)
        return false;
    fputs(text, output_file_stream(file));
    return outputs_take(all, file, f);
}

static void check_content(const char *name, const char *wanted)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    char *text = scratch_read(scratch_path(path, name), &bytes);
    ck_assert_msg(text && strcmp(text, wanted) == 0, "%s holds '%s', not '%s'",
        name, text ? text : "(nothing)", wanted);
    free(text);
}

START_TEST(a_file_that_fails_leaves_those_before_it_as_they_were)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    outputs all = {.count = 0};
    scratch_write(path, "first", "old", 3);
    const size_t files = scratch_count("");
    ck_assert_msg(add(&all, path, "new", &f), "%s", f.text);
    check_content("first", "old");
    ck_assert(!add(&all, "/dev/full", "new", &f));
    outputs_abandon(&all);
    check_content("first", "old");
    ck_assert_uint_eq(scratch_count(""), files);
    ck_assert_msg(add(&all, path, "new", &f), "%s", f.text);
    ck_assert_msg(outputs_commit(&all, &f), "%s", f.text);
    check_content("first", "new");
}
END_TEST

/* In a process of its own: 0 if the failure of standard output is told. */
static int commit_without_stdout(const char *path)
{
    failure f = {.text = ""};
    outputs all = {.count = 0};
    if (!freopen("/dev/full", "wb", stdout))
        return 2;
    printf("summary");
    const bool told = add(&all, path, "new", &f) && !outputs_commit(&all, &f) &&
                      strstr(f.text, "standard output");
    return told ? 0 : 1;
}

START_TEST(what_cannot_be_printed_leaves_older_files)
{
    char path[SCRATCH_PATH];
    int status = -1;
    scratch_write(path, "printed", "old", 3);
    const pid_t child = fork();
    if (child == 0)
        _exit(commit_without_stdout(path));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "the child's status is %d", status);
    check_content("printed", "old");
}
END_TEST

/* ---- Signals ------------------------------------------------------------- */

static const int ENDING[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};

static void *raise_here(void *number)
{
    raise(*(const int *)number);
    return NULL;
}

/* One file is finished and one is not when the signal comes, to this thread or
   to another. */
static void die_writing(
    const char *first, const char *second, int number, bool other_thread)
{
    failure f = {.text = ""};
    outputs all = {.count = 0};
    pthread_t thread;
    if (!add(&all, first, "new", &f))
        _exit(2);
    output_file *file = output_file_open(second, &f);
    if (!file || fputs("new", output_file_stream(file)) < 0)
        _exit(3);
    if (!other_thread)
        raise(number);
    else if (pthread_create(&thread, NULL, raise_here, &number) == 0)
        pthread_join(thread, NULL);
    _exit(outputs_commit(&all, &f) && output_file_commit(file, &f) ? 0 : 4);
}

static int run_signalled(int number, bool other_thread, void (*action)(int))
{
    char first[SCRATCH_PATH], second[SCRATCH_PATH];
    int status = -1;
    scratch_write(first, "first", "old", 3);
    scratch_path(second, "d/second");
    const pid_t child = fork();
    if (child == 0) {
        signal(number, action);
        die_writing(first, second, number, other_thread);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

START_TEST(a_signal_ends_the_process_and_leaves_nothing)
{
    const int number = ENDING[_i / 2];
    char path[SCRATCH_PATH];
    scratch_write(path, "first", "old", 3);
    const size_t files = scratch_count("");
    const int status = run_signalled(number, _i % 2, SIG_DFL);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == number,
        "signal %d: the child's status is %d", number, status);
    check_content("first", "old");
    ck_assert_uint_eq(scratch_count(""), files);
    ck_assert_uint_eq(scratch_count("d"), 0);
}
END_TEST

/* As nohup has it. */
START_TEST(an_ignored_signal_changes_nothing)
{
    char path[SCRATCH_PATH];
    const int status = run_signalled(SIGHUP, false, SIG_IGN);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "the child's status is %d", status);
    check_content("first", "new");
    check_content("d/second", "new");
    remove(scratch_path(path, "d/second"));
}
END_TEST

static TCase *group(const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_unchecked_fixture(tests, begin, scratch_end);
    return tests;
}

int main(void)
{
    TCase *one = group("one file");
    tcase_add_loop_test(one, one_file_under_two_options_is_told_with_both, 0,
        (int)COUNT(PAIRS));
    tcase_add_test(one, a_list_is_no_file);

    TCase *all = group("all or none");
    tcase_add_test(all, a_file_that_fails_leaves_those_before_it_as_they_were);
    tcase_add_test(all, what_cannot_be_printed_leaves_older_files);

    TCase *signals = group("signals");
    tcase_add_test(signals, an_ignored_signal_changes_nothing);
    TCase *ending = group("ending signals");
    tcase_add_loop_test(ending, a_signal_ends_the_process_and_leaves_nothing, 0,
        2 * (int)COUNT(ENDING));

    Suite *suite = suite_create("outputs");
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, all);
    suite_add_tcase(suite, signals);
    suite_add_tcase(suite, ending);
    return suite_main(suite, 0);
}
