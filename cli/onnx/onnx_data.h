/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_data.h - a case's tensors as (B, H, L, C) in memory, and the copies that
 * ONNX's meaning asks for: past and new keys joined, short masks widened.
 */
#ifndef CLATTN_CLI_ONNX_DATA_H
#define CLATTN_CLI_ONNX_DATA_H

#include "clattn/clattn.h"
#include "onnx_case.h"

typedef struct onnx_view {
    size_t B, H, L, C;
    clattn_tensor stride; /* without dtype */
    int32_t dtype;
    size_t count;
    void *data;
} onnx_view;

/* Q, K or V: (B, H, L, C), or (B, L, H * C) with H from an attribute. */
bool onnx_view_of(onnx_view *view, const onnx_case *c, enum onnx_tensor tensor,
    enum onnx_attribute heads, failure *f);

/* past_key or past_value, which must go with `new` in all but its length. */
bool onnx_view_past(onnx_view *view, const npy_array *past,
    const onnx_view *new, const char *name, failure *f);

/* Dense (B, H, L before + L new, C) that `all` describes; the caller's to free;
   NULL without memory. */
void *onnx_join(onnx_view *all, const onnx_view *before, const onnx_view *new);

/* The rows of a mask with `columns`, at least as many as it has, where those
   that it lacks hide their keys.  As onnx_join; *bytes is its size. */
void *onnx_widen(size_t *bytes, const npy_array *mask, size_t columns);

#endif
