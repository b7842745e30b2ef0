/* SPDX-License-Identifier: Apache-2.0
 *
 * test_held_signal.c - writes that would end the process: a line of the log to a
 * pipe without reader, and whose signals stay theirs.
 */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "held_signal.h"
#include "suite.h"
#include "system.h"

/* Standard error without a reader; each test is a process of its own. */
static void break_stderr(void)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
}

static bool is_pending(int signal)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, signal) == 1;
}

START_TEST(a_log_without_a_reader_ends_no_process)
{
    sigset_t before, after;
    break_stderr();
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    system_print_line("a line");
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert(!is_pending(SIGPIPE));
    ck_assert_int_eq(
        sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
}
END_TEST

START_TEST(a_signal_that_was_pending_before_stays)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    break_stderr();
    pthread_sigmask(SIG_BLOCK, &pipe_only, NULL);
    raise(SIGPIPE);
    system_print_line("a line");
    ck_assert(is_pending(SIGPIPE));
    signal(SIGPIPE, SIG_IGN);
}
END_TEST

START_TEST(what_is_held_is_taken_away_and_nothing_else)
{
    held_signal h;
    sigset_t other;
    sigemptyset(&other);
    sigaddset(&other, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &other, NULL);
    held_signal_begin(&h, SIGXFSZ);
    raise(SIGXFSZ);
    raise(SIGUSR1);
    held_signal_end(&h);
    ck_assert(!is_pending(SIGXFSZ));
    ck_assert(is_pending(SIGUSR1));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("held signal");
    tcase_add_test(t, a_log_without_a_reader_ends_no_process);
    tcase_add_test(t, a_signal_that_was_pending_before_stays);
    tcase_add_test(t, what_is_held_is_taken_away_and_nothing_else);

    Suite *suite = suite_create("held signal");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
