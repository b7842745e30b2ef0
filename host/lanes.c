/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.c - the rows of kernels/attention_lanes.cl and weights_lanes.cl: one
 * item of work with its rows in vector lanes for CPUs, groups of scalar items
 * for anything else.
 */
#include <stdio.h>

#include "error.h"
#include "plan.h"

/* Scratch of a CPU's item lies on the stack of the driver's threads. */
#define STACK_BYTES ((size_t)256 << 10)

/* What is compiled into one variant; see the kernel's table. */
typedef struct shape {
    size_t VW, LS, NV, BC, MS, MO;
} shape;

static size_t scratch_bytes(const clattn_attention *a, const shape *s)
{
    const size_t rows = s->NV * s->VW * s->LS;
    size_t floats = rows * (a->D + a->Dv + s->BC);
    if (s->LS > 1 || a->k.dtype != CLATTN_F32)
        floats += s->BC * a->D;
    if (s->LS > 1 || a->v.dtype != CLATTN_F32)
        floats += s->BC * a->Dv;
    return floats * sizeof(float);
}

/*
 * Register tiles by lanes: 16 accumulators of 32 registers, or 8 of 16, hide
 * the latency of a multiply-add on two pipes; more spill.
 */
static shape cpu_shape(const clattn_attention *a, size_t lanes)
{
    shape s = {.VW = lanes, .LS = 1, .NV = 2, .BC = 64, .MS = 4, .MO = 4};
    if (lanes == 16)
        s.NV = 4;
    /* What of it lies on the stack is halved until it is safe there. */
    while (scratch_bytes(a, &s) > STACK_BYTES && s.BC > 16)
        s.BC /= 2;
    while (scratch_bytes(a, &s) > STACK_BYTES && s.NV > 1)
        s.NV /= 2;
    return s;
}

static shape item_shape(const kernel_row *row)
{
    return (shape){
        .VW = 1, .LS = row->items, .NV = 1, .BC = 16, .MS = 8, .MO = 8};
}

/* Passes of all loops of a work-item that walks over all keys, rounded up.  As
   if nothing were unrolled: the compiler whose device counts them leaves loops
   alone that others unroll. */
static size_t loop_passes(const clattn_attention *a, const shape *s)
{
    const size_t D = a->D, Dv = a->Dv, vectors = 1 + s->NV;
    const size_t lines = tiles(D + Dv, 16) + 2; /* of a row of q or k, and v */
    const size_t score_tile = (2 * s->MS + D * (1 + s->MS)) * vectors;
    const size_t sum_tile = (2 * s->MO + s->BC * (1 + s->MO)) * vectors;
    const size_t stage = s->BC * ((D + Dv) / s->LS + lines + 4);
    const size_t rules = 16 * s->BC * vectors;
    const size_t block = tiles(s->BC, s->MS) * score_tile +
                         (Dv / s->MO + Dv % s->MO) * sum_tile + stage + rules;
    const size_t ends = 4 * (D + Dv) * vectors + 2 * s->LS * s->VW * lines;
    return tiles(a->Lk, s->BC) * block + ends;
}

static bool fits(declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits, const shape *s)
{
    const size_t bytes = scratch_bytes(a, s);
    if (s->LS == 1 && bytes > STACK_BYTES) {
        decline(declined, row,
            "needs %zu bytes of a thread's stack, %zu at "
            "most are safe",
            bytes, STACK_BYTES);
        return false;
    }
    if (!group_fits(declined, row, limits, s->LS, 1, s->LS > 1 ? bytes : 0))
        return false;
    return loops_fit(declined, row, limits, loop_passes(a, s));
}

/* Whether the row's shape can run there; *s is the shape. */
static bool choose_shape(shape *s, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    if (!scale_fits(declined, row, a))
        return false;
    if (row->items == 1) {
        const size_t lanes = cpu_lanes(declined, row, limits);
        if (lanes == 0)
            return false;
        *s = cpu_shape(a, lanes);
    } else {
        *s = item_shape(row);
    }
    return fits(declined, row, a, limits, s);
}

static void need_lanes(proposal *p, const char *kernel,
    const clattn_attention *a, const device_limits *limits, const shape *s,
    const char *more)
{
    char rules[200];
    rules_options(rules, sizeof rules, a);
    plan_need(p, kernel, s->LS,
        "%s-DD=%zu -DDV=%zu -DQT=%d -DKT=%d -DVT=%d -DOT=%d -DVW=%zu -DLS=%zu "
        "-DNV=%zu -DBC=%zu -DMS=%zu -DMO=%zu -DPREFETCH=%d "
        "-DFMA=%d%s",
        rules, a->D, a->Dv, (int)a->q.dtype, (int)a->k.dtype, (int)a->v.dtype,
        (int)a->out.dtype, s->VW, s->LS, s->NV, s->BC, s->MS, s->MO,
        s->LS == 1 && limits->prefetches, limits->fused_adds, more);
    p->group_rows = s->NV * s->VW * s->LS;
}

bool propose_lanes(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    shape s;
    if (!keeps_no_matrix(declined, row, a) ||
        !choose_shape(&s, declined, row, a, limits))
        return false;
    need_lanes(p, "attention_lanes", a, limits, &s, "");
    snprintf(p->note, sizeof p->note,
        "groups of %zu rows, %zu x %zu of them, %zu keys at a time",
        p->group_rows, tiles(a->Lq, p->group_rows), a->B * a->Hq, s.BC);
    return true;
}

