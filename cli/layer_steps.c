/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_steps.c - the steps of a layer that has run.
 */
#include "layer_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "steps.h"

/* (L, Hkv, columns) as (L, Hq, columns), each key head as often as it is
   read. */
static float *ungroup(
    const float *grouped, const layer_run *run, size_t columns, failure *f)
{
    const model_layer *m = run->model;
    const size_t group = m->Hq / m->Hkv;
    float *values = floats_make(run->L * m->Hq * columns, "the steps", f);
    for (size_t i = 0; values && i < run->L * m->Hq; i++) {
        const size_t row = i / m->Hq;
        const size_t head = i % m->Hq / group;
        memcpy(values + i * columns, grouped + (row * m->Hkv + head) * columns,
            columns * sizeof *values);
    }
    return values;
}

/* The first key that row `i` of an item with `length` keys does not see. */
static long first_hidden(const layer_run *run, size_t i, size_t length)
{
    long end = (long)length;
    if (run->diagonal != CLATTN_DIAGONAL_UNSET) {
        const long offset =
            run->diagonal == CLATTN_BOTTOM_RIGHT ? end - (long)run->L : 0;
        const long next = (long)i + offset + 1;
        end = next < end ? next : end;
    }
    return end < 0 ? 0 : end;
}

static long *all_first_hidden(const layer_run *run, size_t item, failure *f)
{
    long *first = calloc(run->L ? run->L : 1, sizeof *first);
    if (!first)
        fail(f, "no memory for the steps of %zu words", run->L);
    const size_t length = run->lengths ? (size_t)run->lengths[item] : run->L;
    for (size_t i = 0; first && i < run->L; i++)
        first[i] = first_hidden(run, i, length);
    return first;
}

static const float *item_of(const npy_array *array, size_t B, size_t item)
{
    return (const float *)array->data + item * (array->count / B);
}

static unsigned biases_of(const model_layer *m)
{
    static const unsigned BITS[MODEL_PARTS] = {
        STEPS_BIAS_Q, STEPS_BIAS_K, STEPS_BIAS_V, STEPS_BIAS_O};
    unsigned biases = 0;
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++)
        biases |= m->part[i].b ? BITS[i] : 0u;
    return biases;
}

static void describe(steps *s, const layer_run *run, size_t item)
{
    const model_layer *m = run->model;
    *s = (steps){
        .L = run->L,
        .Lk = run->L,
        .E = m->E,
        .H = m->Hq,
        .D = m->D,
        .Dv = m->Dv,
        .Ey = m->Ey,
        .x = item_of(run->x, run->B, item),
        .q = item_of(&run->q, run->B, item),
        .weights = item_of(&run->weights, run->B, item),
        .context = item_of(layer_run_context(run), run->B, item),
        .biases = biases_of(m),
        .causal = run->lengths || run->diagonal != CLATTN_DIAGONAL_UNSET,
        .no_scale = run->no_scale,
        .scale = run->no_scale ? 1.0 : 1.0 / sqrt((double)m->D),
    };
    if (m->part[MODEL_O].w)
        s->output = item_of(&run->y, run->B, item);
}

bool layer_steps_print(const layer_run *run, FILE *to, size_t item, size_t head,
    const words *tokens, failure *f)
{
    steps s;
    describe(&s, run, item);
    const model_layer *m = run->model;
    float *k = ungroup(item_of(&run->k, run->B, item), run, m->D, f);
    float *v = ungroup(item_of(&run->v, run->B, item), run, m->Dv, f);
    long *first = all_first_hidden(run, item, f);
    const bool done = k && v && first;
    if (done) {
        s.k = k;
        s.v = v;
        s.head = head;
        s.first_hidden = first;
        s.queries = s.keys = tokens;
        steps_print(to, &s);
    }
    free(k);
    free(v);
    free(first);
    return done;
}
