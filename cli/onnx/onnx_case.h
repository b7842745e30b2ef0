/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_case.h - one case of ONNX's operator Attention as its folder has it:
 * attributes, inputs and expected outputs.
 */
#ifndef CLATTN_CLI_ONNX_CASE_H
#define CLATTN_CLI_ONNX_CASE_H

#include "failure.h"
#include "npy.h"

enum onnx_attribute {
    ONNX_IS_CAUSAL,
    ONNX_Q_NUM_HEADS,
    ONNX_KV_NUM_HEADS,
    ONNX_QK_MODE,
    ONNX_SCALE,
    ONNX_SOFTCAP,
    ONNX_LEFT_WINDOW,
    ONNX_RIGHT_WINDOW,
    ONNX_RTOL, /* of the case's own comparison */
    ONNX_ATOL,
    ONNX_ATTRIBUTES
};

enum onnx_tensor {
    ONNX_Q,
    ONNX_K,
    ONNX_V,
    ONNX_ATTN_MASK,
    ONNX_PAST_KEY,
    ONNX_PAST_VALUE,
    ONNX_NONPAD,
    ONNX_Y,
    ONNX_PRESENT_KEY,
    ONNX_PRESENT_VALUE,
    ONNX_QK_OUTPUT,
    ONNX_TENSORS
};

typedef struct onnx_value {
    bool set; /* not "unset" */
    double value;
} onnx_value;

typedef struct onnx_case {
    onnx_value attribute[ONNX_ATTRIBUTES];
    bool given[ONNX_TENSORS];
    npy_array tensor[ONNX_TENSORS]; /* i64 as int32, with dtype 0 */
} onnx_case;

/* The name that case.txt has for it. */
const char *onnx_attribute_name(enum onnx_attribute attribute);
const char *onnx_tensor_name(enum onnx_tensor tensor);

/* "f16"; "i64" for 0. */
const char *onnx_dtype_name(int32_t dtype);
size_t onnx_dtype_bytes(int32_t dtype);

/* Every tensor has the dtype and shape that case.txt says.  On false *c is
   empty and needs no freeing. */
bool onnx_case_read(onnx_case *c, const char *folder, failure *f);
void onnx_case_free(onnx_case *c);

#endif
