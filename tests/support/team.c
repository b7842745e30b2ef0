/* SPDX-License-Identifier: Apache-2.0
 *
 * team.c - threads that begin their work at the same moment.
 */
#define _POSIX_C_SOURCE 200809L
#include "team.h"

#include <check.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct running {
    team_member member;
    pthread_t thread;
    pthread_barrier_t *start;
    void (*work)(team_member *);
} running;

void team_say(team_member *m, const char *format, ...)
{
    va_list arguments;
    if (m->fault[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(m->fault, sizeof m->fault, format, arguments);
    va_end(arguments);
}

static void *begin(void *of)
{
    running *r = of;
    pthread_barrier_wait(r->start);
    r->work(&r->member);
    return NULL;
}

void team_run(size_t members, void (*work)(team_member *), void *state)
{
    pthread_barrier_t start;
    running *all = calloc(members, sizeof *all);
    ck_assert_ptr_nonnull(all);
    ck_assert_int_eq(pthread_barrier_init(&start, NULL, (unsigned)members), 0);
    for (size_t i = 0; i < members; ++i) {
        all[i].member.index = i;
        all[i].member.state = state;
        all[i].start = &start;
        all[i].work = work;
        ck_assert_int_eq(
            pthread_create(&all[i].thread, NULL, begin, &all[i]), 0);
    }
    for (size_t i = 0; i < members; ++i)
        pthread_join(all[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (size_t i = 0; i < members; ++i)
        ck_assert_msg(all[i].member.fault[0] == '\0', "thread %zu: %s", i,
            all[i].member.fault);
    free(all);
}
