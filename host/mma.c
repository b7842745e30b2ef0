/* SPDX-License-Identifier: Apache-2.0
 *
 * mma.c - the rows of kernels/attention_mma.cl: fused attention on matrix units,
 * for 16-bit tensors where weights may be rounded to 16 bits.
 *
 * That a row is proposed says that the device's compiler may know the unit.
 * Whether there is one, and whether it multiplies right, is tried before the row
 * is taken: trust.h.
 */
#include <math.h>
#include <stdio.h>

#include "plan.h"
#include "simt.h"

/* Tiles of rows of a warp and keys of a block: what compilers have registers
   for, as tools/budget has seen.  Two tiles halve what is read of k and v. */
typedef struct fit {
    size_t tiles, BC;
} fit;

enum {
    WIDTHS = 4, /* up to 64, 128, 192 and 256 columns */
    PLAIN = 0,  /* no rule */
    LIGHT,      /* a band, a bool mask, items */
    HEAVY,      /* any */
    LOADS
};

/* What geometry.clh says of a unit, in the order of its numbers; the fits, of
   which those that are not there would spill. */
static const struct unit {
    size_t lanes, rows;
    unsigned language; /* a matrix_unit */
    bool turns_v, swizzles, no_bf16;
    fit fits[WIDTHS][LOADS];
} UNITS[] = {
    {32, 16, UNITS_IN_PTX, false, true, false,
        {{{2, 64}, {2, 32}, {1, 32}}, {{2, 32}, {1, 32}, {1, 32}},
            {{1, 16}, {1, 16}, {1, 16}}, {{1, 16}}}},
    {32, 16, UNITS_IN_PTX, false, true, true,
        {{{2, 32}, {2, 32}, {1, 32}}, {{1, 32}, {1, 32}, {1, 32}}}},
    {64, 16, UNITS_IN_GCN, true, false, false,
        {{{2, 32}, {2, 32}, {1, 32}}, {{2, 32}, {2, 32}, {1, 32}},
            {{1, 16}, {1, 16}, {1, 16}}, {{1, 16}, {1, 16}, {1, 16}}}},
    {32, 16, UNITS_IN_GCN, true, false, false,
        {{{2, 32}, {2, 32}, {1, 32}}, {{1, 32}, {1, 32}, {1, 32}}, {{1, 16}},
            {{1, 16}}}},
    {16, 16, UNITS_IN_DPAS, false, false, false, {{{1, 16}, {1, 16}, {1, 16}}}},
    {8, 8, UNITS_IN_DPAS, false, false, false, {{{1, 16}, {1, 16}, {1, 16}}}},
};

static const struct unit *unit_of(const kernel_row *row)
{
    return &UNITS[row->tile - 1];
}

/* ---- What the rows are for -------------------------------------------------------- */

/* A reason that holds for all of them is told once. */
static bool decline_all(
    declined_rows *declined, const kernel_row *row, const char *reason)
{
    decline(declined, row, "%s", reason);
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (KERNEL_ROWS[i].propose_attention == propose_mma)
            declined->row[i] = true;
    return false;
}

static bool has_rounded_weights(const clattn_attention *a)
{
    const int32_t dtype = a->q.dtype;
    return a->precision == CLATTN_PRECISION_STORAGE &&
           (dtype == CLATTN_F16 || dtype == CLATTN_BF16) &&
           a->k.dtype == dtype && a->v.dtype == dtype;
}

static const char *not_for(
    const clattn_attention *a, const device_limits *limits)
{
    const uint32_t matrix = CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
                            CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED;
    if (limits->is_cpu && !limits->emulates)
        return "no CPU has its unit";
    if (!has_rounded_weights(a))
        return "multiplies 16-bit weights with q, k and v of one 16-bit dtype, "
               "which precision or dtypes do not allow";
    if (a->flags & matrix)
        return "keeps no matrix of weights or scores";
    if (a->dropout_p > 0.0f)
        return "does no dropout";
    if (a->D > 256 || a->Dv > 256)
        return "has no registers for more than 256 columns";
    if (!isfinite(a->scale * 1.44269504f))
        return "works with the scale times log2(e), which is not finite";
    return NULL;
}

/* ---- Shapes ------------------------------------------------------------------------ */

/* What is compiled in; see the kernel's table. */
typedef struct shape {
    size_t warps, tiles, BC;
} shape;

/* All of a device's that is static: no compiler is known to give more. */
static size_t safe_bytes(const struct unit *u)
{
    return (size_t)(u->language == UNITS_IN_PTX ? 48 : 64) << 10;
}

/* As TILE_ELEMENTS of mma/tiles.clh, in bytes. */
static size_t tile_bytes(const struct unit *u, size_t rows, size_t columns)
{
    return 2 * rows *
           (u->swizzles && columns % 64 == 0 ? columns : columns + 8);
}

static bool is_heavy(const clattn_attention *a)
{
    return a->softcap != 0.0f || a->alibi_slopes || a->flags & CLATTN_SINKS ||
           (a->mask.dtype && a->mask.dtype != CLATTN_BOOL);
}

/* What of the rules a kernel for the problem has compiled in. */
static int load_of(const clattn_attention *a)
{
    return is_heavy(a) ? HEAVY : has_rules(a) ? LIGHT : PLAIN;
}

static const fit *fit_of(const clattn_attention *a, const struct unit *u)
{
    const size_t widest = a->D > a->Dv ? a->D : a->Dv;
    return &u->fits[(widest - 1) / 64][load_of(a)];
}

static size_t group_rows(const struct unit *u, const shape *s)
{
    return s->warps * s->tiles * u->rows;
}

