/* SPDX-License-Identifier: Apache-2.0
 *
 * test_output_file.c - output files appear whole or not at all.
 */
#define _XOPEN_SOURCE 700
#include "output_file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"
#include "suite.h"

/* Write `text` to `path` through an output_file. */
static bool write_out(const char *path, const char *text, failure *f)
{
    output_file *file = output_file_open(path, f);
    if (!file)
        return false;
    fputs(text, output_file_stream(file));
    return output_file_commit(file, f);
}

static void check_content(const char *path, const char *wanted)
{
    size_t bytes = 0;
    char *text = scratch_read(path, &bytes);
    ck_assert_msg(text && strcmp(text, wanted) == 0, "%s holds '%s', not '%s'",
        path, text ? text : "(nothing)", wanted);
    free(text);
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mode & 0777;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static void begin(void)
{
    char path[SCRATCH_PATH];
    scratch_begin();
    ck_assert_int_eq(mkdir(scratch_path(path, "d"), 0777), 0);
}

/* The folder d, where a test works alone. */
static const char *fresh(char *path, const char *name)
{
    char old[SCRATCH_PATH], command[SCRATCH_PATH];
    remove(scratch_path(old, "d/out"));
    snprintf(command, sizeof command, "d/%s", name);
    ck_assert_uint_eq(scratch_count("d"), 0);
    return scratch_path(path, command);
}

/* ---- Regular files ------------------------------------------------------- */

START_TEST(a_file_appears_at_commit_and_alone)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    fresh(path, "out");
    ck_assert_msg(output_file_possible(path, &f), "%s", f.text);
    ck_assert_uint_eq(scratch_count("d"), 0);
    output_file *file = output_file_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    fputs("text", output_file_stream(file));
    ck_assert(!exists(path));
    ck_assert_msg(output_file_commit(file, &f), "%s", f.text);
    check_content(path, "text");
    ck_assert_uint_eq(scratch_count("d"), 1);
}
END_TEST

START_TEST(an_older_file_stays_until_commit)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    scratch_write(fresh(path, "out") ? path : path, "d/out", "old", 3);
    ck_assert_msg(output_file_possible(path, &f), "%s", f.text);
    output_file *file = output_file_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    fputs("new", output_file_stream(file));
    fflush(output_file_stream(file));
    check_content(path, "old");
    output_file_abandon(file);
    check_content(path, "old");
    ck_assert_uint_eq(scratch_count("d"), 1);
    ck_assert_msg(write_out(path, "new", &f), "%s", f.text);
    check_content(path, "new");
    ck_assert_uint_eq(scratch_count("d"), 1);
    output_file_abandon(NULL);
}
END_TEST

START_TEST(several_files_of_one_folder_are_open_at_once)
{
    char path[3][SCRATCH_PATH];
    output_file *file[3];
    failure f = {.text = ""};
    static const char *const NAMES[] = {"several0", "several1", "several2"};
    for (size_t i = 0; i < 3; ++i) {
        file[i] = output_file_open(scratch_path(path[i], NAMES[i]), &f);
        ck_assert_msg(file[i] != NULL, "%s", f.text);
        fputs(NAMES[i], output_file_stream(file[i]));
    }
    for (size_t i = 3; i-- > 0;)
        ck_assert_msg(output_file_commit(file[i], &f), "%s", f.text);
    for (size_t i = 0; i < 3; ++i)
        check_content(path[i], NAMES[i]);
}
END_TEST

/* A killed process leaves its temporary file, and its number may come again. */
START_TEST(left_over_temporary_files_are_passed_over)
{
    char path[SCRATCH_PATH], left[SCRATCH_PATH], name[100];
    failure f = {.text = ""};
    snprintf(name, sizeof name, ".clattn-%ld-0.tmp", (long)getpid());
    scratch_write(left, name, "left", 4);
    ck_assert_msg(
        write_out(scratch_path(path, "beside"), "new", &f), "%s", f.text);
    check_content(path, "new");
    check_content(left, "left");
    remove(left);
}
END_TEST

START_TEST(permissions_are_those_of_any_new_file_or_the_old_ones)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    mode_t before = umask(027);
    ck_assert_msg(write_out(scratch_path(path, "mode"), "a", &f), "%s", f.text);
    ck_assert_uint_eq(mode_of(path), 0640);
    ck_assert_int_eq(chmod(path, 0606), 0);
    ck_assert_msg(write_out(path, "b", &f), "%s", f.text);
    ck_assert_uint_eq(mode_of(path), 0606);
    umask(before);
    check_content(path, "b");
}
END_TEST

/* ---- Links --------------------------------------------------------------- */

