/* SPDX-License-Identifier: Apache-2.0
 *
 * reference.c - attention in double precision, row by row as the formula says:
 * the judge of all kernels.
 */
#include "reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "convert.h"
#include "error.h"
#include "operand.h"
#include "philox.h"
#include "problem.h"

enum {
    MOST_COLUMNS = 512 /* of D and Dv, see problem.h */
};

/* One row of the scores, and all that its steps look at. */
typedef struct row {
    const clattn_attention *a;
    const clattn_attention_args *args;
    double scale;
    size_t b, h, i;    /* i within the item */
    item_rows queries; /* of item b */
    item_rows keys;
    int64_t offset; /* row i stands on key i + offset */
    double sink;    /* -inf: none, which adds the same to the denominator */
    double *score;  /* Lk values: scores, in the end weights */
    bool *hidden;   /* Lk values: this key is not looked at */
} row;

/* ---- Which keys remain --------------------------------------------------- */

static bool beyond_diagonal(const row *r, size_t j)
{
    const clattn_attention *a = r->a;
    const int64_t ahead = (int64_t)j - ((int64_t)r->i + r->offset);

    return (a->causal && ahead > 0) ||
           (a->window_left >= 0 && ahead < -(int64_t)a->window_left) ||
           (a->window_right >= 0 && ahead > (int64_t)a->window_right);
}

static size_t mask_place(const row *r, size_t j)
{
    const size_t *stride = r->a->mask.stride;
    return r->args->mask.offset + r->b * stride[0] + r->h * stride[1] +
           r->i * stride[2] + j * stride[3];
}

/* What the mask adds to the score; -inf hides the key. */
static double mask_value(const row *r, size_t j)
{
    const int32_t dtype = r->a->mask.dtype;
    double value = 0.0;

    if (dtype == 0)
        return 0.0;
    if (dtype == CLATTN_BOOL) {
        const unsigned char *may_attend = r->args->mask.host;
        return may_attend[mask_place(r, j)] ? 0.0 : -(double)INFINITY;
    }
    convert_load(&value, r->args->mask.host, dtype, mask_place(r, j), 1);
    return value;
}

static void hide_keys(row *r)
{
    for (size_t j = 0; j < r->a->Lk; ++j)
        r->hidden[j] = j >= r->keys.count || beyond_diagonal(r, j) ||
                       mask_value(r, j) == -(double)INFINITY;
}

/* ---- Scores -------------------------------------------------------------- */

static size_t kv_head(const row *r)
{
    return r->h / (r->a->Hq / r->a->Hkv);
}

/* Row i of item b and head h, as `columns` doubles. */
static void load_row(double *to, const clattn_tensor *t, const clattn_input *at,
    size_t b, size_t h, size_t i, size_t columns)
{
    const size_t first = at->offset + b * t->batch + h * t->head + i * t->row;
    convert_load(to, at->host, t->dtype, first, columns);
}

/* s_ij = scale * (q_i . k_j) */
static void scale_scores(row *r)
{
    /* These two show what the keys would have scored that are hidden. */
    const bool all =
        r->a->flags & (CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED);
    const size_t D = r->a->D;
    double q[MOST_COLUMNS], k[MOST_COLUMNS];

    if (r->keys.count > 0)
        load_row(
            q, &r->a->q, &r->args->q, r->b, r->h, r->queries.start + r->i, D);
    for (size_t j = 0; j < r->a->Lk; ++j) {
        r->score[j] = 0.0;
        if (j >= r->keys.count || (r->hidden[j] && !all))
            continue;
        load_row(
            k, &r->a->k, &r->args->k, r->b, kv_head(r), r->keys.start + j, D);
        double dot = 0.0;
        for (size_t d = 0; d < D; ++d)
            dot += q[d] * k[d];
        r->score[j] = r->scale * dot;
    }
}

/* s_ij = softcap * tanh(s_ij / softcap) */
static void cap_scores(row *r)
{
    const double softcap = (double)r->a->softcap;

    for (size_t j = 0; softcap > 0.0 && j < r->keys.count; ++j)
        r->score[j] = softcap * tanh(r->score[j] / softcap);
}

