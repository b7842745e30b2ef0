/* SPDX-License-Identifier: Apache-2.0
 *
 * team.h - threads that begin their work at the same moment, and the fault that
 * one of them finds: Check's own assertions belong to the main thread.
 */
#ifndef CLATTN_TESTS_TEAM_H
#define CLATTN_TESTS_TEAM_H

#include <stddef.h>

enum {
    TEAM = 8, /* threads, unless a test wants fewer */
    TEAM_TEXT = 1200
};

typedef struct team_member {
    size_t index;
    void *state;           /* of all */
    char fault[TEAM_TEXT]; /* the first; empty: none */
} team_member;

/* Take note of a fault, as printf. */
void team_say(team_member *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* All members do their work, each in a thread of its own; a fault fails the
   test. */
void team_run(size_t members, void (*work)(team_member *), void *state);

#endif
