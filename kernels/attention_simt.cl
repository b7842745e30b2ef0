/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_simt.cl - out_i = sum_j exp(s_ij - lse_i) v_j without the matrix of
 * scores, for GPUs: online softmax over blocks of keys, scores and outputs in
 * the registers of a group's items.
 *
 * A group of WX x WY items owns BR query rows and walks over BC keys at a time;
 * see simt.clh for who owns what of a tile.  Through local memory pass DC
 * columns of q and k, then, over them, the weights, and beside these KC keys of
 * v; there the items of a row tell each other their largest scores too.
 *
 *     s_ij  = scale q_i.k_j, then the rules of rules.clh; in units of ln 2
 *     top   = max(top, max_j s_ij)
 *     sum_i = sum_i 2^(old top - top) + sum_j 2^(s_ij - top)
 *     o_i   = o_i   2^(old top - top) + sum_j 2^(s_ij - top) v_j
 *     out_i = o_i / sum_i,   lse_i = ln 2 top + ln sum_i
 *
 * Keys that no row sees by band and lengths are passed over.  In a block that
 * only some rows see, the weight of a hidden key is -0, and where v is not
 * finite such keys are passed over one by one.
 *
 *   out, q    (B, Hq, Lq, Dv), (B, Hq, Lq, D)      by strides
 *   k, v      (B, Hkv, Lk, D), (B, Hkv, Lk, Dv)    by strides
 *   lse       (B, Hq, Lq), mask (B, Hq, Lq, Lk)    by strides
 *   slopes, sinks  (Hq);  items: the table that items.cl makes
 *
 * Compile-time parameters                              values       default
 *   D, DV          columns of q and k; of v and out    1 to 512     required
 *   QT, KT, VT, OT storage of q, k, v, out             STORAGE_...  required
 *   those of rules.clh                                              required
 *   BR, BC         rows of a group, keys of a block    multiples of 32, 32
 *                                                      WY, of KC
 *   WX, WY         items across keys, across rows      4, 8, 16     8, 8
 *   KC             keys of v at a time                 multiples of WX  WX
 *   DC             columns of q and k at a time        multiples of 4   4
 *
 * Check with: -DD=64 -DDV=64 -DQT=1 -DKT=1 -DVT=1 -DOT=1 -DBAND=0 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=1 -DBR=128 -DBC=64 -DWX=8 -DWY=16 -DKC=16 -DDC=16
 * Check with: -DD=33 -DDV=7 -DQT=2 -DKT=3 -DVT=2 -DOT=3 -DBAND=1 -DITEMS=1 -DPACKED=1 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=1 -DMASK=4 -DLSE=1
 * Check with: -DD=128 -DDV=128 -DQT=3 -DKT=2 -DVT=3 -DOT=2 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=2 -DLSE=0 -DBR=64 -DBC=64 -DWX=16 -DWY=8 -DKC=16 -DDC=32
 */
#define VW 1
#include "params.h"
#include "lanes.clh"
#include "visible.clh"
#include "rules.clh"

#if !defined(D) || !defined(DV) || !defined(QT) || !defined(KT) ||             \
    !defined(VT) || !defined(OT)
#error "attention_simt.cl: define D, DV, QT, KT, VT and OT"
#endif
#ifndef BR
#define BR 32
#endif
#ifndef BC
#define BC 32
#endif
#ifndef WX
#define WX 8
#endif
#ifndef WY
#define WY 8
#endif
#ifndef KC
#define KC WX
#endif
#ifndef DC
#define DC 4
#endif
#if BR % WY || BC % KC || KC % WX || KC % 4 || DC % 4 || WX % 4
#error "attention_simt.cl: the tile's sizes do not divide one another"
#endif

/* What of a tile is an item's: columns of out as many at a time as fit best. */
#define RM (BR / WY)
#define RN (BC / WX)
#if DV % (4 * WX) == 0
#define CW 4
#elif DV % (2 * WX) == 0
#define CW 2
#else
#define CW 1
#endif
#define ON ((DV + WX * CW - 1) / (WX * CW) * CW)
#define GROUP_ROWS BR
#include "stand.clh"
#include "simt.clh"

/* Local memory in floats: strides, tiles, and what items tell each other. */
#define QK_STRIDE READ_STRIDE(DC)
#define P_STRIDE (BC % (2 * WX) == WX ? BC : BC + WX)
#define V_STRIDE (ON * WX)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define BEFORE_V LARGER((BR + BC) * QK_STRIDE, BR * P_STRIDE)
#define LOCAL_FLOATS (BEFORE_V + LARGER(KC * V_STRIDE, BR * WX))