START_TEST(links_survive_and_their_files_are_replaced)
{
    char file[SCRATCH_PATH], link[SCRATCH_PATH], outer[SCRATCH_PATH];
    failure f = {.text = ""};
    fresh(file, "out");
    scratch_write(file, "d/out", "old", 3);
    ck_assert_int_eq(symlink("d/out", scratch_path(link, "link")), 0);
    ck_assert_int_eq(symlink(link, scratch_path(outer, "outer")), 0);
    ck_assert_msg(output_file_possible(outer, &f), "%s", f.text);
    ck_assert_msg(write_out(outer, "new", &f), "%s", f.text);
    check_content(file, "new");
    struct stat status;
    ck_assert(lstat(outer, &status) == 0 && S_ISLNK(status.st_mode));
    ck_assert(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    ck_assert_uint_eq(scratch_count("d"), 1);
}
END_TEST

START_TEST(a_link_to_nothing_makes_what_it_names)
{
    char file[SCRATCH_PATH], link[SCRATCH_PATH];
    failure f = {.text = ""};
    fresh(file, "out");
    ck_assert_int_eq(symlink("d/out", scratch_path(link, "dangling")), 0);
    ck_assert_msg(output_file_possible(link, &f), "%s", f.text);
    ck_assert(!exists(file));
    ck_assert_msg(write_out(link, "new", &f), "%s", f.text);
    check_content(file, "new");
}
END_TEST

/* ---- What cannot be written ---------------------------------------------- */

static void check_refusal(const char *path, const char *message)
{
    failure f = {.text = ""};
    ck_assert_msg(!output_file_possible(path, &f), "'%s' is possible", path);
    ck_assert_msg(strstr(f.text, path) && strstr(f.text, message),
        "possible: '%s' lacks '%s' or '%s'", f.text, path, message);
    f.text[0] = 0;
    ck_assert_msg(output_file_open(path, &f) == NULL, "'%s' is opened", path);
    ck_assert_msg(strstr(f.text, path) && strstr(f.text, message),
        "open: '%s' lacks '%s' or '%s'", f.text, path, message);
}

START_TEST(impossible_paths_are_refused_before_any_work)
{
    char path[SCRATCH_PATH];
    check_refusal("", "name of an output file is empty");
    check_refusal(scratch_path(path, ""), "is a folder");
    check_refusal(scratch_path(path, "d"), "is a folder");
    check_refusal(scratch_path(path, "new/"), "names a folder");
    check_refusal(scratch_path(path, "no/such"), "No such file or directory");
    scratch_write(path, "plain", "", 0);
    check_refusal(scratch_path(path, "plain/x"), "Not a directory");
    ck_assert_int_eq(symlink("loop", scratch_path(path, "loop")), 0);
    check_refusal(path, "symbolic links");
    ck_assert_int_eq(symlink("no/such", scratch_path(path, "lost")), 0);
    check_refusal(path, "No such file or directory");
    /* Not even root makes files there. */
    check_refusal("/proc/clattn-test", "cannot be written");
    memset(path, 'x', 300);
    path[300] = 0;
    check_refusal(path, "name too long");
}
END_TEST

/* In a process that is not root: 0 if both are refused. */
static int refused_as_user(const char *file, const char *beside)
{
    failure f = {.text = ""};
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 2;
    bool refused = !output_file_possible(file, &f) &&
                   strstr(f.text, "Permission denied") &&
                   !output_file_possible(beside, &f) &&
                   strstr(f.text, "Permission denied");
    return refused ? 0 : 1;
}

START_TEST(without_permission_nothing_is_replaced)
{
    char folder[SCRATCH_PATH], locked[SCRATCH_PATH], file[SCRATCH_PATH],
        beside[SCRATCH_PATH];
    int status = -1;
    ck_assert_int_eq(chmod(scratch_path(folder, ""), 0755), 0);
    ck_assert_int_eq(mkdir(scratch_path(folder, "open"), 0700), 0);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    scratch_write(file, "open/read-only", "old", 3);
    ck_assert_int_eq(chmod(file, 0444), 0);
    ck_assert_int_eq(mkdir(scratch_path(locked, "locked"), 0555), 0);
    scratch_path(beside, "locked/new");
    pid_t child = fork();
    if (child == 0)
        _exit(refused_as_user(file, beside));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
        "the child's status is %d", status);
    check_content(file, "old");
}
END_TEST

/* ---- Failing writes ------------------------------------------------------ */

static const size_t TOO_MUCH[] = {4097, 100000};

/* A limit on the size of files stands in for a full disk.  The smaller size
   fails when the buffer is flushed, the larger one while writing. */
START_TEST(a_failed_write_leaves_the_older_file_alone)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    struct rlimit before, limit;
    fresh(path, "out");
    scratch_write(path, "d/out", "old", 3);
    char *text = calloc(1, TOO_MUCH[_i]);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    output_file *file = output_file_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    setrlimit(RLIMIT_FSIZE, &limit);
    fwrite(text, 1, TOO_MUCH[_i], output_file_stream(file));
    bool ok = output_file_commit(file, &f);
    setrlimit(RLIMIT_FSIZE, &before);
    free(text);
    ck_assert(!ok);
    ck_assert_msg(strstr(f.text, "d/out: cannot be written"), "%s", f.text);
    check_content(path, "old");
    ck_assert_uint_eq(scratch_count("d"), 1);
}
END_TEST

