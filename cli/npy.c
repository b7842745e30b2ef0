/* SPDX-License-Identifier: Apache-2.0
 *
 * npy.c - arrays in numpy's .npy files, versions 1 to 3.
 */
#include "npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clattn/clattn.h"
#include "npy_header.h"
#include "npy_stream.h"
#include "to_f32.h"

/* A header of more than 8 sizes and three keys is padding or a structured
   dtype; numpy itself takes 10,000 bytes for suspicious. */
#define MAX_HEADER_BYTES ((size_t)1 << 20)

/* ---- dtypes -------------------------------------------------------------- */

enum element_family {
    REAL,
    SIGNED,
    UNSIGNED,
    VOID_BYTES
};

typedef struct element {
    const char *code; /* descr without the byte order */
    enum element_family family;
    size_t bytes;
    int32_t dtype;
} element;

static const element ELEMENTS[] = {
    {"f4", REAL, 4, CLATTN_F32},
    {"f2", REAL, 2, CLATTN_F16},
    {"f8", REAL, 8, CLATTN_F64},
    {"b1", REAL, 1, CLATTN_BOOL},
    {"?", REAL, 1, CLATTN_BOOL},
    {"V2", VOID_BYTES, 2, CLATTN_BF16},
    {"i1", SIGNED, 1, 0},
    {"i2", SIGNED, 2, 0},
    {"i4", SIGNED, 4, 0},
    {"i8", SIGNED, 8, 0},
    {"u1", UNSIGNED, 1, 0},
    {"u2", UNSIGNED, 2, CLATTN_BF16},
    {"u4", UNSIGNED, 4, 0},
    {"u8", UNSIGNED, 8, 0},
};

static const char *without_order(const char *descr)
{
    return *descr && strchr("<>|=", *descr) ? descr + 1 : descr;
}

static const element *find_element(const char *descr)
{
    const char *code = without_order(descr);
    for (size_t i = 0; i < sizeof ELEMENTS / sizeof ELEMENTS[0]; ++i)
        if (strcmp(code, ELEMENTS[i].code) == 0)
            return &ELEMENTS[i];
    return NULL;
}

/* What else numpy stores, by the letter of its kind. */
static const char *foreign_kind(const char *descr)
{
    switch (*without_order(descr)) {
    case 'O':
        return " (Python objects, pickled)";
    case 'c':
        return " (complex numbers)";
    case 'U':
    case 'S':
    case 'a':
        return " (text)";
    case 'M':
    case 'm':
        return " (dates or times)";
    case 'V':
        return " (bytes without a type)";
    default:
        return "";
    }
}

/* ---- Reading ------------------------------------------------------------- */

static bool check_magic(const npy_stream *s, const unsigned char *start)
{
    if (memcmp(start, "PK\3\4", 4) == 0)
        return fail(s->f,
            "%s: is an .npz archive: unpack it and name one .npy file of it",
            s->path);
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return fail(s->f,
            "%s: is no .npy file: its first bytes are not \\x93NUMPY", s->path);
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return fail(s->f,
            "%s: .npy version %d.%d, but 1.0, 2.0 and 3.0 are read", s->path,
            start[6], start[7]);
    return true;
}

static bool read_header_length(npy_stream *s, size_t *length)
{
    unsigned char start[8] = {0}, field[4] = {0};
    if (!npy_stream_take(s, start, sizeof start, "its first 8 bytes") ||
        !check_magic(s, start) ||
        !npy_stream_take(
            s, field, start[6] == 1 ? 2 : 4, "the length of the header"))
        return false;
    *length = field[0] | (size_t)field[1] << 8 | (size_t)field[2] << 16 |
              (size_t)field[3] << 24;
    if (s->sized && *length > npy_stream_rest(s))
        return fail(s->f,
            "%s: the header is to have %zu bytes, but the file has %" PRIu64
            " after its length",
            s->path, *length, npy_stream_rest(s));
    if (*length > MAX_HEADER_BYTES)
        return fail(s->f,
            "%s: the header is to have %zu bytes, but at most %zu are read",
            s->path, *length, MAX_HEADER_BYTES);
    return true;
}

static bool read_header(npy_stream *s, npy_header *header)
{
    size_t length = 0;
    if (!read_header_length(s, &length))
        return false;
    char *text = malloc(length + 1);
    if (!text)
        return fail_memory(
            s->f, "%s: no memory for a header of %zu bytes", s->path, length);
    bool ok = npy_stream_take(s, text, length, "the header") &&
              npy_header_parse(header, text, length, s->path, s->f);
    free(text);
    return ok;
}

