/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_problem.h - what a case of ONNX's Attention means, in clattn's terms.
 *
 *     3-D tensors              strides of (B, L, H, D)
 *     past_key, past_value     joined with K and V; row 0 stands on the first
 *                              key behind the past
 *     nonpad_kv_seqlen = n     CLATTN_KEY_LENGTHS; row 0 stands on key n - Lq,
 *                              which may be negative
 *     neither                  CLATTN_TOP_LEFT
 *     attn_mask                aligned at the last axis; keys beyond its width
 *                              are hidden
 *     qk_matmul_output_mode    CLATTN_RETURN_SCALED, _CAPPED, _SCORES, _WEIGHTS
 *     softmax_precision        nothing: all arithmetic is f32
 */
#ifndef CLATTN_CLI_ONNX_PROBLEM_H
#define CLATTN_CLI_ONNX_PROBLEM_H

#include <stdio.h>

#include "clattn/clattn.h"
#include "onnx_case.h"

/* The tensors and arrays of one call. */
enum onnx_operand {
    ONNX_IN_Q,
    ONNX_IN_K,
    ONNX_IN_V,
    ONNX_IN_MASK,
    ONNX_IN_KEY_LENGTHS,
    ONNX_IN_DIAGONAL_OFFSETS,
    ONNX_OUT,
    ONNX_WEIGHTS,
    ONNX_OPERANDS
};

/* NULL: the descriptor does without. */
typedef struct onnx_memory {
    void *data;
    size_t bytes;
} onnx_memory;

typedef struct onnx_problem {
    clattn_attention attention; /* of Y alone */
    onnx_memory input[ONNX_OUT];
    uint32_t stage; /* flag that gives qk_matmul_output; 0: not wanted */
    int32_t stage_dtype;
    bool stage_apart;  /* needs a descriptor of its own */
    void *key, *value; /* past and new; NULL: K and V are all */
    void *mask;        /* as wide as the keys; NULL: attn_mask is */
    int32_t *offsets;  /* one for each item, or NULL */
} onnx_problem;

/* `c` must outlive the problem.  False if it has no meaning or if an output
   has not the shape that follows.  On false there is nothing to free. */
bool onnx_problem_make(onnx_problem *p, const onnx_case *c, failure *f);
void onnx_problem_free(onnx_problem *p);

/* The descriptor of Y and qk_matmul_output in one call. */
clattn_attention onnx_problem_whole(const onnx_problem *p);
/* That of qk_matmul_output, where Y is not looked at. */
clattn_attention onnx_problem_stage(const onnx_problem *p);

/* "RETURN_SCALED" */
const char *onnx_stage_name(uint32_t stage);

/* The descriptor in one line. */
void onnx_problem_print(FILE *to, const onnx_problem *p);

#endif
