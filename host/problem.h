/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.h - descriptors, checked and completed: no size unset, no stride or
 * dtype implied.  Everything that can be refused without knowing a device or a
 * call's data is refused here.  Knows nothing of OpenCL calls.
 */
#ifndef CLATTN_HOST_PROBLEM_H
#define CLATTN_HOST_PROBLEM_H

#include <stdbool.h>

#include "clattn/clattn.h"

/* What sizes hold before the caller sets them. */
#define SIZE_UNSET SIZE_MAX

/*
 * *complete = *given, checked, with every stride (a dense tensor's included),
 * every tensor's dtype and has_scale/scale filled in; diagonal UNSET becomes
 * TOP_LEFT with offset 0 where nothing needs it.  Packed batches: q_rows and
 * k_rows are 0 where there are no starts; a dense packed tensor has batch
 * stride 0.  Mask strides are 0 where a size is 1, so that an element is at
 * b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3] in any case.
 * lse and weights stay all 0 where they are not returned, and a tensor without
 * elements keeps the strides that it came with.
 *
 * layer: strides that are all 0 mean (B, L, H, D) instead of (B, H, L, D), and
 * q, k and v are written too, so that no two of their elements may coincide.
 * reference: CLATTN_F64 is allowed as dtype.  Sizes fit int32, and every
 * tensor's last byte a size_t.  `given` may be of an older or newer
 * struct_size; its alibi_slopes, kernel and disable are still the caller's.
 * After a failure *complete is untouched.
 */
clattn_status problem_attention(clattn_attention *complete,
    const clattn_attention *given, bool layer, bool reference,
    clattn_error *error);

clattn_status problem_linear(clattn_linear *complete,
    const clattn_linear *given, bool reference, clattn_error *error);

/*
 * complete->attention points to *attention, completed as in a layer; without
 * PROJECT_OUT its out is y, seen as heads.  Ek and Ev are set (E and Ek where
 * they were 0) with x_k and x_v as x and x_k then, so `complete` alone does not
 * tell whether they were given: given->Ek and given->Ev do.  w_o stays all 0
 * without PROJECT_OUT.
 */
clattn_status problem_layer(clattn_layer *complete, clattn_attention *attention,
    const clattn_layer *given, bool reference, clattn_error *error);

/*
 * Copy a caller's struct of any version: `known` bytes of *to, from a struct
 * that says in its first member, a size_t, how many it has.  What is missing is
 * zero, and the copy's first member is `known`.  Nonzero bytes past `known` are
 * CLATTN_UNSUPPORTED, since they ask for something that this library does not
 * know.  `least` is the size of the struct's first published version.  `name`
 * names it in the message.  NULL is refused.
 */
clattn_status problem_take_struct(void *to, size_t known, size_t least,
    const void *from, const char *name, clattn_error *error);

/* Bytes of an element of a clattn_dtype; 0 for what is none. */
size_t dtype_bytes(int32_t dtype);
/* "f32", "bool"...; "unknown dtype" for what is none. */
const char *dtype_name(int32_t dtype);

#endif