/* Empty arrays too may have no sizes that overflow: as in numpy, and so that
   any partial product of the sizes is safe. */
static bool count_elements(
    const npy_stream *s, const npy_header *header, size_t bytes, size_t *count)
{
    char text[200];
    size_t product = 1;
    bool empty = false;
    for (size_t i = 0; i < header->rank; ++i) {
        size_t size = header->size[i];
        empty |= size == 0;
        if (size && product > PTRDIFF_MAX / bytes / size)
            return fail(s->f, "%s: shape %s of '%s' is beyond all memory",
                s->path, npy_shape_text(text, header->rank, header->size),
                header->descr);
        product *= size ? size : 1;
    }
    *count = empty ? 0 : product;
    return true;
}

static bool check_rest(
    const npy_stream *s, const npy_header *header, size_t bytes)
{
    char text[200];
    if (!s->sized || npy_stream_rest(s) == bytes)
        return true;
    return fail(s->f,
        "%s: shape %s of '%s' needs %zu bytes of data, but the file has "
        "%" PRIu64,
        s->path, npy_shape_text(text, header->rank, header->size),
        header->descr, bytes, npy_stream_rest(s));
}

/* ---- Little-endian, C order ---------------------------------------------- */

static void swap_bytes(char *data, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; ++i) {
        char *first = data + i * bytes, *last = first + bytes - 1;
        for (; first < last; ++first, --last) {
            char kept = *first;
            *first = *last;
            *last = kept;
        }
    }
}

/* Copy what has the first index fastest to where the last one is. */
static void copy_to_c_order(
    char *to, const char *from, const npy_array *array, size_t bytes)
{
    size_t index[NPY_MAX_RANK] = {0};
    size_t stride[NPY_MAX_RANK];
    size_t source_at = 0;
    for (size_t d = 0, step = bytes; d < array->rank; ++d) {
        stride[d] = step;
        step *= array->size[d];
    }
    for (size_t i = 0; i < array->count; ++i) {
        memcpy(to + i * bytes, from + source_at, bytes);
        for (size_t d = array->rank; d-- > 0;) {
            source_at += stride[d];
            if (++index[d] < array->size[d])
                break;
            source_at -= stride[d] * array->size[d];
            index[d] = 0;
        }
    }
}

static bool to_c_order(
    npy_array *array, size_t bytes, const char *path, failure *f)
{
    char *copy = malloc(array->count ? array->count * bytes : 1);
    if (!copy)
        return fail_memory(f, "%s: no memory for %zu bytes in C order", path,
            array->count * bytes);
    copy_to_c_order(copy, array->data, array, bytes);
    free(array->data);
    array->data = copy;
    return true;
}

/* ---- Arrays -------------------------------------------------------------- */

static bool read_body(npy_stream *s, npy_array *array, const npy_header *header,
    const element *kind)
{
    char *data = NULL;
    if (!count_elements(s, header, kind->bytes, &array->count))
        return false;
    size_t bytes = array->count * kind->bytes;
    if (!check_rest(s, header, bytes))
        return false;
    bool ok = npy_stream_data(s, &data, bytes);
    array->data = data;
    array->rank = header->rank;
    memcpy(array->size, header->size, sizeof array->size);
    if (ok && header->descr[0] == '>')
        swap_bytes(data, array->count, kind->bytes);
    if (ok && header->fortran_order && header->rank > 1)
        ok = to_c_order(array, kind->bytes, s->path, s->f);
    return ok;
}

static bool open_array(
    npy_stream *s, npy_header *header, const char *path, failure *f)
{
    return npy_stream_open(s, path, f) && read_header(s, header);
}

static bool check_real(const npy_stream *s, const char *descr,
    const element *kind, enum npy_two_bytes two_bytes, bool mask)
{
    if (kind && (kind->family == REAL ||
                    (kind->dtype == CLATTN_BF16 && two_bytes == NPY_AS_BF16)))
        return true;
    if (kind && kind->dtype == CLATTN_BF16)
        return fail(s->f,
            "%s: dtype '%s' holds bf16 or something else: --read-bf16 says "
            "that it is bf16",
            s->path, descr);
    const bool whole = kind != NULL;
    return fail(s->f,
        "%s: dtype '%s'%s is not read here, but f2, f4 and f8 are%s%s", s->path,
        descr, whole ? " (whole numbers)" : foreign_kind(descr),
        mask ? ", and bool" : "",
        mask && whole ? ": numpy's astype(bool) makes them a mask" : "");
}