typedef ELEMENT(QT) q_element;
typedef ELEMENT(KT) k_element;
typedef ELEMENT(VT) v_element;
typedef ELEMENT(OT) out_element;
#if MASK
typedef ELEMENT(MASK) mask_element;
#else
typedef uchar mask_element;
#endif

DEFINE_STAGE_ROWS(stage_q, QT)
DEFINE_STAGE_ROWS(stage_k, KT)
DEFINE_STAGE_ROWS(stage_v, VT)

typedef struct work_item {
    uint lid;
    int x, y; /* its first key and row in the group's tile */
} work_item;

#include "simt_weights.clh"

/* Column of out that is the item's number c. */
static inline int column_of(const work_item *own, const int c)
{
    return (own->x + WX * (c / CW)) * CW + c % CW;
}

/* n keys from j on, and how they lie to the group's rows. */
typedef struct block {
    int j, n, banded;
} block;

/* Whether all rows of tiles of q, of k and of v are there and their fours
   aligned. */
typedef struct whole_tiles {
    int q, k, v;
} whole_tiles;

/* s = q.k for the group's rows and a block of keys, of which `rows` and `keys`
   are there.  Other items may still be reading `tiles`. */
INLINE void score_block(float s[RM][RN], __local float *tiles,
    __global const q_element *q, const long q_row, const int rows,
    __global const k_element *k, const long k_row, const int keys,
    const whole_tiles *whole, const work_item *own)
{
    __local float *const k_tile = tiles + BR * QK_STRIDE;
    UNROLL
    for (int i = 0; i < RM; ++i)
        UNROLL
        for (int j = 0; j < RN; ++j)
            s[i][j] = 0.0f;
    NO_UNROLL
    for (int c = 0; c < D; c += DC) {
        const int inside = D % DC == 0 || c + DC <= D;
        barrier(CLK_LOCAL_MEM_FENCE); /* what was there is used up */
        if ((ARE_SHARED(BR, DC) & inside) && whole->q)
            stage_q_whole(tiles, QK_STRIDE, q + c, q_row, BR, DC, own->lid);
        else
            stage_q(
                tiles, QK_STRIDE, q + c, q_row, rows, D - c, BR, DC, own->lid);
        if ((ARE_SHARED(BC, DC) & inside) && whole->k)
            stage_k_whole(k_tile, QK_STRIDE, k + c, k_row, BC, DC, own->lid);
        else
            stage_k(
                k_tile, QK_STRIDE, k + c, k_row, keys, D - c, BC, DC, own->lid);
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
        add_dots(s, tiles + own->y * QK_STRIDE, k_tile + own->x * QK_STRIDE,
            QK_STRIDE, DC);
    }
}

/* A score in units of ln 2, by the rules that hide no position; beyond is j - i
   - diagonal.  Of a key past the last no mask is read. */
INLINE float rule_score(const float product, const attention_params *p,
    const float slope, const int beyond, __global const mask_element *mask,
    const int exists)
{
    float s = product * (p->scale * (SOFTCAP ? 1.0f : LOG2E));
#if SOFTCAP
    s = rule_softcap(s, p->softcap * LOG2E, 1.0f / p->softcap);
#endif
#if ALIBI
    s = rule_alibi(s, slope * LOG2E, beyond);
#endif
#if MASK
    if (exists)
        s = rule_mask(s, MASK_AT(MASK, mask), LOG2E);
#endif
    return s;
}

/* Scores of a block by all rules in place of products; -inf hides a key. */
INLINE void apply_rules(float s[RM][RN], const attention_params *p,
    const stand *at, const block *b, const float slope,
    __global const mask_element *mask, const work_item *own)
{
    const int step = b->j - at->first;
    const int beyond = near(step - at->it.diagonal);
    UNROLL
    for (int i = 0; i < RM; ++i) {
        const int row = own->y + WY * i;
        __global const mask_element *mask_row =
            mask + min(at->first + row, at->last) * p->mask.row;
        UNROLL
        for (int w = 0; w < RN; ++w) {
            const int key = own->x + WX * w;
            s[i][w] = rule_score(s[i][w], p, slope, beyond + key - row,
                mask_row + (b->j + key) * p->mask_column, key < b->n);
        }
    }
    if (b->n < BC)
        UNROLL
        for (int w = 0; w < RN; ++w)
            UNROLL
            for (int i = 0; i < RM; ++i)
                s[i][w] = own->x + WX * w < b->n ? s[i][w] : -INFINITY;
#if BAND
    const band seen = band_of(p, &at->it);
    if (b->banded)
        UNROLL
        for (int i = 0; i < RM; ++i)
            UNROLL
            for (int w = 0; w < RN; ++w)
                s[i][w] = rule_band(s[i][w], seen,
                    step + own->x - own->y + (WX * w - WY * i));
#endif
}

