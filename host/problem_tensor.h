/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_tensor.h - one tensor or mask of a descriptor, checked and completed.
 */
#ifndef CLATTN_HOST_PROBLEM_TENSOR_H
#define CLATTN_HOST_PROBLEM_TENSOR_H

#include <stdbool.h>

#include "clattn/clattn.h"

/* The order that strides which are all 0 stand for, and which strides there
   are at all. */
enum tensor_order {
    ORDER_BHLD,  /* rows of a head beside each other */
    ORDER_BLHD,  /* heads of a row beside each other */
    ORDER_BLE,   /* no heads, so no head stride: x and y of a layer */
    ORDER_MATRIX /* only a row stride */
};

enum {
    DTYPES_F32 = 1 << CLATTN_F32,
    DTYPES_FLOAT = 1 << CLATTN_F32 | 1 << CLATTN_F16 | 1 << CLATTN_BF16,
    DTYPES_MASK = DTYPES_FLOAT | 1 << CLATTN_BOOL,
    DTYPES_F64 = 1 << CLATTN_F64
};

typedef struct tensor_rule {
    const char *name;
    size_t size[4]; /* (b, h, row, column) */
    enum tensor_order order;
    bool packed;  /* dense means batch stride 0, which may also be set */
    bool written; /* so no two elements may coincide */
    int32_t default_type; /* what dtype 0 stands for */
    unsigned dtypes;      /* allowed, as bits 1 << dtype */
} tensor_rule;

/* Fill in dtype and strides by the rule.  Strides of a tensor without elements
   stay as they came. */
clattn_status tensor_complete(
    clattn_tensor *tensor, const tensor_rule *rule, clattn_error *error);

/*
 * A mask of sizes 1 or those of `whole`, (B, Hq, Lq, Lk).  Strides are filled
 * in, and are 0 where a size is 1, so that an element is found without asking
 * which sizes broadcast.
 */
clattn_status mask_complete(
    clattn_mask *mask, const size_t whole[4], clattn_error *error);

/* A tensor that is not used must be all 0; `why` ends the sentence. */
clattn_status tensor_unused(const clattn_tensor *tensor, const char *name,
    const char *why, clattn_error *error);

/* Whether `dtype` is one of `dtypes`; else the message lists them. */
clattn_status dtype_check(
    int32_t dtype, unsigned dtypes, const char *name, clattn_error *error);

/* least <= size <= 2^31 - 1, and set; the kernels count in int. */
clattn_status size_check(
    size_t size, size_t least, const char *name, clattn_error *error);

#endif