/* s_ij -= slope_h * |j - i - offset|, then s_ij += mask_ij; -inf if hidden. */
static void bias_scores(row *r)
{
    const float *slopes = r->a->alibi_slopes;

    for (size_t j = 0; j < r->a->Lk; ++j) {
        if (r->hidden[j]) {
            r->score[j] = -(double)INFINITY;
            continue;
        }
        const double ahead = (double)((int64_t)j - (int64_t)r->i - r->offset);
        if (slopes != NULL)
            r->score[j] -= (double)slopes[r->h] * fabs(ahead);
        r->score[j] += mask_value(r, j);
    }
}

/* ---- Softmax and dropout ------------------------------------------------- */

/* p_ij = exp(s_ij - lse_i), by way of the row's maximum so that nothing
   overflows; returns lse_i.  A NaN among the scores reaches every weight. */
static double softmax_scores(row *r)
{
    double top = r->sink;
    size_t remaining = 0;

    for (size_t j = 0; j < r->keys.count; ++j) {
        remaining += !r->hidden[j];
        if (r->score[j] > top)
            top = r->score[j];
    }
    double sum = remaining > 0 ? exp(r->sink - top) : 1.0;
    for (size_t j = 0; j < r->a->Lk; ++j) {
        r->score[j] = r->hidden[j] ? 0.0 : exp(r->score[j] - top);
        sum += r->score[j];
    }
    for (size_t j = 0; j < r->a->Lk; ++j)
        if (!r->hidden[j])
            r->score[j] /= sum;
    return remaining > 0 ? top + log(sum) : r->sink;
}

/* A dropped weight is multiplied by 0, so that its NaN stays. */
static void drop_weights(row *r)
{
    const double p = (double)r->a->dropout_p;
    const double limit = p * 4294967296.0;
    const uint64_t seed = r->args->dropout_seed;
    const uint64_t stream = r->args->dropout_offset + r->b * r->a->Hq + r->h;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t word[4] = {0};

    for (size_t j = 0; p > 0.0 && j < r->keys.count; ++j) {
        const uint32_t counter[4] = {(uint32_t)(j / 4), (uint32_t)r->i,
            (uint32_t)stream, (uint32_t)(stream >> 32)};
        if (j % 4 == 0)
            philox4x32_10(word, counter, key);
        r->score[j] *= (double)word[j % 4] < limit ? 0.0 : 1.0 / (1.0 - p);
    }
}

/* ---- Results ------------------------------------------------------------- */

/* Fill this row of `weights`, if `stage` is what the caller asked for. */
static void return_stage(const row *r, uint32_t stage)
{
    const clattn_tensor *t = &r->a->weights;
    const clattn_output *at = &r->args->weights;

    if ((r->a->flags & stage) != 0)
        convert_store(at->host, t->dtype,
            at->offset + r->b * t->batch + r->h * t->head + r->i * t->row,
            r->score, r->a->Lk);
}

static void return_lse(const row *r, double lse)
{
    const clattn_tensor *t = &r->a->lse;
    const clattn_output *at = &r->args->lse;
    const size_t i = r->queries.start + r->i;

    if ((r->a->flags & CLATTN_RETURN_LSE) != 0)
        convert_store(at->host, t->dtype,
            at->offset + r->b * t->batch + r->h * t->head + i * t->row, &lse,
            1);
}

/* out_i = sum_j p_ij v_j over the keys that remain */
static void return_out(const row *r)
{
    const clattn_tensor *t = &r->a->out;
    const clattn_output *at = &r->args->out;
    const size_t i = r->queries.start + r->i, Dv = r->a->Dv;
    double out[MOST_COLUMNS] = {0.0}, v[MOST_COLUMNS];

    for (size_t j = 0; j < r->keys.count; ++j) {
        if (r->hidden[j])
            continue;
        load_row(
            v, &r->a->v, &r->args->v, r->b, kv_head(r), r->keys.start + j, Dv);
        for (size_t d = 0; d < Dv; ++d)
            out[d] += r->score[j] * v[d];
    }
    convert_store(at->host, t->dtype,
        at->offset + r->b * t->batch + r->h * t->head + i * t->row, out, Dv);
}

