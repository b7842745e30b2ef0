/* SPDX-License-Identifier: Apache-2.0
 *
 * tiled.c - the rows of the three readable kernels: scores, softmax and
 * weighted sum one after the other, in blocks of scores that fit in memory.
 *
 * Three things split a job into several launches: blocks of scores (memory),
 * parts of a sum (loop passes of a work-item), and parts of the grid (groups
 * and work of one launch).
 */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "plan.h"
#include "problem.h"
#include "product.h"

enum {
    SCORES,
    SOFTMAX,
    WEIGHTED_SUM
}; /* in need[] */

/* ---- Proposals -------------------------------------------------------------- */

/* Local memory of matmul, the hungriest. */
static bool tile_fits(
    declined_rows *declined, const kernel_row *row, const device_limits *limits)
{
    const size_t local = sizeof(float) * row->tile * (2 * row->tile + 1);
    return group_fits(declined, row, limits, row->tile, row->tile, local) &&
           group_fits(declined, row, limits, row->items, 1, 0);
}

/* Columns or keys of one launch: a tile takes T passes and one to advance. */
static size_t part_of(const kernel_row *row, const device_limits *limits)
{
    if (limits->max_iterations == 0)
        return (size_t)0x7fffff00 / row->tile * row->tile;
    return limits->max_iterations / (row->tile + 1) * row->tile;
}

/* Four walks over the keys and two reductions of at most 8 steps. */
static bool softmax_fits(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t Lk)
{
    const size_t passes = 4 * (Lk / row->items + 1) + 2 * 8;
    if (limits->max_iterations == 0 || passes <= limits->max_iterations)
        return true;
    decline(declined, row,
        "Lk = %zu takes %zu loop passes, the device ends loops after %zu", Lk,
        passes, limits->max_iterations);
    return false;
}

/* The block of scores that is in memory at a time, and the workspace. */
static bool choose_block(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    const size_t all_heads = a->B * a->Hq;
    const size_t row_bytes = a->Lk * sizeof(float);
    p->block_rows = a->Lq;
    p->block_heads = all_heads;
    if (a->Lk == 0 || a->Lq == 0 || all_heads == 0)
        return true;
    const size_t room = scores_room(a, limits->max_buffer_bytes);
    if (row_bytes > room) {
        decline(declined, row,
            "one row of scores takes %zu bytes, the device's buffers have room "
            "for %zu",
            row_bytes, room);
        return false;
    }
    const size_t rows = smaller(SCORES_BYTES, room) / row_bytes;
    if (rows >= a->Lq) {
        p->block_heads = smaller(rows / a->Lq, all_heads);
    } else {
        p->block_heads = 1;
        p->block_rows = rows > row->tile ? rows / row->tile * row->tile
                        : rows > 0       ? rows
                                         : 1;
    }
    p->workspace_bytes = p->block_heads * p->block_rows * row_bytes;
    return true;
}

int weights_stage(const clattn_attention *a)
{
    static const uint32_t STAGES[] = {0, CLATTN_RETURN_WEIGHTS,
        CLATTN_RETURN_SCORES, CLATTN_RETURN_SCALED, CLATTN_RETURN_CAPPED};
    for (int i = 1; i < 5; ++i)
        if (a->flags & STAGES[i])
            return i;
    return 0;
}

static void need_matmul(proposal *p, const matmul_job *job, bool items)
{
    const size_t tile = p->row->tile;
    plan_need(p, "matmul", tile * tile,
        "-DT=%zu -DB_ROWS=%s -DAT=%d -DBT=%d -DCT=%d -DITEMS=%d", tile,
        job->b_rows_are_n ? "B_ROWS_N" : "B_ROWS_K", (int)job->a_dtype,
        (int)job->b_dtype, (int)job->c_dtype, items);
}

static matmul_job scores_job(const clattn_attention *a, const proposal *p)
{
    const size_t block = p->block_rows * a->Lk;
    return (matmul_job){
        .items = a->B,
        .heads = a->Hq,
        .group = a->Hkv ? a->Hq / a->Hkv : 1,
        .M = a->Lq,
        .N = a->Lk,
        .K = a->D,
        .a = {(wide)a->q.batch, (wide)a->q.head, (wide)a->q.row, 0},
        .b = {(wide)a->k.batch, (wide)a->k.head, (wide)a->k.row, 0},
        .c = {(wide)(a->Hq * block), (wide)block, (wide)a->Lk, 0},
        .a_dtype = a->q.dtype,
        .b_dtype = a->k.dtype,
        .c_dtype = CLATTN_F32,
        .b_rows_are_n = true,
    };
}

bool propose_tiled(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    char rules[200], visible[60];
    p->part = part_of(row, limits);
    if (!tile_fits(declined, row, limits) ||
        !softmax_fits(declined, row, limits, a->Lk) ||
        !sum_fits(declined, row, p->part, a->Lk, a->out.dtype, "out") ||
        !choose_block(p, declined, row, a, limits))
        return false;
    const matmul_job job = scores_job(a, p);
    const int stage = weights_stage(a);
    rules_options(rules, sizeof rules, a);
    visible_options(visible, sizeof visible, a);
    need_matmul(p, &job, has_items(a));
    plan_need(p, "scale_softmax", row->items, "%s-DSTAGE=%d -DWT=%d -DG=%zu",
        rules, stage, stage ? (int)a->weights.dtype : CLATTN_F32, row->items);
    plan_need(p, "weighted_sum", row->tile * row->tile,
        "%s-DVT=%d -DOT=%d -DT=%zu", visible, (int)a->v.dtype,
        (int)a->out.dtype, row->tile);
    snprintf(p->note, sizeof p->note,
        "scores of %zu head%s x %zu rows at a time", p->block_heads,
        p->block_heads == 1 ? "" : "s", p->block_rows);
    return true;
}

