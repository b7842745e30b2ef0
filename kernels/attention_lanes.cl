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
#include "rules.clh"

#if !defined(D) || !defined(DV) || !defined(QT) || !defined(KT) ||             \
    !defined(VT) || !defined(OT) || !defined(LS)
#error "attention_lanes.cl: define D, DV, QT, KT, VT, OT and LS"
#endif
#ifndef NV
#define NV 1
#endif
#ifndef BC
#define BC 32
#endif
#ifndef MS
#define MS 4
#endif
#ifndef MO
#define MO 4
#endif

/* Rows of an item of work and of a group. */
#define OWN_ROWS (NV * VW)
#define GROUP_ROWS (OWN_ROWS * LS)

/* Scratch is private to the one item, or interleaved in local memory so that
   neighbours touch neighbouring banks. */
#if LS == 1
#define SCRATCH __private
#define AT(index) (index)
#else
#define SCRATCH __local
#define AT(index) ((index) * LS + lane)
#endif

/* k and v are used where they lie if they are f32 and nobody shares them. */
#define STAGE_K (LS > 1 || KT != STORAGE_F32)
#define STAGE_V (LS > 1 || VT != STORAGE_F32)
#if STAGE_K
#define K_SPACE SCRATCH
#else
#define K_SPACE __global
#endif
#if STAGE_V
#define V_SPACE SCRATCH
#else
#define V_SPACE __global
#endif

typedef ELEMENT(QT) q_element;
typedef ELEMENT(KT) k_element;
typedef ELEMENT(VT) v_element;
typedef ELEMENT(OT) out_element;
#if MASK
typedef ELEMENT(MASK) mask_element;
#else
typedef uchar mask_element;
#endif

/* What the rules change in a score before it can be compared. */
#define SCORE_RULES (SOFTCAP || ALIBI || MASK)

/* ---- Moving rows ----------------------------------------------------------- */

DEFINE_LOAD_PART(load_part_q, QT)

/* q_t[column][vector]: VW rows from row i on, transposed and scaled.  Rows past
   the last are copies of it. */
static inline void load_queries(SCRATCH V *q_t, __global const q_element *q,
    long row_stride, int i, int last, float unit, int lane)
{
    for (int v = 0; v < NV; ++v) {
        for (int c = 0; c < D; c += VW) {
            V r[VW];
            UNROLL
            for (int n = 0; n < VW; ++n) {
                __global const q_element *at =
                    q + min(i + v * VW + n, last) * row_stride + c;
                r[n] = c + VW <= D ? LOAD_ROW(QT, at)
                                   : load_part_q(at, D - c);
            }
            transpose(r);
            UNROLL
            for (int n = 0; n < VW; ++n)
                if (c + n < D)
                    q_t[AT((c + n) * NV + v)] = r[n] * unit;
        }
    }
}

/* The first `count` of a row of columns; VW at a time where they fit. */
static inline void store_part_out(__global out_element *at, V x, int count)
{
    if (count >= VW) {
        STORE_ROW(OT, x, at);
        return;
    }
    lanes_of u;
    u.v = x;
    for (int n = 0; n < count; ++n)
        STORE(OT, u.f[n], at + n);
}

/* out rows i to before `end` from o_t, each times its factor. */
static inline void store_rows(__global out_element *out, long row_stride,
    SCRATCH const V *o_t, const V *factor, int i, int end, int lane)
{
    for (int v = 0; v < NV; ++v) {
        for (int c = 0; c < DV; c += VW) {
            V r[VW];
            UNROLL
            for (int n = 0; n < VW; ++n)
                r[n] = c + n < DV ? o_t[AT((c + n) * NV + v)] * factor[v]
                                  : (V)(0.0f);
            transpose(r);
            UNROLL
            for (int n = 0; n < VW; ++n)
                if (i + v * VW + n < end)
                    store_part_out(out + (i + v * VW + n) * row_stride + c,
                        r[n], DV - c);
        }
    }
}

