/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.h - a cache of files in the scratch folder, and what a test does to its
 * files behind its back.
 */
#ifndef CLATTN_TESTS_KEPT_H
#define CLATTN_TESTS_KEPT_H

#include <stdbool.h>

#include "cache.h"
#include "scratch.h"

enum {
    KEPT_HEADER = 56, /* bytes of a file before its key */
    KEPT_BYTES = 100000
};

/* For tests that all begin with the same one. */
#define KEPT_KEY "a key"
extern unsigned char KEPT_DATA[KEPT_BYTES];

typedef struct kept {
    char name[100]; /* of its folder in the scratch folder */
    char folder[SCRATCH_PATH];
    cache c;
} kept;

/* Nothing is made yet.  The limit is 1 MiB, for the test to change. */
void kept_open(kept *k, const char *name);

/* Holding KEPT_DATA under KEPT_KEY, whose file is at path. */
void kept_open_full(kept *k, const char *name, char path[SCRATCH_PATH]);

/* Fails the test if it leaves a note. */
void kept_store(const kept *k, const char *key, const void *data, size_t bytes);

/* Fails the test, which is about `about`, unless exactly this is given out
   without a note. */
void kept_expect(const kept *k, const char *about, const char *key,
    const void *data, size_t bytes);

/* Unless nothing is given out, with a note that holds `words`, or if that is
   NULL with none. */
void kept_expect_miss(
    const kept *k, const char *about, const char *key, const char *words);

/* Of a cache that was opened full: nothing more can be kept, the same key
   included, and no more than `files` files are left behind. */
void kept_expect_no_room(const kept *k, const char *about, size_t files);

/* The file of a key; path holds SCRATCH_PATH bytes.  Returns path. */
const char *kept_path(const kept *k, char *path, const char *key);

/* Sets the time of its last use. */
void kept_use(const kept *k, const char *key, long seconds_since_1970);

/* Makes a file or folder another user's; only the superuser can. */
void kept_give_away(const char *path);

/* If this is the superuser, go on as somebody else, to whom the folder then
   belongs; once in a test that has a process of its own. */
void kept_leave_root(const kept *k);

#endif
