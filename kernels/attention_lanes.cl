/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_lanes.cl - out_i = sum_j exp(s_ij - lse_i) v_j without the matrix
 * of scores: online softmax over blocks of keys, query rows in vector lanes.
 *
 * An item of work owns NV vectors of VW query rows.  Their S^T, P^T and O^T
 * tiles are vectors along the rows, so maximum, exponential and sum are
 * vertical, and k and v are read from row-major memory as scalars that serve
 * all lanes.  With LS = 1 that item is the whole group and its scratch is
 * private: the shape for CPUs.  With LS items a group shares each block of k
 * and v in local memory: the shape for anything else.
 *
 *     s_ij  = scale q_i.k_j, then the rules of rules.clh; in units of ln 2
 *     top   = max(top, max_j s_ij)
 *     sum_i = sum_i 2^(old top - top) + sum_j 2^(s_ij - top)
 *     o_i   = o_i   2^(old top - top) + sum_j 2^(s_ij - top) v_j
 *     out_i = o_i / sum_i,   lse_i = ln 2 top + ln sum_i
 *
 * A block that no row sees is passed over.  In a block that only some rows see,
 * a hidden key's weight is 0, and if its v holds NaN or infinity the product is
 * not taken at all.
 *
 * Compile-time parameters                              values       default
 *   D, DV          columns of q and k; of v and out    1 to 512     required
 *   QT, KT, VT, OT storage of q, k, v, out             STORAGE_...  required
 *   those of rules.clh                                              required
 *   VW             lanes                               1, 4, 8, 16  required
 *   LS             work-items of a group               1 to 256     required
 *   NV             vectors of rows of an item          1 to 4       1
 *   BC             keys of a block                     multiples of 4  32
 *   MS, MO         keys, columns of a register tile    1 to 8       4
 *
 * Check with: -DD=64 -DDV=64 -DQT=1 -DKT=1 -DVT=1 -DOT=1 -DBAND=0 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=1 -DVW=16 -DLS=1 -DNV=4
 * Check with: -DD=33 -DDV=7 -DQT=2 -DKT=3 -DVT=2 -DOT=3 -DBAND=1 -DITEMS=1 -DPACKED=1 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=1 -DMASK=4 -DLSE=1 -DVW=8 -DLS=1 -DNV=2
 * Check with: -DD=64 -DDV=64 -DQT=2 -DKT=2 -DVT=2 -DOT=2 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=1 -DMASK=2 -DLSE=0 -DVW=1 -DLS=64 -DBC=8
 */
#include "params.h"
#include "lanes.clh"
#include "visible.clh"
#include "rules.clh"
#include "tiles.clh"
#include "stand.clh"
#include "blocks.clh"

/* Rows that will be written, and the queries of the group that a driver most
   likely runs next on this thread. */
static inline void fetch_ahead(__global const out_element *out,
    __global const q_element *q, const attention_params *p, int first)
{
    const int next = BAND ? first - GROUP_ROWS : first + GROUP_ROWS;
    fetch_to_write(out + first * p->out.row, p->out.row * (long)sizeof *out,
        GROUP_ROWS, DV * (int)sizeof *out);
    fetch_later(q + next * p->q.row, p->q.row * (long)sizeof *q, GROUP_ROWS,
        D * (int)sizeof *q);
}

