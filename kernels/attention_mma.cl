/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_mma.cl - out_i = sum_j exp(s_ij - lse_i) v_j on matrix units, for q,
 * k and v in 16 bits: online softmax over blocks of keys, sums in f32, weights
 * rounded once to the type of v before they multiply it.
 *
 * A group is WARPS warps, each with TILES tiles of MMA_ROWS query rows.  It
 * brings BC keys at a time into local memory; S and O stay in registers, spread
 * over the lanes as the geometry has it (mma/geometry.clh).
 *
 *     s_ij  = scale q_i.k_j, then the rules of rules.clh; in units of ln 2
 *     top   = max(top, max_j s_ij)
 *     sum_i = sum_i 2^(old top - top) + sum_j 2^(s_ij - top)
 *     o_i   = o_i   2^(old top - top) + sum_j round(2^(s_ij - top)) v_j
 *     out_i = o_i / sum_i,   lse_i = ln 2 top + ln sum_i
 *
 * Rules are looked at only in blocks where they act.  There a hidden key's
 * weight is 0; if its v holds NaN or infinity, these are taken out of the tile
 * and added by hand to the rows that see them.
 *
 * Compile-time parameters                                values      default
 *   those of mma/tiles.clh, mma/geometry.clh, rules.clh
 *   OT          storage of out                           STORAGE_... required
 *   TILES       tiles of query rows of a warp            1, 2        1
 *   Q_LOCAL     q stays in local memory                  0, 1        0
 *   NATIVE_EXP  the device's own power of two            0, 1        0
 *
 * Check with: -DD=64 -DDV=64 -DQT=2 -DOT=2 -DBAND=0 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=1 -DMMA=1 -DEMULATED=1
 * Check with: -DD=33 -DDV=80 -DQT=3 -DOT=1 -DBAND=1 -DITEMS=1 -DPACKED=1 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=0 -DMASK=4 -DLSE=1 -DMMA=4 -DEMULATED=1 -DBC=32
 * Check with: -DD=64 -DDV=48 -DQT=2 -DOT=3 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=1 -DLSE=0 -DMMA=3 -DEMULATED=1 -DTILES=2 -DQ_LOCAL=1
 * Check with: -DD=64 -DDV=64 -DQT=2 -DOT=2 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=2 -DLSE=1 -DMMA=2 -DEMULATED=1
 * Check with: -DD=64 -DDV=64 -DQT=3 -DOT=3 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=3 -DLSE=1 -DMMA=5 -DEMULATED=1
 * Check with: -DD=64 -DDV=64 -DQT=3 -DOT=3 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=1 -DMMA=6 -DEMULATED=1
 */
#define VW 1
#include "params.h"
#include "lanes.clh"
#include "visible.clh"
#include "rules.clh"
#include "mma/geometry.clh"
#include "mma/copy.clh"

#if !defined(OT) || DROPOUT
#error "attention_mma.cl: define OT; there is no dropout"
#endif
#ifndef TILES
#define TILES 1
#endif
#ifndef Q_LOCAL
#define Q_LOCAL 0
#endif
#ifndef NATIVE_EXP
#define NATIVE_EXP 0
#endif

#define WARP_ROWS  (TILES * MMA_ROWS)
#define GROUP_ROWS (WARPS * WARP_ROWS)
#define KEY_TILES  (BC / 16)
#define QK_TILES   (QK_COLUMNS / 16)
#define V_TILES    (V_COLUMNS / 16)
#define SLOTS      (TILES * MMA_SLOTS)
/* Only these hide keys that exist. */
#define GUARDED (BAND || MASK)

#if MASK
typedef ELEMENT(MASK) mask_element;
#else
typedef uchar mask_element;
#endif

#if NATIVE_EXP && defined(MMA_NATIVE_EXP2)
#define POWER(x) MMA_NATIVE_EXP2(x)
#else
#define POWER(x) exp2_negative(x)
#endif

#include "stand.clh"
#include "mma/mask.clh"
#include "mma/block.clh"
#include "mma/steps.clh"

/* ---- The end of rows ----------------------------------------------------- */

/* What o of row i is to be multiplied with; its lse, by the one lane that
   `tells`. */
static inline float factor_of(__global float *lse, __global const float *sinks,
    const attention_params *p, const stand *s, float top, float sum, int i,
    int tells)
{
    const int own = i < s->it.rows;
    float value;
    const float factor = finish_row(
        &value, sinks, p, s, own ? top : -INFINITY, own ? sum : 0.0f);
#if LSE
    if (tells && i < s->written)
        lse[p->lse.offset + s->b * p->lse.batch + s->h * p->lse.head +
            (s->it.q_first + i) * p->lse.row] = value;
#endif
    return factor;
}

