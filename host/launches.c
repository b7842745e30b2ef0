/* SPDX-License-Identifier: Apache-2.0
 *
 * launches.c - the sequence of kernel launches that a proposal stands for,
 * walked in order.  Says what to launch, launches nothing.
 *
 * Three things split a job into several launches: blocks of scores (memory),
 * parts of the sum (loop passes of a work-item), and parts of the grid (groups
 * and work of one launch).
 */
#include "launches.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"

/* The host's and the device's idea of the structs must agree. */
static_assert(sizeof(place) == 32, "place");
static_assert(
    sizeof(matmul_params) == 3 * 32 + 2 * 8 + 10 * 4, "matmul_params");
static_assert(sizeof(visible_params) == 3 * 8 + 6 * 4, "visible_params");
static_assert(sizeof(softmax_params) == 48 + 2 * 32 + 8 * 4, "softmax_params");
static_assert(
    sizeof(weighted_sum_params) == 48 + 3 * 32 + 10 * 4, "weighted_sum_params");

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t tiles(size_t count, size_t tile)
{
    return count / tile + (count % tile != 0);
}

/* ---- Parts of a grid ------------------------------------------------------- */

typedef struct grid {
    size_t groups[3]; /* of the whole */
    size_t local[3];
    size_t origin_z;     /* the first item and head */
    uint64_t group_work; /* multiply-adds of one group */
} grid;

/* Groups of one launch in each dimension: x first, then y, then z. */
static void part_of_grid(
    size_t part[3], const grid *g, const device_limits *limits)
{
    uint64_t room = limits->max_items / (g->local[0] * g->local[1]);
    if (limits->launch_work > 0 && limits->launch_work / g->group_work < room)
        room = limits->launch_work / g->group_work;
    for (int d = 0; d < 3; ++d) {
        const size_t most = smaller(g->groups[d], limits->max_groups[d]);
        part[d] = room < most ? (size_t)room : most;
        part[d] = part[d] > 0 ? part[d] : 1;
        room /= part[d];
    }
}

/* `first` is where the launch's parameters keep the part's first groups. */
static clattn_status walk_grid(const grid *g, const device_limits *limits,
    launch *l, whole first[3], launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    size_t part[3];
    part_of_grid(part, g, limits);
    memcpy(l->local, g->local, sizeof l->local);
    for (size_t z = 0; z < g->groups[2]; z += part[2]) {
        first[2] = (whole)(g->origin_z + z);
        l->groups[2] = smaller(part[2], g->groups[2] - z);
        for (size_t y = 0; y < g->groups[1]; y += part[1]) {
            first[1] = (whole)y;
            l->groups[1] = smaller(part[1], g->groups[1] - y);
            for (size_t x = 0; x < g->groups[0]; x += part[0]) {
                first[0] = (whole)x;
                l->groups[0] = smaller(part[0], g->groups[0] - x);
                TRY(visit(state, l));
            }
        }
    }

cleanup:
    return status;
}

/* Query rows [row0, row0 + rows) of items x heads [z0, z0 + heads). */
typedef struct block {
    size_t row0, rows, z0, heads;
} block;

/* ---- Matmul ---------------------------------------------------------------- */

static clattn_status walk_product(const proposal *p, const matmul_job *job,
    const block *b, const device_limits *limits, matmul_params *params,
    const matmul_regions *r, launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const size_t tile = p->row->tile;
    grid g = {
        .groups = {tiles(job->N, tile), tiles(b->rows, tile), b->heads},
        .local = {tile, tile, 1},
        .origin_z = b->z0,
    };
    launch l = {
        .kernel = SCORES,
        .buffer = {r->c.mem, r->a.mem, r->b.mem, r->bias.mem},
        .n_buffers = 4,
        .params = params,
        .params_bytes = sizeof *params,
    };
    for (size_t k = 0; k < job->K; k += p->part) {
        const size_t k_end = smaller(job->K, k + p->part);
        params->k_begin = (whole)k;
        params->k_end = (whole)k_end;
        params->has_bias = job->has_bias && k_end == job->K;
        g.group_work = (uint64_t)(tile * tile) * (k_end - k);
        TRY(walk_grid(&g, limits, &l, params->first, visit, state));
    }

cleanup:
    return status;
}

