/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.h - what every way to launch attention shares: where the data of a call
 * lie, the parameters that kernels get by value, the options that are compiled
 * in, and the table of items.
 */
#ifndef CLATTN_HOST_STEPS_H
#define CLATTN_HOST_STEPS_H

#include <stdbool.h>

#include "grid.h"
#include "program.h"

typedef struct attention_regions {
    region q, k, v, out, lse, weights, mask, slopes, sinks;
    region query_lengths, key_lengths, query_starts, key_starts, diagonals;
    region workspace; /* in f32 or int elements: the table of items first */
    uint64_t dropout_seed, dropout_offset;
} attention_regions;

typedef struct matmul_regions {
    region a, b, bias, c;
    region workspace; /* in f32 elements */
} matmul_regions;

/* Whether items differ, so that kernels read them from a table. */
bool has_items(const clattn_attention *a);

/* Bytes of the table, a multiple of 64; 0 without one. */
size_t items_bytes(const clattn_attention *a);

/* Scores in memory at a time: enough rows to fill any device, and a fraction of
   what inputs of that size take. */
#define SCORES_BYTES ((size_t)32 << 20)

/* Bytes that a buffer of the device has room for beside the table. */
size_t scores_room(const clattn_attention *a, size_t max_buffer_bytes);

/* The options of kernels/visible.clh as -D, in front of a kernel's own; and with
   them those of rules.clh. */
void visible_options(char *text, size_t capacity, const clattn_attention *a);
void rules_options(char *text, size_t capacity, const clattn_attention *a);

/* Whether any of them is on but that LSE is returned. */
bool has_rules(const clattn_attention *a);

/* All parameters of the whole problem; a walk sets first, block and scores. */
attention_params params_of(
    const clattn_attention *a, const attention_regions *r);

/* The launch that fills the table, if there is one. */
clattn_status walk_items(const clattn_attention *a, size_t kernel,
    const device_limits *limits, const attention_regions *r,
    launch_visitor *visit, void *state);

#endif
