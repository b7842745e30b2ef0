/* SPDX-License-Identifier: Apache-2.0
 *
 * struct_size.c - which sizes of a caller's struct are believed.
 */
#include "struct_size.h"

#include "error.h"

/* No version of a struct outgrows another by so much: a larger struct_size was
   never set, and bytes of that number may not be there to read. */
enum {
    MOST_GROWTH = 4096
};

bool struct_size_possible(size_t size, size_t known)
{
    return size <= known + MOST_GROWTH;
}

clattn_status struct_size_check(const char *name, size_t size, size_t least,
    size_t known, clattn_error *error)
{
    if (size >= least && struct_size_possible(size, known))
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "%s.struct_size is %zu, but must be sizeof the struct, which is %zu "
        "bytes here and no more than %zu in a later version",
        name, size, known, known + MOST_GROWTH);
}
