/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.c - f32 arrays of the commands.
 */
#define _POSIX_C_SOURCE 200809L
#include "arrays.h"

#include <stdlib.h>
#include <unistd.h>

#include <clattn/clattn.h>

/* The machine's memory.  Where memory is overcommitted, malloc grants more and
   the process is killed later. */
static size_t machine_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0 || (size_t)pages > SIZE_MAX / (size_t)page)
        return SIZE_MAX;
    return (size_t)pages * (size_t)page;
}

float *floats_make(size_t count, const char *what, failure *f)
{
    const double gigabytes = (double)count * sizeof(float) * 1e-9;
    float *values = NULL;
    if (count <= machine_bytes() / sizeof(float))
        values = malloc((count ? count : 1) * sizeof(float));
    if (!values)
        fail(f, "%s needs %.1f GB of memory, more than there is", what,
            gigabytes);
    return values;
}

bool array_make(npy_array *array, size_t rank, const size_t *size,
    const char *what, failure *f)
{
    char shape[200];
    *array = (npy_array){.rank = rank, .count = 1, .dtype = CLATTN_F32};
    for (size_t i = 0; i < rank; i++) {
        array->size[i] = size[i];
        if (size[i] && array->count > SIZE_MAX / size[i])
            return fail(f, "%s: shape %s is beyond what can be counted", what,
                npy_shape_text(shape, rank, size));
        array->count *= size[i];
    }
    array->data = floats_make(array->count, what, f);
    return array->data != NULL;
}

bool array_check_rank(const npy_array *array, const char *path, size_t low,
    size_t high, failure *f)
{
    char shape[200];
    if (array->rank >= low && array->rank <= high)
        return true;
    npy_shape_text(shape, array->rank, array->size);
    if (low == high)
        return fail(f, "%s: shape %s has rank %zu, but %zu is needed", path,
            shape, array->rank, low);
    return fail(f, "%s: shape %s has rank %zu, but %zu to %zu is allowed", path,
        shape, array->rank, low, high);
}

bool array_read(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, size_t low, size_t high, failure *f)
{
    if (!npy_read(array, path, two_bytes, f))
        return false;
    if (array_check_rank(array, path, low, high, f) &&
        npy_to_f32(array, path, f))
        return true;
    npy_free(array);
    return false;
}

bool array_check_bf16(bool found, enum npy_two_bytes two_bytes, failure *f)
{
    return found || two_bytes == NPY_NO_BF16 ||
           fail(f, "--read-bf16 has no effect: no input has 2-byte elements of "
                   "type V2 or u2");
}

bool array_write(
    outputs *to, const char *path, const npy_array *array, failure *f)
{
    return !path || npy_write(to, path, array->data, array->dtype, array->rank,
                        array->size, f);
}
