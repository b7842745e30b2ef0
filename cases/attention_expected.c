/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_expected.c - what the outputs of an attention trial must hold.
 */
#include "attention_expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "tolerance.h"

static const uint32_t STAGES = CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
                               CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED;

/* All that the reference reads, dense, and what it says of the weights. */
typedef struct dense {
    double *q, *k, *v;
    void *mask; /* f32, or bytes */
    int32_t *keys, *queries;
    double *p;       /* before dropout */
    double *dropped; /* after it; NULL: the same */
    double *bias;    /* NULL: none */
} dense;

static void free_dense(dense *in)
{
    free(in->q);
    free(in->k);
    free(in->v);
    free(in->mask);
    free(in->keys);
    free(in->queries);
    free(in->p);
    free(in->dropped);
    free(in->bias);
}

/* ---- Taking inputs ----------------------------------------------------------- */

static bool take_lengths(dense *in, const attention_trial *trial)
{
    const size_t B = trial->of.size.B;
    in->keys = calloc(B + 1, sizeof *in->keys);
    in->queries = calloc(B + 1, sizeof *in->queries);
    for (size_t b = 0; in->keys != NULL && in->queries != NULL && b < B; ++b) {
        in->keys[b] = (int32_t)attention_trial_keys(trial, b);
        in->queries[b] = (int32_t)attention_trial_queries(trial, b);
    }
    return in->keys != NULL && in->queries != NULL;
}

/* Exact in f32, whatever the mask is; bool stays bool. */
static bool take_mask(dense *in, const attention_trial *trial)
{
    const arena *a = &trial->memory;
    const arena_tensor *t = &a->tensor[SLOT_MASK];
    if (trial->of.mask_dtype == 0)
        return true;
    const size_t count = arena_elements(t);
    double *values = arena_dense(a, SLOT_MASK);
    const bool taken = values != NULL;
    in->mask = calloc(count + 1, sizeof(float));
    for (size_t n = 0; values != NULL && in->mask != NULL && n < count; ++n)
        if (t->dtype == CLATTN_BOOL)
            ((unsigned char *)in->mask)[n] = values[n] != 0;
        else
            ((float *)in->mask)[n] = (float)values[n];
    free(values);
    return taken && in->mask != NULL;
}

static bool take_bias(dense *in, const attention_trial *trial)
{
    const attention_case *c = &trial->of;
    if (!c->alibi && (c->mask_dtype == 0 || c->mask_dtype == CLATTN_BOOL))
        return true;
    const size_t Lq = c->size.Lq, Lk = c->size.Lk, Hq = c->size.Hq;
    const size_t count = c->size.B * Hq * Lq * Lk;
    in->bias = calloc(count + 1, sizeof *in->bias);
    for (size_t n = 0; in->bias != NULL && n < count; ++n) {
        const size_t j = n % Lk, i = n / Lk % Lq, bh = n / Lk / Lq;
        if (attention_trial_sees(trial, bh / Hq, bh % Hq, i, j))
            attention_trial_bias(trial, bh / Hq, bh % Hq, i, j, &in->bias[n]);
    }
    return in->bias != NULL;
}

static bool take_inputs(dense *in, const attention_trial *trial)
{
    const attention_case *c = &trial->of;
    const arena *a = &trial->memory;
    const size_t matrix = c->size.B * c->size.Hq * c->size.Lq * c->size.Lk;
    in->q = arena_dense(a, SLOT_Q);
    in->k = arena_dense(a, SLOT_K);
    in->v = arena_dense(a, SLOT_V);
    in->p = calloc(matrix + 1, sizeof *in->p);
    if (c->dropout_p > 0)
        in->dropped = calloc(matrix + 1, sizeof *in->dropped);
    return in->q != NULL && in->k != NULL && in->v != NULL && in->p != NULL &&
           !(c->dropout_p > 0 && in->dropped == NULL) &&
           take_lengths(in, trial) && take_mask(in, trial) &&
           take_bias(in, trial);
}

/* ---- The reference ------------------------------------------------------------ */