/* `owned`: the row belongs to the item and so has a place in out and lse. */
static void attend_row(row *r, bool owned)
{
    hide_keys(r);
    scale_scores(r);
    return_stage(r, CLATTN_RETURN_SCALED);
    cap_scores(r);
    return_stage(r, CLATTN_RETURN_CAPPED);
    bias_scores(r);
    return_stage(r, CLATTN_RETURN_SCORES);
    const double lse = softmax_scores(r);
    drop_weights(r);
    return_stage(r, CLATTN_RETURN_WEIGHTS);
    if (owned) {
        return_lse(r, lse);
        return_out(r);
    }
}

/* ---- The batch ----------------------------------------------------------- */

static int64_t diagonal_offset(const row *r)
{
    if (r->a->diagonal == CLATTN_BOTTOM_RIGHT)
        return (int64_t)r->keys.count - (int64_t)r->queries.count;
    if (r->a->diagonal == CLATTN_TOP_LEFT)
        return 0;
    if ((r->a->flags & CLATTN_DIAGONAL_OFFSETS) != 0)
        return operand_int(&r->args->diagonal_offsets, r->b);
    return r->a->diagonal_offset;
}

static double sink_of(const row *r)
{
    double sink = -(double)INFINITY;

    if ((r->a->flags & CLATTN_SINKS) != 0)
        convert_load(&sink, r->args->sinks.host, CLATTN_F32,
            r->args->sinks.offset + r->h, 1);
    return sink;
}

/* All rows of one head.  Those past the item's length see no key; in a packed
   batch they only have a place in `weights`. */
static void attend_head(row *r)
{
    const bool packed = (r->a->flags & CLATTN_QUERY_STARTS) != 0;
    const size_t key_count = r->keys.count;

    r->sink = sink_of(r);
    for (r->i = 0; r->i < r->a->Lq; ++r->i) {
        const bool within = r->i < r->queries.count;
        r->keys.count = within ? key_count : 0;
        attend_row(r, within || !packed);
    }
    r->keys.count = key_count;
}

double reference_scale(const clattn_attention *given)
{
    return given->has_scale ? (double)given->scale
                            : 1.0 / sqrt((double)given->D);
}

clattn_status reference_attention(const clattn_attention *complete,
    const clattn_attention_args *args, double scale, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const clattn_attention *a = complete;
    row r = {.a = a, .args = args, .scale = scale};

    /* However many items or keys there are, without rows they are nothing. */
    if (a->B == 0 || a->Hq == 0 || a->Lq == 0)
        return CLATTN_OK;
    /* Lk may be 0, and calloc of 0 NULL. */
    r.score = calloc(a->Lk > 0 ? a->Lk : 1, sizeof *r.score);
    r.hidden = calloc(a->Lk > 0 ? a->Lk : 1, sizeof *r.hidden);
    if (r.score == NULL || r.hidden == NULL)
        TRY(error_set(error, CLATTN_NO_MEMORY,
            "no memory for one row of %zu scores", a->Lk));

    for (r.b = 0; r.b < a->B; ++r.b) {
        r.queries = operand_query_rows(a, args, r.b);
        r.keys = operand_key_rows(a, args, r.b);
        r.offset = diagonal_offset(&r);
        for (r.h = 0; r.h < a->Hq; ++r.h)
            attend_head(&r);
    }

cleanup:
    free(r.score);
    free(r.hidden);
    return status;
}

clattn_status clattn_attention_reference(const clattn_attention *attention,
    const clattn_attention_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_attention complete;
    clattn_attention_args taken;
    operand list[MAX_OPERANDS];

    TRY(problem_attention(&complete, attention, false, true, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    const size_t count = operands_of_attention(list, &complete, &taken);
    TRY(operands_check(list, count, OPERANDS_ON_HOST, error));
    TRY(operands_check_arrays(&complete, &taken, error));
    TRY(reference_attention(
        &complete, &taken, reference_scale(attention), error));
    status = error_none(error);

cleanup:
    return status;
}
