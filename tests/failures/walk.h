/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.h - one deed done over and over, each time with another call of it
 * failing: the status, the message, what is left behind, and whether the deed
 * succeeds right afterwards.
 */
#ifndef CLATTN_TESTS_WALK_H
#define CLATTN_TESTS_WALK_H

#include <stdbool.h>

#include "clattn/clattn.h"
#include "shim.h"

typedef struct walk_deed {
    const char *name;
    clattn_status returns; /* when nothing is made to fail */
    /* Things to act on; NULL: none. */
    void (*prepare)(void);
    /* The deed, once; fills what undo lets go of. */
    clattn_status (*act)(clattn_error *error);
    /* What the status promises of the outputs; NULL: there are none.  `when`
       is for messages. */
    void (*check)(clattn_status status, const char *when);
    /* Lets go of what the deed has made, if anything. */
    void (*undo)(void);
    /* Lets go of what prepare has made; NULL: nothing. */
    void (*clear)(void);
    /* Whether that call may fail without harm; releases may in any case. */
    bool (*harmless)(enum shim_point point);
    bool tries; /* what it queues is done with when it returns */
    /* Where a device is listed and then asked more, which need not be told
       apart: owed in the second case. */
    clattn_status once_listed;
} walk_deed;

typedef struct walk_count {
    size_t entry_points; /* that the deed calls */
    size_t walked;       /* failures brought about */
    size_t harmless;     /* of them without consequence */
} walk_count;

/*
 * Fails each call of each entry point that the deed makes, and for each entry
 * point its first call with every code that the standard lists; prints and
 * returns how many that were.  Anything wrong fails the test.
 */
walk_count walk(const walk_deed *deed);

/* Adds up. */
void walk_add(walk_count *total, const walk_count *more);

#endif
