/* SPDX-License-Identifier: Apache-2.0
 *
 * problem.c - what all descriptors have in common: versions of structs, their
 * initial values, and dtypes.
 */
#include "problem.h"

#include <string.h>

#include "error.h"
#include "struct_size.h"

static const struct {
    size_t bytes;
    const char *name;
} DTYPES[] = {
    [CLATTN_F32] = {4, "f32"},
    [CLATTN_F16] = {2, "f16"},
    [CLATTN_BF16] = {2, "bf16"},
    [CLATTN_BOOL] = {1, "bool"},
    [CLATTN_F64] = {8, "f64"},
};

static bool is_dtype(int32_t dtype)
{
    return dtype >= CLATTN_F32 && dtype <= CLATTN_F64;
}

size_t dtype_bytes(int32_t dtype)
{
    return is_dtype(dtype) ? DTYPES[dtype].bytes : 0;
}

const char *dtype_name(int32_t dtype)
{
    return is_dtype(dtype) ? DTYPES[dtype].name : "unknown dtype";
}

clattn_status problem_take_struct(void *to, size_t known, size_t least,
    const void *from, const char *name, clattn_error *error)
{
    size_t size = 0;

    if (from == NULL)
        return error_set(error, CLATTN_INVALID,
            "%s is NULL, but must point to a struct", name);
    memcpy(&size, from, sizeof size);
    const clattn_status status =
        struct_size_check(name, size, least, known, error);
    if (status != CLATTN_OK)
        return status;
    for (size_t i = known; i < size; ++i)
        if (((const unsigned char *)from)[i] != 0)
            return error_set(error, CLATTN_UNSUPPORTED,
                "%s.struct_size is %zu, and byte %zu is not 0: it asks for "
                "something newer than this version, which knows %zu bytes",
                name, size, i, known);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known);
    return CLATTN_OK;
}

/* Give the caller's struct of any version the initial values.  Of one that is
   larger than any only the size is written, by which it is then refused. */
static void init_struct(
    void *to, size_t to_size, const void *initial, size_t known)
{
    if (to == NULL)
        return;
    if (!struct_size_possible(to_size, known)) {
        memcpy(to, initial, sizeof to_size);
        return;
    }
    memset(to, 0, to_size);
    memcpy(to, initial, to_size < known ? to_size : known);
}

void clattn_attention_init(clattn_attention *attention, size_t struct_size)
{
    const clattn_attention initial = {
        .struct_size = struct_size,
        .B = SIZE_UNSET,
        .Hq = SIZE_UNSET,
        .Hkv = SIZE_UNSET,
        .Lq = SIZE_UNSET,
        .Lk = SIZE_UNSET,
        .D = SIZE_UNSET,
        .Dv = SIZE_UNSET,
        .window_left = -1,
        .window_right = -1,
    };
    init_struct(attention, struct_size, &initial, sizeof initial);
}

void clattn_linear_init(clattn_linear *linear, size_t struct_size)
{
    const clattn_linear initial = {
        .struct_size = struct_size,
        .rows = SIZE_UNSET,
        .n_in = SIZE_UNSET,
        .n_out = SIZE_UNSET,
    };
    init_struct(linear, struct_size, &initial, sizeof initial);
}

void clattn_layer_init(clattn_layer *layer, size_t struct_size)
{
    const clattn_layer initial = {
        .struct_size = struct_size,
        .E = SIZE_UNSET,
        .Ey = SIZE_UNSET,
    };
    init_struct(layer, struct_size, &initial, sizeof initial);
}
