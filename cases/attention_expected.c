/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_expected.c - what the outputs of an attention trial must hold.
 */
#include "attention_expected.h"

#include <math.h>
#include <stdlib.h>

#include "tolerance.h"

typedef struct dense_inputs {
    double *q, *k, *v;
} dense_inputs;

static bool take_inputs(dense_inputs *in, const arena *a)
{
    in->q = arena_dense(a, SLOT_Q);
    in->k = arena_dense(a, SLOT_K);
    in->v = arena_dense(a, SLOT_V);
    return in->q != NULL && in->k != NULL && in->v != NULL;
}

static void free_inputs(dense_inputs *in)
{
    free(in->q);
    free(in->k);
    free(in->v);
}

/* The trial's problem as the reference gets it: double, dense, all outputs. */
static clattn_attention reference_problem(const attention_trial *trial)
{
    clattn_attention p = trial->problem;
    p.q = p.k = p.v = p.out = p.lse = p.weights = (clattn_tensor){.batch = 0};
    p.lse.dtype = CLATTN_F64;
    p.dtype = CLATTN_F64;
    p.kernel = NULL;
    p.flags |= CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS;
    return p;
}

static clattn_status reference(attention_expected *e,
    const attention_trial *trial, const dense_inputs *in, clattn_error *error)
{
    const clattn_attention problem = reference_problem(trial);
    clattn_attention_args args = attention_trial_args(trial, NULL);
    args.q = (clattn_input){.host = in->q};
    args.k = (clattn_input){.host = in->k};
    args.v = (clattn_input){.host = in->v};
    args.out = (clattn_output){.host = e->out.value};
    args.lse = (clattn_output){.host = e->lse.value};
    args.weights = (clattn_output){.host = e->weights.value};
    return clattn_attention_reference(&problem, &args, error);
}

static void allow(
    attention_expected *e, const attention_trial *trial, const dense_inputs *in)
{
    const attention_case *c = &trial->of;
    const tolerance_attention values = {.B = c->size.B,
        .Hq = c->size.Hq,
        .Hkv = c->size.Hkv,
        .Lq = c->size.Lq,
        .Lk = c->size.Lk,
        .D = c->size.D,
        .Dv = c->size.Dv,
        .scale = c->has_scale ? c->scale : 1 / sqrt((double)c->size.D),
        .q = in->q,
        .k = in->k,
        .v = in->v,
        .p = e->weights.value,
        .lse = e->lse.value};
    tolerance_of_attention(
        &values, e->out.slack, e->lse.slack, e->weights.slack);
}

clattn_status attention_expect(
    attention_expected *e, const attention_trial *trial, clattn_error *error)
{
    const size_t rows =
        trial->of.size.B * trial->of.size.Hq * trial->of.size.Lq;
    dense_inputs in = {.q = NULL};
    clattn_status status = CLATTN_NO_MEMORY;

    *e = (attention_expected){.out = {.count = 0}};
    if (expected_create(&e->out, rows * trial->of.size.Dv) &&
        expected_create(&e->lse, rows) &&
        expected_create(&e->weights, rows * trial->of.size.Lk) &&
        take_inputs(&in, &trial->memory))
        status = reference(e, trial, &in, error);
    if (status == CLATTN_OK)
        allow(e, trial, &in);
    free_inputs(&in);
    return status;
}

void attention_expected_free(attention_expected *e)
{
    expected_free(&e->out);
    expected_free(&e->lse);
    expected_free(&e->weights);
}

bool attention_meets(const attention_expected *e, const attention_trial *trial,
    char text[ARENA_TEXT])
{
    const arena *a = &trial->memory;
    const uint32_t returns = trial->of.returns;
    if ((returns & CLATTN_RETURN_LSE) &&
        !expected_meets(&e->lse, a, SLOT_LSE, text))
        return false;
    if ((returns & CLATTN_RETURN_WEIGHTS) &&
        !expected_meets(&e->weights, a, SLOT_WEIGHTS, text))
        return false;
    return expected_meets(&e->out, a, SLOT_OUT, text) &&
           arena_unharmed(a, text);
}