static bool read_real(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, bool mask, failure *f)
{
    npy_stream s;
    npy_header header;
    const element *kind = NULL;
    memset(array, 0, sizeof *array);
    bool ok = open_array(&s, &header, path, f);
    if (ok) {
        kind = find_element(header.descr);
        ok = check_real(&s, header.descr, kind, two_bytes, mask) &&
             read_body(&s, array, &header, kind);
    }
    if (ok) {
        array->dtype = kind->dtype;
        array->was_bf16 = kind->dtype == CLATTN_BF16;
    } else {
        npy_free(array);
    }
    npy_stream_close(&s);
    return ok;
}

bool npy_read(npy_array *array, const char *path, enum npy_two_bytes two_bytes,
    failure *f)
{
    return read_real(array, path, two_bytes, false, f);
}

bool npy_read_mask(npy_array *array, const char *path,
    enum npy_two_bytes two_bytes, failure *f)
{
    return read_real(array, path, two_bytes, true, f);
}

/* ---- Whole numbers ------------------------------------------------------- */

static bool check_whole(
    const npy_stream *s, const char *descr, const element *kind)
{
    if (kind && (kind->family == SIGNED || kind->family == UNSIGNED))
        return true;
    return fail(s->f,
        "%s: dtype '%s'%s, but whole numbers (i1 to i8, u1 to u8) are needed: "
        "numpy's astype('int32') makes them",
        s->path, descr, kind ? "" : foreign_kind(descr));
}

typedef struct whole {
    uint64_t magnitude;
    bool negative;
} whole;

static whole load_whole(const unsigned char *at, const element *kind)
{
    uint64_t bits = 0;
    for (size_t i = kind->bytes; i-- > 0;)
        bits = bits << 8 | at[i];
    uint64_t sign = (uint64_t)1 << (8 * kind->bytes - 1);
    if (kind->family == SIGNED && (bits & sign))
        return (whole){2 * sign - bits, true}; /* modulo 2^64 */
    return (whole){bits, false};
}

static bool narrow(int32_t *values, const npy_array *array, const element *kind,
    const char *path, failure *f)
{
    const unsigned char *from = array->data;
    for (size_t i = 0; i < array->count; ++i) {
        whole w = load_whole(from + i * kind->bytes, kind);
        if (w.magnitude > (uint64_t)INT32_MAX + w.negative)
            return fail(f,
                "%s: element %zu is %s%" PRIu64
                ", but -2147483648 to 2147483647 is allowed",
                path, i, w.negative ? "-" : "", w.magnitude);
        int64_t value = (int64_t)w.magnitude;
        values[i] = (int32_t)(w.negative ? -value : value);
    }
    return true;
}

/* *values is the caller's to free in either case. */
static bool read_whole(
    npy_stream *s, int32_t **values, npy_array *array, const npy_header *header)
{
    const element *kind = find_element(header->descr);
    if (!check_whole(s, header->descr, kind) ||
        !read_body(s, array, header, kind))
        return false;
    *values = calloc(array->count ? array->count : 1, sizeof **values);
    if (!*values)
        return fail_memory(
            s->f, "%s: no memory for %zu numbers", s->path, array->count);
    return narrow(*values, array, kind, s->path, s->f);
}

bool npy_read_int32(
    int32_t **values, size_t *count, const char *path, failure *f)
{
    npy_stream s;
    npy_header header;
    npy_array array = {0};
    *values = NULL;
    bool ok = open_array(&s, &header, path, f) &&
              read_whole(&s, values, &array, &header);
    if (!ok) {
        free(*values);
        *values = NULL;
    }
    *count = ok ? array.count : 0;
    npy_free(&array);
    npy_stream_close(&s);
    return ok;
}

/* ---- Conversion ---------------------------------------------------------- */

bool npy_to_f32(npy_array *array, const char *path, failure *f)
{
    if (array->dtype == CLATTN_F32)
        return true;
    if (array->dtype != CLATTN_F16 && array->dtype != CLATTN_BF16 &&
        array->dtype != CLATTN_F64)
        return fail(
            f, "%s: dtype bool, but f2, f4, f8 or bf16 is needed", path);
    float *converted =
        calloc(array->count ? array->count : 1, sizeof *converted);
    if (!converted)
        return fail_memory(
            f, "%s: no memory for %zu f32 values", path, array->count);
    if (!to_f32(converted, array->data, array->dtype, array->count, path, f)) {
        free(converted);
        return false;
    }
    free(array->data);
    array->data = converted;
    array->dtype = CLATTN_F32;
    return true;
}

void npy_free(npy_array *array)
{
    if (!array)
        return;
    free(array->data);
    memset(array, 0, sizeof *array);
}
