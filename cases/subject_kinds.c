/* SPDX-License-Identifier: Apache-2.0
 *
 * subject_kinds.c - what subjects of attention, linear and layer differ in.
 */
#include <stddef.h>

#include "error.h"
#include "subject.h"

static clattn_status no_memory(clattn_error *error)
{
    return error_set(error, CLATTN_NO_MEMORY, "no memory for a case");
}

/* ---- Attention ---------------------------------------------------------- */

static clattn_status run_attention(
    subject *s, enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    return trial_run_attention(s->at, &s->trial.attention, way, broken, error);
}

static bool meets_attention(const subject *s, char why[ARENA_TEXT])
{
    return attention_meets(&s->expected.attention, &s->trial.attention, why);
}

static const expected *expected_attention(const subject *s, size_t slot)
{
    const attention_expected *e = &s->expected.attention;
    return slot == SLOT_OUT       ? &e->out
           : slot == SLOT_LSE     ? &e->lse
           : slot == SLOT_WEIGHTS ? &e->weights
                                  : NULL;
}

static void row_of_attention(subject *s, const char *row)
{
    s->trial.attention.problem.kernel = row;
}

static void destroy_attention(subject *s)
{
    attention_expected_free(&s->expected.attention);
    attention_trial_destroy(&s->trial.attention);
}

clattn_status subject_attention(subject *s, const device_queues *at,
    const attention_case *c, clattn_error *error)
{
    static const subject_kind KIND = {run_attention, meets_attention,
        expected_attention, row_of_attention, destroy_attention, SLOT_OUT};
    attention_trial *trial = &s->trial.attention;
    clattn_status status = CLATTN_OK;
    *s = (subject){.at = at, .turn = c->seed};
    if (!attention_trial_create(trial, c))
        return no_memory(error);
    s->kind = &KIND;
    s->memory = &trial->memory;
    TRY(attention_expect(&s->expected.attention, trial, error));
    TRY(subject_ready(s, error));

cleanup:
    return status;
}

/* ---- Linear ------------------------------------------------------------- */

static clattn_status run_linear(
    subject *s, enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    return trial_run_linear(s->at, &s->trial.linear, way, broken, error);
}

static bool meets_linear(const subject *s, char why[ARENA_TEXT])
{
    return linear_meets(&s->expected.linear, &s->trial.linear, why);
}

static const expected *expected_linear(const subject *s, size_t slot)
{
    return slot == LINEAR_Y ? &s->expected.linear : NULL;
}

static void row_of_linear(subject *s, const char *row)
{
    s->trial.linear.problem.kernel = row;
}

static void destroy_linear(subject *s)
{
    expected_free(&s->expected.linear);
    linear_trial_destroy(&s->trial.linear);
}

clattn_status subject_linear(subject *s, const device_queues *at,
    const linear_case *c, clattn_error *error)
{
    static const subject_kind KIND = {run_linear, meets_linear, expected_linear,
        row_of_linear, destroy_linear, LINEAR_Y};
    linear_trial *trial = &s->trial.linear;
    clattn_status status = CLATTN_OK;
    *s = (subject){.at = at, .turn = c->seed};
    if (!linear_trial_create(trial, c))
        return no_memory(error);
    s->kind = &KIND;
    s->memory = &trial->memory;
    TRY(linear_expect(&s->expected.linear, trial, error));
    TRY(subject_ready(s, error));

cleanup:
    return status;
}

/* ---- Layer -------------------------------------------------------------- */

static clattn_status run_layer(
    subject *s, enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    return trial_run_layer(s->at, &s->trial.layer, way, broken, error);
}

static bool meets_layer(const subject *s, char why[ARENA_TEXT])
{
    return layer_meets(&s->expected.layer, &s->trial.layer, why);
}

static const expected *expected_layer(const subject *s, size_t slot)
{
    return slot < LAYER_SLOTS ? &s->expected.layer.of[slot] : NULL;
}

static void row_of_layer(subject *s, const char *row)
{
    s->trial.layer.attention.kernel = row;
}

static void destroy_layer(subject *s)
{
    layer_expected_free(&s->expected.layer);
    layer_trial_destroy(&s->trial.layer);
}

clattn_status subject_layer(subject *s, const device_queues *at,
    const layer_case *c, clattn_error *error)
{
    static const subject_kind KIND = {run_layer, meets_layer, expected_layer,
        row_of_layer, destroy_layer, LAYER_Y};
    layer_trial *trial = &s->trial.layer;
    clattn_status status = CLATTN_OK;
    *s = (subject){.at = at, .turn = c->seed};
    if (!layer_trial_create(trial, c))
        return no_memory(error);
    s->kind = &KIND;
    s->memory = &trial->memory;
    TRY(layer_expect(&s->expected.layer, trial, error));
    TRY(subject_ready(s, error));

cleanup:
    return status;
}