/* Tiles of q, k and v; flags, and a bool mask's bits of two blocks.  Plain
   problems fill all that there is with their tiles. */
static size_t local_bytes(
    const clattn_attention *a, const struct unit *u, const shape *s)
{
    const size_t columns = tiles(a->D, 16) * 16;
    const size_t v_columns = tiles(a->Dv, 16) * 16;
    size_t bytes = tile_bytes(u, s->BC, columns);
    bytes += u->turns_v ? tile_bytes(u, v_columns, s->BC)
                        : tile_bytes(u, s->BC, v_columns);
    bytes += tile_bytes(u, group_rows(u, s), columns);
    if (load_of(a) != PLAIN || u->language == UNITS_IN_DPAS)
        bytes += 64;
    if (a->mask.dtype == CLATTN_BOOL)
        bytes += 2 * group_rows(u, s) * tiles(s->BC, 32) * sizeof(uint32_t);
    return bytes;
}

/* Scratch in which an emulated unit is published. */
static size_t emulation_bytes(const struct unit *u, const shape *s)
{
    return s->warps * (2 * 256 + u->lanes) * sizeof(float);
}

/*
 * Registers decide: a lane holds its parts of Dv columns of o for each tile of
 * rows, and of scores of BC keys; q stays in local memory.  Where there is no
 * fit, the smallest shape, for who does not mind spills.
 */
static shape shape_of(
    const clattn_attention *a, const struct unit *u, size_t room)
{
    const fit *best = fit_of(a, u);
    shape s = {.warps = PROBE_WARPS, .tiles = 1, .BC = 16};
    if (best->tiles > 0) {
        s.tiles = best->tiles;
        s.BC = best->BC;
    }
    while (local_bytes(a, u, &s) > room && s.BC > 16)
        s.BC /= 2;
    if (local_bytes(a, u, &s) > room)
        s.warps /= 2;
    return s;
}

static bool fits(declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits, const shape *s)
{
    const struct unit *u = unit_of(row);
    size_t bytes = local_bytes(a, u, s);
    if (limits->emulates)
        bytes += emulation_bytes(u, s);
    if (bytes > safe_bytes(u) && !limits->emulates) {
        decline(declined, row, "needs %zu bytes of local memory, %zu are safe",
            bytes, safe_bytes(u));
        return false;
    }
    /* Emulated, every unit loops over its numbers: not for devices that count
       loops. */
    return group_fits(declined, row, limits, s->warps * u->lanes, 1, bytes) &&
           loops_fit(declined, row, limits,
               tiles(a->Lk, s->BC) * (s->BC + 64) * (a->D + a->Dv));
}

/* Twice as many, for half as many threads: o alone takes half of the usual. */
#define MORE_REGISTERS " -cl-intel-256-GRF-per-thread"

/* ---- Rows -------------------------------------------------------------------------- */

static void try_first(proposal *p, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    const struct unit *u = unit_of(row);
    p->tried = (unit_trial){.kernel.name = "mma_probe",
        .items = PROBE_WARPS * u->lanes,
        .rows = PROBE_WARPS * u->rows,
        .dtype = a->q.dtype};
    snprintf(p->tried.kernel.options, sizeof p->tried.kernel.options,
        "-DMMA=%zu -DQT=%d -DEMULATED=%d", row->tile, (int)a->q.dtype,
        limits->emulates);
}

static bool knows_unit(declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    const struct unit *u = unit_of(row);
    if (!limits->emulates && !(limits->units & u->language)) {
        decline(declined, row, "the device does not speak of its unit");
        return false;
    }
    if (u->no_bf16 && a->q.dtype == CLATTN_BF16) {
        decline(declined, row, "its unit does not know bf16");
        return false;
    }
    return true;
}

bool propose_mma(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits)
{
    const struct unit *u = unit_of(row);
    const size_t safe = safe_bytes(u);
    const size_t room = limits->local_bytes < safe ? limits->local_bytes : safe;
    const char *reason = not_for(a, limits);
    if (reason)
        return decline_all(declined, row, reason);
    if (!knows_unit(declined, row, a, limits))
        return false;
    if (fit_of(a, u)->tiles == 0 && !limits->emulates && !p->asked) {
        decline(declined, row, "has no registers for %zu and %zu columns%s",
            a->D, a->Dv, load_of(a) != PLAIN ? " and rules" : "");
        return false;
    }
    const shape s = shape_of(a, u, room);
    if (!fits(declined, row, a, limits, &s))
        return false;
    char rules[200];
    rules_options(rules, sizeof rules, a);
    plan_need(p, "attention_mma", s.warps * u->lanes,
        "%s-DD=%zu -DDV=%zu -DQT=%d -DOT=%d -DMMA=%zu -DWARPS=%zu -DTILES=%zu "
        "-DBC=%zu -DQ_LOCAL=1 -DEMULATED=%d -DFMA=%d%s",
        rules, a->D, a->Dv, (int)a->q.dtype, (int)a->out.dtype, row->tile,
        s.warps, s.tiles, s.BC, limits->emulates, limits->fused_adds,
        u->language == UNITS_IN_DPAS && !limits->emulates ? MORE_REGISTERS
                                                          : "");
    p->group_rows = group_rows(u, &s);
    p->private_bytes = limits->emulates || p->asked ? 0 : SPILLED_BYTES;
    try_first(p, row, a, limits);
    snprintf(p->note, sizeof p->note,
        "groups of %zu rows, %zu x %zu of them, %zu keys at a time%s",
        p->group_rows, tiles(a->Lq, p->group_rows), a->B * a->Hq, s.BC,
        limits->emulates ? ", emulated" : "");
    return true;
}