/* Two neighbours, as far as there are so many columns left. */
static inline void store_pair(
    __global ELEMENT(OT) * to, float one, float two, int left)
{
#if OT == QT
    const uint pair = MMA_ROUNDED_PAIR(one, two);
    if (left > 0)
        *(__global ushort *)to = (ushort)pair;
    if (left > 1)
        *((__global ushort *)to + 1) = (ushort)(pair >> 16);
#else
    if (left > 0)
        STORE(OT, one, to);
    if (left > 1)
        STORE(OT, two, to + 1);
#endif
}

/* out = o factor, of the tile with row i0. */
INLINE void store_out(__global ELEMENT(OT) * out, out_parts o,
    const float *factor, const attention_params *p, const stand *at, mma x,
    int i0, int wrong)
{
    UNROLL
    for (int d = 0; d < V_TILES; ++d)
        UNROLL
        for (int n = 0; n < MMA_PARTS; n += 2) {
            const int i = i0 + mma_row(x.lane, mma_slot(n));
            const int c = 16 * d + mma_column(x.lane, n);
            const float f = wrong ? NAN : factor[mma_slot(n)];
            const int exists = i < at->it.rows;
            if (i < at->written)
                store_pair(out + i * p->out.row + c,
                    exists ? o[d][n] * f : 0.0f,
                    exists ? o[d][n + 1] * f : 0.0f, DV - c);
        }
}

/* ---- The kernel ---------------------------------------------------------- */