/* c's rows and heads count from the block's first if it is a scratch block. */
static matmul_params product_params(const matmul_job *job, const block *b,
    bool c_is_block, const matmul_regions *r)
{
    matmul_params params = {
        .a = job->a,
        .b = job->b,
        .c = job->c,
        .bias_offset = (wide)r->bias.offset,
        .bias_head = job->bias_head,
        .M = (whole)b->rows,
        .N = (whole)job->N,
        .heads = (whole)job->heads,
        .group = (whole)job->group,
    };
    params.a.offset = (wide)r->a.offset + (wide)b->row0 * job->a.row;
    params.b.offset = (wide)r->b.offset;
    params.c.offset = (wide)r->c.offset;
    if (c_is_block)
        params.c.offset -= (wide)b->z0 * job->c.head;
    return params;
}

clattn_status walk_matmul(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state)
{
    const block all = {0, job->M, 0, job->items * job->heads};
    matmul_params params = product_params(job, &all, false, regions);
    return walk_product(p, job, &all, limits, &params, regions, visit, state);
}

/* ---- Attention ------------------------------------------------------------- */

static visible_params visible_of(
    const clattn_attention *a, const attention_regions *r)
{
    visible_params v = {
        .lengths_offset = (wide)r->lengths.offset,
        .diagonals_offset = (wide)r->diagonals.offset,
        .causal = a->causal,
        .has_lengths = (a->flags & CLATTN_KEY_LENGTHS) != 0,
        .has_diagonals = (a->flags & CLATTN_DIAGONAL_OFFSETS) != 0,
        .Lk = (whole)a->Lk,
    };
    if (a->diagonal == CLATTN_BOTTOM_RIGHT) {
        v.diagonal_keys = 1;
        v.diagonal = -(wide)a->Lq;
    } else if (a->diagonal == CLATTN_OFFSET) {
        v.diagonal = a->diagonal_offset;
    }
    return v;
}

/* Where a block's scores lie, as the softmax and the weighted sum count. */
static place scores_place(const matmul_job *job, const proposal *p,
    const block *b, const attention_regions *r)
{
    place at = job->c;
    at.offset = (wide)r->scores.offset;
    if (!p->to_weights)
        at.offset -= (wide)b->z0 * job->c.head;
    return at;
}

static clattn_status walk_softmax(const proposal *p, const clattn_attention *a,
    const block *b, const device_limits *limits, const place *scores,
    const attention_regions *r, launch_visitor *visit, void *state)
{
    softmax_params params = {
        .visible = visible_of(a, r),
        .s = *scores,
        .lse = {(wide)a->lse.batch, (wide)a->lse.head, (wide)a->lse.row,
            (wide)r->lse.offset},
        .heads = (whole)a->Hq,
        .first_row = (whole)b->row0,
        .has_lse = (a->flags & CLATTN_RETURN_LSE) != 0,
        .scale = a->scale,
    };
    const grid g = {
        .groups = {b->rows, 1, b->heads},
        .local = {p->row->lanes, 1, 1},
        .origin_z = b->z0,
        .group_work = a->Lk > 0 ? 8 * (uint64_t)a->Lk : 1, /* exp costs 8 */
    };
    launch l = {
        .kernel = SOFTMAX,
        .buffer = {r->scores.mem, r->lse.mem, r->lengths.mem, r->diagonals.mem},
        .n_buffers = 4,
        .params = &params,
        .params_bytes = sizeof params,
    };
    return walk_grid(&g, limits, &l, params.first, visit, state);
}

