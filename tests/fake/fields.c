/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.c - the fields of the three descriptors as a table, and wild values.
 */
#include "fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clattn/clattn.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Fields -------------------------------------------------------------- */

#define ROW(kind, field, word)                 \
    {                                          \
#field, word, kind, offsetof(S, field) \
    }
#define SIZE(field) ROW(FIELD_SIZE, field, #field)
#define INT(field)  ROW(FIELD_INT, field, #field)
#define REAL(field) ROW(FIELD_REAL, field, #field)
#define TENSOR(field)                                                          \
    ROW(FIELD_SIZE, field.batch, #field), ROW(FIELD_SIZE, field.head, #field), \
        ROW(FIELD_SIZE, field.row, #field),                                    \
        ROW(FIELD_INT, field.dtype, #field),                                   \
        ROW(FIELD_INT, field.reserved, #field)

#define S clattn_attention
static const field ATTENTION[] = {
    SIZE(B),
    SIZE(Hq),
    SIZE(Hkv),
    SIZE(Lq),
    SIZE(Lk),
    SIZE(D),
    SIZE(Dv),
    SIZE(q_rows),
    SIZE(k_rows),
    TENSOR(q),
    TENSOR(k),
    TENSOR(v),
    TENSOR(out),
    TENSOR(lse),
    TENSOR(weights),
    ROW(FIELD_SIZE, mask.size[0], "mask"),
    ROW(FIELD_SIZE, mask.size[1], "mask"),
    ROW(FIELD_SIZE, mask.size[2], "mask"),
    ROW(FIELD_SIZE, mask.size[3], "mask"),
    ROW(FIELD_SIZE, mask.stride[0], "mask"),
    ROW(FIELD_SIZE, mask.stride[1], "mask"),
    ROW(FIELD_SIZE, mask.stride[2], "mask"),
    ROW(FIELD_SIZE, mask.stride[3], "mask"),
    ROW(FIELD_INT, mask.dtype, "mask"),
    ROW(FIELD_INT, mask.reserved, "mask"),
    INT(dtype),
    ROW(FIELD_INT, flags, NULL), /* asks for other fields */
    INT(diagonal),
    INT(diagonal_offset),
    INT(causal),
    ROW(FIELD_INT, window_left, "window"),
    ROW(FIELD_INT, window_right, "window"),
    INT(has_scale),
    REAL(scale),
    REAL(softcap),
    REAL(dropout_p),
    INT(precision),
};
#undef S

#define S clattn_linear
static const field LINEAR[] = {
    SIZE(rows),
    SIZE(n_in),
    SIZE(n_out),
    TENSOR(x),
    TENSOR(w),
    TENSOR(y),
    INT(dtype),
    INT(weight_order),
    INT(has_bias),
    INT(reserved),
};
#undef S

#define S clattn_layer
static const field LAYER[] = {
    SIZE(E),
    SIZE(Ey),
    SIZE(Ek),
    SIZE(Ev),
    TENSOR(x),
    TENSOR(y),
    TENSOR(x_k),
    TENSOR(x_v),
    TENSOR(w_q),
    TENSOR(w_k),
    TENSOR(w_v),
    TENSOR(w_o),
    INT(weight_order),
    ROW(FIELD_INT, flags, NULL),
};
#undef S

const field_table ATTENTION_FIELDS = {ATTENTION, COUNT(ATTENTION)};
const field_table LINEAR_FIELDS = {LINEAR, COUNT(LINEAR)};
const field_table LAYER_FIELDS = {LAYER, COUNT(LAYER)};

/* ---- Values -------------------------------------------------------------- */

/* Products of two or three of them wrap to 0, to small numbers, or end right
   below what a size_t or an int32 holds.  The first are the ends. */
static const size_t SIZES[] = {0, 1, INT32_MAX, (size_t)1 << 32,
    (size_t)1 << 62, SIZE_MAX / 2 + 1, SIZE_MAX - 1, SIZE_MAX, /* ends */
    2, 3, 4, 7, 8, 9, 16, 63, 64, 65, 128, 511, 512, 513, 4096, 65535, 65536,
    1u << 20, 0x55555555, INT32_MAX - 1024, INT32_MAX - 1, (size_t)1 << 31,
    UINT32_MAX, ((size_t)1 << 32) + 1, (size_t)1 << 40, SIZE_MAX / 8,
    (size_t)1 << 61, SIZE_MAX / 4 + 1, SIZE_MAX / 2, SIZE_MAX - 63};

static const int32_t INTS[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 1 << 8, 1 << 9,
    1 << 10, 1 << 11, 1 << 12, 1 << 13, 3 << 8, 5 << 10, 1 << 14, 1 << 20,
    127 << 20, 1 << 30, INT32_MAX, INT32_MIN, INT32_MIN + 1, -1, -2, 100};

static const float REALS[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1.5f, 1e-45f,
    FLT_MIN, 1e30f, FLT_MAX, -FLT_MAX, INFINITY, -INFINITY, NAN};

size_t field_values(enum field_kind kind)
{
    static const size_t COUNTS[] = {COUNT(SIZES), COUNT(INTS), COUNT(REALS)};
    return COUNTS[kind];
}

void field_set(void *to, const field *f, size_t value, char *text)
{
    char *at = (char *)to + f->offset;
    switch (f->kind) {
    case FIELD_SIZE:
        memcpy(at, &SIZES[value], sizeof SIZES[0]);
        snprintf(text, 24, "%zu", SIZES[value]);
        break;
    case FIELD_INT:
        memcpy(at, &INTS[value], sizeof INTS[0]);
        snprintf(text, 24, "%d", (int)INTS[value]);
        break;
    case FIELD_REAL:
        memcpy(at, &REALS[value], sizeof REALS[0]);
        snprintf(text, 24, "%g", (double)REALS[value]);
        break;
    }
}
