/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors_entry.c - one entry of a .safetensors header: dtype, shape and
 * offsets, each checked against the others and the file.
 */
#include "safetensors_entry.h"

#include <string.h>

#include "clattn/clattn.h"

static const struct known_dtype {
    const char *name;
    unsigned bits;
    int32_t dtype;
} DTYPES[] = {
    {"F32", 32, CLATTN_F32},
    {"F16", 16, CLATTN_F16},
    {"BF16", 16, CLATTN_BF16},
    {"F64", 64, CLATTN_F64},
    {"BOOL", 8, 0},
    {"U8", 8, 0},
    {"I8", 8, 0},
    {"U16", 16, 0},
    {"I16", 16, 0},
    {"U32", 32, 0},
    {"I32", 32, 0},
    {"U64", 64, 0},
    {"I64", 64, 0},
    {"F8_E4M3", 8, 0},
    {"F8_E5M2", 8, 0},
    {"F8_E8M0", 8, 0},
    {"F6_E2M3", 6, 0},
    {"F6_E3M2", 6, 0},
    {"F4", 4, 0},
    {"C64", 64, 0},
};

static bool fail_tensor(
    const entry_reader *r, const safetensor *t, const char *problem)
{
    return fail(r->f, "%s: tensor \"%s\": %s", r->path, t->name, problem);
}

/* Names are printed, in lists and messages, so none may steer a terminal: U+00
   to U+1F, U+7F, and U+80 to U+9F, which UTF-8 begins with C2. */
static bool check_name(const entry_reader *r, const char *name)
{
    for (const unsigned char *c = (const unsigned char *)name; *c; ++c)
        if (*c < ' ' || *c == 0x7F || (*c == 0xC2 && c[1] < 0xA0))
            return fail(r->f,
                "%s: a tensor's name has a control character at byte %zu",
                r->path, (size_t)((const char *)c - name));
    return true;
}

static bool read_dtype(
    const entry_reader *r, safetensor *t, const json_t *entry, unsigned *bits)
{
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    if (!name)
        return fail_tensor(r, t, "has no \"dtype\" that is a string");
    for (size_t i = 0; i < sizeof DTYPES / sizeof DTYPES[0]; ++i) {
        if (strcmp(name, DTYPES[i].name) != 0)
            continue;
        t->dtype_name = DTYPES[i].name;
        t->dtype = DTYPES[i].dtype;
        *bits = DTYPES[i].bits;
        return true;
    }
    size_t plain = strspn(name,
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    return fail(r->f, "%s: tensor \"%s\": dtype \"%.*s\" is not known", r->path,
        t->name, plain < 40 ? (int)plain : 40, name);
}

/* A number of bytes or elements. */
static bool read_size(const json_t *value, size_t *size)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uintmax_t)json_integer_value(value) > PTRDIFF_MAX)
        return false;
    *size = (size_t)json_integer_value(value);
    return true;
}

static bool read_shape(
    const entry_reader *r, safetensor *t, const json_t *entry)
{
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape))
        return fail_tensor(r, t, "has no \"shape\" that is an array");
    if (json_array_size(shape) > SAFETENSORS_MAX_RANK)
        return fail(r->f,
            "%s: tensor \"%s\": %zu dimensions, but at most %d are read",
            r->path, t->name, json_array_size(shape), SAFETENSORS_MAX_RANK);
    t->rank = json_array_size(shape);
    for (size_t i = 0; i < t->rank; ++i)
        if (!read_size(json_array_get(shape, i), &t->size[i]))
            return fail_tensor(
                r, t, "the shape holds something else than sizes");
    return true;
}

/* A tensor without elements too may have no sizes that overflow: any partial
   product of the sizes is then safe. */
static bool count_elements(
    const entry_reader *r, safetensor *t, unsigned bits, size_t *bytes)
{
    size_t product = 1;
    bool empty = false;
    for (size_t i = 0; i < t->rank; ++i) {
        size_t size = t->size[i];
        empty |= size == 0;
        if (size && product > SIZE_MAX / bits / size)
            return fail_tensor(r, t, "the shape is beyond all memory");
        product *= size ? size : 1;
    }
    t->count = empty ? 0 : product;
    if (t->count * bits % 8 != 0)
        return fail_tensor(r, t, "the elements do not fill whole bytes");
    *bytes = t->count * bits / 8;
    return true;
}

static bool read_offsets(
    const entry_reader *r, safetensor *t, const json_t *entry, size_t bytes)
{
    size_t begin = 0, end = 0;
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (json_array_size(offsets) != 2 ||
        !read_size(json_array_get(offsets, 0), &begin) ||
        !read_size(json_array_get(offsets, 1), &end))
        return fail_tensor(
            r, t, "has no \"data_offsets\" of two numbers from 0 on");
    if (begin > end)
        return fail(r->f,
            "%s: tensor \"%s\": data offsets %zu to %zu are reversed", r->path,
            t->name, begin, end);
    if (end > r->data_bytes)
        return fail(r->f,
            "%s: tensor \"%s\": data offsets %zu to %zu, but the file has %zu "
            "bytes of data",
            r->path, t->name, begin, end, r->data_bytes);
    if (end - begin != bytes)
        return fail(r->f,
            "%s: tensor \"%s\": data offsets %zu to %zu hold %zu bytes, but "
            "shape and dtype need %zu",
            r->path, t->name, begin, end, end - begin, bytes);
    t->data = r->data + begin;
    t->bytes = bytes;
    return true;
}

bool safetensors_entry_read(
    safetensor *t, const entry_reader *r, const char *name, const json_t *entry)
{
    unsigned bits = 0;
    size_t bytes = 0;
    if (!check_name(r, name))
        return false;
    t->name = name;
    if (!json_is_object(entry))
        return fail_tensor(r, t, "the entry is no object");
    return read_dtype(r, t, entry, &bits) && read_shape(r, t, entry) &&
           count_elements(r, t, bits, &bytes) &&
           read_offsets(r, t, entry, bytes);
}