__kernel MMA_KERNEL __attribute__((reqd_work_group_size(MMA_ITEMS, 1, 1))) void
attention_mma(__global ELEMENT(OT) * out, __global float *lse,
    __global const ushort *restrict q, __global const ushort *restrict k,
    __global const ushort *restrict v,
    __global const mask_element *restrict mask, __global const float *slopes,
    __global const float *sinks, __global const int *items,
    const attention_params p)
{
    __local ushort k_tile[K_TILE] __attribute__((aligned(16)));
    __local ushort v_tile[V_TILE] __attribute__((aligned(16)));
#if Q_LOCAL
    __local ushort q_tile[TILE_ELEMENTS(GROUP_ROWS, QK_COLUMNS)]
        __attribute__((aligned(16)));
#endif
#if GUARDED
    __local int dirty; /* 1 + first key of the last block with such values */
    if (get_local_id(0) == 0)
        dirty = 0;
#endif
#if MASK
    __local int flags[MASK_SCANS];
    __local uint bits[2 * MASK_BITS];
    if (get_local_id(0) == 0)
        flags[0] = 0;
#endif
    MMA_BEGIN(x);

    const stand here = stand_of(&p, items);
    const item it = here.it;
    const int rows_end = min(here.first + GROUP_ROWS, it.rows);
    const int warp_row = (int)get_local_id(0) / MMA_LANES * WARP_ROWS;
    const int warp_first = here.first + warp_row;
    const int kv_head = here.h / p.group;
    const rows_of queries =
        rows_from(q + p.q.offset + here.b * p.q.batch + here.h * p.q.head +
                      it.q_first * p.q.row,
            p.q.row);
    const rows_of keys =
        rows_from(k + p.k.offset + here.b * p.k.batch + kv_head * p.k.head +
                      it.k_first * p.k.row,
            p.k.row);
    const rows_of values =
        rows_from(v + p.v.offset + here.b * p.v.batch + kv_head * p.v.head +
                      it.k_first * p.v.row,
            p.v.row);
#if MASK
    const mask_rows rows_of_mask = {
        mask + p.mask.offset + here.b * p.mask.batch + here.h * p.mask.head,
        p.mask.row, p.mask_column, here.last, flags, bits};
    const mask_view m = &rows_of_mask;
#else
    const mask_view m = 0;
#endif

    /* Plain constants: PoCL 3.1 goes wrong where the bounds of a loop with
       barriers live in variables whose address was taken. */
    int seen_begin, seen_end;
    keys_seen(&seen_begin, &seen_end, &p, &it, here.first, here.last);
    const int begin = seen_begin, end = seen_end;
    block b;
    start_block(&b, &p, &here, slopes, end);

    /* A score's unit is positive: queries take the sign of the scale. */
    const uint flip = p.scale < 0.0f ? 0x80008000u : 0u;
    watch seen;
    watch_start(&seen);
#if Q_LOCAL
    query_parts *q_all = 0;
    watch_land(&seen, TILE_Q);
    put_queries(q_tile, &queries, here.first, rows_end, flip, GROUP_ROWS);
    group_barrier(&seen); /* all queries are there; dirty and flags are 0 */
    watch_read(&seen, TILE_Q);
#else
    __local const ushort *q_tile = 0;
    query_parts q_all[TILES];
    load_queries(q_all, k_tile, x, &queries, &seen, here.first, rows_end,
        warp_first, flip);
#endif

    out_parts o[TILES];
    float top[SLOTS], sum[SLOTS];
    UNROLL
    for (int t = 0; t < TILES; ++t)
        UNROLL
        for (int d = 0; d < V_TILES; ++d)
            UNROLL
            for (int n = 0; n < MMA_PARTS; ++n)
                o[t][d][n] = 0.0f;
    UNROLL
    for (int row = 0; row < SLOTS; ++row) {
        top[row] = -INFINITY;
        sum[row] = 0.0f;
    }

    uint4 k_waiting[SHARE(BC, QK_COLUMNS)], v_waiting[SHARE(BC, V_COLUMNS)];
    shown next = {begin, 0, 0, 0};
#if MASK
    next = next_shown(next, m, &seen, here.first, begin, end);
#endif
    watch_fill(&seen, TILE_K);
    if (next.j < end)
        fetch_tile(k_tile, k_waiting, &keys, next.j, end, 0);

    while (next.j < end) {
        b.j = next.j;
        b.masked = next.acts;
        b.banded = b.j + BC > end ||
                   !band_is_full(&p, &it, here.first, here.last, b.j, BC);
#if MASK && MASK == STORAGE_BOOL
        b.bits = bits + next.turn * MASK_BITS;
#endif
        watch_land(&seen, TILE_K);
        land_tile(k_tile, k_waiting, 0);
        group_barrier(&seen); /* K is there; nobody reads the last V */
        watch_fill(&seen, TILE_V);
        fetch_tile(v_tile, v_waiting, &values, b.j, end, 1);

        score_parts s[TILES];
        watch_read(&seen, TILE_K);
        score_block(s, x, q_all, q_tile, warp_row, k_tile);

        const int partly = b.banded || b.masked;
#if GUARDED
        if (partly)
            look_for_nonfinite(&dirty, &values, b.j, end);
#endif
        watch_land(&seen, TILE_V);
        land_tile(v_tile, v_waiting, 1);
        group_barrier(&seen); /* V is there; nobody reads this K */
#if GUARDED
        const int guarded = partly && dirty == b.j + 1;
#endif
#if MASK
        next = next_shown(next, m, &seen, here.first, b.j + BC, end);
#else
        next.j += BC;
#endif
        watch_fill(&seen, TILE_K);
        if (next.j < end)
            fetch_tile(k_tile, k_waiting, &keys, next.j, end, 0);

        const int ruled = SOFTCAP || ALIBI || partly;
        if (ruled)
            UNROLL
            for (int t = 0; t < TILES; ++t)
                UNROLL
                for (int c = 0; c < KEY_TILES; ++c)
                    apply_rules(s[t][c], x, &b, &p, m,
                        warp_first + t * MMA_ROWS, b.j + 16 * c);
        softmax_block(s, o, top, sum, x, ruled ? 1.0f : b.unit);
#if GUARDED
        if (guarded) {
            watch_land(&seen, TILE_V);
            put_finite(v_tile, &values, b.j, end);
            group_barrier(&seen); /* V is there without what is not finite */
        }
#endif
        watch_read(&seen, TILE_V);
        sum_block(o, s, x, v_tile);
#if GUARDED
        if (guarded)
            UNROLL
            for (int t = 0; t < TILES; ++t)
                add_nonfinite(
                    o[t], &values, &b, m, x, warp_first + t * MMA_ROWS);
#endif
    }

    /* Not before the loop, which has no register to spare for it. */
    out += p.out.offset + here.b * p.out.batch + here.h * p.out.head +
           it.q_first * p.out.row;
    UNROLL
    for (int t = 0; t < TILES; ++t) {
        const int i0 = warp_first + t * MMA_ROWS;
        float factor[MMA_SLOTS];
        UNROLL
        for (int slot = 0; slot < MMA_SLOTS; ++slot)
            factor[slot] =
                factor_of(lse, sinks, &p, &here, top[t * MMA_SLOTS + slot],
                    mma_row_sum(x, sum[t * MMA_SLOTS + slot]),
                    i0 + mma_row(x.lane, slot), mma_column(x.lane, 0) == 0);
        store_out(out, o[t], factor, &p, &here, x, i0, seen.wrong);
    }
}
