/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.c - the rows of kernels/attention_lanes.cl: one item of work with its
 * rows in vector lanes for CPUs, groups of scalar items for anything else.
 */
#include <math.h>
#include <stdio.h>

#include "plan.h"

/* Scratch of a CPU's item lies on the stack of the driver's threads. */
#define STACK_BYTES ((size_t)256 << 10)

/* What is compiled into one variant; see the kernel's table. */
typedef struct shape {
    size_t VW, LS, NV, BC, MS, MO;
} shape;

/*
 * Register tiles by lanes: 16 accumulators of 32 registers, or 8 of 16, hide
 * the latency of a multiply-add on two pipes; more spill.  With a band smaller
 * row blocks waste less on the diagonal.
 */
static shape cpu_shape(const clattn_attention *a, size_t lanes)
{
    const bool band = a->causal || a->window_left >= 0 || a->window_right >= 0;
    shape s = {.VW = lanes, .LS = 1, .NV = 2, .BC = 64, .MS = 4, .MO = 4};
    if (lanes == 16 && band)
        s.MS = s.MO = 8;
    else if (lanes == 16)
        s.NV = 4;
    if (a->D > 256 || a->Dv > 256) {
        s.NV /= 2;
        s.BC = 32;
    }
    return s;
}

static shape item_shape(const kernel_row *row)
{
    return (shape){
        .VW = 1, .LS = row->items, .NV = 1, .BC = 16, .MS = 8, .MO = 8};
}

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

/* Loop passes of a work-item that walks over all keys, rounded up. */
static size_t loop_passes(const clattn_attention *a, const shape *s)
{
    const size_t blocks = tiles(a->Lk, s->BC);
    const size_t scores = tiles(s->BC, s->MS) * (a->D + 2);
    const size_t sums = (a->Dv / s->MO + a->Dv % s->MO) * (s->BC + 2);
    return blocks * (scores + sums + 8 * s->BC) + 2 * (a->D + a->Dv);
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
    if (limits->max_iterations > 0 &&
        loop_passes(a, s) > limits->max_iterations) {
        decline(declined, row,
            "takes %zu loop passes, the device ends loops after %zu",
            loop_passes(a, s), limits->max_iterations);
        return false;
    }
    return true;
}

static bool returns_matrix(const clattn_attention *a)
{
    return (a->flags & (CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
                           CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED)) != 0;
}

static bool has_lanes(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t *lanes)
{
    *lanes = limits->native_width >= 16  ? 16
             : limits->native_width >= 8 ? 8
                                         : 4;
    if (limits->is_cpu && limits->native_width >= 4)
        return true;
    decline(declined, row,
        "is for CPUs with vectors of 4 floats or more, this is %s with %zu",
        limits->is_cpu ? "one" : "another device", limits->native_width);
    return false;
}

bool propose_lanes(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    char rules[200];
    size_t lanes = 1;
    if (returns_matrix(a)) {
        decline(declined, row, "keeps no matrix of weights or scores");
        return false;
    }
    if (!isfinite(a->scale * 1.44269504f)) {
        decline(declined, row, "scale %g times log2(e) is not finite",
            (double)a->scale);
        return false;
    }
    if (row->items == 1 && !has_lanes(declined, row, limits, &lanes))
        return false;
    const shape s = row->items == 1 ? cpu_shape(a, lanes) : item_shape(row);
    if (!fits(declined, row, a, limits, &s))
        return false;
    rules_options(rules, sizeof rules, a);
    plan_need(p, "attention_lanes", s.LS,
        "%s-DD=%zu -DDV=%zu -DQT=%d -DKT=%d -DVT=%d -DOT=%d -DVW=%zu -DLS=%zu "
        "-DNV=%zu -DBC=%zu -DMS=%zu -DMO=%zu",
        rules, a->D, a->Dv, (int)a->q.dtype, (int)a->k.dtype, (int)a->v.dtype,
        (int)a->out.dtype, s.VW, s.LS, s.NV, s.BC, s.MS, s.MO);
    p->group_rows = s.NV * s.VW * s.LS;
    snprintf(p->note, sizeof p->note,
        "groups of %zu rows, %zu x %zu of them, %zu keys at a time",
        p->group_rows, tiles(a->Lq, p->group_rows), a->B * a->Hq, s.BC);
    return true;
}

clattn_status walk_lanes(const proposal *p, const clattn_attention *a,
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