/* n rows of `columns` elements into dense f32 scratch. */
#define DEFINE_STAGE(NAME, T, COLUMNS)                                         \
    static inline void NAME(SCRATCH float *to, __global const ELEMENT(T) * from, \
        long row_stride, int n, int lane)                                      \
    {                                                                          \
        for (int j = 0; j < n; ++j) {                                          \
            __global const ELEMENT(T) *row = from + j * row_stride;            \
            int c = lane * VW;                                                 \
            for (; c + VW <= (COLUMNS); c += VW * LS)                          \
                *(SCRATCH V_unaligned *)(to + j * (COLUMNS) + c) =             \
                    LOAD_ROW(T, row + c);                                      \
            for (int x = c; x < (COLUMNS) && x < c + VW; ++x)                  \
                to[j * (COLUMNS) + x] = LOAD(T, row + x);                      \
        }                                                                      \
    }
#if STAGE_K
DEFINE_STAGE(stage_k, KT, D)
#endif
#if STAGE_V
DEFINE_STAGE(stage_v, VT, DV)
#endif

/* Called from two places with another constant each, they would stay functions
   and their constants variables. */
#define INLINE static inline __attribute__((always_inline))

/* ---- Products -------------------------------------------------------------- */

/* s_t[key][vector] of `keys` (at most MS) keys: a register tile of q k^T.  most
   becomes the largest of itself and the scores, passing over NaN. */
INLINE void score_tile(SCRATCH V *s_t, V *most, SCRATCH const V *q_t,
    K_SPACE const float *k, long k_row, const int keys, int lane)
{
    V sum[MS][NV];
    UNROLL
    for (int j = 0; j < MS; ++j)
        UNROLL
        for (int v = 0; v < NV; ++v)
            sum[j][v] = (V)(0.0f);
    for (int d = 0; d < D; ++d) {
        V q[NV];
        UNROLL
        for (int v = 0; v < NV; ++v)
            q[v] = q_t[AT(d * NV + v)];
        UNROLL
        for (int j = 0; j < MS; ++j)
            if (j < keys) {
                const V key = (V)(k[j * k_row + d]);
                UNROLL
                for (int v = 0; v < NV; ++v)
                    sum[j][v] = fma(key, q[v], sum[j][v]);
            }
    }
    UNROLL
    for (int j = 0; j < MS; ++j)
        if (j < keys)
            UNROLL
            for (int v = 0; v < NV; ++v) {
                s_t[AT(j * NV + v)] = sum[j][v];
                most[v] = V_MAX(sum[j][v], most[v]);
            }
}

/* Scores of n keys; the last tile overlaps the one before, rather than being
   small. */
INLINE void score_block(SCRATCH V *s_t, V *most, SCRATCH const V *q_t,
    K_SPACE const float *k, long k_row, int n, int lane)
{
    if (n < MS) {
        for (int j = 0; j < n; ++j)
            score_tile(s_t + j * NV * LS, most, q_t, k + j * k_row, k_row, 1,
                lane);
        return;
    }
    for (int j = 0; j < n; j += MS) {
        const int at = min(j, n - MS);
        score_tile(s_t + at * NV * LS, most, q_t, k + at * k_row, k_row, MS,
            lane);
    }
}

/* o_t = o_t rescale + p v, for `columns` (at most MO) columns of v.  guarded: a
   negative weight marks a key whose v is not to be looked at. */
INLINE void sum_tile(SCRATCH V *o_t, SCRATCH const V *p_t,
    V_SPACE const float *v, long v_row, const V *rescale, int n,
    const int columns, const int guarded, int lane)
{
    V sum[MO][NV];
    UNROLL
    for (int c = 0; c < MO; ++c)
        UNROLL
        for (int w = 0; w < NV; ++w)
            sum[c][w] = c < columns ? o_t[AT(c * NV + w)] * rescale[w]
                                    : (V)(0.0f);
    for (int j = 0; j < n; ++j) {
        V p[NV];
        UNROLL
        for (int w = 0; w < NV; ++w)
            p[w] = p_t[AT(j * NV + w)];
        UNROLL
        for (int c = 0; c < MO; ++c)
            if (c < columns) {
                const V value = (V)(v[j * v_row + c]);
                UNROLL
                for (int w = 0; w < NV; ++w) {
                    const V more = fma(value, p[w], sum[c][w]);
                    if (guarded)
                        sum[c][w] = p[w] < 0.0f ? sum[c][w] : more;
                    else
                        sum[c][w] = more;
                }
            }
    }
    UNROLL
    for (int c = 0; c < MO; ++c)
        if (c < columns)
            UNROLL
            for (int w = 0; w < NV; ++w)
                o_t[AT(c * NV + w)] = sum[c][w];
}

