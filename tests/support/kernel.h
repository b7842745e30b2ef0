/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.h - one kernel alone on guarded memory, launched as a test says and
 * not as the library would: any offsets, strides, parts and first groups.
 */
#ifndef CLATTN_TESTS_KERNEL_H
#define CLATTN_TESTS_KERNEL_H

#include "arena.h"
#include "draw.h"
#include "params.h"

/* A size as the edge of tiles of T x T: whole T + extra, but at least 1. */
typedef struct edge {
    int whole, extra;
} edge;

size_t edge_size(edge e, size_t T);

/* A tensor (b, h, row, column) of its own memory.  With gaps, NaN follows each
   row, head and item, and the first element has an odd offset. */
arena_tensor kernel_tensor(const char *name, size_t b, size_t h, size_t rows,
    size_t columns, bool gaps);
/* Where it lies in the buffer of its memory. */
place kernel_place(const arena *a, size_t slot);

/* Whole numbers from -8 to 8: sums of products are exact, in any order. */
void kernel_fill_whole(arena *a, size_t slot, draw *d);

/* How a table says which keys are seen. */
enum kernel_diagonal {
    SEES_ALL,     /* not causal */
    SEES_NUMBER,  /* row i stands on key i + number */
    SEES_KEYS,    /* on key i + the item's keys + number */
    SEES_PER_ITEM /* on key i + the item's entry of diagonals */
};

/*
 * Lengths and diagonals of `items`, as tensors of int32 at two slots, and the
 * parameters that name them.  The values are those that a caller may hand over
 * in a buffer, sensible or not: below 0, above Lk, the ends of int32.
 */
void kernel_place_visible(
    arena *a, size_t lengths, size_t diagonals, size_t items);
visible_params kernel_fill_visible(const arena *a, size_t lengths,
    size_t diagonals, size_t Lk, enum kernel_diagonal diagonal, wide number,
    bool has_lengths);

/* How many keys row i of item b sees: counted one by one. */
size_t kernel_seen(const arena *a, size_t lengths, size_t diagonals,
    const visible_params *v, size_t b, size_t i);

/* End each memory with its last element, for a driver that watches bounds: it
   takes a guard zone for memory like any other. */
void kernel_cut_guards(arena *a);

/* Buffers that hold the memories; take back what they hold, and release. */
void kernel_open(const arena *a, cl_mem *buffers);
void kernel_close(arena *a, cl_mem *buffers);

typedef struct kernel_call {
    const char *name, *options;
    const arena *memory;
    const cl_mem *buffers;
    size_t slots[5]; /* the kernel's buffers, in the order of its arguments */
    size_t n_slots;
    void *params;
    size_t params_bytes;
    whole *first; /* in params: the first group of a launch */
    size_t groups[3], local[3];
    bool group_by_group; /* a launch for each; else one for all */
} kernel_call;

void kernel_launch(const kernel_call *call);

#endif
