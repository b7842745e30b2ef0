/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_load.c - the files of `clattn attend`, read and compared.
 */
#include <math.h>
#include <stdlib.h>

#include <clattn/clattn.h>

#include "arrays.h"
#include "attend_data.h"
#include "attend_storage.h"

/* ---- Sizes -------------------------------------------------------------- */

static attend_sizes sizes_of(const npy_array *a, enum attend_layout layout)
{
    const size_t *last = a->size + a->rank;
    attend_sizes s = {.B = 1, .H = 1, .L = last[-2], .D = last[-1]};
    if (layout == ATTEND_THD) {
        s.H = last[-2];
        s.L = s.rows = last[-3];
        return s;
    }
    if (a->rank == 4)
        s.B = last[-4];
    if (a->rank < 3)
        return s;
    const bool rows_first = layout == ATTEND_BLHD;
    s.H = rows_first ? last[-2] : last[-3];
    s.L = rows_first ? last[-3] : last[-2];
    return s;
}

static bool equal(const attend_request *r, int one, size_t a, int other,
    size_t b, const char *what, failure *f)
{
    if (a == b)
        return true;
    return fail(f, "%s has %zu %s, but %s has %zu", r->input[one], a, what,
        r->input[other], b);
}

static bool check_sizes(
    const attend_data *d, const attend_request *r, failure *f)
{
    enum {
        Q = ATTEND_Q,
        K = ATTEND_K,
        V = ATTEND_V
    };
    const attend_sizes *s = d->size;
    for (int i = K; i < ATTEND_INPUTS; i++)
        if (!equal(r, Q, d->input[Q].rank, i, d->input[i].rank, "axes", f) ||
            !equal(r, Q, s[Q].B, i, s[i].B, "items", f))
            return false;
    if (!equal(r, K, s[K].H, V, s[V].H, "heads", f) ||
        !equal(r, K, s[K].L, V, s[V].L, "rows", f) ||
        !equal(r, Q, s[Q].D, K, s[K].D, "columns", f))
        return false;
    if (s[Q].H && (s[K].H == 0 || s[Q].H % s[K].H))
        return fail(f,
            "%s has %zu heads, but the %zu heads of %s must divide them",
            r->input[Q], s[Q].H, s[K].H, r->input[K]);
    return true;
}

static bool load_inputs(attend_data *d, const attend_request *r, failure *f)
{
    const bool packed = r->layout == ATTEND_THD;
    for (int i = ATTEND_Q; i < ATTEND_INPUTS; i++) {
        if (!storage_read(&d->input[i], r->input[i], r->two_bytes, r->dtype,
                packed ? 3 : 2, packed ? 3 : 4, f))
            return false;
        d->size[i] = sizes_of(&d->input[i], r->layout);
    }
    return check_sizes(d, r, f);
}

/* ---- Lists -------------------------------------------------------------- */

/* Cumulative offsets ascend within the rows; *longest is the most rows of an
   item. */
static bool load_starts(
    integers *list, size_t *longest, size_t rows, const char *whose, failure *f)
{
    int32_t before = 0;
    if (!integers_read(list, f))
        return false;
    const char *name = option_name(list->id);
    if (list->count == 0)
        return fail(f,
            "%s %s has no values, but one more than there are items is needed",
            name, list->text);
    *longest = 0;
    for (size_t i = 0; i < list->count; i++) {
        const int32_t at = list->value[i];
        if (at < before || (size_t)at > rows)
            return fail(f,
                "%s %s: value %d at %zu is not from %d, the one before it, to "
                "%zu, the rows of %s",
                name, list->text, (int)at, i, (int)before, rows, whose);
        if (i > 0 && (size_t)(at - before) > *longest)
            *longest = (size_t)(at - before);
        before = at;
    }
    return true;
}

static bool load_packed(attend_data *d, attend_request *r, failure *f)
{
    attend_sizes *s = d->size;
    if (!load_starts(&r->cu_query, &s[ATTEND_Q].L, s[ATTEND_Q].rows,
            r->input[ATTEND_Q], f) ||
        !load_starts(&r->cu_key, &s[ATTEND_K].L, s[ATTEND_K].rows,
            r->input[ATTEND_K], f))
        return false;
    if (r->cu_query.count != r->cu_key.count)
        return fail(f,
            "--cu-query %s has %zu values, but --cu-key %s has %zu: both have "
            "one more than there are items",
            r->cu_query.text, r->cu_query.count, r->cu_key.text,
            r->cu_key.count);
    s[ATTEND_V].L = s[ATTEND_K].L;
    for (int i = ATTEND_Q; i < ATTEND_INPUTS; i++)
        s[i].B = r->cu_query.count - 1;
    return true;
}

/* Lengths of a packed batch shorten its items. */
static bool check_within(
    const integers *lengths, const integers *starts, failure *f)
{
    for (size_t b = 0; lengths->text && b < lengths->count; b++) {
        const int32_t most = starts->value[b + 1] - starts->value[b];
        if (lengths->value[b] > most)
            return fail(f,
                "%s %s: value %d of item %zu is not from 0 to %d, its rows by "
                "%s",
                option_name(lengths->id), lengths->text, (int)lengths->value[b],
                b, (int)most, option_name(starts->id));
    }
    return true;
}