INLINE void sum_block(SCRATCH V *o_t, SCRATCH const V *p_t,
    V_SPACE const float *v, long v_row, const V *rescale, int n,
    const int guarded, int lane)
{
    int c = 0;
    for (; c + MO <= DV; c += MO)
        sum_tile(o_t + c * NV * LS, p_t, v + c, v_row, rescale, n, MO, guarded,
            lane);
    for (; c < DV; ++c)
        sum_tile(o_t + c * NV * LS, p_t, v + c, v_row, rescale, n, 1, guarded,
            lane);
}

/* ---- The mask, a block at a time ------------------------------------------- */

enum visible {
    NOTHING_VISIBLE,
    PARTLY_VISIBLE,
    ALL_VISIBLE
};

#if MASK
/* count of VW keys, from p on. */
static inline V load_mask_row(__global const mask_element *p, int count)
{
#if VW > 1
    if (count >= VW)
        return LOAD_ROW(MASK, p);
#endif
    lanes_of u;
    u.v = (V)(0.0f);
    for (int n = 0; n < count && n < VW; ++n)
        u.f[n] = MASK_AT(MASK, p + n);
    return u.v;
}

/* The mask of VW rows from i on and VW keys from p on: m[key], rows in the
   lanes.  Nothing past `count` keys or the last row is read. */
static inline void load_mask(V *m, __global const mask_element *p,
    const attention_params *a, int i, int last, int count)
{
    if (a->mask.row == 0) { /* all rows alike */
        for (int n = 0; n < count && n < VW; ++n)
            m[n] = (V)(MASK_AT(MASK, p + n * a->mask_column));
        return;
    }
    UNROLL
    for (int n = 0; n < VW; ++n) {
        __global const mask_element *row = p + min(i + n, last) * a->mask.row;
        m[n] = a->mask_column == 0 ? (V)(MASK_AT(MASK, row))
                                   : load_mask_row(row, count);
    }
    transpose(m);
}

/* What a block of rows i to last and n keys shows; an additive mask is always
   looked at key by key. */
static inline enum visible mask_visible(__global const mask_element *p,
    const attention_params *a, int i, int last, int n)
{
#if MASK == STORAGE_BOOL && LS == 1
    const int keys = a->mask_column == 0 ? 1 : n;
    uchar16 some = 0, every = 255;
    for (int r = i; r <= (a->mask.row == 0 ? i : last); ++r) {
        __global const uchar *row = p + r * a->mask.row;
        int j = 0;
        for (; j + 16 <= keys; j += 16) {
            const uchar16 m = vload16(0, row + j);
            some |= m;
            every = m < every ? m : every;
        }
        for (; j < keys; ++j) {
            some.s0 |= row[j];
            every.s0 = row[j] < every.s0 ? row[j] : every.s0;
        }
    }
    if (!any(some != (uchar16)(0)))
        return NOTHING_VISIBLE;
    return all(every != (uchar16)(0)) ? ALL_VISIBLE : PARTLY_VISIBLE;
#else
    return PARTLY_VISIBLE;
#endif
}
#endif

/* ---- Rules and softmax ------------------------------------------------------ */

/* What a block needs to know of where it lies. */
typedef struct block {
    int i, last;        /* the item's own first row, and the last that exists */
    int j, n;           /* first key, keys */
    int banded, masked; /* some keys are hidden from some rows */
    float slope;
} block;

