/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.h - bytes kept in files between processes, each under a key that says
 * all they depend on.  What the bytes are is not its business.
 */
#ifndef CLATTN_HOST_CACHE_H
#define CLATTN_HOST_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CACHE_NOTE = 1300
};

typedef struct cache {
    const char *folder;   /* absolute; made when something is kept */
    uint64_t limit_bytes; /* of all files together */
} cache;

/*
 * What was kept under `key`, the caller's to free, or NULL.  Only what is whole,
 * undamaged, this user's and kept under exactly this key is given out.  If
 * something else was found, `note` names the file and says what is wrong, else
 * it is empty; so in all functions here, none of which ever fails louder.
 */
unsigned char *cache_load(
    const cache *c, const char *key, size_t *bytes, char note[CACHE_NOTE]);

/* Keeps bytes under `key` instead of what was there, and to stay within the
   limit removes what has not been used for longest. */
void cache_store(const cache *c, const char *key, const void *data,
    size_t bytes, char note[CACHE_NOTE]);

void cache_remove(const cache *c, const char *key);

#endif
