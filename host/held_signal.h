/* SPDX-License-Identifier: Apache-2.0
 *
 * held_signal.h - a write that fails with a code, not with a signal that would
 * end the process: SIGXFSZ past its limit of file sizes, SIGPIPE without reader.
 */
#ifndef CLATTN_HOST_HELD_SIGNAL_H
#define CLATTN_HOST_HELD_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

typedef struct held_signal {
    sigset_t only, before;
    bool held, was_pending;
} held_signal;

/* From begin to end the signal does not come to this thread.  One that a write
   between them sent is taken away, and none that was pending before: that is
   somebody else's.  errno stays. */
void held_signal_begin(held_signal *h, int signal);
void held_signal_end(held_signal *h);

#endif
