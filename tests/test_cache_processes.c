/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache_processes.c - a process that is killed, and a system call that
 * fails, at every step of keeping something; and many processes at once.
 *
 * The calls that change files are defined here, before the C library's: each
 * counts as a step, and one step may be chosen to go wrong.
 */
#define _GNU_SOURCE /* syscall */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "suite.h"

enum {
    BYTES = 20000,
    NO_STEP = -1,
    KILLED = 0 /* instead of an errno */
};

static const char KEY[] = "a key";
static unsigned char OLD[BYTES], NEW[BYTES];

static void fill(void)
{
    for (size_t i = 0; i < BYTES; ++i) {
        OLD[i] = (unsigned char)(i * i >> 3);
        NEW[i] = (unsigned char)(i * i >> 5);
    }
}

/* ---- Steps --------------------------------------------------------------- */

static int steps_left = NO_STEP; /* before the one that goes wrong */
static int wrong;                /* KILLED or an errno */
static size_t longest = (size_t)-1;

/* Whether this step fails; does not return if it is where the process dies. */
static bool step_fails(void)
{
    if (steps_left == NO_STEP || steps_left-- > 0)
        return false;
    steps_left = NO_STEP;
    if (wrong == KILLED)
        kill(getpid(), SIGKILL);
    errno = wrong;
    return true;
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return step_fails() ? -1
                        : (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* Where calls do less than they are asked for, every other does nothing at all,
   as if a signal had come. */
static bool interrupted(void)
{
    static bool turn;
    turn = longest != (size_t)-1 && !turn;
    if (turn)
        errno = EINTR;
    return turn;
}

/* Half of it, if this is where the process dies. */
ssize_t write(int fd, const void *data, size_t bytes)
{
    if (steps_left == 0 && wrong == KILLED)
        syscall(SYS_write, fd, data, bytes / 2);
    if (bytes > longest)
        bytes = longest;
    return interrupted() || step_fails() ? -1
                                         : syscall(SYS_write, fd, data, bytes);
}

ssize_t read(int fd, void *data, size_t bytes)
{
    if (bytes > longest)
        bytes = longest;
    return interrupted() || step_fails() ? -1
                                         : syscall(SYS_read, fd, data, bytes);
}

/* What read becomes where the compiler knows how much there is room for. */
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    return bytes <= room ? read(fd, data, bytes) : -1;
}

int close(int fd)
{
    const bool fails = step_fails();
    const int code = errno;
    const int result = (int)syscall(SYS_close, fd); /* it is gone either way */
    errno = fails ? code : errno;
    return fails ? -1 : result;
}

int renameat(int from, const char *name, int to, const char *new_name)
{
    return step_fails()
               ? -1
               : (int)syscall(SYS_renameat2, from, name, to, new_name, 0);
}

int unlinkat(int folder, const char *name, int flags)
{
    return step_fails() ? -1 : (int)syscall(SYS_unlinkat, folder, name, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return step_fails() ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* ---- One step goes wrong ------------------------------------------------- */

/* What is there before the step goes wrong. */
static const struct {
    const char *about;
    bool folder, old, crowded;
} BEFORE[] = {
    {"no folder", false, false, false},
    {"an empty folder", true, false, false},
    {"an older file", true, true, false},
    {"an older file, and one too many", true, true, true},
};

static void prepare(kept *k, const char *test, int before, int step)
{
    char name[60];
    snprintf(name, sizeof name, "%s-%d-%d-%d", test, before, wrong, step);
    fill();
    kept_open(k, name);
    k->c.limit_bytes = 50000; /* two files */
    if (BEFORE[before].folder)
        ck_assert_int_eq(mkdir(k->folder, 0700), 0);
    if (BEFORE[before].crowded) {
        kept_store(k, "another", OLD, BYTES);
        kept_use(k, "another", 1000);
    }
    if (BEFORE[before].old)
        kept_store(k, KEY, OLD, BYTES);
}

static void arm(int step, int how)
{
    wrong = how;
    steps_left = step;
}

/* True if all steps were taken before the one that was to go wrong. */
static bool disarm(void)
{
    const bool unharmed = steps_left != NO_STEP;
    steps_left = NO_STEP;
    return unharmed;
}

/* In a process of its own; true if it came to its end. */
static bool store_and_die(const kept *k, int step)
{
    char note[CACHE_NOTE];
    int state = 0;
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        arm(step, KILLED);
        cache_store(&k->c, KEY, NEW, BYTES, note);
        disarm();
        _exit(note[0] != '\0');
    }
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert_msg(WIFSIGNALED(state) || WEXITSTATUS(state) == 0,
        "step %d: keeping failed", step);
    return WIFEXITED(state);
}

/* The old or the new, or nothing if there was nothing; never a note. */
static void expect_old_or_new(const kept *k, bool was_there, int step)
{
    char note[CACHE_NOTE];
    size_t bytes = 0;
    unsigned char *got = cache_load(&k->c, KEY, &bytes, note);
    ck_assert_msg(note[0] == '\0', "step %d: %s", step, note);
    ck_assert_msg(got != NULL || !was_there, "step %d: it is gone", step);
    ck_assert_msg(
        got == NULL || (bytes == BYTES && (memcmp(got, OLD, BYTES) == 0 ||
                                              memcmp(got, NEW, BYTES) == 0)),
        "step %d: neither the old nor the new", step);
    free(got);
}

START_TEST(a_process_may_be_killed_at_every_step)
{
    bool ended = false;
    int step = 0;
    for (; !ended; ++step) {
        kept k;
        wrong = KILLED;
        prepare(&k, "killed", _i, step);
        ended = store_and_die(&k, step);
        /* The oldest may have gone to make room: then it is a plain miss. */
        expect_old_or_new(&k, BEFORE[_i].old && !BEFORE[_i].crowded, step);
        kept_store(&k, KEY, NEW, BYTES);
        kept_expect(&k, BEFORE[_i].about, KEY, NEW, BYTES);
    }
    ck_assert_msg(step > 8, "only %d steps", step);
}
END_TEST

static const int ERRORS[] = {EIO, ENOSPC, EINTR};

START_TEST(every_call_may_fail_while_something_is_kept)
{
    const int before = _i % (int)COUNT(BEFORE);
    const int code = ERRORS[_i / (int)COUNT(BEFORE)];
    bool unharmed = false;
    int step = 0;
    for (; !unharmed; ++step) {
        char note[CACHE_NOTE];
        kept k;
        wrong = code;
        prepare(&k, "kept", before, step);
        arm(step, code);
        cache_store(&k.c, KEY, NEW, BYTES, note);
        unharmed = disarm();
        expect_old_or_new(
            &k, BEFORE[before].old && !BEFORE[before].crowded, step);
        ck_assert_msg(!unharmed || note[0] == '\0', "step %d: %s", step, note);
        kept_store(&k, KEY, NEW, BYTES);
        kept_expect(&k, BEFORE[before].about, KEY, NEW, BYTES);
    }
    ck_assert_msg(step > 8, "only %d steps", step);
}
END_TEST

START_TEST(every_call_may_fail_while_something_is_looked_for)
{
    bool unharmed = false;
    int step = 0;
    kept k;
    prepare(&k, "looked", 2, _i);
    for (; !unharmed; ++step) {
        char note[CACHE_NOTE];
        size_t bytes = 0;
        arm(step, ERRORS[_i]);
        unsigned char *got = cache_load(&k.c, KEY, &bytes, note);
        unharmed = disarm();
        ck_assert_msg(
            got == NULL || (bytes == BYTES && memcmp(got, OLD, BYTES) == 0),
            "step %d: not what was kept", step);
        ck_assert_msg((got == NULL) == (note[0] != '\0'), "step %d: %s, '%s'",
            step, got ? "a hit" : "a miss", note);
        ck_assert_msg(!unharmed || got != NULL, "a miss without a failure");
        free(got);
    }
    ck_assert_msg(step > 3, "only %d steps", step);
}
END_TEST

START_TEST(pieces_are_written_and_read_until_all_is_there)
{
    kept k;
    prepare(&k, "pieces", 2, 0);
    longest = 7;
    kept_store(&k, KEY, NEW, BYTES);
    kept_expect(&k, "in pieces", KEY, NEW, BYTES);
    longest = (size_t)-1;
    kept_expect(&k, "as a whole", KEY, NEW, BYTES);
}
END_TEST

/* ---- Many at once -------------------------------------------------------- */

enum {
    WRITERS = 4,
    ROUNDS = 60
};

/* Each writes what only it writes, and reads what any of them wrote. */
static int write_and_read(const kept *k, unsigned char own)
{
    for (int round = 0; round < ROUNDS; ++round) {
        char note[CACHE_NOTE];
        size_t bytes = 0;
        const size_t own_bytes = BYTES - own;
        memset(NEW, own, BYTES);
        cache_store(&k->c, KEY, NEW, own_bytes, note);
        if (note[0] != '\0')
            return 1;
        unsigned char *got = cache_load(&k->c, KEY, &bytes, note);
        if (got == NULL || note[0] != '\0' || bytes + got[0] != BYTES)
            return 2;
        for (size_t i = 1; i < bytes; ++i)
            if (got[i] != got[0])
                return 3;
        free(got);
    }
    return 0;
}

START_TEST(processes_that_write_at_once_see_whole_files)
{
    pid_t writer[WRITERS];
    kept k;
    kept_open(&k, "at_once");
    for (int i = 0; i < WRITERS; ++i) {
        writer[i] = fork();
        ck_assert_int_ge(writer[i], 0);
        if (writer[i] == 0)
            _exit(write_and_read(&k, (unsigned char)(i + 1)));
    }
    for (int i = 0; i < WRITERS; ++i) {
        int state = 0;
        ck_assert_int_eq(waitpid(writer[i], &state, 0), writer[i]);
        ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == 0,
            "writer %d ended with %#x", i, (unsigned)state);
    }
    ck_assert_uint_eq(scratch_count("at_once"), 1);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cache_processes");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, a_process_may_be_killed_at_every_step, 0, (int)COUNT(BEFORE));
    tcase_add_loop_test(t, every_call_may_fail_while_something_is_kept, 0,
        (int)(COUNT(BEFORE) * COUNT(ERRORS)));
    tcase_add_loop_test(t, every_call_may_fail_while_something_is_looked_for, 0,
        (int)COUNT(ERRORS));
    tcase_add_test(t, pieces_are_written_and_read_until_all_is_there);
    tcase_add_test(t, processes_that_write_at_once_see_whole_files);

    Suite *suite = suite_create("cache_processes");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
