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
 * k_rows are 0 where there are no starts.  dense_blhd: strides that are all 0
 * mean (B, L, H, D), as inside a layer, instead of (B, H, L, D).  reference:
 * CLATTN_F64 is allowed as dtype.  Sizes fit int32, and every tensor's last
 * byte a size_t.  `given` may be of an older or newer struct_size.
 */
clattn_status problem_attention(clattn_attention *complete,
    const clattn_attention *given, bool dense_blhd, bool reference,
    clattn_error *error);

clattn_status problem_linear(clattn_linear *complete,
    const clattn_linear *given, bool reference, clattn_error *error);

/* complete->attention points to *attention, completed with dense_blhd; Ek and
   Ev are set (E and Ek where they were 0) with x_k and x_v as x and x_k then,
   so `complete` alone does not tell whether they were given: see
   problem_layer_has. */
clattn_status problem_layer(clattn_layer *complete, clattn_attention *attention,
    const clattn_layer *given, bool reference, clattn_error *error);

/*
 * Copy a caller's struct of any version: `known` bytes of *to, from a struct
 * that says (in its first member, a size_t) that it has *from bytes.  What is
 * missing is zero; nonzero bytes past `known` are refused, since they ask for
 * something that this library does not know.  `least` is the size of the
 * struct's first published version.  `name` names it in the message.
 */
clattn_status problem_take_struct(void *to, size_t known, size_t least,
    const void *from, const char *name, clattn_error *error);

/* Bytes of an element of a clattn_dtype; 0 for what is none. */
size_t dtype_bytes(int32_t dtype);
/* "f32", "bool"...; "unknown dtype" for what is none. */
const char *dtype_name(int32_t dtype);

#endif