#if BAND || SOFTCAP || ALIBI || MASK
/* most starts again from top: what a rule hides does not count. */
static inline void apply_rules(SCRATCH V *s_t, V *most, const V *top,
    const attention_params *p, const item *it, const block *b,
    __global const mask_element *mask, int lane)
{
    for (int v = 0; v < NV; ++v) {
        most[v] = top[v];
        const int i = b->i + v * VW;
        const VI beyond0 = (VI)(near(b->j - i - it->diagonal)) - LANES;
        for (int j = 0; j < b->n; j += VW) {
#if MASK
            V m[VW];
            if (b->masked)
                load_mask(m, mask + j * p->mask_column, p, i, b->last,
                    b->n - j);
#endif
            for (int w = 0; w < VW && j + w < b->n; ++w) {
                const VI beyond = beyond0 + (j + w);
                V s = s_t[AT((j + w) * NV + v)];
#if SOFTCAP
                s = rule_softcap(s, p->softcap * LOG2E, 1.0f / p->softcap);
#endif
#if ALIBI
                s = rule_alibi(s, b->slope * LOG2E, beyond);
#endif
#if MASK
                if (b->masked)
                    s = rule_mask(s, m[w], LOG2E);
#endif
#if BAND
                if (b->banded)
                    s = rule_band(p, s, beyond);
#endif
                s_t[AT((j + w) * NV + v)] = s;
                most[v] = V_MAX(s, most[v]);
            }
        }
    }
}
#endif

/* The block's weights in place of its scores, not yet divided by the sum;
   guarded: -1 where the key is hidden.  top becomes most, and *rescale what
   older sums and outputs are to be multiplied with. */
INLINE void softmax_block(SCRATCH V *s_t, const V *most, V *top, V *sum,
    V *rescale, int n, const int guarded, int lane)
{
    V base[NV];
    UNROLL
    for (int v = 0; v < NV; ++v) {
        base[v] = most[v] == -INFINITY ? (V)(0.0f) : most[v];
        rescale[v] = exp2_negative(top[v] - base[v]);
        sum[v] *= rescale[v];
        top[v] = most[v];
    }
    for (int j = 0; j < n; ++j)
        UNROLL
        for (int v = 0; v < NV; ++v) {
            const V s = s_t[AT(j * NV + v)];
            const V p = exp2_negative(s - base[v]);
            sum[v] += p;
            s_t[AT(j * NV + v)] =
                guarded ? (s == -INFINITY ? (V)(-1.0f) : p) : p;
        }
}

#if DROPOUT
static inline void drop_block(SCRATCH V *p_t, const attention_params *p, int i,
    int j0, int n, int z, int lane)
{
    for (int v = 0; v < NV; ++v)
        for (int j = 0; j < n; j += 4) {
            VU word[4];
            rule_words(word, p, j0 + j, (VI)(i + v * VW) + LANES, z);
            for (int w = 0; w < 4 && j + w < n; ++w) {
                SCRATCH V *at = &p_t[AT((j + w) * NV + v)];
                const V kept =
                    *at * (word[w] <= p->dropout_last ? (V)(0.0f)
                                                      : (V)(p->dropout_keep));
                *at = *at < 0.0f ? *at : kept;
            }
        }
}
#endif

#if LS == 1
/* Whether n rows of v hold a NaN or an infinity. */
static inline int has_nonfinite(V_SPACE const float *v, long v_row, int n)
{
    V trace[2] = {(V)(0.0f), (V)(0.0f)}; /* two, to hide the latency */
    float rest = 0.0f;
    for (int j = 0; j < n; ++j) {
        V_SPACE const float *row = v + j * v_row;
        int c = 0;
        for (; c + 2 * VW <= DV; c += 2 * VW) {
            trace[0] += *(V_SPACE const V_unaligned *)(row + c) * 0.0f;
            trace[1] += *(V_SPACE const V_unaligned *)(row + c + VW) * 0.0f;
        }
        for (; c < DV; ++c)
            rest += row[c] * 0.0f;
    }
    trace[0] += trace[1];
#if VW > 1
    return any(trace[0] != trace[0]) || rest != rest;
#else
    return trace[0] != trace[0] || rest != rest;
#endif
}
#endif