/* The trial's problem as the reference gets it: double, dense, padded. */
static clattn_attention reference_problem(
    const attention_trial *trial, uint32_t stage)
{
    const uint32_t starts = CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS;
    clattn_attention p = trial->problem;
    p.q = p.k = p.v = p.out = p.lse = p.weights = (clattn_tensor){.batch = 0};
    p.lse.dtype = CLATTN_F64;
    p.dtype = CLATTN_F64;
    p.kernel = NULL;
    p.precision = CLATTN_PRECISION_F32;
    p.q_rows = p.k_rows = 0;
    p.flags &= ~(starts | STAGES);
    p.flags |=
        stage | CLATTN_RETURN_LSE | CLATTN_QUERY_LENGTHS | CLATTN_KEY_LENGTHS;
    memset(p.mask.stride, 0, sizeof p.mask.stride);
    if (p.mask.dtype != 0 && p.mask.dtype != CLATTN_BOOL)
        p.mask.dtype = CLATTN_F32;
    return p;
}

/* Fill out, lse and, at a stage, `matrix`. */
static clattn_status reference(attention_expected *e,
    const attention_trial *trial, const dense *in, uint32_t stage, bool drops,
    double *matrix, clattn_error *error)
{
    clattn_attention problem = reference_problem(trial, stage);
    clattn_attention_args args = attention_trial_args(trial, NULL);
    args.q = (clattn_input){.host = in->q};
    args.k = (clattn_input){.host = in->k};
    args.v = (clattn_input){.host = in->v};
    args.mask = (clattn_input){.host = in->mask};
    args.query_lengths = (clattn_input){.host = in->queries};
    args.key_lengths = (clattn_input){.host = in->keys};
    args.query_starts = args.key_starts = (clattn_input){.host = NULL};
    args.out = (clattn_output){.host = e->out.value};
    args.lse = (clattn_output){.host = e->lse.value};
    args.weights = (clattn_output){.host = matrix};
    if (!drops) {
        problem.dropout_p = 0;
        args.dropout_seed = args.dropout_offset = 0;
    }
    return clattn_attention_reference(&problem, &args, error);
}

/* The weights before dropout, then out and what the case returns. */
static clattn_status refer(attention_expected *e, const attention_trial *trial,
    const dense *in, clattn_error *error)
{
    const uint32_t stage = trial->of.returns & STAGES;
    const size_t bytes = e->weights.count * sizeof(double);
    clattn_status status =
        reference(e, trial, in, CLATTN_RETURN_WEIGHTS, false, in->p, error);
    if (status == CLATTN_OK && in->dropped != NULL)
        status = reference(
            e, trial, in, CLATTN_RETURN_WEIGHTS, true, in->dropped, error);
    if (status == CLATTN_OK && stage != 0 && stage != CLATTN_RETURN_WEIGHTS)
        return reference(e, trial, in, stage, true, e->weights.value, error);
    memcpy(e->weights.value, in->dropped != NULL ? in->dropped : in->p, bytes);
    return status;
}

/* ---- Tolerances ---------------------------------------------------------------- */

/* Half a unit of v's dtype, where the case lets weights be rounded to it. */
static double weight_unit(const attention_case *c)
{
    if (c->precision != CLATTN_PRECISION_STORAGE)
        return 0;
    return c->dtype.v == CLATTN_BF16 ? 0x1p-8 : 0x1p-11;
}

/* Half a step of f16 below its normal numbers, which weights reach that are
   small beside the row's largest.  Sums are no less than that one. */
static double weight_step(const attention_case *c)
{
    const bool f16 =
        c->precision == CLATTN_PRECISION_STORAGE && c->dtype.v == CLATTN_F16;
    return f16 ? 0x1p-25 : 0;
}

