/* SPDX-License-Identifier: Apache-2.0
 *
 * test_odd_system.c - an operating system that answers as it seldom does: a
 * child has its parent's process id, and a write neither writes nor fails.
 */
#define _GNU_SOURCE /* syscall */

#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "process.h"
#include "scratch.h"
#include "suite.h"

/* ---- In place of the C library's, for the library too ----------------------- */

static bool ids_are_equal, writes_do_nothing;

pid_t getpid(void)
{
    return ids_are_equal ? 7 : (pid_t)syscall(SYS_getpid);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return writes_do_nothing ? 0 : syscall(SYS_write, fd, bytes, count);
}

/* ---- Tests ------------------------------------------------------------------ */

static int answer_of_child(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(process_may_use_opencl());
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

START_TEST(a_child_with_its_parents_id_may_not_use_opencl)
{
    ids_are_equal = true;
    ck_assert(process_may_use_opencl());
    ck_assert_int_eq(answer_of_child(), false);
    ck_assert(process_may_use_opencl());
}
END_TEST

START_TEST(a_child_may_that_was_forked_before_the_first_use)
{
    ids_are_equal = true;
    ck_assert_int_eq(answer_of_child(), true);
    ck_assert(process_may_use_opencl());
}
END_TEST

START_TEST(a_write_of_nothing_ends_as_an_error)
{
    char path[SCRATCH_PATH], why[FOLDER_WORDS] = "";
    const folder_part part = {"data", 4};
    folder f;
    ck_assert(folder_open(&f, scratch_path(path, "kept"), true, why));
    writes_do_nothing = true;
    const bool written = folder_write(&f, "file", &part, 1, why);
    writes_do_nothing = false;
    folder_close(&f);
    ck_assert(!written);
    ck_assert_msg(why[0] != '\0', "not a word");
    ck_assert_uint_eq(scratch_count("kept"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("odd system");
    TCase *odd = tcase_create("odd");
    tcase_add_unchecked_fixture(odd, scratch_begin, scratch_end);
    tcase_add_test(odd, a_child_with_its_parents_id_may_not_use_opencl);
    tcase_add_test(odd, a_child_may_that_was_forked_before_the_first_use);
    tcase_add_test(odd, a_write_of_nothing_ends_as_an_error);
    suite_add_tcase(suite, odd);
    return suite_main(suite, 0);
}
