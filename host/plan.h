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
#include "grid.h"
#include "params.h"
#include "program.h"
#include "steps.h"
#include "trust.h"

/* c (M, N) = a (M, K) . b, for each item and head: a projection or q k^T. */
typedef struct matmul_job {
    size_t items, heads, group; /* group: heads that share one of b */
    size_t M, N, K;
    place a, b, c; /* strides; offsets come with each call */
    int32_t a_dtype, b_dtype, c_dtype;
    bool b_rows_are_n; /* a row of b in memory belongs to a column of c */
    bool has_bias;
    wide bias_head; /* elements from one head's bias to the next */
} matmul_job;

typedef struct proposal proposal;
typedef struct declined_rows declined_rows;
typedef struct kernel_row kernel_row;

/* Fill a proposal for the row, or decline it with a reason. */
typedef bool propose_attention(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits);
typedef bool propose_matmul(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits);

/* The launches of an accepted proposal, in order. */
typedef clattn_status walk_attention(const proposal *p,
    const clattn_attention *a, const device_limits *limits,
    const attention_regions *regions, launch_visitor *visit, void *state);
typedef clattn_status walk_matmul(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state);

/* One way to do the job; the table is best first, and its last row takes every
   problem that any row takes.  NULL functions: not this operation. */
struct kernel_row {
    const char *name; /* what a descriptor's kernel field calls it */
    const char *path; /* the family: "fused" or "materialised" */
    propose_attention *propose_attention;
    walk_attention *walk_attention;
    propose_matmul *propose_matmul;
    walk_matmul *walk_matmul;
    size_t tile; /* T of matmul and weighted_sum; which of a table of tiles; MMA
                     of kernels/mma/geometry.clh */
    size_t items; /* work-items of a group: G of scale_softmax, LS of lanes */
};

extern const kernel_row KERNEL_ROWS[];
extern const size_t N_KERNEL_ROWS;

enum {
    MAX_NEEDS = 4,
    MAX_ROWS = 32
};

struct proposal {
    const kernel_row *row;
    bool asked; /* for by name: what can run is not declined */
    kernel_need need[MAX_NEEDS];
    size_t group_items[MAX_NEEDS]; /* work-items of a group */
    size_t n_needs;
    size_t items_need;  /* which of them makes the table of items */
    size_t part;        /* columns or keys that one launch may walk over */
    size_t block_rows;  /* materialised: query rows ... */
    size_t block_heads; /* ... of so many items x heads at a time */
    size_t group_rows;  /* fused: query rows of a group */
    size_t workspace_bytes;
    size_t launches;
    size_t private_bytes; /* of an item, as built, at most; 0: any */
    unit_trial
        tried;      /* the product that must be right; kernel.name NULL: none */
    char note[160]; /* what the row wants said of its tiles */
};

/* Which rows are out, and the sentence that says why. */
struct declined_rows {
    bool row[MAX_ROWS];
    char text[2400]; /* "tiled16: needs 256 work-items, the device has 64; " */
};

/* What a caller wants taken and not taken; "" means nothing. */
typedef struct row_wishes {
    const char *kernel, *disable;         /* the descriptor's, or NULL */
    const char *env_kernel, *env_disable; /* the environment's */
} row_wishes;

/*
 * Propose the best row that is not declined.  CLATTN_UNSUPPORTED when none is
 * left; declined->text tells why each better one was not taken.  attention is
 * complete (problem.h).
 */
clattn_status plan_attention(proposal *p, const clattn_attention *attention,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error);
clattn_status plan_matmul(proposal *p, const matmul_job *job,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error);

/* Whether the kernels as built can run: else the row joins the declined ones. */
bool plan_accept(const proposal *p, const built_kernel *const built[],
    declined_rows *declined);

/* All launches: the table of items, then the row's. */
clattn_status plan_walk_attention(const proposal *p,
    const clattn_attention *attention, const device_limits *limits,
    const attention_regions *regions, launch_visitor *visit, void *state);

matmul_job linear_job(const clattn_linear *linear);

/* "tiled16 (materialised): ...", with what was declined. */
void plan_text(char *text, size_t capacity, const proposal *p,
    const declined_rows *declined);

/* ---- For the rows ----------------------------------------------------------- */

void decline(
    declined_rows *declined, const kernel_row *row, const char *format, ...);

/* Append a kernel with its options. */
void plan_need(
    proposal *p, const char *name, size_t group_items, const char *format, ...);

/* Whether a work-item may pass through loops so often. */
bool loops_fit(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t passes);

/* Lanes of a CPU's vectors: 16, 8 or 4; 0, and declined, on any other device. */
size_t cpu_lanes(declined_rows *declined, const kernel_row *row,
    const device_limits *limits);

/* The kernels' number for what goes to the weights output; 0: nothing. */
int weights_stage(const clattn_attention *a);

/* Whether groups of x * y items with so much local memory run there. */
bool group_fits(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t x, size_t y, size_t local_bytes);

/* Whether scores in units of ln 2 have a scale. */
bool scale_fits(
    declined_rows *declined, const kernel_row *row, const clattn_attention *a);

/* Whether neither weights nor scores are returned. */
bool keeps_no_matrix(
    declined_rows *declined, const kernel_row *row, const clattn_attention *a);

/* Whether a result of the dtype can hold a sum of so many terms between parts
   of it. */
bool sum_fits(declined_rows *declined, const kernel_row *row, size_t part,
    size_t terms, int32_t dtype, const char *result);

/* Whether a row is shaped for other devices: here it is taken only where it is
   asked for. */
bool row_is_foreign(const kernel_row *row, const device_limits *limits);
bool is_for_device(
    declined_rows *declined, const proposal *p, const device_limits *limits);

propose_attention propose_tiled, propose_lanes, propose_weights_lanes;
propose_attention propose_simt, propose_mma;
walk_attention walk_tiled, walk_fused, walk_weights_lanes;
propose_matmul propose_tiled_matmul, propose_matmul_lanes, propose_matmul_simt;
walk_matmul walk_tiled_matmul, walk_matmul_lanes, walk_matmul_simt;

#endif
