/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.h - the memory of one call: tensors of 32-bit elements with guard zones
 * before, between and behind, for host pointers and device buffers alike.
 *
 * Whatever belongs to no input holds one NaN pattern: a read past a tensor's
 * end poisons the result, an output element that is not written stays NaN, and
 * a write that goes astray is found by arena_stray.
 */
#ifndef CLATTN_CASES_ARENA_H
#define CLATTN_CASES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clattn/clattn.h"

enum {
    ARENA_GUARD = 64, /* elements before the first and behind the last */
    ARENA_TENSORS = 24,
    ARENA_TEXT = 400 /* bytes that hold every sentence of cases/ */
};

/* The index that asks for a memory of the tensor's own. */
#define ARENA_NEW SIZE_MAX

typedef struct arena_tensor {
    const char *name; /* NULL: not part of the call */
    bool output;
    size_t size[4];   /* (b, h, row, column) */
    size_t stride[3]; /* of b, h and row; all 0: dense */
    size_t memory;    /* whose memory it shares, or ARENA_NEW */
    size_t offset;    /* of its first element behind the guard zone */
} arena_tensor;

typedef struct arena_memory {
    float *data;   /* what the call sees */
    float *before; /* what it held before the call */
    size_t count;
} arena_memory;

typedef struct arena {
    arena_tensor tensor[ARENA_TENSORS];
    arena_memory memory[ARENA_TENSORS];
    size_t memories;
} arena;

/* Enter a tensor at a slot of the caller's numbering.  `memory` is ARENA_NEW
   or the slot of an earlier tensor whose memory it shares. */
void arena_place(arena *a, size_t slot, arena_tensor tensor);

/* Allocate and fill with the pattern; false where memory is short. */
bool arena_allocate(arena *a);
void arena_free(arena *a);

size_t arena_elements(const arena_tensor *t);
float *arena_at(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column);
/* The pattern that stands for "never to be read". */
float arena_poison(void);

/* Take what the memories hold now as the state before a call; go back to it. */
void arena_remember(arena *a);
void arena_restore(arena *a);

/* False, with a sentence, if any element outside the outputs changed. */
bool arena_unharmed(const arena *a, char text[ARENA_TEXT]);

/* The tensor as dense double values (b, h, row, column); NULL where memory is
   short.  The caller frees it. */
double *arena_dense(const arena *a, size_t slot);

/* Where a call finds the tensor: in host memory, or, if buffers is not NULL, in
   the buffer of its memory.  A tensor without a name gives all 0. */
clattn_input arena_input(const arena *a, size_t slot, const cl_mem *buffers);
clattn_output arena_output(const arena *a, size_t slot, const cl_mem *buffers);

/* The strides as descriptors take them. */
clattn_tensor arena_strides(const arena *a, size_t slot);

#endif
