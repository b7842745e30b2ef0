/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors.h - named tensors in Hugging Face's .safetensors files: header by
 * jansson, data mapped, every offset checked.  Format: the README of the
 * safetensors repository.
 */
#ifndef CLATTN_CLI_SAFETENSORS_H
#define CLATTN_CLI_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

enum {
    SAFETENSORS_MAX_RANK = 8
};

typedef struct safetensor {
    const char *name;
    const char *dtype_name; /* as in the file: "F16" */
    int32_t dtype; /* F32, F16, BF16, F64, or 0 for what is not converted */
    size_t rank;
    size_t size[SAFETENSORS_MAX_RANK];
    size_t count;
    const void *data; /* mapped, of any alignment */
    size_t bytes;
} safetensor;

typedef struct safetensors safetensors;

/* A regular file, which must not shrink while it is open.  Refused with a
   message: names twice or with control characters, dtypes unknown to the
   format, offsets that do not fit shape or file, overlaps and holes. */
safetensors *safetensors_open(const char *path, failure *f);
void safetensors_close(safetensors *file); /* NULL is a no-op */

size_t safetensors_count(const safetensors *file);
/* In the order of their names; valid until close. */
const safetensor *safetensors_at(const safetensors *file, size_t index);
const safetensor *safetensors_find(const safetensors *file, const char *name);
/* A string of __metadata__; NULL if there is none of that key. */
const char *safetensors_metadata(const safetensors *file, const char *key);

/* A copy as f32, exact but for F64, which is rounded; the caller frees it.  NULL
   with a message that names the tensor: another dtype, or an F64 beyond the
   range of f32. */
float *safetensor_to_f32(const safetensor *tensor, failure *f);

#endif
