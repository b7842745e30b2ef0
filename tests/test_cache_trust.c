/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache_trust.c - files and folders that somebody else could have put
 * there, or that cannot be written: a miss, with a reason, and nothing is
 * harmed.
 */
#define _XOPEN_SOURCE 700

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kept.h"
#include "suite.h"

/* ---- Files --------------------------------------------------------------- */

static void make_link(const char *path)
{
    char target[SCRATCH_PATH];
    snprintf(target, sizeof target, "%s.elsewhere", path);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
}

static void make_dangling_link(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("nowhere", path), 0);
}

static void make_folder(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void make_pipe(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
}

static void make_group_writable(const char *path)
{
    ck_assert_int_eq(chmod(path, 0620), 0);
}

static void make_world_writable(const char *path)
{
    ck_assert_int_eq(chmod(path, 0602), 0);
}

/* Not a byte of it is on disk, so that reading it all would show. */
static void make_endless(const char *path)
{
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
}

static const struct {
    const char *about;
    void (*make)(const char *path);
    const char *words;
    bool stays; /* it cannot be replaced either */
} FILES[] = {
    {"a link to the right file", make_link, "cannot be opened", false},
    {"a link to nothing", make_dangling_link, "cannot be opened", false},
    {"a folder", make_folder, "no regular file", true},
    {"a pipe that nobody writes", make_pipe, "no regular file", false},
    {"a file that a group may write", make_group_writable, "other users",
        false},
    {"a file that all may write", make_world_writable, "other users", false},
    {"a file of a tebibyte", make_endless, "too large", false},
};

START_TEST(only_a_file_of_this_user_is_read)
{
    char path[SCRATCH_PATH], name[20], note[CACHE_NOTE];
    kept k;
    snprintf(name, sizeof name, "file%d", _i);
    kept_open_full(&k, name, path);
    FILES[_i].make(path);
    kept_expect_miss(&k, FILES[_i].about, KEPT_KEY, FILES[_i].words);
    cache_store(&k.c, KEPT_KEY, KEPT_DATA, KEPT_BYTES, note);
    if (FILES[_i].stays) {
        ck_assert_msg(strstr(note, "put in place") != NULL, "%s: %s",
            FILES[_i].about, note);
        kept_expect_miss(&k, FILES[_i].about, KEPT_KEY, FILES[_i].words);
        ck_assert_uint_eq(scratch_count(name), 1);
    } else {
        ck_assert_msg(note[0] == '\0', "%s: %s", FILES[_i].about, note);
        kept_expect(&k, FILES[_i].about, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    }
}
END_TEST

/* What a link points to is left alone. */
START_TEST(no_link_is_written_through)
{
    static const char text[] = "somebody's letter";
    char path[SCRATCH_PATH], letter[SCRATCH_PATH];
    size_t bytes = 0;
    kept k;
    kept_open_full(&k, "through", path);
    scratch_write(letter, "letter", text, sizeof text);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink(letter, path), 0);
    kept_store(&k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    char *now = scratch_read(letter, &bytes);
    ck_assert(now != NULL && bytes == sizeof text && strcmp(now, text) == 0);
    free(now);
}
END_TEST

/* A name under which a file could be begun may be left of a killed process that
   had this one's id. */
START_TEST(temporary_files_of_others_are_left_alone)
{
    static const char text[] = "begun by another";
    char path[SCRATCH_PATH], begun[SCRATCH_PATH], name[60];
    size_t bytes = 0;
    kept k;
    kept_open_full(&k, "begun", path);
    snprintf(name, sizeof name, "begun/tmp-%ld-0", (long)getpid());
    scratch_write(begun, name, text, sizeof text);
    kept_store(&k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    kept_expect(
        &k, "beside one that was begun", KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    char *now = scratch_read(begun, &bytes);
    ck_assert(now != NULL && bytes == sizeof text && strcmp(now, text) == 0);
    free(now);
}
END_TEST

/* ---- Folders ------------------------------------------------------------- */

static void link_folder(const char *path)
{
    char target[SCRATCH_PATH];
    snprintf(target, sizeof target, "%s.elsewhere", path);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
}

static void replace_by_file(const char *path)
{
    char target[SCRATCH_PATH];
    snprintf(target, sizeof target, "%s.elsewhere", path);
    ck_assert_int_eq(rename(path, target), 0);
    FILE *file = fopen(path, "w");
    ck_assert(file != NULL && fclose(file) == 0);
}

static void open_to_group(const char *path)
{
    ck_assert_int_eq(chmod(path, 0770), 0);
}

static void open_to_all(const char *path)
{
    ck_assert_int_eq(chmod(path, 01777), 0);
}

static const struct {
    const char *about;
    void (*make)(const char *path);
    const char *words;
} FOLDERS[] = {
    {"a link to the right folder", link_folder, "opened as a folder"},
    {"a file", replace_by_file, "opened as a folder"},
    {"a folder that a group may write", open_to_group, "other users"},
    {"a folder that all may write", open_to_all, "other users"},
};

START_TEST(only_a_folder_of_this_user_is_used)
{
    char path[SCRATCH_PATH], name[20], note[CACHE_NOTE];
    kept k;
    snprintf(name, sizeof name, "folder%d", _i);
    kept_open_full(&k, name, path);
    FOLDERS[_i].make(k.folder);
    kept_expect_miss(&k, FOLDERS[_i].about, KEPT_KEY, FOLDERS[_i].words);
    cache_store(&k.c, "new", KEPT_DATA, KEPT_BYTES, note);
    ck_assert_msg(strstr(note, FOLDERS[_i].words) != NULL, "%s: %s",
        FOLDERS[_i].about, note);
    kept_expect_miss(&k, FOLDERS[_i].about, "new", FOLDERS[_i].words);
    cache_remove(&k.c, KEPT_KEY);
    if (strstr(FOLDERS[_i].about, "folder that") != NULL) {
        ck_assert_int_eq(chmod(k.folder, 0700), 0);
        kept_expect(&k, "mended", KEPT_KEY, KEPT_DATA, KEPT_BYTES);
        ck_assert_uint_eq(scratch_count(name), 1);
    }
}
END_TEST

static const struct {
    const char *about;
    mode_t mode;
    bool readable; /* what was kept before */
} RIGHTS[] = {
    {"no right to write", 0555, true},
    {"no right to read", 0300, false},
    {"no rights at all", 0, false},
};

START_TEST(a_folder_without_rights_is_a_miss)
{
    char path[SCRATCH_PATH], name[20], note[CACHE_NOTE];
    kept k;
    snprintf(name, sizeof name, "rights%d", _i);
    kept_open(&k, name);
    ck_assert_int_eq(mkdir(k.folder, 0700), 0);
    kept_leave_root(&k);
    kept_open_full(&k, name, path);
    ck_assert_int_eq(chmod(k.folder, RIGHTS[_i].mode), 0);
    cache_store(&k.c, "new", KEPT_DATA, KEPT_BYTES, note);
    ck_assert_msg(
        strstr(note, "ermission") != NULL, "%s: %s", RIGHTS[_i].about, note);
    if (RIGHTS[_i].readable)
        kept_expect(&k, RIGHTS[_i].about, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    else
        kept_expect_miss(&k, RIGHTS[_i].about, KEPT_KEY, "ermission");
    cache_remove(&k.c, KEPT_KEY);
    ck_assert_int_eq(chmod(k.folder, 0700), 0);
    ck_assert_uint_eq(scratch_count(name), 1);
}
END_TEST

/* Of the folders above only the nearest is made: a home that is missing is not
   made up. */
START_TEST(one_folder_above_is_made_and_no_more)
{
    char note[CACHE_NOTE], path[SCRATCH_PATH];
    struct stat status;
    kept k;
    kept_open(&k, "home/.cache/clattn");
    cache_store(&k.c, KEPT_KEY, KEPT_DATA, KEPT_BYTES, note);
    ck_assert_msg(strstr(note, "opened as a folder") != NULL, "%s", note);
    ck_assert_int_ne(stat(scratch_path(path, "home"), &status), 0);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    kept_store(&k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    kept_expect(&k, "in a home", KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    ck_assert_int_eq(stat(scratch_path(path, "home/.cache"), &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0700);
}
END_TEST

START_TEST(a_folder_may_have_any_name)
{
    kept k;
    kept_open(&k, "two  words, \xc3\xa4\xe2\x82\xac%s'\"\n");
    kept_store(&k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    kept_expect(&k, "blanks, UTF-8, quotes, a newline", KEPT_KEY, KEPT_DATA,
        KEPT_BYTES);
}
END_TEST

/* ---- Nowhere to write ---------------------------------------------------- */

/* Most of a file is written before the limit; beyond it SIGXFSZ, whose default
   is the end of the process. */
START_TEST(a_limit_of_file_sizes_is_a_miss_and_no_signal)
{
    const struct rlimit limit = {KEPT_BYTES / 2, KEPT_BYTES / 2};
    char path[SCRATCH_PATH];
    sigset_t mask, pending;
    kept k;
    kept_open_full(&k, "limit", path);
    signal(SIGXFSZ, SIG_DFL);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    kept_expect_no_room(&k, "a limit of file sizes", 1);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    ck_assert_msg(!sigismember(&mask, SIGXFSZ), "the signal stays blocked");
    ck_assert_msg(!sigismember(&pending, SIGXFSZ), "the signal is pending");
}
END_TEST

START_TEST(a_signal_that_waited_before_is_left_to_its_owner)
{
    const struct rlimit limit = {KEPT_BYTES / 2, KEPT_BYTES / 2};
    char path[SCRATCH_PATH];
    sigset_t own, pending;
    kept k;
    kept_open_full(&k, "waiting", path);
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &own, NULL);
    raise(SIGXFSZ);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    kept_expect_no_room(&k, "with a signal waiting", 1);
    sigpending(&pending);
    ck_assert_msg(sigismember(&pending, SIGXFSZ), "the signal was taken");
    signal(SIGXFSZ, SIG_IGN);
}
END_TEST

START_TEST(a_process_without_descriptors_is_a_miss)
{
    const struct rlimit none = {0, 0};
    char path[SCRATCH_PATH], note[CACHE_NOTE];
    struct rlimit before;
    kept k;
    kept_open_full(&k, "descriptors", path);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit little = {none.rlim_cur, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &little), 0);
    kept_expect_miss(&k, "no descriptors", KEPT_KEY, "Too many open files");
    cache_store(&k.c, "new", KEPT_DATA, KEPT_BYTES, note);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_msg(strstr(note, "Too many open files") != NULL, "%s", note);
    kept_expect(&k, "afterwards", KEPT_KEY, KEPT_DATA, KEPT_BYTES);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cache_trust");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, only_a_file_of_this_user_is_read, 0, (int)COUNT(FILES));
    tcase_add_test(t, no_link_is_written_through);
    tcase_add_test(t, temporary_files_of_others_are_left_alone);
    tcase_add_loop_test(
        t, only_a_folder_of_this_user_is_used, 0, (int)COUNT(FOLDERS));
    tcase_add_loop_test(
        t, a_folder_without_rights_is_a_miss, 0, (int)COUNT(RIGHTS));
    tcase_add_test(t, one_folder_above_is_made_and_no_more);
    tcase_add_test(t, a_folder_may_have_any_name);
    tcase_add_test(t, a_limit_of_file_sizes_is_a_miss_and_no_signal);
    tcase_add_test(t, a_signal_that_waited_before_is_left_to_its_owner);
    tcase_add_test(t, a_process_without_descriptors_is_a_miss);

    Suite *suite = suite_create("cache_trust");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
