/* SPDX-License-Identifier: Apache-2.0
 *
 * to_f32.h - elements of files as f32, with a refusal of what f32 cannot hold.
 */
#ifndef CLATTN_CLI_TO_F32_H
#define CLATTN_CLI_TO_F32_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

/*
 * Convert `count` elements of F32, F16, BF16 (exact) or F64 (rounded to
 * nearest even); `from` may have any alignment.  A finite F64 beyond the range
 * of f32 is refused: as infinity it would mean something else, in a mask that
 * a key is hidden.  `owner` begins the message: a file or a tensor.
 */
bool to_f32(float *to, const void *from, int32_t dtype, size_t count,
    const char *owner, failure *f);

#endif
