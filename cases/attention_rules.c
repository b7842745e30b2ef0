/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_rules.c - which keys a row of a trial sees and what is added to
 * their scores, said once more than the library says it.
 */
#include <math.h>
#include <string.h>

#include "attention_trial.h"

static int32_t get_int(const arena *a, size_t slot, size_t b)
{
    int32_t value;
    memcpy(&value, arena_at(a, slot, 0, 0, 0, b), sizeof value);
    return value;
}

static size_t rows_of(const arena *a, bool lengths, size_t length_slot,
    bool starts, size_t start_slot, size_t b, size_t L)
{
    if (lengths)
        return (size_t)get_int(a, length_slot, b);
    if (starts)
        return (
            size_t)(get_int(a, start_slot, b + 1) - get_int(a, start_slot, b));
    return L;
}

size_t attention_trial_keys(const attention_trial *trial, size_t b)
{
    const attention_case *c = &trial->of;
    return rows_of(&trial->memory, c->key_lengths, SLOT_KEY_LENGTHS,
        c->key_starts, SLOT_KEY_STARTS, b, c->size.Lk);
}

size_t attention_trial_queries(const attention_trial *trial, size_t b)
{
    const attention_case *c = &trial->of;
    return rows_of(&trial->memory, c->query_lengths, SLOT_QUERY_LENGTHS,
        c->query_starts, SLOT_QUERY_STARTS, b, c->size.Lq);
}

int64_t attention_trial_offset(const attention_trial *trial, size_t b)
{
    if (trial->of.item_offsets)
        return get_int(&trial->memory, SLOT_OFFSETS, b);
    if (trial->of.diagonal == CLATTN_BOTTOM_RIGHT)
        return (int64_t)attention_trial_keys(trial, b) -
               (int64_t)attention_trial_queries(trial, b);
    return trial->of.diagonal == CLATTN_OFFSET ? trial->of.diagonal_offset : 0;
}

/* How far key j lies beyond the one on which row i stands. */
static int64_t ahead_of(
    const attention_trial *trial, size_t b, size_t i, size_t j)
{
    return (int64_t)j - (int64_t)i - attention_trial_offset(trial, b);
}

static bool in_band(const attention_case *c, int64_t ahead)
{
    if (c->causal && ahead > 0)
        return false;
    if (!c->windowed)
        return true;
    return (c->window_left < 0 || ahead >= -(int64_t)c->window_left) &&
           (c->window_right < 0 || ahead <= c->window_right);
}

static double mask_at(
    const attention_trial *trial, size_t b, size_t h, size_t i, size_t j)
{
    const size_t *size = trial->memory.tensor[SLOT_MASK].size;
    return arena_get(&trial->memory, SLOT_MASK, size[0] > 1 ? b : 0,
        size[1] > 1 ? h : 0, size[2] > 1 ? i : 0, size[3] > 1 ? j : 0);
}

bool attention_trial_sees(
    const attention_trial *trial, size_t b, size_t h, size_t i, size_t j)
{
    const attention_case *c = &trial->of;
    if (i >= attention_trial_queries(trial, b) ||
        j >= attention_trial_keys(trial, b))
        return false;
    if ((c->causal || c->windowed) && !in_band(c, ahead_of(trial, b, i, j)))
        return false;
    if (c->mask_dtype == 0)
        return true;
    const double mask = mask_at(trial, b, h, i, j);
    return c->mask_dtype == CLATTN_BOOL ? mask != 0 : mask != -(double)INFINITY;
}

double attention_trial_bias(const attention_trial *trial, size_t b, size_t h,
    size_t i, size_t j, double *magnitude)
{
    const attention_case *c = &trial->of;
    double alibi = 0, mask = 0;
    if (c->alibi)
        alibi =
            -(double)trial->slopes[h] * fabs((double)ahead_of(trial, b, i, j));
    if (c->mask_dtype != 0 && c->mask_dtype != CLATTN_BOOL)
        mask = mask_at(trial, b, h, i, j);
    *magnitude = fabs(alibi) + fabs(mask);
    return alibi + mask;
}

double attention_trial_scale(const attention_trial *trial)
{
    return trial->of.has_scale ? (double)trial->of.scale
                               : 1 / sqrt((double)trial->of.size.D);
}

bool attention_case_shows_hidden(const attention_case *c)
{
    return (c->returns & (CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED)) != 0;
}
