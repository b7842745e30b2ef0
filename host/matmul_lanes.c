/* SPDX-License-Identifier: Apache-2.0
 *
 * matmul_lanes.c - the row of kernels/matmul_lanes.cl: products on CPUs, with b
 * in panels that all blocks of rows share, or that each group packs for itself.
 */
#include <assert.h>
#include <stdio.h>

#include "error.h"
#include "plan.h"

static_assert(sizeof(panels_params) == 3 * 32 + 4 * 8 + 14 * 4, "panels");

enum {
    MULTIPLY,
    PACK
}; /* in need[] */

enum {
    NC = 256, /* most columns of a block ... */
    KC = 192, /* ... and what of K is in the nearest cache */
    /* Blocks are made smaller until there are so many, or until they are so
       small that starting one and reading its operands begin to show. */
    ENOUGH_GROUPS = 16,
    SMALL_ROWS = 64,
    SMALL_COLUMNS = 128,
    /* Packing once takes a launch and a walk through memory, which pay when so
       many blocks of rows share it. */
    SHARING_BLOCKS = 3
};

/* What is compiled in; see the kernel's table. */
typedef struct tile_shape {
    size_t VW, NV, MR, MC;
} tile_shape;

/* How a job is cut. */
typedef struct cut {
    tile_shape s;
    size_t rows, columns; /* of a block */
    size_t matrices;      /* different b */
    size_t panels_head;   /* floats of one b in panels */
    bool packed;
} cut;

/*
 * 16 of 32 registers sum, or 12 of 16 where one instruction multiplies and
 * adds, or 8; the rest feed them.  More spill, and a spill in the inner loop
 * costs a third.  MC x NC floats of scratch, and for storage of 16 bits MC x KC
 * more, stay within 256 KiB of a thread's stack.
 */
static const tile_shape SHAPES[] = {
    {.VW = 16, .NV = 2, .MR = 8, .MC = 128},
    {.VW = 8, .NV = 2, .MR = 6, .MC = 126},
    {.VW = 4, .NV = 2, .MR = 4, .MC = 128},
};

static tile_shape shape_of(const device_limits *limits)
{
    size_t i = 0;
    while (SHAPES[i].VW > limits->native_width && SHAPES[i].VW > 4)
        ++i;
    return SHAPES[i];
}

static size_t panel_of(const tile_shape *s)
{
    return s->NV * s->VW;
}

/* The size of blocks, at most `most`, that cover `count` most evenly. */
static size_t even_blocks(size_t count, size_t most, size_t step)
{
    const size_t even = tiles(count, tiles(count, most));
    return tiles(even, step) * step;
}

static void cut_blocks(cut *c, const matmul_job *job)
{
    const size_t enough = tiles(ENOUGH_GROUPS, job->items * job->heads);
    size_t rows = c->s.MC, columns = NC;
    while (tiles(job->M, rows) * tiles(job->N, columns) < enough &&
           (rows > SMALL_ROWS || columns > SMALL_COLUMNS)) {
        if (columns > SMALL_COLUMNS)
            columns /= 2;
        else
            rows /= 2;
    }
    c->rows = even_blocks(job->M, rows, c->s.MR);
    c->columns = even_blocks(job->N, columns, panel_of(&c->s));
}

/* Panels may take a quarter of a buffer, as a layer's workspace has other
   parts. */
static void cut_panels(
    cut *c, const matmul_job *job, const device_limits *limits)
{
    const size_t columns = tiles(job->N, panel_of(&c->s)) * panel_of(&c->s);
    const size_t room = limits->max_buffer_bytes / 4 / sizeof(float);
    c->matrices = (job->b.batch ? job->items : 1) * (job->heads / job->group);
    c->packed = tiles(job->M, c->s.MC) >= SHARING_BLOCKS && job->K > 0 &&
                columns <= room / job->K / c->matrices;
    c->panels_head = columns * job->K;
}

static bool is_empty(const matmul_job *job)
{
    return job->items == 0 || job->heads == 0 || job->M == 0 || job->N == 0;
}

static cut cut_of(const matmul_job *job, const device_limits *limits)
{
    cut c = {.s = shape_of(limits)};
    if (!is_empty(job)) {
        cut_blocks(&c, job);
        cut_panels(&c, job, limits);
    }
    return c;
}

/* ---- Proposal --------------------------------------------------------------- */

/* Loop passes of a work-item, rounded up. */
static size_t loop_passes(const cut *c, size_t K)
{
    const size_t columns = c->columns / c->s.VW;
    const size_t panels = c->columns / panel_of(&c->s);
    const size_t copies = c->rows * (KC / c->s.VW + c->s.VW);
    const size_t packs = columns * KC + panels * KC;
    const size_t sums = panels * (c->rows / c->s.MR) * (KC + 1) + panels * KC;
    const size_t moves = 2 * c->rows * (columns + c->s.VW);
    return tiles(K, KC) * (copies + packs + sums) + moves;
}

