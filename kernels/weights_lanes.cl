/* SPDX-License-Identifier: Apache-2.0
 *
 * weights_lanes.cl - attention that returns its weights or scores: the pieces
 * of attention_lanes.cl in two walks over the keys, with a row block's scores
 * in memory between them.
 *
 *     first   s_ij = scale q_i.k_j and the rules, kept; top_i and sum_i online
 *     then    p_ij = 2^(s_ij - top_i) / sum_i, dropout, out_i = sum_j p_ij v_j
 *
 * Because sum_i is known before p_ij is used, the weights that leave are those
 * that multiply v.  Scores of a row block lie in memory as the tiles do: key by
 * key, rows in the lanes.
 *
 * Compile-time parameters: those of attention_lanes.cl with LS = 1, and
 *   STAGE  what goes to weights  0, STAGE_WEIGHTS, STAGE_FINAL      required
 *   WT     storage of weights      STORAGE_...                      required
 *
 * Check with: -DD=64 -DDV=64 -DQT=1 -DKT=1 -DVT=1 -DOT=1 -DBAND=0 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=1 -DVW=16 -DLS=1 -DNV=4 -DSTAGE=1 -DWT=1
 * Check with: -DD=33 -DDV=7 -DQT=2 -DKT=3 -DVT=2 -DOT=3 -DBAND=1 -DITEMS=1 -DPACKED=1 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=1 -DMASK=4 -DLSE=1 -DVW=8 -DLS=1 -DNV=2 -DSTAGE=2 -DWT=3
 */
#include "params.h"
#include "lanes.clh"
#include "visible.clh"
#include "rules.clh"
#include "tiles.clh"
#include "stand.clh"
#include "blocks.clh"

#define STAGE_WEIGHTS 1
#define STAGE_FINAL 2
#if !defined(STAGE) || !defined(WT) || LS != 1
#error "weights_lanes.cl: define STAGE and WT, and LS as 1"
#endif

DEFINE_STORE_ROWS(store_weights, WT)

/* One value for keys j to before `end` of rows i to before i_end. */
static inline void fill_weights(__global ELEMENT(WT) *weights, long row_stride,
    float value, int i, int i_end, int j, int end)
{
    for (int row = i; row < i_end; ++row)
        for (int key = j; key < end; ++key)
            STORE(WT, value, weights + row * row_stride + key);
}

/* Between scratch and the memory that keeps a row block's scores. */
static inline void keep_block(__global float *kept, const V *s_t, int n)
{
    for (int x = 0; x < n * NV; ++x)
        ((__global V_unaligned *)kept)[x] = s_t[x];
}

static inline void take_block(V *s_t, __global const float *kept, int n)
{
    for (int x = 0; x < n * NV; ++x)
        s_t[x] = ((__global const V_unaligned *)kept)[x];
}

/* Weights of a block from its kept scores; guarded: -1 where hidden. */
INLINE void final_block(V *s_t, const V *top, const V *inverse, float unit,
    int n, const int guarded)
{
    V base[NV];
    UNROLL
    for (int v = 0; v < NV; ++v)
        base[v] = top[v] == -INFINITY ? (V)(0.0f) : top[v];
    settle_vast(s_t, base, unit, n, 0);
    for (int j = 0; j < n; ++j)
        UNROLL
        for (int v = 0; v < NV; ++v) {
            const V s = s_t[j * NV + v];
            const V p = exp2_negative(multiply_add(s, (V)(unit), -base[v])) *
                        inverse[v];
            /* Not p: 0 times the factor of a row of NaN is no 0. */
            s_t[j * NV + v] = s == -INFINITY ? (V)(guarded ? -1.0f : 0.0f) : p;
        }
}

