/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_problem.c - from options and files to descriptor and arguments.
 */
#include "attend_problem.h"

#include <stdio.h>
#include <string.h>

static clattn_tensor strides(
    const attend_request *r, const attend_sizes *s, size_t columns)
{
    /* Packed rows are (T, H, D) where no stride is given. */
    if (r->layout != ATTEND_BLHD)
        return (clattn_tensor){0};
    return (clattn_tensor){
        .batch = s->L * s->H * columns, .head = columns, .row = s->H * columns};
}

static void describe_sizes(
    clattn_attention *a, const attend_request *r, const attend_data *d)
{
    const attend_sizes *q = &d->size[ATTEND_Q];
    const attend_sizes *k = &d->size[ATTEND_K];
    const attend_sizes *v = &d->size[ATTEND_V];
    a->B = q->B;
    a->Hq = q->H;
    a->Hkv = k->H;
    a->Lq = q->L;
    a->Lk = k->L;
    a->D = q->D;
    a->Dv = v->D;
    a->q_rows = q->rows;
    a->k_rows = k->rows;
    a->dtype = r->dtype;
    a->q = strides(r, q, a->D);
    a->k = strides(r, k, a->D);
    a->v = strides(r, v, a->Dv);
    a->out = strides(r, q, a->Dv);
}

static void describe_mask(clattn_mask *mask, const npy_array *array)
{
    if (!array->data)
        return;
    mask->dtype = array->dtype;
    for (size_t i = 0; i < 4; i++) {
        const bool in_front = i + array->rank < 4;
        mask->size[i] = in_front ? 1 : array->size[i + array->rank - 4];
    }
}

static void describe_diagonal(clattn_attention *a, const attend_request *r)
{
    a->causal = r->causal;
    a->window_left = r->window_left;
    a->window_right = r->window_right;
    a->diagonal = r->diagonal;
    if (r->diagonal == CLATTN_OFFSET && !attend_offsets_listed(r))
        a->diagonal_offset = r->offsets.value[0];
}

static uint32_t flags_of(const attend_request *r)
{
    return (r->matrix ? r->stage : 0u) | (r->lse ? CLATTN_RETURN_LSE : 0u) |
           (r->lengths.text ? CLATTN_KEY_LENGTHS : 0u) |
           (r->query_lengths.text ? CLATTN_QUERY_LENGTHS : 0u) |
           (r->cu_key.text ? CLATTN_KEY_STARTS : 0u) |
           (r->cu_query.text ? CLATTN_QUERY_STARTS : 0u) |
           (attend_offsets_listed(r) ? CLATTN_DIAGONAL_OFFSETS : 0u) |
           (r->sinks.text ? CLATTN_SINKS : 0u);
}

void attend_describe(
    clattn_attention *a, const attend_request *r, const attend_data *d)
{
    clattn_attention_init(a, sizeof *a);
    describe_sizes(a, r, d);
    describe_mask(&a->mask, &d->mask);
    describe_diagonal(a, r);
    a->flags = flags_of(r);
    /* Scores say more than 16 bits hold. */
    if (r->matrix)
        a->weights.dtype = CLATTN_F32;
    a->alibi_slopes = r->slopes.value;
    a->kernel = r->kernel;
    a->has_scale = r->has_scale;
    a->scale = r->scale;
    a->softcap = r->softcap;
    a->dropout_p = r->dropout;
    a->precision = r->precision;
}

void attend_bring(
    clattn_attention_args *args, const attend_request *r, const attend_data *d)
{
    *args = (clattn_attention_args){.struct_size = sizeof *args};
    args->q.host = d->input[ATTEND_Q].data;
    args->k.host = d->input[ATTEND_K].data;
    args->v.host = d->input[ATTEND_V].data;
    args->mask.host = d->mask.data;
    args->sinks.host = r->sinks.value;
    args->out.host = d->out.data;
    args->weights.host = d->matrix.data;
    args->lse.host = d->lse.data;
    args->key_lengths.host = r->lengths.value;
    args->query_lengths.host = r->query_lengths.value;
    args->key_starts.host = r->cu_key.value;
    args->query_starts.host = r->cu_query.value;
    if (attend_offsets_listed(r))
        args->diagonal_offsets.host = r->offsets.value;
    args->dropout_seed = r->seed;
    args->dropout_offset = r->dropout_offset;
}

bool attend_blame(const attend_request *r, failure *f)
{
    static const struct {
        const char *field;
        option_id id;
    } FIELDS[] = {
        {"B", OPTION_QUERY},
        {"Hq", OPTION_QUERY},
        {"Lq", OPTION_QUERY},
        {"D", OPTION_QUERY},
        {"q_rows", OPTION_QUERY},
        {"Hkv", OPTION_KEY},
        {"Lk", OPTION_KEY},
        {"k_rows", OPTION_KEY},
        {"Dv", OPTION_VALUE},
        {"mask", OPTION_MASK},
    };
    const failure told = *f;
    const size_t length = strcspn(told.text, " [.");
    for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++) {
        const char *text = r->given->value[FIELDS[i].id];
        if (text && strlen(FIELDS[i].field) == length &&
            strncmp(told.text, FIELDS[i].field, length) == 0)
            return fail(f, "%s %s: %.2000s", option_name(FIELDS[i].id), text,
                told.text);
    }
    return false;
}