/* Prefetching is worth it from panels only. */
static void need_kernels(proposal *p, const matmul_job *job,
    const device_limits *limits, const cut *c)
{
    char of_b[100];
    snprintf(of_b, sizeof of_b, "-DBT=%d -DB_ROWS=%s -DVW=%zu -DNV=%zu -DKC=%d",
        (int)job->b_dtype, job->b_rows_are_n ? "B_ROWS_N" : "B_ROWS_K", c->s.VW,
        c->s.NV, KC);
    plan_need(p, "matmul_lanes", 1,
        "-DAT=%d -DCT=%d -DPACKED=%d %s -DMR=%zu -DMC=%zu -DNC=%d "
        "-DPREFETCH=%d",
        (int)job->a_dtype, (int)job->c_dtype, c->packed, of_b, c->s.MR, c->s.MC,
        NC, c->packed && limits->prefetches);
    if (c->packed)
        plan_need(p, "pack_lanes", 1, "%s", of_b);
}

bool propose_matmul_lanes(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits)
{
    if (cpu_lanes(declined, row, limits) == 0 ||
        !group_fits(declined, row, limits, 1, 1, 0))
        return false;
    const cut c = cut_of(job, limits);
    if (!loops_fit(declined, row, limits, loop_passes(&c, job->K)))
        return false;
    need_kernels(p, job, limits, &c);
    if (c.packed)
        p->workspace_bytes = c.matrices * c.panels_head * sizeof(float);
    snprintf(p->note, sizeof p->note, "blocks of %zu x %zu, %s", c.rows,
        c.columns,
        c.packed ? "b packed once for all" : "each packs its part of b");
    return true;
}

/* ---- Launches --------------------------------------------------------------- */

static panels_params params_for(
    const matmul_job *job, const cut *c, const matmul_regions *r)
{
    panels_params params = {
        .a = job->a,
        .b = job->b,
        .c = job->c,
        .bias_offset = (wide)r->bias.offset,
        .bias_head = job->bias_head,
        .panels = (wide)r->workspace.offset,
        .panels_head = (wide)c->panels_head,
        .M = (whole)job->M,
        .N = (whole)job->N,
        .K = (whole)job->K,
        .heads = (whole)job->heads,
        .group = (whole)job->group,
        .b_heads = (whole)(job->heads / job->group),
        .b_items = job->b.batch != 0,
        .block_rows = (whole)c->rows,
        .block_columns = (whole)c->columns,
        .has_bias = job->has_bias,
    };
    params.a.offset = (wide)r->a.offset;
    params.b.offset = (wide)r->b.offset;
    params.c.offset = (wide)r->c.offset;
    return params;
}

static clattn_status walk_pack(const matmul_job *job, const cut *c,
    const device_limits *limits, panels_params *params, const matmul_regions *r,
    launch_visitor *visit, void *state)
{
    const size_t panel = panel_of(&c->s);
    const grid g = {
        .groups = {tiles(job->K, KC), tiles(job->N, panel), c->matrices},
        .local = {1, 1, 1},
        .group_work = KC * panel,
    };
    launch l = {
        .kernel = PACK,
        .buffer = {r->workspace.mem, r->b.mem},
        .n_buffers = 2,
        .params = params,
        .params_bytes = sizeof *params,
    };
    return grid_walk(&g, limits, &l, params->first, visit, state);
}

static clattn_status walk_blocks(const matmul_job *job, const cut *c,
    const device_limits *limits, panels_params *params, const matmul_regions *r,
    launch_visitor *visit, void *state)
{
    const grid g = {
        .groups = {tiles(job->M, c->rows), tiles(job->N, c->columns),
            job->items * job->heads},
        .local = {1, 1, 1},
        .group_work = (uint64_t)c->rows * c->columns * job->K + 1,
    };
    launch l = {
        .kernel = MULTIPLY,
        .buffer = {r->c.mem, r->a.mem, c->packed ? r->workspace.mem : r->b.mem,
            r->bias.mem},
        .n_buffers = 4,
        .params = params,
        .params_bytes = sizeof *params,
    };
    return grid_walk(&g, limits, &l, params->first, visit, state);
}

clattn_status walk_matmul_lanes(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    const cut c = cut_of(job, limits);
    panels_params params = params_for(job, &c, regions);
    (void)p;
    if (is_empty(job))
        return CLATTN_OK;
    if (c.packed)
        TRY(walk_pack(job, &c, limits, &params, regions, visit, state));
    TRY(walk_blocks(job, &c, limits, &params, regions, visit, state));

cleanup:
    return status;
}
