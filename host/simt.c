/* SPDX-License-Identifier: Apache-2.0
 *
 * simt.c - the rows of kernels/attention_simt.cl: fused attention in registers
 * of a group's items, for GPUs.
 */
#include <stdio.h>

#include "simt.h"

/* What is compiled in; see the kernel's table. */
typedef struct tile {
    size_t BR, BC, WX, WY, KC, DC;
    size_t columns; /* of out, at most: more do not stay in registers */
} tile;

/*
 * By kernel_row.tile.  Sums of an item: BR/WY x BC/WX scores and BR/WY x Dv/WX
 * outputs; the more there are, the fewer reads of local memory for each
 * multiply-add, and with both 64 the rest of the kernel no longer fits in 255
 * registers.  The last is for devices with small groups and 8 KiB of local
 * memory.
 */
static const tile TILES[] = {
    {.BR = 64, .BC = 64, .WX = 8, .WY = 16, .KC = 32, .DC = 32, .columns = 64},
    {.BR = 64, .BC = 64, .WX = 16, .WY = 8, .KC = 16, .DC = 32, .columns = 128},
    {.BR = 64,
        .BC = 64,
        .WX = 16,
        .WY = 16,
        .KC = 16,
        .DC = 32,
        .columns = 256},
    {.BR = 32, .BC = 32, .WX = 8, .WY = 8, .KC = 16, .DC = 16, .columns = 256},
};

/* ---- Tiles ------------------------------------------------------------------- */

/* Columns of out that an item owns. */
static size_t own_columns(size_t Dv, const tile *t)
{
    const size_t beside = Dv % (4 * t->WX) == 0   ? 4
                          : Dv % (2 * t->WX) == 0 ? 2
                                                  : 1;
    return tiles(Dv, t->WX * beside) * beside;
}

/* LOCAL_FLOATS of the kernel, and a four for its flag. */
static size_t local_bytes(size_t Dv, const tile *t)
{
    const size_t qk = (t->BR + t->BC) * simt_read_stride(t->DC);
    const size_t p_stride =
        t->BC % (2 * t->WX) == t->WX ? t->BC : t->BC + t->WX;
    const size_t p = t->BR * p_stride;
    const size_t v = t->KC * own_columns(Dv, t) * t->WX, told = t->BR * t->WX;
    return sizeof(float) * ((qk > p ? qk : p) + (v > told ? v : told) + 4);
}

/* The row's tile, with as many columns and keys at a time as waste little and
   fit in local memory. */
static tile tile_for(const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    tile t = TILES[row->tile];
    while (t.DC > 4 && 8 * (tiles(a->D, t.DC) * t.DC - a->D) > a->D)
        t.DC /= 2;
    while (t.KC > t.WX && local_bytes(a->Dv, &t) > limits->local_bytes)
        t.KC /= 2;
    return t;
}

/* Passes of all loops of a work-item that walks over all keys, rounded up, as
   if nothing were unrolled. */
static size_t loop_passes(const clattn_attention *a, const tile *t)
{
    const size_t RM = t->BR / t->WY, RN = t->BC / t->WX;
    const size_t ON = own_columns(a->Dv, t), items = t->WX * t->WY;
    const size_t dots = t->DC / 4 * (RN + RM * (1 + 4 * (1 + RN)));
    const size_t staged = (t->BR + t->BC) * t->DC / 4 / items + 2;
    const size_t rows = t->KC / 4 * (RM + 4 * (1 + ON + RM * (1 + ON)));
    const size_t values = t->KC * ON * t->WX / 4 / items + 1;
    const size_t seen = 2 + t->KC * (1 + ON + RM * (1 + ON)); /* or rows */
    const size_t weights = RM * (1 + RN) + (t->BR * t->BC / 4 / items + 1) * 16;
    const size_t rules = RM * (11 * RN + t->WX + ON + 16);
    const size_t block =
        tiles(a->D, t->DC) * (dots + staged) +
        t->BC / t->KC * ((rows > seen ? rows : seen) + 2 * values) + weights +
        rules;
    return tiles(a->Lk, t->BC) * block + RM * (3 * ON + t->WX + 4);
}

/* ---- Proposal ---------------------------------------------------------------- */

static bool columns_fit(declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const tile *t)
{
    if (a->Dv <= t->columns)
        return true;
    decline(declined, row,
        "keeps at most %zu columns of out in registers, not %zu", t->columns,
        a->Dv);
    return false;
}

static void need_kernel(proposal *p, const clattn_attention *a,
    const device_limits *limits, const tile *t)
{
    char rules[200];
    rules_options(rules, sizeof rules, a);
    plan_need(p, "attention_simt", t->WX * t->WY,
        "%s-DD=%zu -DDV=%zu -DQT=%d -DKT=%d -DVT=%d -DOT=%d -DBR=%zu -DBC=%zu "
        "-DWX=%zu -DWY=%zu -DKC=%zu -DDC=%zu -DFMA=%d",
        rules, a->D, a->Dv, (int)a->q.dtype, (int)a->k.dtype, (int)a->v.dtype,
        (int)a->out.dtype, t->BR, t->BC, t->WX, t->WY, t->KC, t->DC,
        limits->fused_adds);
    p->group_rows = t->BR;
}

bool propose_simt(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    if (!keeps_no_matrix(declined, row, a) ||
        !is_for_device(declined, p, limits) || !scale_fits(declined, row, a))
        return false;
    const tile t = tile_for(row, a, limits);
    if (!columns_fit(declined, row, a, &t) ||
        !group_fits(
            declined, row, limits, t.WX * t.WY, 1, local_bytes(a->Dv, &t)) ||
        !loops_fit(declined, row, limits, loop_passes(a, &t)))
        return false;
    need_kernel(p, a, limits, &t);
    p->private_bytes = p->asked ? 0 : SPILLED_BYTES;
    snprintf(p->note, sizeof p->note,
        "groups of %zu rows, %zu x %zu of them, %zu keys at a time", t.BR,
        tiles(a->Lq, t.BR), a->B * a->Hq, t.BC);
    return true;
}
