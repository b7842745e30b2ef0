/* SPDX-License-Identifier: Apache-2.0
 *
 * outcome.h - a process that computes with the program cache, and what it did:
 * what it built and loaded, by what it says under CLATTN_VERBOSE, and the bits
 * that it computed.
 */
#ifndef CLATTN_TESTS_OUTCOME_H
#define CLATTN_TESTS_OUTCOME_H

#include <stddef.h>

#include "child.h"
#include "scratch.h"
#include "sha256.h"

enum {
    OUTCOME_FOR_EVER = 100000 /* seconds: no run is judged by its time */
};

typedef struct outcome {
    child_result child;
    size_t built, loaded;
    size_t noted;             /* lines about something wrong in the cache */
    char result[SHA256_TEXT]; /* of what the last context computed */
} outcome;

/* A mode of outcome_child: one program, on any device. */
#define OUTCOME_PRODUCT "product"

/*
 * What main does in a child, by its mode: OUTCOME_PRODUCT computes a matrix
 * product; the name of a row attention by it, "all" by all rows; "contexts" on three contexts, one after another;
 * "two_devices" on the second of two devices of a context of the caller's;
 * "scales" at two scales, in the reverse order under TEST_REVERSE.
 */
int outcome_child(const char *mode);

/* A child whose cache is the scratch folder's `home`/clattn; `variable` is one
   more "NAME=value" or NULL. */
outcome outcome_run(const char *home, const char *mode, const char *variable);

/* The environment of such a child.  The driver's own cache is in the scratch
   folder as well, one for all. */
void outcome_environment(const char *home);

/* All but `child`, from what a child has printed. */
void outcome_judge(outcome *o, const char *output);

/* Fails the test, which is about `about`, unless the child succeeded, has built
   and loaded so many programs, and has computed `result`. */
void outcome_expect(const outcome *o, const char *about, size_t built,
    size_t loaded, const char *result);

/* The first run in a cache: keeps the one program of OUTCOME_PRODUCT. */
outcome outcome_first(const char *home);

/* How often `words` stands in a text. */
size_t outcome_lines(const char *text, const char *words);

/* A file of a cache: its path, its key, and its data. */
typedef struct entry {
    char path[SCRATCH_PATH], folder[SCRATCH_PATH];
    char *file, *key;
    const char *data;
    size_t bytes, data_bytes;
} entry;

void entry_read(entry *e, const char *home); /* the only one */
/* One whose key holds the words. */
void entry_find(entry *e, const char *home, const char *words);
void entry_free(entry *e);

/* Keeps other data under its key. */
void entry_store(const entry *e, const void *data, size_t bytes);

#endif
