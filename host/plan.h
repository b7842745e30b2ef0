/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - which row of kernels takes a problem, in what blocks, with how much
 * workspace: arithmetic on the completed descriptor and the device's limits.
 */
#ifndef CLATTN_HOST_PLAN_H
#define CLATTN_HOST_PLAN_H

#include <stdbool.h>

#include "clattn/clattn.h"
#include "device.h"
#include "params.h"
#include "program.h"

/* One way to do the job; the table is best first. */
typedef struct kernel_row {
    const char *name; /* what a descriptor's kernel field calls it */
    const char *path; /* the family: "materialised" */
    size_t tile;      /* T of matmul and weighted_sum */
    size_t lanes;     /* G of scale_softmax */
} kernel_row;

extern const kernel_row KERNEL_ROWS[];
extern const size_t N_KERNEL_ROWS;

/* c (M, N) = a (M, K) . b, for each item and head: a projection or q k^T. */
typedef struct matmul_job {
    size_t items, heads, group; /* group: heads that share one of b */
    size_t M, N, K;
    place a, b, c;     /* strides; offsets come with each call */
    bool b_rows_are_n; /* a row of b in memory belongs to a column of c */
    bool has_bias;
    wide bias_head; /* elements from one head's bias to the next */
} matmul_job;

/* The kernels of a proposal, in need[]. */
enum {
    SCORES,
    SOFTMAX,
    WEIGHTED_SUM,
    MAX_NEEDS
};

typedef struct proposal {
    const kernel_row *row;
    kernel_need need[MAX_NEEDS];
    size_t group_items[MAX_NEEDS]; /* work-items of a group */
    size_t n_needs;
    size_t part;        /* columns or keys that one launch may walk over */
    size_t block_rows;  /* attention: query rows ... */
    size_t block_heads; /* ... of so many items x heads at a time */
    bool to_weights;    /* attention: scores live in the weights output */
    size_t workspace_bytes;
    size_t launches;
} proposal;

/* Which rows are out, and the sentence that says why. */
typedef struct declined_rows {
    bool row[16];
    char text[600]; /* "tiled16: needs 256 work-items, device has 64; ..." */
} declined_rows;

/* What a caller wants taken and not taken; "" means nothing. */
typedef struct row_wishes {
    const char *kernel, *disable;         /* the descriptor's, or NULL */
    const char *env_kernel, *env_disable; /* the environment's */
} row_wishes;

/*
 * Propose the best row that is not declined.  CLATTN_UNSUPPORTED when none is
 * left or when an option has no kernel; declined->text tells why each better
 * one was not taken.  attention is complete (problem.h).
 */
clattn_status plan_attention(proposal *p, const clattn_attention *attention,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error);
clattn_status plan_matmul(proposal *p, const matmul_job *job,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error);

/* Whether the kernels as built can run: else the row joins the declined ones.
   Proposals with no work need no kernels and are accepted without. */
bool plan_accept(const proposal *p, const built_kernel *const built[],
    declined_rows *declined);

/* The jobs within a problem. */
matmul_job scores_job(const clattn_attention *attention, const proposal *p);
matmul_job linear_job(const clattn_linear *linear);

/* "tiled16 (materialised): ...", with what was declined. */
void plan_text(char *text, size_t capacity, const proposal *p,
    const declined_rows *declined);

#endif