static clattn_status walk_weighted_sum(const proposal *p,
    const clattn_attention *a, const block *b, const device_limits *limits,
    const place *scores, const attention_regions *r, launch_visitor *visit,
    void *state)
{
    clattn_status status = CLATTN_OK;
    const size_t tile = p->row->tile;
    weighted_sum_params params = {
        .visible = visible_of(a, r),
        .p = *scores,
        .v = {(wide)a->v.batch, (wide)a->v.head, (wide)a->v.row,
            (wide)r->v.offset},
        .out = {(wide)a->out.batch, (wide)a->out.head, (wide)a->out.row,
            (wide)r->out.offset},
        .heads = (whole)a->Hq,
        .group = (whole)(a->Hkv ? a->Hq / a->Hkv : 1),
        .first_row = (whole)b->row0,
        .rows = (whole)b->rows,
        .Dv = (whole)a->Dv,
    };
    grid g = {
        .groups = {tiles(a->Dv, tile), tiles(b->rows, tile), b->heads},
        .local = {tile, tile, 1},
        .origin_z = b->z0,
    };
    launch l = {
        .kernel = WEIGHTED_SUM,
        .buffer = {r->out.mem, r->scores.mem, r->v.mem, r->lengths.mem,
            r->diagonals.mem},
        .n_buffers = 5,
        .params = &params,
        .params_bytes = sizeof params,
    };
    size_t j = 0;
    do { /* once also without keys: the rows are 0 */
        const size_t j_end = smaller(a->Lk, j + p->part);
        params.j_begin = (whole)j;
        params.j_end = (whole)j_end;
        g.group_work = (uint64_t)(tile * tile) * (j_end - j) + 1;
        TRY(walk_grid(&g, limits, &l, params.first, visit, state));
        j = j_end;
    } while (j < a->Lk);

cleanup:
    return status;
}

static clattn_status walk_block(const proposal *p, const clattn_attention *a,
    const block *b, const device_limits *limits, const attention_regions *r,
    launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const matmul_job job = scores_job(a, p);
    const matmul_regions product = {r->q, r->k, r->k, r->scores};
    const place scores = scores_place(&job, p, b, r);
    matmul_params params = product_params(&job, b, !p->to_weights, &product);

    TRY(walk_product(p, &job, b, limits, &params, &product, visit, state));
    TRY(walk_softmax(p, a, b, limits, &scores, r, visit, state));
    TRY(walk_weighted_sum(p, a, b, limits, &scores, r, visit, state));

cleanup:
    return status;
}

clattn_status walk_attention(const proposal *p,
    const clattn_attention *attention, const device_limits *limits,
    const attention_regions *regions, launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const size_t all_heads = attention->B * attention->Hq;
    const size_t all_rows = attention->Lq;
    if (all_rows == 0)
        return CLATTN_OK;
    for (size_t z = 0; z < all_heads; z += p->block_heads)
        for (size_t i = 0; i < all_rows; i += p->block_rows) {
            const block b = {
                .row0 = i,
                .rows = smaller(p->block_rows, all_rows - i),
                .z0 = z,
                .heads = smaller(p->block_heads, all_heads - z),
            };
            TRY(walk_block(p, attention, &b, limits, regions, visit, state));
        }

cleanup:
    return status;
}

/* ---- Counting -------------------------------------------------------------- */

static clattn_status count_launch(void *state, const launch *l)
{
    (void)l;
    ++*(size_t *)state;
    return CLATTN_OK;
}

size_t count_attention_launches(const proposal *p,
    const clattn_attention *attention, const device_limits *limits)
{
    const attention_regions nowhere = {0};
    size_t count = 0;
    walk_attention(p, attention, limits, &nowhere, count_launch, &count);
    return count;
}

size_t count_matmul_launches(
    const proposal *p, const matmul_job *job, const device_limits *limits)
{
    const matmul_regions nowhere = {0};
    size_t count = 0;
    walk_matmul(p, job, limits, &nowhere, count_launch, &count);
    return count;
}
