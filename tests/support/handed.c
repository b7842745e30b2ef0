/* SPDX-License-Identifier: Apache-2.0
 *
 * handed.c - small attention problems with their numbers and their results.
 */
#include "handed.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "rows.h"
#include "run.h"

/* ---- Numbers ------------------------------------------------------------------ */

void handed_sequence(double *to, size_t count, int a, int b, int m, int s)
{
    for (size_t i = 0; i < count; ++i) {
        const int whole = (int)(((size_t)a * i + (size_t)b) % (size_t)m);
        to[i] = (double)(whole - m / 2) / s;
    }
}

void handed_fill(attention_trial *trial, size_t slot, const double *values)
{
    const arena_tensor *t = &trial->memory.tensor[slot];
    for (size_t n = 0; n < arena_elements(t); ++n) {
        const size_t row = n / t->size[3], bh = row / t->size[2];
        arena_set(&trial->memory, slot, bh / t->size[1], bh % t->size[1],
            row % t->size[2], n % t->size[3], values != NULL ? values[n] : 0.0);
    }
}

static void fill_lengths(attention_trial *trial, const double *lengths)
{
    for (size_t b = 0; b < trial->of.size.B; ++b) {
        const int32_t length = (int32_t)lengths[b];
        memcpy(arena_at(&trial->memory, SLOT_KEY_LENGTHS, 0, 0, 0, b), &length,
            sizeof length);
    }
}

void handed_create(attention_trial *trial, const handed_case *c)
{
    ck_assert(attention_trial_create(trial, &c->of));
    handed_fill(trial, SLOT_Q, c->q);
    handed_fill(trial, SLOT_K, c->k);
    handed_fill(trial, SLOT_V, c->v);
    if (c->mask != NULL)
        handed_fill(trial, SLOT_MASK, c->mask);
    if (c->key_lengths != NULL)
        fill_lengths(trial, c->key_lengths);
    arena_remember(&trial->memory);
}

/* ---- Comparing ------------------------------------------------------------------ */

static void expect(const attention_trial *trial, const handed_case *c,
    size_t slot, const double *want, const char *text)
{
    const arena_tensor *t = &trial->memory.tensor[slot];
    if (want == NULL)
        return;
    double *got = arena_dense(&trial->memory, slot);
    ck_assert_ptr_nonnull(got);
    for (size_t n = 0; n < arena_elements(t); ++n) {
        const double allowed = c->tolerance * fmax(1.0, fabs(want[n]));
        const bool same =
            isnan(want[n])
                ? isnan(got[n])
                : got[n] == want[n] || fabs(got[n] - want[n]) <= allowed;
        ck_assert_msg(same, "%s: element %zu of %s is %.9g, want %.9g", text, n,
            t->name, got[n], want[n]);
    }
    free(got);
}

const char *handed_name(const char *row)
{
    return row != NULL ? row : "of choice";
}

bool handed_check_on(
    attention_trial *trial, const handed_case *c, const char *row)
{
    clattn_error error;
    char text[ARENA_TEXT], why[ARENA_TEXT];
    trial->problem.kernel = row;
    for (int way = 0; way < RUN_WAYS; ++way) {
        snprintf(text, sizeof text, "%s, row %s, %s", c->of.about,
            handed_name(row), run_way_name(way));
        const clattn_status status = run_attention(trial, way, &error);
        if (status == CLATTN_UNSUPPORTED && row != NULL)
            return false;
        ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);
        expect(trial, c, SLOT_OUT, c->out, text);
        expect(trial, c, SLOT_LSE, c->lse, text);
        expect(trial, c, SLOT_WEIGHTS, c->weights, text);
        ck_assert_msg(arena_unharmed(&trial->memory, why), "%s: %s", text, why);
    }
    return true;
}

static int row_count(void)
{
    int count = 1; /* of choice */
    while (rows_row((size_t)count - 1) != NULL)
        ++count;
    return count;
}

int handed_count(size_t cases)
{
    return (int)cases * row_count();
}

const char *handed_row(int index)
{
    const int row = index % row_count();
    return row == 0 ? NULL : rows_row((size_t)row - 1);
}

void handed_check(const handed_case *cases, int index)
{
    const handed_case *c = &cases[index / row_count()];
    attention_trial trial;
    handed_create(&trial, c);
    handed_check_on(&trial, c, handed_row(index));
    attention_trial_destroy(&trial);
}
