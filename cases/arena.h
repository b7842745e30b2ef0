/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.h - the memory of one call: tensors of elements of any storage, with
 * guard zones before, between and behind, for host pointers and device buffers
 * alike.
 *
 * Whatever belongs to no input holds one NaN pattern, which is NaN as f32 and
 * in each half as f16 and bf16: a read past a tensor's end poisons the result,
 * an output element that is not written stays NaN, and a write that goes astray
 * is found by arena_unharmed.
 */
#ifndef CLATTN_CASES_ARENA_H
#define CLATTN_CASES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clattn/clattn.h"

enum {
    ARENA_GUARD = 64, /* words before the first and behind the last element */
    ARENA_TENSORS = 24,
    ARENA_PACKINGS = 2,
    ARENA_ITEMS = 64, /* of a packed batch */
    ARENA_TEXT = 900  /* bytes that hold every sentence of cases/ */
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
    int32_t dtype;    /* a clattn_dtype; 0: f32, and int32 by arena_at */
    bool implied;     /* the strides are those that all 0 stands for */
    size_t packing;   /* 0, or 1 + index of the packing that places its rows */
} arena_tensor;

/* The rows of a packed batch: item b has `count` of them from `first` on.  Rows
   past the count belong to nobody. */
typedef struct arena_packing {
    size_t rows; /* of all items, and between and behind them */
    size_t first[ARENA_ITEMS], count[ARENA_ITEMS];
} arena_packing;

typedef struct arena_memory {
    float *data;   /* what the call sees */
    float *before; /* what it held before the call */
    unsigned char
        *owned;   /* room for a byte for each byte, which judging needs */
    size_t count; /* words of 32 bits */
} arena_memory;

typedef struct arena {
    arena_tensor tensor[ARENA_TENSORS];
    arena_packing packing[ARENA_PACKINGS];
    arena_memory memory[ARENA_TENSORS];
    size_t memories;
    bool too_large; /* a tensor needs more than a size_t tells */
} arena;

/* Whether no size, stride or count that cases/ forms of tensors (B, H, L, C),
   gaps and guard zones included, passes what a size_t holds as bytes of double:
   to be asked before the first product is formed.  H, L and C may be sums of
   what several tensors have there.  Each alone must fit an int, too, as in the
   library; so loops over items that hold nothing end, too. */
bool arena_sizes_fit(size_t B, size_t H, size_t L, size_t C);
/* The sum, or SIZE_MAX where that is more. */
size_t arena_sum(size_t a, size_t b);

/* Enter a tensor at a slot of the caller's numbering.  `memory` is ARENA_NEW
   or the slot of an earlier tensor whose memory it shares. */
void arena_place(arena *a, size_t slot, arena_tensor tensor);

/* Allocate and fill with the pattern; false where memory is short, and where a
   tensor was placed that no memory can hold. */
bool arena_allocate(arena *a);
void arena_free(arena *a);

size_t arena_elements(const arena_tensor *t);
/* The dtype with 0 spelled out. */
int32_t arena_dtype(const arena_tensor *t);

/* Whether there is such a row: not past the rows of a packed item. */
bool arena_has_row(const arena *a, size_t slot, size_t b, size_t row);
/* An element of 32 bits. */
float *arena_at(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column);
/* An element of any dtype; what is set is rounded to nearest even, and a bool
   is 0 or a byte. */
double arena_get(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column);
void arena_set(const arena *a, size_t slot, size_t b, size_t h, size_t row,
    size_t column, double value);
/* Its index in its memory, in elements. */
size_t arena_index(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column);
/* Whether it has the bits of the pattern. */
bool arena_is_poison(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column);
/* The pattern that stands for "never to be read". */
float arena_poison(void);

/* Take what the memories hold now as the state before a call; go back to it. */
void arena_remember(arena *a);
void arena_restore(arena *a);

/* False, with a sentence, if any element outside the outputs changed. */
bool arena_unharmed(const arena *a, char text[ARENA_TEXT]);

/* The tensor as dense double values (b, h, row, column), 0 where there is no
   such row; NULL where memory is short.  The caller frees it. */
double *arena_dense(const arena *a, size_t slot);
/* The same into arena_elements values, which takes no memory. */
void arena_copy_dense(const arena *a, size_t slot, double *dense);

/* Where a call finds the tensor: in host memory, or, if buffers is not NULL, in
   the buffer of its memory.  A tensor without a name gives all 0. */
clattn_input arena_input(const arena *a, size_t slot, const cl_mem *buffers);
clattn_output arena_output(const arena *a, size_t slot, const cl_mem *buffers);
/* Its strides and, if it is one of the call, its dtype. */
clattn_tensor arena_strides(const arena *a, size_t slot);

#endif
