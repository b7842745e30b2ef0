/* SPDX-License-Identifier: Apache-2.0
 *
 * stored.c - f32 arrays in .npy files.
 */
#include "stored.h"

#include <check.h>

#include <clattn/clattn.h>

#include "scratch.h"

void stored_read_path(npy_array *array, const char *path)
{
    failure f = {.text = ""};
    ck_assert_msg(npy_read(array, path, NPY_NO_BF16, &f), "%s", f.text);
    ck_assert_msg(npy_to_f32(array, path, &f), "%s", f.text);
}

void stored_read(npy_array *array, const char *name)
{
    char path[SCRATCH_PATH];
    stored_read_path(array, scratch_path(path, name));
}

bool stored_alone(const char *path, const void *data, int32_t dtype,
    size_t rank, const size_t *size, failure *f)
{
    outputs alone = {.count = 0};
    return npy_write(&alone, path, data, dtype, rank, size, f) &&
           outputs_commit(&alone, f);
}

void stored_write(
    const char *name, size_t rank, const size_t *size, const float *values)
{
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    scratch_path(path, name);
    ck_assert_msg(
        stored_alone(path, values, CLATTN_F32, rank, size, &f), "%s", f.text);
}

void program_do(program_result *result, const char *const *arguments)
{
    program_run(result, arguments, NULL);
    ck_assert_msg(result->code == 0, "clattn %s: exit code %d, %s",
        arguments[0], result->code, result->err);
}