/* 0 where a guarded block has -1. */
static inline void unmark_block(V *p_t, int n)
{
    for (int x = 0; x < n * NV; ++x)
        p_t[x] = p_t[x] < 0.0f ? (V)(0.0f) : p_t[x];
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void weights_lanes(__global out_element *out, __global float *lse,
    __global ELEMENT(WT) *weights, __global float *scores,
    __global const q_element *restrict q, __global const k_element *restrict k,
    __global const v_element *restrict v,
    __global const mask_element *restrict mask, __global const float *slopes,
    __global const float *sinks, __global const int *items,
    const attention_params p)
{
    V q_t[D * NV], o_t[DV * NV], s_t[BC * NV];
#if STAGE_K
    float k_staged[BC * D];
#endif
#if STAGE_V
    float v_staged[BC * DV];
#endif
    const stand at = stand_of(&p, items);
    const item it = at.it;
    const int b = at.b, h = at.h, own = at.first, last = at.last;
    const float unit = unit_of(&p), kept_unit = RULED ? 1.0f : unit;
    const int rows_end = min(own + OWN_ROWS, it.rows);

    q += p.q.offset + b * p.q.batch + h * p.q.head + it.q_first * p.q.row;
    k += p.k.offset + b * p.k.batch + h / p.group * p.k.head +
         it.k_first * p.k.row;
    v += p.v.offset + b * p.v.batch + h / p.group * p.v.head +
         it.k_first * p.v.row;
    out += p.out.offset + b * p.out.batch + h * p.out.head +
           it.q_first * p.out.row;
    weights += p.weights.offset + b * p.weights.batch + h * p.weights.head;
    scores += p.scores.offset + at.z * p.scores.head +
              (p.first[0] + (long)get_group_id(0)) * p.scores.row;
#if MASK
    mask += p.mask.offset + b * p.mask.batch + h * p.mask.head;
#endif

    V top[NV], sum[NV], factor[NV], rescale[NV], one[NV], natural[NV];
    for (int w = 0; w < NV; ++w) {
        top[w] = (V)(-INFINITY);
        sum[w] = (V)(0.0f);
        one[w] = (V)(1.0f);
        natural[w] = (V)(RULED ? LN2 : fabs(p.scale));
    }
    for (int c = 0; c < DV * NV; ++c)
        o_t[c] = (V)(0.0f);

    int begin, end;
    keys_seen(&begin, &end, &p, &it, own, last);
    begin &= ~3; /* random words come in fours */
    end = max(begin, end);
    const int half_end = lower_half_end(&p, &it, own);
    if (begin < end)
        load_queries(q_t, q, p.q.row, sign_of(&p), own, last, 0);

    for (int j = begin; j < end; j += BC) {
        const int n = min(BC, end - j), upper = clamp(half_end - j, 0, n);
        __global const k_element *k_block = k + j * p.k.row;
#if STAGE_K
        stage_k(k_staged, k_block, p.k.row, n, 0);
        const float *keys = k_staged;
        const long key_row = D;
#else
        __global const float *keys = k_block;
        const long key_row = p.k.row;
#endif
        if (STAGE == STAGE_FINAL)
            fetch_to_write(weights + own * p.weights.row + j,
                p.weights.row * (long)sizeof *weights, rows_end - own,
                n * (int)sizeof *weights);
        V most[NV];
        for (int w = 0; w < NV; ++w)
            most[w] = (V)(-INFINITY);
        score_block(s_t, most, q_t, keys, key_row, k_block + BC * p.k.row,
            p.k.row * (long)sizeof *k, D * (int)sizeof *k, n, upper, 0);
#if RULED
        const block here = {own, last, j, n,
            !band_is_full(&p, &it, own, last, j, n), MASK != 0,
            ALIBI ? slopes[p.slopes_offset + h] : 0.0f};
        apply_rules(s_t, most, top, &p, &it, &here, unit,
            mask + (MASK ? j * p.mask_column : 0), 0);
#else
        scale_most(most, top, unit);
#endif
        keep_block(scores + (long)j * OWN_ROWS, s_t, n);
        if (STAGE == STAGE_FINAL)
            store_weights(weights + j, p.weights.row, s_t, n, natural, own,
                rows_end, 0);
        softmax_block(s_t, most, top, sum, rescale, kept_unit, n, 0, 0);
    }
    finish_rows(factor, lse, sinks, &p, &at, top, sum, own);

    for (int j = begin; j < end; j += BC) {
        const int n = min(BC, end - j), upper = clamp(half_end - j, 0, n);
        __global const v_element *v_block = v + j * p.v.row;
#if STAGE_V
        stage_v(v_staged, v_block, p.v.row, n, 0);
        const float *values = v_staged;
        const long value_row = DV;
#else
        __global const float *values = v_block;
        const long value_row = p.v.row;
#endif
#if BAND || MASK
        const int guarded = has_nonfinite(values, value_row, n);
#else
        const int guarded = 0;
#endif
        if (STAGE == STAGE_WEIGHTS)
            fetch_to_write(weights + own * p.weights.row + j,
                p.weights.row * (long)sizeof *weights, rows_end - own,
                n * (int)sizeof *weights);
        take_block(s_t, scores + (long)j * OWN_ROWS, n);
        final_block(s_t, top, factor, kept_unit, n, guarded);
#if DROPOUT
        drop_block(s_t, &p, own, j, n, at.z, 0);
#endif
        if (guarded) {
            sum_block(o_t, s_t, values, value_row, one, n, upper, 1, 0);
            unmark_block(s_t, n);
        } else {
            sum_block(o_t, s_t, values, value_row, one, n, upper, 0, 0);
        }
        if (STAGE == STAGE_WEIGHTS)
            store_weights(weights + j, p.weights.row, s_t, n, one, own,
                rows_end, 0);
    }

    const float hidden = STAGE == STAGE_FINAL ? -INFINITY : 0.0f;
    if (STAGE) {
        fill_weights(weights, p.weights.row, hidden, own, rows_end, 0, begin);
        fill_weights(
            weights, p.weights.row, hidden, own, rows_end, end, p.Lk);
        fill_weights(weights, p.weights.row, hidden, max(own, it.rows),
            min(own + OWN_ROWS, p.Lq), 0, p.Lk);
    }
    store_out(out, p.out.row, o_t, DV, one, own, min(at.written, it.rows), 0);
    clear_rows(
        out, p.out.row, max(own, it.rows), min(own + OWN_ROWS, at.written));
}
