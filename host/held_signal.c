/* SPDX-License-Identifier: Apache-2.0
 *
 * held_signal.c - holding a signal of a write back from this thread.
 */
#define _XOPEN_SOURCE 700 /* sigtimedwait */
#include "held_signal.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void held_signal_begin(held_signal *h, int signal)
{
    const int code = errno;
    sigset_t pending;
    sigemptyset(&h->only);
    sigaddset(&h->only, signal);
    sigemptyset(&pending);
    h->held = pthread_sigmask(SIG_BLOCK, &h->only, &h->before) == 0;
    sigpending(&pending);
    h->was_pending = sigismember(&pending, signal) == 1;
    errno = code;
}

void held_signal_end(held_signal *h)
{
    const struct timespec at_once = {0, 0};
    const int code = errno;
    if (h->held && !h->was_pending)
        while (sigtimedwait(&h->only, NULL, &at_once) < 0 && errno == EINTR)
            ;
    if (h->held)
        pthread_sigmask(SIG_SETMASK, &h->before, NULL);
    errno = code;
}