/* ---- The kernel ------------------------------------------------------------- */

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
    const int z = p.first[2] + (int)get_group_id(2);
    const int b = z / p.heads, h = z % p.heads;
    const item it = item_of(&p, items, b);

    /* With a band later rows tend to see more: they go first. */
    int row_block = p.first[0] + (int)get_group_id(0);
    if (BAND)
        row_block = (p.Lq - 1) / GROUP_ROWS - row_block;
    const int first = row_block * GROUP_ROWS;
    const int written = rows_written(&p, &it);
#if LS == 1
    if (first >= written)
        return;
#endif
    const int last = min(first + GROUP_ROWS, max(it.rows, 1)) - 1;

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
    if (begin < end)
        load_queries(q_t, q, p.q.row, own, last,
            SOFTCAP ? p.scale : p.scale * LOG2E, lane);

    for (int j = begin; j < end; j += BC) {
        const int n = min(BC, end - j);
        const int banded = !band_is_full(&p, &it, first, last, j, n);
        int masked = 0;
#if MASK
        __global const mask_element *mask_block = mask + j * p.mask_column;
        const enum visible visible =
            mask_visible(mask_block, &p, own, last, n);
        if (LS == 1 && visible == NOTHING_VISIBLE)
            continue;
        masked = visible == PARTLY_VISIBLE;
#elif BAND || SOFTCAP || ALIBI
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
            most[w] = top[w];
        score_block(s_t, most, q_t, keys, key_row, n, lane);
#if BAND || SOFTCAP || ALIBI || MASK
        const block at = {own, last, j, n, banded, masked,
            ALIBI ? slopes[p.slopes_offset + h] : 0.0f};
        if (SOFTCAP || ALIBI || banded || masked)
            apply_rules(s_t, most, top, &p, &it, &at, mask_block, lane);
#endif
        int guarded = banded || masked;
#if LS == 1
        guarded = guarded && has_nonfinite(values, value_row, n);
#endif
        softmax_block(s_t, most, top, sum, rescale, n, guarded, lane);
#if DROPOUT
        drop_block(s_t, &p, own, j, n, z, lane);
#endif
        if (guarded)
            sum_block(o_t, s_t, values, value_row, rescale, n, 1, lane);
        else
            sum_block(o_t, s_t, values, value_row, rescale, n, 0, lane);
    }

    UNROLL
    for (int w = 0; w < NV; ++w) {
        /* Rows past the item's own see nothing, whatever their copies saw. */
        const VI i = (VI)(own + w * VW) + LANES;
        const V own_top = i < it.rows ? top[w] : (V)(-INFINITY);
        V own_sum = i < it.rows ? sum[w] : (V)(0.0f);
        V all_top = own_top;
        V scale = (V)(1.0f);
#if SINKS
        const V sink = (V)(sinks[p.sinks_offset + h] * LOG2E);
        all_top = V_MAX(own_top, sink);
        const V base = all_top == -INFINITY ? (V)(0.0f) : all_top;
        scale = exp2_negative(own_top - base);
        own_sum = own_sum * scale + exp2_negative(sink - base);
#endif
        rescale[w] = own_sum == 0.0f ? (V)(0.0f) : scale / own_sum;
#if LSE
        lanes_of u;
        u.v = own_sum == 0.0f ? (V)(-INFINITY)
                              : all_top * LN2 + log(own_sum);
        UNROLL
        for (int n = 0; n < VW; ++n) {
            const int row = own + w * VW + n;
            if (row < written)
                lse[p.lse.offset + b * p.lse.batch + h * p.lse.head +
                    (it.q_first + row) * p.lse.row] = u.f[n];
        }
#endif
    }
    store_rows(out, p.out.row, o_t, rescale, own, min(written, it.rows), lane);
    for (int row = max(own, it.rows); row < min(own + OWN_ROWS, written);
         ++row)
        for (int c = 0; c < DV; ++c)
            STORE(OT, 0.0f, out + row * p.out.row + c);
}
