/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_data.c - a case's tensors as (B, H, L, C), joined and widened.
 */
#include "onnx_data.h"

#include <stdlib.h>
#include <string.h>

/* ---- Views --------------------------------------------------------------- */

static void view_heads_first(onnx_view *v, const npy_array *a)
{
    v->B = a->size[0], v->H = a->size[1], v->L = a->size[2];
    v->C = a->size[3];
    v->stride.row = v->C;
    v->stride.head = v->C * v->L;
    v->stride.batch = v->C * v->L * v->H;
}

static void view_rows_first(onnx_view *v, const npy_array *a, size_t H)
{
    v->B = a->size[0], v->H = H, v->L = a->size[1];
    v->C = a->size[2] / H;
    v->stride.row = a->size[2];
    v->stride.head = v->C;
    v->stride.batch = a->size[2] * v->L;
}

static void view_data(onnx_view *v, const npy_array *a)
{
    memset(v, 0, sizeof *v);
    v->dtype = a->dtype;
    v->count = a->count;
    v->data = a->data;
}

bool onnx_view_of(onnx_view *view, const onnx_case *c, enum onnx_tensor tensor,
    enum onnx_attribute heads, failure *f)
{
    const npy_array *a = &c->tensor[tensor];
    const onnx_value *given = &c->attribute[heads];
    const char *name = onnx_tensor_name(tensor);
    const size_t H = given->set ? (size_t)given->value : 0;

    view_data(view, a);
    if (a->rank != c->tensor[ONNX_Q].rank || (a->rank != 3 && a->rank != 4))
        return fail(f,
            "%s has rank %zu, but 3 or 4 is allowed, and for Q, K "
            "and V the same",
            name, a->rank);
    if (a->rank == 3 && (H == 0 || a->size[2] % H != 0))
        return fail(f,
            "%s has rows of %zu values, and %s, which must divide "
            "that, is %zu",
            name, a->size[2], onnx_attribute_name(heads), H);
    if (a->rank == 4 && H != 0 && a->size[1] != H)
        return fail(f, "%s has %zu heads, but %s is %zu", name, a->size[1],
            onnx_attribute_name(heads), H);
    if (a->rank == 4)
        view_heads_first(view, a);
    else
        view_rows_first(view, a, H);
    return true;
}

bool onnx_view_past(onnx_view *view, const npy_array *past,
    const onnx_view *new, const char *name, failure *f)
{
    char text[2][200];
    view_data(view, past);
    if (past->rank == 4)
        view_heads_first(view, past);
    const size_t size[] = {new->B, new->H, view->L, new->C};
    if (past->rank == 4 && memcmp(past->size, size, sizeof size) == 0 &&
        past->dtype == new->dtype)
        return true;
    return fail(f,
        "%s is %s of shape %s, but %s of shape %s goes with what "
        "follows it",
        name, onnx_dtype_name(past->dtype),
        npy_shape_text(text[0], past->rank, past->size),
        onnx_dtype_name(new->dtype), npy_shape_text(text[1], 4, size));
}

/* ---- Joining ------------------------------------------------------------- */

/* The rows of `from` into those of `to` that begin at row `first`. */
static void copy_rows(
    char *to, const onnx_view *at, size_t first, const onnx_view *from)
{
    const size_t element = onnx_dtype_bytes(at->dtype);
    const clattn_tensor *s = &from->stride;

    /* Without elements the sizes may be beyond any loop. */
    for (size_t b = 0; from->count > 0 && b < from->B; ++b)
        for (size_t h = 0; h < from->H; ++h)
            for (size_t i = 0; i < from->L; ++i)
                memcpy(
                    to + element * (b * at->stride.batch + h * at->stride.head +
                                       (first + i) * at->stride.row),
                    (const char *)from->data +
                        element * (b * s->batch + h * s->head + i * s->row),
                    element * from->C);
}

void *onnx_join(onnx_view *all, const onnx_view *before, const onnx_view *new)
{
    const npy_array dense = {
        .rank = 4,
        .size = {new->B, new->H, before->L + new->L, new->C},
        .count = before->count + new->count,
        .dtype = new->dtype,
    };
    char *data = calloc(dense.count + 1, onnx_dtype_bytes(new->dtype));

    view_data(all, &dense);
    view_heads_first(all, &dense);
    if (data != NULL) {
        copy_rows(data, all, 0, before);
        copy_rows(data, all, before->L, new);
    }
    all->data = data;
    return data;
}

/* ---- Widening ------------------------------------------------------------ */

/* One element that hides a key: false, or -inf. */
static const void *hiding(int32_t dtype)
{
    static const unsigned char NO = 0;
    static const uint16_t HALF = 0xfc00, BRAIN = 0xff80;
    static const uint32_t SINGLE = 0xff800000;

    switch (dtype) {
    case CLATTN_BOOL:
        return &NO;
    case CLATTN_F16:
        return &HALF;
    case CLATTN_BF16:
        return &BRAIN;
    default:
        return &SINGLE;
    }
}

void *onnx_widen(size_t *bytes, const npy_array *mask, size_t columns)
{
    const size_t element = onnx_dtype_bytes(mask->dtype);
    const size_t given = mask->size[mask->rank - 1];
    size_t rows = 1;

    for (size_t axis = 0; axis + 1 < mask->rank; ++axis)
        rows *= mask->size[axis];
    if (columns >= PTRDIFF_MAX / element / (rows + 1))
        return NULL;
    *bytes = rows * columns * element;
    char *wide = malloc(*bytes + 1);
    for (size_t i = 0; wide != NULL && i < rows * columns; ++i) {
        const size_t row = i / columns, column = i % columns;
        memcpy(wide + i * element,
            column < given
                ? (const char *)mask->data + (row * given + column) * element
                : hiding(mask->dtype),
            element);
    }
    return wide;
}