#if DROPOUT
/* Weights of a block of keys from j on in local memory: random words come in
   fours. */
INLINE void drop(__local float *p_tile, const attention_params *p,
    const stand *at, const int j, const work_item *own)
{
    for (uint four = own->lid; four < BR * BC / 4; four += GROUP_ITEMS) {
        const int row = (int)(four / (BC / 4));
        const int key = (int)(four % (BC / 4)) * 4;
        __local float *const weight = p_tile + row * P_STRIDE + key;
        uint word[4];
        rule_words(word, p, j + key, at->first + row, at->z);
        UNROLL
        for (int n = 0; n < 4; ++n)
            weight[n] *= word[n] <= p->dropout_last ? 0.0f : p->dropout_keep;
    }
}
#endif

/* dirty becomes `stamp` if something in the item's own part of v_tile is not
   finite: its own is what stage_v made it write. */
INLINE void look_for_nonfinite(__local const float *v_tile,
    volatile __local int *dirty, const int stamp, const work_item *own)
{
    NO_UNROLL
    for (uint four = own->lid; four < KC * V_STRIDE / 4; four += GROUP_ITEMS) {
        const int4 good = isfinite(READ4(v_tile + 4 * four));
        if (!all(good))
            atomic_xchg(dirty, stamp);
    }
}

/* add_rows, passing over keys that are hidden: their weight is -0. */
INLINE void add_seen_rows(
    float o[RM][ON], __local const float *p_own, __local const float *v_own)
{
    IN_ORDER
    for (int key = 0; key < KC; ++key) {
        float column[ON];
        read_columns(column, v_own + key * V_STRIDE);
        UNROLL
        for (int i = 0; i < RM; ++i) {
            const float weight = p_own[i * WY * P_STRIDE + key];
            if (as_int(weight) >= 0)
                UNROLL
                for (int c = 0; c < ON; ++c)
                    o[i][c] = multiply_add(weight, column[c], o[i][c]);
        }
    }
}

/* The item's weights to local memory, where all of the row's are then. */
INLINE void tell_weights(__local float *p_tile, float s[RM][RN],
    const attention_params *p, const stand *at, const block *b,
    const work_item *own)
{
    __local float *const mine = p_tile + own->y * P_STRIDE + own->x;
    UNROLL
    for (int i = 0; i < RM; ++i)
        UNROLL
        for (int w = 0; w < RN; ++w)
            mine[i * WY * P_STRIDE + WX * w] = s[i][w];
#if DROPOUT
    barrier(CLK_LOCAL_MEM_FENCE); /* all weights are there */
    drop(p_tile, p, at, b->j, own);
#endif
}

/* o += p v for a block of keys, whose weights are being told. */
INLINE void sum_block(float o[RM][ON], __local const float *p_tile,
    __local float *v_tile, __global const v_element *v, const long v_row,
    const whole_tiles *whole, const block *b, const int guarded,
    volatile __local int *dirty, const work_item *own)
{
    __local const float *const p_own = p_tile + own->y * P_STRIDE;
    __local const float *const v_own = v_tile + own->x * CW;
    NO_UNROLL
    for (int c = 0; c < BC; c += KC) {
        const int stamp = b->j + c + 1;
        barrier(CLK_LOCAL_MEM_FENCE); /* what was there is used up */
        if ((ARE_SHARED(KC, V_STRIDE) & (V_STRIDE == DV)) && whole->v)
            stage_v_whole(v_tile, V_STRIDE, v + c * v_row, v_row, KC, V_STRIDE,
                own->lid);
        else
            stage_v(v_tile, V_STRIDE, v + c * v_row, v_row, b->n - c, DV, KC,
                V_STRIDE, own->lid);
        if (guarded)
            look_for_nonfinite(v_tile, dirty, stamp, own);
        barrier(CLK_LOCAL_MEM_FENCE); /* both tiles are complete */
        if (guarded && *dirty == stamp)
            add_seen_rows(o, p_own + c, v_own);
        else
            add_rows(o, p_own + c, P_STRIDE, v_own, V_STRIDE, KC);
    }
}

/* Rows of out and lse, of which those that the item does not have see
   nothing. */
