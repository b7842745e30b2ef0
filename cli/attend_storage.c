/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_storage.c - tensors as the device is to store them.
 */
#include "attend_storage.h"

#include <math.h>
#include <stdlib.h>

#include <clattn/clattn.h>

#include "arrays.h"
#include "session.h"

static const char *name_of(int32_t dtype)
{
    return dtype == CLATTN_F16 ? "f16" : "bf16";
}

/* What became infinite must have been it. */
static bool check_range(const npy_array *from, const uint16_t *to,
    int32_t dtype, const char *path, failure *f)
{
    const uint16_t infinity = dtype == CLATTN_F16 ? 0x7c00 : 0x7f80;
    const size_t bytes = from->dtype == CLATTN_F64   ? 8
                         : from->dtype == CLATTN_F32 ? 4
                                                     : 2;
    for (size_t i = 0; i < from->count; i++) {
        double value = 0.0;
        if ((to[i] & 0x7fff) != infinity)
            continue;
        clattn_convert(&value, CLATTN_F64, (const char *)from->data + i * bytes,
            from->dtype, 1, NULL);
        if (!isinf(value))
            return fail(f,
                "%s: element %zu is %g, but %s holds at most %g in absolute "
                "value",
                path, i, value, name_of(dtype),
                dtype == CLATTN_F16 ? 65504.0 : 0x1.fep127);
    }
    return true;
}

/* From any dtype of a file to one of 2 bytes. */
static bool narrow(
    npy_array *array, int32_t dtype, const char *path, failure *f)
{
    clattn_error error;
    if (array->dtype == dtype)
        return true;
    if (array->dtype == CLATTN_BOOL)
        return fail(
            f, "%s: dtype bool, but f2, f4, f8 or bf16 is needed", path);
    uint16_t *narrowed = calloc(array->count ? array->count : 1, 2);
    if (!narrowed)
        return fail(f, "%s: no memory for %zu %s values", path, array->count,
            name_of(dtype));
    if (!library_ok(clattn_convert(narrowed, dtype, array->data, array->dtype,
                        array->count, &error),
            &error, f) ||
        !check_range(array, narrowed, dtype, path, f)) {
        free(narrowed);
        return false;
    }
    free(array->data);
    array->data = narrowed;
    array->dtype = dtype;
    return true;
}

bool storage_read(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, int32_t dtype, size_t low, size_t high,
    failure *f)
{
    if (dtype == CLATTN_F32)
        return array_read(array, path, two_bytes, low, high, f);
    if (!npy_read(array, path, two_bytes, f))
        return false;
    if (array_check_rank(array, path, low, high, f) &&
        narrow(array, dtype, path, f))
        return true;
    npy_free(array);
    return false;
}