static bool load_lengths(
    integers *list, const attend_sizes *s, const char *whose, failure *f)
{
    const int32_t most = s->L < INT32_MAX ? (int32_t)s->L : INT32_MAX;
    return integers_load(list, s->B, 0, most, whose, f);
}

static bool load_items(attend_data *d, attend_request *r, failure *f)
{
    const attend_sizes *s = d->size;
    if (r->layout == ATTEND_THD && !load_packed(d, r, f))
        return false;
    if (!load_lengths(&r->query_lengths, &s[ATTEND_Q], r->input[ATTEND_Q], f) ||
        !load_lengths(&r->lengths, &s[ATTEND_K], r->input[ATTEND_K], f))
        return false;
    if (r->layout == ATTEND_THD &&
        (!check_within(&r->query_lengths, &r->cu_query, f) ||
            !check_within(&r->lengths, &r->cu_key, f)))
        return false;
    /* One offset serves all items. */
    return !attend_offsets_listed(r) ||
           integers_load(&r->offsets, s[ATTEND_Q].B, INT32_MIN, INT32_MAX,
               r->input[ATTEND_Q], f);
}

/* ---- Heads -------------------------------------------------------------- */

/*
 * The slopes that models with ALiBi are trained with: for n heads, a power of
 * two, 2^(-8/n), 2^(-16/n), ... 2^-8.  Otherwise those of the power of two
 * below, then every second one of twice that many heads.  Press, Smith, Lewis,
 * "Train Short, Test Long", 2022, section 3 and its released models.
 */
static bool make_usual_slopes(numbers *slopes, size_t heads, failure *f)
{
    size_t n = 1;
    while (n <= heads / 2)
        n *= 2;
    slopes->value = calloc(heads ? heads : 1, sizeof *slopes->value);
    if (!slopes->value)
        return fail(f, "no memory for the slopes of %zu heads", heads);
    slopes->count = heads;
    for (size_t h = 0; h < heads; h++) {
        const double power = h < n
                                 ? 8.0 * (double)(h + 1) / (double)n
                                 : 4.0 * (double)(2 * (h - n) + 1) / (double)n;
        slopes->value[h] = (float)exp2(-power);
    }
    return true;
}

static bool load_heads(const attend_data *d, attend_request *r, failure *f)
{
    const char *whose = r->input[ATTEND_Q];
    const size_t heads = d->size[ATTEND_Q].H;
    const bool made = r->usual_slopes ? make_usual_slopes(&r->slopes, heads, f)
                                      : numbers_load(&r->slopes, heads,
                                            r->two_bytes, whose, f);
    return made && numbers_load(&r->sinks, heads, r->two_bytes, whose, f);
}

/* ---- Mask --------------------------------------------------------------- */

static bool check_mask(const attend_data *d, const char *path, failure *f)
{
    char shape[200];
    char whole_shape[200];
    const npy_array *m = &d->mask;
    const size_t whole[4] = {d->size[ATTEND_Q].B, d->size[ATTEND_Q].H,
        d->size[ATTEND_Q].L, d->size[ATTEND_K].L};
    bool fits = m->rank >= 1 && m->rank <= 4;
    for (size_t i = 0; fits && i < m->rank; i++)
        fits = m->size[i] == 1 || m->size[i] == whole[4 - m->rank + i];
    if (fits)
        return true;
    npy_shape_text(shape, m->rank, m->size);
    return fail(f,
        "--mask %s: shape %s does not fit the scores (B, Hq, Lq, Lk) = %s: 1 "
        "to 4 axes are allowed, the last ones of these, each of the same size "
        "or 1",
        path, shape, npy_shape_text(whole_shape, 4, whole));
}

static bool load_mask(attend_data *d, const attend_request *r, failure *f)
{
    if (!r->mask)
        return true;
    if (!npy_read_mask(&d->mask, r->mask, r->two_bytes, f))
        return false;
    if (d->mask.dtype == CLATTN_F64 && !npy_to_f32(&d->mask, r->mask, f))
        return false;
    return check_mask(d, r->mask, f);
}

/* ---- All ---------------------------------------------------------------- */

static bool check_bf16(
    const attend_data *d, const attend_request *r, failure *f)
{
    bool found = d->mask.was_bf16 || r->slopes.was_bf16 || r->sinks.was_bf16;
    for (int i = ATTEND_Q; i < ATTEND_INPUTS; i++)
        found = found || d->input[i].was_bf16;
    return array_check_bf16(found, r->two_bytes, f);
}

bool attend_load(attend_data *d, attend_request *r, failure *f)
{
    return load_inputs(d, r, f) && load_items(d, r, f) && load_heads(d, r, f) &&
           load_mask(d, r, f) && check_bf16(d, r, f);
}

void attend_data_free(attend_data *d)
{
    for (int i = ATTEND_Q; i < ATTEND_INPUTS; i++)
        npy_free(&d->input[i]);
    npy_free(&d->mask);
    npy_free(&d->out);
    npy_free(&d->matrix);
    npy_free(&d->lse);
}