bool propose_tiled_matmul(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits)
{
    p->part = part_of(row, limits);
    if (!tile_fits(declined, row, limits) ||
        !sum_fits(declined, row, p->part, job->K, job->c_dtype, "y"))
        return false;
    need_matmul(p, job, false);
    return true;
}

/* ---- Matmul ------------------------------------------------------------------ */

static product_tile tile_of(const proposal *p)
{
    const size_t T = p->row->tile;
    return (product_tile){T, T, {T, T}, p->part, true};
}

clattn_status walk_tiled_matmul(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state)
{
    const product_tile tile = tile_of(p);
    return walk_whole_product(&tile, job, limits, regions, visit, state);
}

/* ---- Attention --------------------------------------------------------------- */

static clattn_status walk_softmax(const proposal *p, const product_block *b,
    const device_limits *limits, attention_params *params,
    const attention_regions *r, launch_visitor *visit, void *state)
{
    const grid g = {
        .groups = {b->rows, 1, b->heads},
        .local = {p->row->items, 1, 1},
        .origin_z = b->z0,
        .group_work = 8 * (uint64_t)params->Lk + 1, /* exp costs 8 */
    };
    launch l = {
        .kernel = SOFTMAX,
        .buffer = {r->workspace.mem, r->lse.mem, r->weights.mem, r->mask.mem,
            r->slopes.mem, r->sinks.mem, r->workspace.mem},
        .n_buffers = 7,
        .params = params,
        .params_bytes = sizeof *params,
    };
    return grid_walk(&g, limits, &l, params->first, visit, state);
}

static clattn_status walk_weighted_sum(const proposal *p,
    const product_block *b, const device_limits *limits,
    attention_params *params, const attention_regions *r, launch_visitor *visit,
    void *state)
{
    clattn_status status = CLATTN_OK;
    const size_t tile = p->row->tile, Lk = (size_t)params->Lk;
    grid g = {
        .groups = {tiles((size_t)params->Dv, tile), tiles(b->rows, tile),
            b->heads},
        .local = {tile, tile, 1},
        .origin_z = b->z0,
    };
    launch l = {
        .kernel = WEIGHTED_SUM,
        .buffer = {r->out.mem, r->workspace.mem, r->v.mem, r->workspace.mem},
        .n_buffers = 4,
        .params = params,
        .params_bytes = sizeof *params,
    };
    size_t j = 0;
    do { /* once also without keys: the rows are 0 */
        const size_t j_end = smaller(Lk, j + p->part);
        params->j_begin = (whole)j;
        params->j_end = (whole)j_end;
        g.group_work = (uint64_t)(tile * tile) * (j_end - j) + 1;
        TRY(grid_walk(&g, limits, &l, params->first, visit, state));
        j = j_end;
    } while (j < Lk);

cleanup:
    return status;
}

static clattn_status walk_block(const proposal *p, const clattn_attention *a,
    const product_block *b, const device_limits *limits,
    const attention_regions *r, launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const matmul_job job = scores_job(a, p);
    const product_tile tile = tile_of(p);
    const size_t table = items_bytes(a) / sizeof(float);
    const matmul_regions product = {.a = r->q, .b = r->k, .c = r->workspace};
    matmul_params scores = product_params(&job, b, &product);
    attention_params params = params_of(a, r);

    /* Heads of the block count from z0, in memory from 0. */
    scores.c.offset += (wide)table - (wide)b->z0 * job.c.head;
    scores.items_offset = params.items_offset;
    params.scores = scores.c;
    params.first_row = (whole)b->row0;
    params.rows = (whole)b->rows;
    TRY(walk_product(&tile, &job, b, limits, &scores, &product,
        r->workspace.mem, visit, state));
    TRY(walk_softmax(p, b, limits, &params, r, visit, state));
    TRY(walk_weighted_sum(p, b, limits, &params, r, visit, state));

cleanup:
    return status;
}

clattn_status walk_tiled(const proposal *p, const clattn_attention *a,
    const device_limits *limits, const attention_regions *regions,
    launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const size_t all_heads = a->B * a->Hq;
    for (size_t z = 0, nz = 0; z < all_heads; z += nz * p->block_heads) {
        nz = blocks_alike(visit, z, p->block_heads, all_heads);
        for (size_t i = 0, ni = 0; i < a->Lq; i += ni * p->block_rows) {
            ni = blocks_alike(visit, i, p->block_rows, a->Lq);
            const product_block b = {
                .row0 = i,
                .rows = smaller(p->block_rows, a->Lq - i),
                .z0 = z,
                .heads = smaller(p->block_heads, all_heads - z),
            };
            if (!visit)
                ((launch_count *)state)->times = nz * ni;
            TRY(walk_block(p, a, &b, limits, regions, visit, state));
        }
    }

cleanup:
    return status;
}