__kernel __attribute__((reqd_work_group_size(LS, 1, 1)))
void attention_lanes(__global out_element *out, __global float *lse,
    __global const q_element *restrict q, __global const k_element *restrict k,
    __global const v_element *restrict v,
    __global const mask_element *restrict mask, __global const float *slopes,
    __global const float *sinks, __global const int *items,
    const attention_params p)
{
    SCRATCH V q_t[D * NV * LS], o_t[DV * NV * LS], s_t[BC * NV * LS];
#if STAGE_K
    SCRATCH float k_staged[BC * D];
#endif
#if STAGE_V
    SCRATCH float v_staged[BC * DV];
#endif

    const int lane = LS > 1 ? (int)get_local_id(0) : 0;
    const stand at = stand_of(&p, items);
    const item it = at.it;
    const int b = at.b, h = at.h;
    const int first = at.first, last = at.last, written = at.written;
#if LS == 1
    if (first >= written)
        return;
#endif

    q += p.q.offset + b * p.q.batch + h * p.q.head + it.q_first * p.q.row;
    k += p.k.offset + b * p.k.batch + h / p.group * p.k.head +
         it.k_first * p.k.row;
    v += p.v.offset + b * p.v.batch + h / p.group * p.v.head +
         it.k_first * p.v.row;
    out += p.out.offset + b * p.out.batch + h * p.out.head +
           it.q_first * p.out.row;
#if MASK
    mask += p.mask.offset + b * p.mask.batch + h * p.mask.head;
#endif

    const int own = first + lane * OWN_ROWS;
    const float unit = unit_of(&p);
    V top[NV], sum[NV], rescale[NV];
    UNROLL
    for (int w = 0; w < NV; ++w) {
        top[w] = (V)(-INFINITY);
        sum[w] = (V)(0.0f);
    }
    for (int c = 0; c < DV * NV; ++c)
        o_t[AT(c)] = (V)(0.0f);

    /* Plain constants: PoCL 3.1 goes wrong where the bounds of a loop with
       barriers live in variables whose address was taken. */
    int seen_begin, seen_end;
    keys_seen(&seen_begin, &seen_end, &p, &it, first, last);
    const int begin = seen_begin & ~3; /* random words come in fours */
    const int end = seen_end;
    const int half_end = lower_half_end(&p, &it, own);
    if (begin < end)
        load_queries(q_t, q, p.q.row, sign_of(&p), own, last, lane);

    fetch_ahead(out, q, &p, first);
    for (int j = begin; j < end; j += BC) {
        const int n = min(BC, end - j);
        const int upper = clamp(half_end - j, 0, n);
        const int banded = !band_is_full(&p, &it, first, last, j, n);
        int masked = 0;
#if MASK
        __global const mask_element *mask_block = mask + j * p.mask_column;
        const enum visible visible =
            mask_visible(mask_block, &p, own, last, n);
        if (LS == 1 && visible == NOTHING_VISIBLE)
            continue;
        masked = visible == PARTLY_VISIBLE;
#elif RULED
        __global const mask_element *mask_block = mask;
#endif
        __global const k_element *k_block = k + j * p.k.row;
        __global const v_element *v_block = v + j * p.v.row;
#if LS > 1
        barrier(CLK_LOCAL_MEM_FENCE); /* the block before is used up */
#endif
#if STAGE_K
        stage_k(k_staged, k_block, p.k.row, n, lane);
        K_SPACE const float *keys = k_staged;
        const long key_row = D;
#else
        __global const float *keys = k_block;
        const long key_row = p.k.row;
#endif
#if STAGE_V
        stage_v(v_staged, v_block, p.v.row, n, lane);
        V_SPACE const float *values = v_staged;
        const long value_row = DV;
#else
        __global const float *values = v_block;
        const long value_row = p.v.row;
#endif
#if LS > 1
        barrier(CLK_LOCAL_MEM_FENCE); /* this block is complete */
#endif
        V most[NV];
        UNROLL
        for (int w = 0; w < NV; ++w)
            most[w] = (V)(-INFINITY);
        score_block(s_t, most, q_t, keys, key_row,
            v_block + (STAGE_V ? BC * p.v.row : 0),
            p.v.row * (long)sizeof *v, DV * (int)sizeof *v, n, upper, lane);
#if RULED
        const block here = {own, last, j, n, banded, masked,
            ALIBI ? slopes[p.slopes_offset + h] : 0.0f};
        const int ruled = SOFTCAP || ALIBI || banded || masked;
        if (ruled)
            apply_rules(s_t, most, top, &p, &it, &here, unit, mask_block, lane);
#else
        const int ruled = 0;
#endif
        if (!ruled)
            scale_most(most, top, unit);
        int guarded = banded || masked;
#if LS == 1
        guarded = guarded && has_nonfinite(values, value_row, n);
#endif
        softmax_block(s_t, most, top, sum, rescale, ruled ? 1.0f : unit, n,
            guarded, lane);
#if DROPOUT
        drop_block(s_t, &p, own, j, n, at.z, lane);
#endif
        if (guarded)
            sum_block(o_t, s_t, values, value_row, rescale, n, upper, 1,
                lane);
        else
            sum_block(o_t, s_t, values, value_row, rescale, n, upper, 0,
                lane);
    }

    V factor[NV];
    finish_rows(factor, lse, sinks, &p, &at, top, sum, own);
    store_out(out, p.out.row, o_t, DV, factor, own, min(written, it.rows),
        lane);
    clear_rows(out, p.out.row, max(own, it.rows), min(own + OWN_ROWS, written));
}
