/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_print.c - a problem's descriptor in one line, for a reader.
 */
#include "onnx_problem.h"

#include <inttypes.h>

static void print_sizes(FILE *to, const clattn_attention *a)
{
    fprintf(to,
        "      B %zu, Hq %zu, Hkv %zu, Lq %zu, Lk %zu, D %zu, Dv %zu, %s", a->B,
        a->Hq, a->Hkv, a->Lq, a->Lk, a->D, a->Dv, onnx_dtype_name(a->dtype));
    if (a->q.row != a->D)
        fprintf(to, ", q strides %zu %zu %zu", a->q.batch, a->q.head, a->q.row);
}

static void print_diagonal(FILE *to, const onnx_problem *p)
{
    const clattn_attention *a = &p->attention;

    if (a->diagonal == CLATTN_DIAGONAL_UNSET)
        return;
    fprintf(to, "%s, window %" PRId32 ",%" PRId32 ", diagonal",
        a->causal ? ", causal" : "", a->window_left, a->window_right);
    if ((a->flags & CLATTN_DIAGONAL_OFFSETS) == 0)
        fprintf(to, " %" PRId32, a->diagonal_offset);
    for (size_t b = 0; p->offsets != NULL && b < a->B; ++b)
        fprintf(to, " %" PRId32, p->offsets[b]);
}

static void print_mask(FILE *to, const onnx_problem *p)
{
    const clattn_mask *m = &p->attention.mask;

    if (m->dtype != 0)
        fprintf(to, ", mask %s %zu %zu %zu %zu%s", onnx_dtype_name(m->dtype),
            m->size[0], m->size[1], m->size[2], m->size[3],
            p->mask != NULL ? " (widened)" : "");
}

static void print_numbers(FILE *to, const clattn_attention *a)
{
    if (a->has_scale)
        fprintf(to, ", scale %.9g", (double)a->scale);
    if (a->softcap > 0.0f)
        fprintf(to, ", softcap %.9g", (double)a->softcap);
}

void onnx_problem_print(FILE *to, const onnx_problem *p)
{
    const clattn_attention *a = &p->attention;
    const int32_t *length = p->input[ONNX_IN_KEY_LENGTHS].data;

    print_sizes(to, a);
    print_diagonal(to, p);
    print_mask(to, p);
    print_numbers(to, a);
    if (length != NULL)
        fprintf(to, ", key lengths");
    for (size_t b = 0; length != NULL && b < a->B; ++b)
        fprintf(to, " %" PRId32, length[b]);
    if (p->stage != 0)
        fprintf(to, ", %s", onnx_stage_name(p->stage));
    fprintf(to, "\n");
}