INLINE void store_rows(__global out_element *out, __global float *lse,
    __global const float *sinks, const attention_params *p, const stand *at,
    float o[RM][ON], const float top[RM], const float sum[RM],
    const work_item *own)
{
    UNROLL
    for (int i = 0; i < RM; ++i) {
        const int row = at->first + own->y + WY * i;
        const int is_own = row < at->it.rows;
        float row_lse;
        const float factor = finish_row(&row_lse, sinks, p, at,
            is_own ? top[i] : -INFINITY, is_own ? sum[i] : 0.0f);
        if (row >= at->written)
            continue;
        UNROLL
        for (int c = 0; c < ON; ++c) {
            const int column = column_of(own, c);
            if (column < DV)
                STORE(OT, is_own ? o[i][c] * factor : 0.0f,
                    out + row * p->out.row + column);
        }
#if LSE
        if (own->x == 0)
            lse[row * p->lse.row] = row_lse;
#endif
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))
void attention_simt(__global out_element *out, __global float *lse,
    __global const q_element *restrict q, __global const k_element *restrict k,
    __global const v_element *restrict v,
    __global const mask_element *restrict mask, __global const float *slopes,
    __global const float *sinks, __global const int *items,
    const attention_params p)
{
    /* Tiles of q and k, of p over them; behind them that of v, and over it
       what items tell each other. */
    __local float4 memory[LOCAL_FLOATS / 4];
    __local int dirty; /* 1 + first key of the last v_tile that is not finite */
    __local float *const tiles = (__local float *)memory;
    __local float *const v_tile = tiles + BEFORE_V, *const told = v_tile;
    const uint lid = (uint)get_local_id(0);
    const work_item own = {lid, item_x(lid), item_y(lid)};
    const stand at = stand_of(&p, items);
    const item it = at.it;
    if (lid == 0)
        dirty = 0;

    q += p.q.offset + at.b * p.q.batch + at.h * p.q.head +
         (it.q_first + at.first) * p.q.row;
    k += p.k.offset + at.b * p.k.batch + at.h / p.group * p.k.head +
         it.k_first * p.k.row;
    v += p.v.offset + at.b * p.v.batch + at.h / p.group * p.v.head +
         it.k_first * p.v.row;
    out += p.out.offset + at.b * p.out.batch + at.h * p.out.head +
           it.q_first * p.out.row;
#if LSE
    lse += p.lse.offset + at.b * p.lse.batch + at.h * p.lse.head +
           it.q_first * p.lse.row;
#endif
#if MASK
    mask += p.mask.offset + at.b * p.mask.batch + at.h * p.mask.head;
#endif

    const whole_tiles aligned = {
        FOURS_ARE_ALIGNED(q, p.q.row) && at.last - at.first + 1 == BR,
        FOURS_ARE_ALIGNED(k, p.k.row), FOURS_ARE_ALIGNED(v, p.v.row)};

    float s[RM][RN], o[RM][ON], top[RM], sum[RM];
    UNROLL
    for (int i = 0; i < RM; ++i) {
        top[i] = -INFINITY;
        sum[i] = 0.0f;
        UNROLL
        for (int c = 0; c < ON; ++c)
            o[i][c] = 0.0f;
    }

    /* Plain constants: PoCL 3.1 goes wrong where the bounds of a loop with
       barriers live in variables whose address was taken. */
    int seen_begin, seen_end;
    keys_seen(&seen_begin, &seen_end, &p, &it, at.first, at.last);
    const int begin = seen_begin & ~3; /* random words come in fours */
    const int end = seen_end;
    for (int j = begin; j < end; j += BC) {
        const int n = min(BC, end - j);
        const int banded = !band_is_full(&p, &it, at.first, at.last, j, n);
        const int guarded = MASK || banded || n < BC;
        const block here = {j, n, banded};
        const whole_tiles whole = {
            aligned.q, aligned.k && n == BC, aligned.v && n == BC};
        score_block(s, tiles, q, p.q.row, at.last - at.first + 1,
            k + j * p.k.row, p.k.row, n, &whole, &own);
        apply_rules(s, &p, &at, &here,
            ALIBI ? slopes[p.slopes_offset + at.h] : 0.0f, mask, &own);
        hidden_keys hidden;
        if (guarded)
            hidden = hidden_by(s);
        softmax_block(s, o, top, sum, told, &own);
        if (guarded)
            mark_hidden(s, hidden);
        tell_weights(tiles, s, &p, &at, &here, &own);
        sum_block(o, tiles, v_tile, v + j * p.v.row, p.v.row, &whole, &here,
            guarded, &dirty, &own);
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* the last of v is used up */
    sum_of_rows(sum, told, &own);
    store_rows(out, lse, sinks, &p, &at, o, top, sum, &own);
}
