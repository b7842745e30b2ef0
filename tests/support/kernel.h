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

enum {
    KERNEL_SLOTS = 11, /* buffers of the kernel that has most */
    KERNEL_OPTIONS = 320
};

/* A slot that stands for no buffer. */
#define KERNEL_NONE SIZE_MAX

/* ---- Tensors ---------------------------------------------------------------- */

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

/* Whole numbers from least to least + 16: sums of products are exact, in any
   order. */
float kernel_whole(draw *d, int least);
/* From -8 to 8, everywhere. */
void kernel_fill_whole(arena *a, size_t slot, draw *d);

/* The value as an element of the dtype holds it: rounded once. */
double kernel_rounded(double value, int32_t dtype);

/* Memory for all tensors.  Those that are no outputs end with their last
   element: no guard zone, but a page that nobody may touch, is behind it. */
void kernel_allocate(arena *a);
/* Outputs too, for a driver that watches bounds: it takes a guard zone for
   memory like any other. */
void kernel_cut_guards(arena *a);

/* ---- Rules ------------------------------------------------------------------ */

/* The options of rules.clh: a field is what its -D is. */
typedef struct kernel_rules {
    int band, items, packed, softcap, alibi, sinks, dropout, mask, lse;
} kernel_rules;

/* Those, and then a kernel's own. */
void kernel_options(char text[KERNEL_OPTIONS], const kernel_rules *rules,
    const char *format, ...);

/* A row of the table of items: as items.cl makes it, or would. */
typedef struct kernel_item {
    wide q_first, rows, k_first, keys, diagonal;
} kernel_item;

enum {
    /* An item may begin at any of these rows of its tensors, which need as many
       more than they would without a table, less one. */
    KERNEL_FIRSTS = 3
};

/* The table at a slot, for tensors of Lq and Lk rows an item: all, none and
   some rows and keys, diagonals near the corners and far off. */
void kernel_place_items(arena *a, size_t slot, size_t items);
void kernel_fill_items(const arena *a, size_t slot, size_t Lq, size_t Lk);
kernel_item kernel_item_at(const arena *a, size_t slot, size_t b);

/* Further than any key, as a window. */
#define KERNEL_UNBOUNDED ((wide)1 << 40)

/* Whether lengths and band show key j to row i of an item. */
bool kernel_sees(const kernel_item *it, const attention_params *p, bool band,
    wide i, wide j);

/* ---- Launches --------------------------------------------------------------- */

/*
 * Buffers that hold the memories; take back what they hold, and release.  The
 * arena has f32 throughout: a tensor whose slot has a 16-bit dtype, or BOOL, is
 * converted both ways, so its numbers must be of that dtype, 0 to 255 for BOOL.
 * dtype 0 is 32 bits of any kind.
 */
void kernel_open(
    const arena *a, const int32_t dtype[ARENA_TENSORS], cl_mem *buffers);
void kernel_close(
    arena *a, const int32_t dtype[ARENA_TENSORS], cl_mem *buffers);

typedef struct kernel_call {
    const char *name, *options;
    const arena *memory;
    const cl_mem *buffers;
    size_t slots[KERNEL_SLOTS]; /* the kernel's buffers, as its arguments are */
    size_t n_slots;
    void *params;
    size_t params_bytes;
    whole *first; /* in params: the first group of a launch */
    size_t groups[3], local[3];
    bool group_by_group; /* a launch for each; else one for all */
} kernel_call;

void kernel_launch(const kernel_call *call);

#endif
