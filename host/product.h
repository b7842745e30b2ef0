/* SPDX-License-Identifier: Apache-2.0
 *
 * product.h - the launches of a product in tiles: those of kernels that get
 * matmul_params and make a tile of c per group.
 */
#ifndef CLATTN_HOST_PRODUCT_H
#define CLATTN_HOST_PRODUCT_H

#include "plan.h"

typedef struct product_tile {
    size_t rows, columns; /* of c, for a group */
    size_t items[2];      /* of a group, in x and y */
    size_t part;          /* terms that one launch sums up */
    bool takes_items;     /* the kernel knows the table of items */
} product_tile;

/* Rows [row0, row0 + rows) of items x heads [z0, z0 + heads). */
typedef struct product_block {
    size_t row0, rows, z0, heads;
} product_block;

/* All parameters but those that a launch sets. */
matmul_params product_params(
    const matmul_job *job, const product_block *b, const matmul_regions *r);

/* The proposal's first kernel over a block; `items` is where the table lies, if
   there is one. */
clattn_status walk_product(const product_tile *t, const matmul_job *job,
    const product_block *b, const device_limits *limits, matmul_params *params,
    const matmul_regions *r, cl_mem items, launch_visitor *visit, void *state);

/* All of it, without a table. */
clattn_status walk_whole_product(const product_tile *t, const matmul_job *job,
    const device_limits *limits, const matmul_regions *r, launch_visitor *visit,
    void *state);

#endif
