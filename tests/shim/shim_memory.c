/* SPDX-License-Identifier: Apache-2.0
 *
 * shim_memory.c - the C library's memory: what the program's own code asks for
 * can fail, and is watched until it is free again.
 */
#include "shim_parts.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

/* A sanitizer has its own, and they are left to it. */
#ifdef SANITIZED

size_t shim_blocks(void)
{
    return 0;
}

#else

/* By their names within glibc: to ask dlsym would allocate. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void __libc_free(void *block);

/* ---- Blocks ------------------------------------------------------------------ */

enum {
    MOST_BLOCKS = 8192
};

static atomic_flag busy = ATOMIC_FLAG_INIT; /* of what follows */
static const void *blocks[MOST_BLOCKS];
static atomic_size_t n_blocks;

static void take_turn(void)
{
    while (atomic_flag_test_and_set(&busy))
        continue;
}

static void end_turn(void)
{
    atomic_flag_clear(&busy);
}

size_t shim_blocks(void)
{
    return atomic_load(&n_blocks);
}

static void *watch(void *block)
{
    take_turn();
    if (block && n_blocks == MOST_BLOCKS)
        abort();
    if (block)
        blocks[n_blocks++] = block;
    end_turn();
    return block;
}

/* Whether it was watched. */
static bool forget(const void *block)
{
    bool found = false;
    if (!block || shim_blocks() == 0)
        return false;
    take_turn();
    for (size_t i = 0; i < n_blocks && !found; ++i)
        if (blocks[i] == block) {
            blocks[i] = blocks[--n_blocks];
            found = true;
        }
    end_turn();
    return found;
}

/* ---- Calls -------------------------------------------------------------------- */

#define OURS (shim_is_program(__builtin_return_address(0)) && shim_is_armed())

void *malloc(size_t bytes)
{
    if (!OURS)
        return __libc_malloc(bytes);
    return shim_fails(SHIM_malloc) ? NULL : watch(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    if (!OURS)
        return __libc_calloc(count, bytes);
    return shim_fails(SHIM_calloc) ? NULL : watch(__libc_calloc(count, bytes));
}

void *realloc(void *old, size_t bytes)
{
    const bool ours = OURS;
    if (ours && shim_fails(SHIM_realloc))
        return NULL;
    /* Before another thread may be given its address. */
    const bool watched = forget(old);
    void *block = __libc_realloc(old, bytes);
    if (!block && watched)
        watch(old);
    return ours ? watch(block) : block;
}

char *strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    const bool ours = OURS;
    if (ours && shim_fails(SHIM_strdup))
        return NULL;
    char *copy = __libc_malloc(bytes);
    if (ours)
        watch(copy);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void free(void *block)
{
    forget(block);
    __libc_free(block);
}

#endif
