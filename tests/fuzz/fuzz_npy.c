/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_npy.c - any bytes as an .npy file: read whole, or refused in words.
 */
#include <stdlib.h>

#include "clattn/clattn.h"
#include "fuzz.h"
#include "npy.h"

static size_t element_bytes(int32_t dtype)
{
    switch (dtype) {
    case CLATTN_F64:
        return 8;
    case CLATTN_F32:
        return 4;
    case CLATTN_BOOL:
        return 1;
    default:
        return 2;
    }
}

static void check_array(npy_array *array, const char *path)
{
    failure f = {.text = ""};
    char text[200];
    size_t count = 1;
    fuzz_require(array->rank <= NPY_MAX_RANK, "a rank is within its bounds");
    for (size_t d = 0; d < array->rank; ++d)
        count *= array->size[d];
    fuzz_require(count == array->count, "the sizes give the count");
    npy_shape_text(text, array->rank, array->size);
    fuzz_look(array->data, array->count * element_bytes(array->dtype));
    if (npy_to_f32(array, path, &f))
        fuzz_look(array->data, array->count * sizeof(float));
    else
        fuzz_require(f.text[0] != '\0', "a refused conversion says why");
}

static void read_reals(const char *path, enum npy_two_bytes two_bytes)
{
    failure f = {.text = ""};
    npy_array array;
    if (npy_read(&array, path, two_bytes, &f)) {
        check_array(&array, path);
        npy_free(&array);
        return;
    }
    fuzz_require(f.text[0] != '\0', "a refused file has a reason");
    fuzz_require(
        array.data == NULL && array.count == 0, "a refused array is empty");
}

static void read_integers(const char *path)
{
    failure f = {.text = ""};
    int32_t *values = NULL;
    size_t count = 0;
    if (npy_read_int32(&values, &count, path, &f)) {
        fuzz_look(values, count * sizeof *values);
        free(values);
        return;
    }
    fuzz_require(f.text[0] != '\0', "refused numbers have a reason");
    fuzz_require(values == NULL && count == 0, "refused numbers are none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    read_reals(path, NPY_NO_BF16);
    read_reals(path, NPY_AS_BF16);
    read_integers(path);
    return 0;
}
