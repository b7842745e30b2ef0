/* SPDX-License-Identifier: Apache-2.0
 *
 * multiply.h - matmul.cl and matmul_simt.cl alone: sizes around the edges of
 * their tiles, in whole numbers, whose sums are exact.
 */
#ifndef CLATTN_TESTS_MULTIPLY_H
#define CLATTN_TESTS_MULTIPLY_H

#include "kernel.h"

enum product_slot {
    PRODUCT_A,
    PRODUCT_B,
    PRODUCT_BIAS,
    PRODUCT_C,
    PRODUCT_ITEMS
};

/* A kernel in one tile, as its table has it: rows, columns and depth, work-items
   in x and y. */
typedef struct product_way {
    const char *kernel, *tile; /* the tile's options */
    size_t rows, columns, depth, x, y;
    bool knows_items; /* it takes the table of items */
    bool rows_are_n;
    int32_t a, b, c; /* dtypes */
} product_way;

/* Sizes as edges of the tile. */
typedef struct product_case {
    const char *about;
    size_t items, heads, group; /* heads of a and c that share one of b */
    edge M, N, K;
    size_t first_row; /* of a block of rows */
    size_t later;     /* rows of a past the block */
    bool gaps, bias;
    bool table;   /* items begin and end where a table says */
    bool filled;  /* what is no item's is numbers, not NaN */
    bool in_two;  /* the sum is formed by two launches */
    bool grouped; /* each group is launched for itself */
} product_case;

/* Initialisers of what a kernel must bear in every tile and storage. */
/* clang-format off */ /* it takes the last one for a block */
#define PRODUCT_CASES                                                          \
    {"one above a tile in all sizes", 2, 4, 2, {1, 1}, {1, 1}, {1, 1},         \
        .gaps = true, .bias = true},                                           \
    {"one below, one above, two tiles", 2, 2, 1, {1, -1}, {1, 1}, {2, 0},      \
        .bias = true},                                                         \
    {"smallest problem", 1, 1, 1, {0, 1}, {0, 1}, {0, 1}, .bias = true},       \
    {"smallest problem without bias", 1, 1, 1, {0, 1}, {0, 1}, {0, 1},         \
        .bias = false},                                                        \
    {"one column of a and row of b", 1, 3, 3, {2, 1}, {1, 2}, {0, 1},          \
        .gaps = true, .bias = true},                                           \
    {"tiles exactly", 3, 1, 1, {1, 0}, {2, 0}, {1, 0}, .gaps = true},          \
    {"a sum in two launches, cut within a tile", 2, 2, 2, {1, 1}, {1, 2},      \
        {3, -1}, .gaps = true, .bias = true, .in_two = true},                  \
    {"each group for itself", 2, 4, 2, {2, 1}, {2, -1}, {2, 1},                \
        .gaps = true, .bias = true, .grouped = true},                          \
    {"each group for itself, in two launches", 3, 2, 1, {1, 2}, {2, 1},        \
        {3, 1}, .bias = true, .in_two = true, .grouped = true}
/* clang-format on */

/* A case with the tile's sizes put in. */
typedef struct product {
    product_case of;
    product_way way;
    size_t M, N, K;
    arena memory;
    int32_t dtype[ARENA_TENSORS];
    char text[ARENA_TEXT];
} product;

/* Whether the way can have the case. */
bool product_applies(const product_case *c, const product_way *way);
/* exact_ends: buffers without guard zones. */
void product_create(
    product *p, const product_case *c, const product_way *way, bool exact_ends);
/* Takes the memory as it is now for the state before. */
void product_run(product *p);
/* Every element of c, and that nothing else was written. */
void product_check(const product *p);
void product_destroy(product *p);

/* ---- Checks of a whole case -------------------------------------------------- */

void product_check_case(
    const product_case *c, const product_way *way, bool exact_ends);

/* One element of a and one of b, in a case of two items and four heads in
   groups of two: c is NaN in the row and the column that they meet, and nowhere
   else. */
void product_check_nan(const product_case *c, const product_way *way);

/* Sums of some thousands need 13 bits: most lie between two numbers of 8 or 11
   bits, many just in the middle. */
void product_check_rounding(const product_case *c, const product_way *way);

#endif
