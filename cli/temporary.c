/* SPDX-License-Identifier: Apache-2.0
 *
 * temporary.c - files that a signal which ends the process takes with it.
 *
 * A handler runs in whichever thread the system picks, and drivers have threads
 * of their own.  So the list is under a spin lock, held only with these signals
 * blocked: a handler that waits for it never waits for its own thread.  A
 * handler keeps the lock, so that no file is made after it looked.
 */
#define _POSIX_C_SOURCE 200809L
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Those that end a process and that a user, a shell, a closed pipe or a limit
   sends. */
static const int SIGNALS[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU, SIGXFSZ};
enum {
    SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0]
};

static atomic_flag locked = ATOMIC_FLAG_INIT;
static temporary *first; /* of the list */

static void take_lock(void)
{
    while (atomic_flag_test_and_set(&locked)) {
    }
}

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < SIGNAL_COUNT; ++i)
        sigaddset(&set, SIGNALS[i]);
    return set;
}

/* Only what POSIX allows in a handler.  The signal is blocked here and ends the
   process, as it would have without us, on return. */
static void remove_all_and_die(int number)
{
    take_lock();
    for (const temporary *t = first; t; t = t->next)
        unlink(t->path);
    signal(number, SIG_DFL);
    raise(number);
}

/* A signal that is ignored, as nohup has it, or that somebody else handles,
   stays as it is. */
static void watch_signals(void)
{
    struct sigaction ours = {.sa_handler = remove_all_and_die};
    ours.sa_mask = ending_signals();
    for (int i = 0; i < SIGNAL_COUNT; ++i) {
        struct sigaction present;
        if (sigaction(SIGNALS[i], NULL, &present) == 0 &&
            !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL)
            sigaction(SIGNALS[i], &ours, NULL);
    }
}

static void begin(sigset_t *before)
{
    const sigset_t set = ending_signals();
    pthread_sigmask(SIG_BLOCK, &set, before);
    take_lock();
}

/* Leaves errno alone. */
static void end(const sigset_t *before)
{
    const int code = errno;
    atomic_flag_clear(&locked);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = code;
}

static void forget(temporary *t)
{
    temporary **at = &first;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    free(t->path);
    *t = (temporary){NULL, NULL};
}

int temporary_create(temporary *t, char *path, mode_t mode)
{
    sigset_t before;
    watch_signals();
    begin(&before);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) {
        *t = (temporary){path, first};
        first = t;
    }
    end(&before);
    if (fd < 0) {
        const int code = errno;
        free(path);
        t->path = NULL;
        errno = code;
    }
    return fd;
}

bool temporary_rename(temporary *t, const char *name)
{
    sigset_t before;
    begin(&before);
    const bool done = rename(t->path, name) == 0;
    if (done)
        forget(t);
    end(&before);
    return done;
}

void temporary_remove(temporary *t)
{
    sigset_t before;
    if (!t->path)
        return;
    begin(&before);
    unlink(t->path);
    forget(t);
    end(&before);
}