clattn_status walk_fused(const proposal *p, const clattn_attention *a,
    const device_limits *limits, const attention_regions *r,
    launch_visitor *visit, void *state)
{
    attention_params params = params_of(a, r);
    const grid g = {
        .groups = {tiles(a->Lq, p->group_rows), 1, a->B * a->Hq},
        .local = {p->group_items[0], 1, 1},
        .group_work = (uint64_t)p->group_rows * (a->Lk + 1) * (a->D + a->Dv),
    };
    launch l = {
        .kernel = 0,
        .buffer = {r->out.mem, r->lse.mem, r->q.mem, r->k.mem, r->v.mem,
            r->mask.mem, r->slopes.mem, r->sinks.mem, r->workspace.mem},
        .n_buffers = 9,
        .params = &params,
        .params_bytes = sizeof params,
    };
    return grid_walk(&g, limits, &l, params.first, visit, state);
}

/* ---- With a matrix of scores -------------------------------------------------- */

static size_t block_floats(const proposal *p, const clattn_attention *a)
{
    return p->group_rows * (a->Lk + 1);
}

/* Groups of rows x heads of one launch, and their scores' memory. */
static bool choose_block(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    const size_t bytes = block_floats(p, a) * sizeof(float);
    const size_t all = tiles(a->Lq, p->group_rows);
    const size_t space = scores_room(a, limits->max_buffer_bytes);
    if (bytes > space) {
        decline(declined, row,
            "scores of %zu rows take %zu bytes, the device's buffers have room "
            "for %zu",
            p->group_rows, bytes, space);
        return false;
    }
    const size_t most = smaller(SCORES_BYTES, space) / bytes;
    const size_t room = most > 0 ? most : 1;
    p->block_rows = smaller(all, room);
    p->block_heads =
        room >= all && all > 0 ? smaller(room / all, a->B * a->Hq) : 1;
    p->workspace_bytes = p->block_rows * p->block_heads * bytes;
    return true;
}

bool propose_weights_lanes(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    shape s;
    char more[48];
    const int stage = weights_stage(a);
    if (a->flags & (CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED)) {
        decline(declined, row, "knows no score before the rules");
        return false;
    }
    if (!choose_shape(&s, declined, row, a, limits))
        return false;
    snprintf(more, sizeof more, " -DSTAGE=%d -DWT=%d", stage,
        stage ? (int)a->weights.dtype : CLATTN_F32);
    need_lanes(p, "weights_lanes", a, limits, &s, more);
    if (!choose_block(p, declined, row, a, limits))
        return false;
    snprintf(p->note, sizeof p->note,
        "groups of %zu rows, %zu x %zu of them at a time, %zu keys at a time",
        p->group_rows, p->block_rows, p->block_heads, s.BC);
    return true;
}

/* Groups [x, x + rows) of items x heads [z, z + heads). */
static clattn_status walk_block(const proposal *p, const clattn_attention *a,
    size_t x, size_t z, const device_limits *limits, attention_params *params,
    const attention_regions *r, launch_visitor *visit, void *state)
{
    const size_t all = tiles(a->Lq, p->group_rows);
    const grid g = {
        .groups = {smaller(p->block_rows, all - x), 1,
            smaller(p->block_heads, a->B * a->Hq - z)},
        .local = {1, 1, 1},
        .origin_x = x,
        .origin_z = z,
        .group_work = (uint64_t)p->group_rows * (a->Lk + 1) * (a->D + a->Dv),
    };
    launch l = {
        .kernel = 0,
        .buffer = {r->out.mem, r->lse.mem, r->weights.mem, r->workspace.mem,
            r->q.mem, r->k.mem, r->v.mem, r->mask.mem, r->slopes.mem,
            r->sinks.mem, r->workspace.mem},
        .n_buffers = 11,
        .params = params,
        .params_bytes = sizeof *params,
    };
    const wide row = (wide)block_floats(p, a);
    const wide head = row * (wide)p->block_rows;
    params->scores = (place){0, head, row,
        (wide)(r->workspace.offset + items_bytes(a) / sizeof(float)) -
            (wide)z * head - (wide)x * row};
    return grid_walk(&g, limits, &l, params->first, visit, state);
}

clattn_status walk_weights_lanes(const proposal *p, const clattn_attention *a,
    const device_limits *limits, const attention_regions *r,
    launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    attention_params params = params_of(a, r);
    const size_t heads = a->B * a->Hq, groups = tiles(a->Lq, p->group_rows);
    for (size_t z = 0, nz = 0; z < heads; z += nz * p->block_heads) {
        nz = blocks_alike(visit, z, p->block_heads, heads);
        for (size_t x = 0, nx = 0; x < groups; x += nx * p->block_rows) {
            nx = blocks_alike(visit, x, p->block_rows, groups);
            if (!visit)
                ((launch_count *)state)->times = nz * nx;
            TRY(walk_block(p, a, x, z, limits, &params, r, visit, state));
        }
    }

cleanup:
    return status;
}
