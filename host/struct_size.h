/* SPDX-License-Identifier: Apache-2.0
 *
 * struct_size.h - which sizes of a caller's struct are believed.
 */
#ifndef CLATTN_HOST_STRUCT_SIZE_H
#define CLATTN_HOST_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "clattn/clattn.h"

/* Whether a version may have made the struct of `known` bytes this large. */
bool struct_size_possible(size_t size, size_t known);

/* CLATTN_INVALID of a struct that is smaller than its first version, which had
   `least` bytes, or larger than any.  `name` is the argument. */
clattn_status struct_size_check(const char *name, size_t size, size_t least,
    size_t known, clattn_error *error);

#endif
