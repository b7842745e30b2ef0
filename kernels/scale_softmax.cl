/* SPDX-License-Identifier: Apache-2.0
 *
 * scale_softmax.cl - from products to weights, a row of scores at a time.
 *
 *     s_ij  = scale (q_i . k_j), then the rules of rules.clh
 *     top_i = max_j s_ij                              over the keys j seen
 *     sum_i = sum_j exp(s_ij - top_i) [+ exp(sink - top_i)]
 *     p_ij  = exp(s_ij - top_i) / sum_i, then dropout
 *     lse_i = top_i + ln(sum_i)
 *
 * Scale, rules, exclusion, maximum, exponential and division in one kernel: a
 * group of G items takes one row, each item every G-th key.  The products are
 * replaced by weights, and by -1 where the key is hidden, which tells
 * weighted_sum not to look at it; a score of -inf is a hidden one.  The
 * maximum passes over NaN, and the sum does not: a row with one is NaN.
 *
 *   s        (rows, Lk)  per item and head, rows from first_row on
 *   lse      (Lq)        per item and head
 *   weights  (Lq, Lk)    per item and head, at the stage that is asked for
 *
 * Compile-time parameters             values                          default
 *   those of rules.clh                                                required
 *   STAGE  what goes to weights     STAGE_NONE, _WEIGHTS, _FINAL, ... required
 *   WT     storage of weights         STORAGE_...                     required
 *   G      items of a group           powers of two to 256            1
 *
 * Check with: -DG=64 -DBAND=1 -DITEMS=1 -DPACKED=1 -DSOFTCAP=1 -DALIBI=1 -DSINKS=1 -DDROPOUT=1 -DMASK=4 -DLSE=1 -DSTAGE=1 -DWT=2
 * Check with: -DG=256 -DBAND=0 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=0 -DLSE=0 -DSTAGE=0 -DWT=1
 * Check with: -DG=1 -DBAND=1 -DITEMS=0 -DPACKED=0 -DSOFTCAP=0 -DALIBI=0 -DSINKS=0 -DDROPOUT=0 -DMASK=3 -DLSE=1 -DSTAGE=3 -DWT=3
 */
#define VW 1
#include "params.h"
#include "lanes.clh"
#include "visible.clh"
#include "rules.clh"

#define STAGE_NONE 0
#define STAGE_WEIGHTS 1
#define STAGE_FINAL 2
#define STAGE_SCALED 3
#define STAGE_CAPPED 4
#if !defined(STAGE) || !defined(WT)
#error "scale_softmax.cl: define STAGE and WT"
#endif
#ifndef G
#define G 1
#endif
#if MASK
typedef ELEMENT(MASK) mask_element;
#else
typedef uchar mask_element;
#endif

/* What all items hand in, folded in a fixed order; every item gets it. */
static inline float group_max(__local float *part, int lane, float mine)
{
    part[lane] = mine;
    for (int half_size = G / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE); /* the upper half is written */
        if (lane < half_size && part[lane + half_size] > part[lane])
            part[lane] = part[lane + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* part[0] is the result */
    const float all = part[0];
    barrier(CLK_LOCAL_MEM_FENCE); /* and read, before part is used again */
    return all;
}

static inline float group_sum(__local float *part, int lane, float mine)
{
    part[lane] = mine;
    for (int half_size = G / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE); /* the upper half is written */
        if (lane < half_size)
            part[lane] += part[lane + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE); /* part[0] is the result */
    return part[0];
}

#if DROPOUT
/* A dropped weight is multiplied by 0, so that its NaN stays. */
static inline float drop(
    const attention_params *p, float weight, int i, int j, int z)
{
    uint word[4];
    rule_words(word, p, j, i, z);
    return weight * (word[j % 4] <= p->dropout_last ? 0.0f : p->dropout_keep);
}
#endif

/* What the stage holds of keys that no item has. */
#define BEYOND_KEYS (STAGE == STAGE_FINAL ? -INFINITY : 0.0f)

__kernel __attribute__((reqd_work_group_size(G, 1, 1)))
void scale_softmax(__global float *s, __global float *lse,
                   __global ELEMENT(WT) *weights,
                   __global const mask_element *mask,
                   __global const float *slopes, __global const float *sinks,
                   __global const int *items, const attention_params p)
{
    __local float part[G];

    const int lane = (int)get_local_id(0);
    const int row = p.first[0] + (int)get_group_id(0);
    const int z = p.first[2] + (int)get_group_id(2);
    const int b = z / p.heads, h = z % p.heads;
    const int i = p.first_row + row;
    const item it = item_of(&p, items, b);
    const int own = i < it.rows; /* else the row sees nothing */
    const int keys = own ? it.keys : 0;

    s += p.scores.offset + b * p.scores.batch + h * p.scores.head +
         row * p.scores.row;
    weights += p.weights.offset + b * p.weights.batch + h * p.weights.head +
               i * p.weights.row;
#if MASK
    mask += p.mask.offset + b * p.mask.batch + h * p.mask.head +
            i * p.mask.row;
#endif

    float top = -INFINITY;
    for (int j = lane; j < keys; j += G) {
        float score = p.scale * s[j];
        if (STAGE == STAGE_SCALED)
            STORE(WT, score, weights + j);
#if SOFTCAP
        score = p.softcap * tanh(score / p.softcap);
#endif
        if (STAGE == STAGE_CAPPED)
            STORE(WT, score, weights + j);
#if ALIBI
        const int beyond = near(j - i - it.diagonal);
#endif
#if ALIBI
        score = rule_alibi(score, slopes[p.slopes_offset + h], beyond);
#endif
#if MASK
        score = rule_mask(
            score, MASK_AT(MASK, mask + (long)j * p.mask_column), 1.0f);
#endif
#if BAND
        score = rule_band(score, band_of(&p, &it), j - i);
#endif
        if (STAGE == STAGE_FINAL)
            STORE(WT, score, weights + j);
        s[j] = score;
        top = V_MAX(score, top);
    }
    top = group_max(part, lane, top);
#if SINKS
    const float sink = sinks[p.sinks_offset + h];
    top = V_MAX(sink, top);
#endif
    const float base = top == -INFINITY ? 0.0f : top;

    float sum = 0.0f;
    for (int j = lane; j < keys; j += G) {
        const float e = exp(s[j] - base);
        s[j] = s[j] == -INFINITY ? -1.0f : e;
        sum += e;
    }
    sum = group_sum(part, lane, sum);
#if SINKS
    sum += exp(sink - base);
#endif

    for (int j = lane; j < keys; j += G) {
        const int hidden = s[j] < 0.0f;
        float weight = hidden ? 0.0f : s[j] / sum;
#if DROPOUT
        weight = hidden ? 0.0f : drop(&p, weight, i, j, z);
#endif
        s[j] = hidden ? -1.0f : weight;
        if (STAGE == STAGE_WEIGHTS)
            STORE(WT, weight, weights + j);
    }
    if (STAGE != STAGE_NONE)
        for (int j = keys + lane; j < p.Lk; j += G)
            STORE(WT, BEYOND_KEYS, weights + j);

    if (LSE && lane == 0 && i < rows_written(&p, &it))
        lse[p.lse.offset + b * p.lse.batch + h * p.lse.head +
            (it.q_first + i) * p.lse.row] =
            sum == 0.0f ? -INFINITY : top + log(sum);
}
