/* SPDX-License-Identifier: Apache-2.0
 *
 * tensors.c - .safetensors files for tests.
 */
#include "tensors.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

enum {
    HEADER_BYTES = 32000
};

static size_t count_of(const tensor_row *row)
{
    size_t count = 1;
    for (size_t i = 0; i < row->rank; i++)
        count *= row->size[i];
    return count;
}

static void describe(char *header, const tensor_row *row, size_t at)
{
    char shape[100] = "";
    for (size_t i = 0; i < row->rank; i++) {
        const size_t used = strlen(shape);
        snprintf(shape + used, sizeof shape - used, "%s%zu", i ? "," : "",
            row->size[i]);
    }
    const size_t used = strlen(header);
    ck_assert_uint_lt(used, HEADER_BYTES - 300);
    snprintf(header + used, HEADER_BYTES - used,
        ",\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
        row->name, shape, at, at + count_of(row) * sizeof(float));
}

static float count_up(const tensor_row *row, size_t i)
{
    return row->first + (float)i;
}

/* A length of 8 bytes, little-endian, the header and the data. */
static char *assemble(const char *header, const tensor_row *rows,
    size_t data_bytes, tensor_fill *fill)
{
    const size_t size = strlen(header);
    char *file = calloc(1, 8 + size + data_bytes + 1);
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < 8; i++)
        file[i] = (char)(size >> 8 * i & 0xff);
    memcpy(file + 8, header, size);
    char *at = file + 8 + size;
    for (; rows->name; rows++)
        for (size_t i = 0; i < count_of(rows); i++, at += sizeof(float)) {
            const float value = fill(rows, i);
            memcpy(at, &value, sizeof value);
        }
    return file;
}

const char *tensors_write(char *path, const char *name, const tensor_row *rows,
    const char *metadata, tensor_fill *fill)
{
    char header[HEADER_BYTES];
    size_t bytes = 0;
    snprintf(header, sizeof header, "{\"__metadata__\":{%s}",
        metadata ? metadata : "");
    for (size_t i = 0; rows[i].name; i++) {
        describe(header, &rows[i], bytes);
        bytes += count_of(&rows[i]) * sizeof(float);
    }
    strcat(header, "}");
    char *file = assemble(header, rows, bytes, fill ? fill : count_up);
    scratch_write(path, name, file, 8 + strlen(header) + bytes);
    free(file);
    return path;
}