static bool allow(
    attention_expected *e, const attention_trial *trial, const dense *in)
{
    const attention_case *c = &trial->of;
    const uint32_t stage = c->returns & STAGES;
    const double p = (double)c->dropout_p;
    const tolerance_attention values = {.B = c->size.B,
        .Hq = c->size.Hq,
        .Hkv = c->size.Hkv,
        .Lq = c->size.Lq,
        .Lk = c->size.Lk,
        .D = c->size.D,
        .Dv = c->size.Dv,
        .scale = attention_trial_scale(trial),
        .softcap = (double)c->softcap,
        .q = in->q,
        .k = in->k,
        .v = in->v,
        .p = in->p,
        .lse = e->lse.value,
        .bias = in->bias,
        .sinks =
            c->sinks ? arena_at(&trial->memory, SLOT_SINKS, 0, 0, 0, 0) : NULL,
        .dropped = in->dropped,
        .keep = p < 1 ? 1 / (1 - p) : 0,
        .weight_unit = weight_unit(c),
        .weight_step = weight_step(c),
        .stage = stage == CLATTN_RETURN_WEIGHTS ? 0 : stage};
    return tolerance_of_attention(
        &values, e->out.slack, e->lse.slack, e->weights.slack);
}

/* Storing rounds once more; rows that no item owns may hold anything. */
static void allow_storage(expected *e, const arena *a, size_t slot)
{
    const arena_tensor *t = &a->tensor[slot];
    if (t->name == NULL)
        return;
    for (size_t n = 0; n < e->count; ++n) {
        const size_t row = n / t->size[3];
        const size_t b = row / t->size[2] / t->size[1];
        e->slack[n] =
            arena_has_row(a, slot, b, row % t->size[2])
                ? tolerance_stored(e->value[n], e->slack[n], arena_dtype(t))
                : (double)INFINITY;
    }
}

/* Beyond f16 a value is an infinity. */
static void store_infinities(expected *e, const arena_tensor *t)
{
    for (size_t n = 0; arena_dtype(t) == CLATTN_F16 && n < e->count; ++n)
        if (isfinite(e->value[n]) && fabs(e->value[n]) - e->slack[n] >= 65520)
            e->value[n] = copysign((double)INFINITY, e->value[n]);
}

static void store(expected *e, const arena *a, size_t slot)
{
    allow_storage(e, a, slot);
    store_infinities(e, &a->tensor[slot]);
}

/* ---- All of it ------------------------------------------------------------------- */

clattn_status attention_expect(
    attention_expected *e, const attention_trial *trial, clattn_error *error)
{
    const arena *a = &trial->memory;
    const size_t rows =
        trial->of.size.B * trial->of.size.Hq * trial->of.size.Lq;
    dense in = {.q = NULL};
    clattn_status status = CLATTN_OK;

    *e = (attention_expected){.out = {.count = 0}};
    const bool ready = expected_create(&e->out, rows * trial->of.size.Dv) &&
                       expected_create(&e->lse, rows) &&
                       expected_create(&e->weights, rows * trial->of.size.Lk) &&
                       take_inputs(&in, trial);
    if (ready)
        status = refer(e, trial, &in, error);
    if (!ready || (status == CLATTN_OK && !allow(e, trial, &in)))
        status = error_set(
            error, CLATTN_NO_MEMORY, "no memory for what attention must give");
    if (status == CLATTN_OK) {
        store(&e->out, a, SLOT_OUT);
        store(&e->lse, a, SLOT_LSE);
        store(&e->weights, a, SLOT_WEIGHTS);
    }
    free_dense(&in);
    return status;
}

void attention_expected_free(attention_expected *e)
{
    expected_free(&e->out);
    expected_free(&e->lse);
    expected_free(&e->weights);
}

static bool meets(const expected *e, const attention_trial *trial, size_t slot,
    char text[ARENA_TEXT])
{
    const arena *a = &trial->memory;
    return a->tensor[slot].name == NULL ||
           (expected_meets(e, a, slot, text) &&
               expected_written(e, a, slot, text));
}

bool attention_meets(const attention_expected *e, const attention_trial *trial,
    char text[ARENA_TEXT])
{
    return meets(&e->lse, trial, SLOT_LSE, text) &&
           meets(&e->weights, trial, SLOT_WEIGHTS, text) &&
           meets(&e->out, trial, SLOT_OUT, text) &&
           arena_unharmed(&trial->memory, text);
}