START_TEST(a_full_device_is_reported_at_commit)
{
    failure f = {.text = ""};
    char *text = calloc(1, TOO_MUCH[_i]);
    ck_assert_ptr_nonnull(text);
    ck_assert(output_file_possible("/dev/full", &f));
    output_file *file = output_file_open("/dev/full", &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    fwrite(text, 1, TOO_MUCH[_i], output_file_stream(file));
    ck_assert(!output_file_commit(file, &f));
    ck_assert_msg(strstr(f.text, "/dev/full: cannot be written"), "%s", f.text);
    ck_assert(exists("/dev/full"));
    free(text);
}
END_TEST

START_TEST(a_target_that_became_a_folder_fails_and_leaves_nothing)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    fresh(path, "out");
    output_file *file = output_file_open(path, &f);
    ck_assert_msg(file != NULL, "%s", f.text);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert(!output_file_commit(file, &f));
    ck_assert_msg(strstr(f.text, "d/out: cannot be written"), "%s", f.text);
    ck_assert_uint_eq(scratch_count("d"), 1);
}
END_TEST

/* ---- Targets that are written directly ----------------------------------- */

START_TEST(devices_and_pipes_are_written_and_stay)
{
    char path[SCRATCH_PATH], text[20] = {0};
    int ends[2];
    failure f = {.text = ""};
    ck_assert_msg(output_file_possible("/dev/null", &f), "%s", f.text);
    ck_assert_msg(write_out("/dev/null", "x", &f), "%s", f.text);
    struct stat status;
    ck_assert(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));

    ck_assert_int_eq(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    ck_assert_msg(output_file_possible(path, &f), "%s", f.text);
    ck_assert_msg(write_out(path, "through", &f), "%s", f.text);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], text, sizeof text), 7);
    ck_assert_str_eq(text, "through");
    close(ends[0]);
}
END_TEST

/* To open it would block without a reader, and end the file of one. */
START_TEST(a_named_pipe_is_not_opened_to_ask)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    ck_assert_int_eq(mkfifo(scratch_path(path, "fifo"), 0600), 0);
    ck_assert_msg(output_file_possible(path, &f), "%s", f.text);
}
END_TEST

static void print_and_write(const char *path, const char *name)
{
    failure f = {.text = ""};
    if (!freopen(path, "wb", stdout))
        _exit(2);
    printf("before ");
    bool ok = output_file_possible(name, &f) && write_out(name, "data", &f);
    printf(" after");
    fflush(stdout);
    _exit(ok ? 0 : 1);
}

/* Redirected to a file too, where a rename would part the two. */
START_TEST(standard_output_keeps_the_order_of_text_and_data)
{
    char path[SCRATCH_PATH];
    scratch_path(path, "redirected");
    const char *const names[] = {"/dev/stdout", "/dev/fd/1", path};
    for (size_t i = 0; i < COUNT(names); ++i) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            print_and_write(path, names[i]);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
            "%s: the child's status is %d", names[i], status);
        check_content(path, "before data after");
    }
}
END_TEST

static TCase *regular(void)
{
    TCase *tests = tcase_create("regular");
    tcase_add_unchecked_fixture(tests, begin, scratch_end);
    tcase_add_test(tests, a_file_appears_at_commit_and_alone);
    tcase_add_test(tests, an_older_file_stays_until_commit);
    tcase_add_test(tests, several_files_of_one_folder_are_open_at_once);
    tcase_add_test(tests, left_over_temporary_files_are_passed_over);
    tcase_add_test(
        tests, permissions_are_those_of_any_new_file_or_the_old_ones);
    tcase_add_test(tests, links_survive_and_their_files_are_replaced);
    tcase_add_test(tests, a_link_to_nothing_makes_what_it_names);
    return tests;
}

static TCase *failing(void)
{
    TCase *tests = tcase_create("failing");
    tcase_add_unchecked_fixture(tests, begin, scratch_end);
    tcase_add_test(tests, impossible_paths_are_refused_before_any_work);
    tcase_add_test(tests, without_permission_nothing_is_replaced);
    tcase_add_loop_test(tests, a_failed_write_leaves_the_older_file_alone, 0,
        (int)COUNT(TOO_MUCH));
    tcase_add_loop_test(
        tests, a_full_device_is_reported_at_commit, 0, (int)COUNT(TOO_MUCH));
    tcase_add_test(
        tests, a_target_that_became_a_folder_fails_and_leaves_nothing);
    return tests;
}

static TCase *direct(void)
{
    TCase *tests = tcase_create("direct");
    tcase_add_unchecked_fixture(tests, begin, scratch_end);
    tcase_add_test(tests, devices_and_pipes_are_written_and_stay);
    tcase_add_test(tests, a_named_pipe_is_not_opened_to_ask);
    tcase_add_test(tests, standard_output_keeps_the_order_of_text_and_data);
    return tests;
}

int main(void)
{
    Suite *suite = suite_create("output_file");
    suite_add_tcase(suite, regular());
    suite_add_tcase(suite, failing());
    suite_add_tcase(suite, direct());
    return suite_main(suite, 0);
}
