/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_case.c - one case of ONNX's operator Attention as its folder has it.
 */
#include "onnx_case.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clattn/clattn.h"
#include "onnx_text.h"

enum {
    PATH_BYTES = 4096,
    KEY_BYTES = 64
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Attributes ---------------------------------------------------------- */

/* softmax_precision is not here: all is f32, and the results have Q's dtype
   whatever it says.  Nor are opset and attributes_set, which change nothing. */
static const struct attribute_row {
    const char *key;
    double low, high;
    bool whole;
    bool may_be_unset;
} ATTRIBUTES[ONNX_ATTRIBUTES] = {
    [ONNX_IS_CAUSAL] = {"is_causal", 0, 1, true, false},
    [ONNX_Q_NUM_HEADS] = {"q_num_heads", 1, INT32_MAX, true, true},
    [ONNX_KV_NUM_HEADS] = {"kv_num_heads", 1, INT32_MAX, true, true},
    [ONNX_QK_MODE] = {"qk_matmul_output_mode", 0, 3, true, false},
    [ONNX_SCALE] = {"scale", -FLT_MAX, FLT_MAX, false, true},
    [ONNX_SOFTCAP] = {"softcap", 0, FLT_MAX, false, false},
    [ONNX_LEFT_WINDOW] = {"left_window_size", -1, INT32_MAX, true, false},
    [ONNX_RIGHT_WINDOW] = {"right_window_size", -1, INT32_MAX, true, false},
    [ONNX_RTOL] = {"rtol", 0, 1, false, false},
    [ONNX_ATOL] = {"atol", 0, 1, false, false},
};

const char *onnx_attribute_name(enum onnx_attribute attribute)
{
    return ATTRIBUTES[attribute].key;
}

static bool parse_attribute(onnx_value *to, const struct attribute_row *row,
    const onnx_text *text, failure *f)
{
    char *end = NULL;
    const char *value = onnx_text_get(text, row->key, f);
    if (value == NULL)
        return false;
    if (row->may_be_unset && strcmp(value, "unset") == 0)
        return true;
    to->set = true;
    to->value = strtod(value, &end);
    /* Written so that NaN is refused too. */
    if (end == value || *end != '\0' || !(to->value >= row->low) ||
        !(to->value <= row->high) ||
        (row->whole && to->value != (double)(int64_t)to->value))
        return fail(f,
            "%s: %s is '%.40s', but a %snumber from %g to %g is "
            "allowed",
            text->path, row->key, value, row->whole ? "whole " : "", row->low,
            row->high);
    return true;
}

static bool parse_attributes(onnx_case *c, const onnx_text *text, failure *f)
{
    for (size_t i = 0; i < ONNX_ATTRIBUTES; ++i)
        if (!parse_attribute(&c->attribute[i], &ATTRIBUTES[i], text, f))
            return false;
    return true;
}

/* ---- Names and dtypes of tensors ----------------------------------------- */

enum kind {
    FLOATS = 1, /* f32, f16, bf16 */
    TRUTH = 2,  /* bool */
    WHOLE = 4   /* i64 */
};

static const struct tensor_row {
    const char *name;
    int kinds;
    bool output;
    bool required;
} TENSORS[ONNX_TENSORS] = {
    [ONNX_Q] = {"Q", FLOATS, false, true},
    [ONNX_K] = {"K", FLOATS, false, true},
    [ONNX_V] = {"V", FLOATS, false, true},
    [ONNX_ATTN_MASK] = {"attn_mask", FLOATS | TRUTH, false, false},
    [ONNX_PAST_KEY] = {"past_key", FLOATS, false, false},
    [ONNX_PAST_VALUE] = {"past_value", FLOATS, false, false},
    [ONNX_NONPAD] = {"nonpad_kv_seqlen", WHOLE, false, false},
    [ONNX_Y] = {"Y", FLOATS, true, true},
    [ONNX_PRESENT_KEY] = {"present_key", FLOATS, true, false},
    [ONNX_PRESENT_VALUE] = {"present_value", FLOATS, true, false},
    [ONNX_QK_OUTPUT] = {"qk_matmul_output", FLOATS, true, false},
};

static const struct dtype_row {
    const char *name;
    int32_t dtype;
    enum kind kind;
    size_t bytes; /* in memory, once read */
} DTYPES[] = {
    {"f32", CLATTN_F32, FLOATS, 4},
    {"f16", CLATTN_F16, FLOATS, 2},
    {"bf16", CLATTN_BF16, FLOATS, 2},
    {"bool", CLATTN_BOOL, TRUTH, 1},
    {"i64", 0, WHOLE, sizeof(int32_t)},
};

const char *onnx_tensor_name(enum onnx_tensor tensor)
{
    return TENSORS[tensor].name;
}

static const struct dtype_row *dtype_row(int32_t dtype)
{
    for (size_t i = 0; i < COUNT(DTYPES); ++i)
        if (DTYPES[i].dtype == dtype)
            return &DTYPES[i];
    return NULL;
}

const char *onnx_dtype_name(int32_t dtype)
{
    const struct dtype_row *row = dtype_row(dtype);
    return row != NULL ? row->name : "f64";
}

size_t onnx_dtype_bytes(int32_t dtype)
{
    const struct dtype_row *row = dtype_row(dtype);
    return row != NULL ? row->bytes : sizeof(double);
}

/* ---- One tensor ---------------------------------------------------------- */

/* What case.txt says of a tensor. */
typedef struct declared {
    const struct dtype_row *type;
    size_t rank;
    size_t size[NPY_MAX_RANK];
} declared;

static const char *get_of(
    const onnx_text *text, const char *name, const char *what, failure *f)
{
    char key[KEY_BYTES];
    snprintf(key, sizeof key, "%s.%s", name, what);
    return onnx_text_get(text, key, f);
}

static bool parse_dtype(declared *d, const struct tensor_row *row,
    const onnx_text *text, failure *f)
{
    const char *value = get_of(text, row->name, "dtype", f);
    if (value == NULL)
        return false;
    for (size_t i = 0; i < COUNT(DTYPES); ++i)
        if (strcmp(DTYPES[i].name, value) == 0 &&
            (DTYPES[i].kind & row->kinds) != 0) {
            d->type = &DTYPES[i];
            return true;
        }
    return fail(f, "%s: %s.dtype is '%.40s', but %s%s is allowed", text->path,
        row->name, value, row->kinds & WHOLE ? "i64" : "f32, f16 or bf16",
        row->kinds & TRUTH ? " or bool" : "");
}

static bool parse_shape(declared *d, const struct tensor_row *row,
    const onnx_text *text, failure *f)
{
    const char *at = get_of(text, row->name, "shape", f);
    if (at == NULL)
        return false;
    const char *value = at;
    for (size_t length; (length = onnx_text_word(&at)) > 0; at += length) {
        /* 18 digits fit a size_t. */
        if (d->rank == NPY_MAX_RANK || length > 18 ||
            strspn(at, "0123456789") != length)
            return fail(f,
                "%s: %s.shape is '%.60s', but at most %d sizes are "
                "allowed",
                text->path, row->name, value, NPY_MAX_RANK);
        d->size[d->rank++] = (size_t)strtoull(at, NULL, 10);
    }
    return true;
}

static bool read_whole(
    npy_array *a, const declared *d, const char *path, failure *f)
{
    int32_t *values = NULL;
    if (!npy_read_int32(&values, &a->count, path, f))
        return false;
    a->data = values;
    a->rank = 1;
    a->size[0] = a->count;
    if (d->rank == 1 && d->size[0] == a->count)
        return true;
    return fail(f, "%s: has %zu numbers, which is not what case.txt says", path,
        a->count);
}

static bool same_shape(const npy_array *a, const declared *d)
{
    return a->rank == d->rank &&
           memcmp(a->size, d->size, d->rank * sizeof d->size[0]) == 0;
}

static bool read_array(
    npy_array *a, const declared *d, const char *path, failure *f)
{
    char has[200], says[200];
    const bool bf16 = d->type->dtype == CLATTN_BF16;

    if (d->type->kind == WHOLE)
        return read_whole(a, d, path, f);
    if (!npy_read(a, path, bf16 ? NPY_AS_BF16 : NPY_NO_BF16, f))
        return false;
    if (a->dtype != d->type->dtype)
        return fail(f, "%s: holds %s, but case.txt says %s", path,
            onnx_dtype_name(a->dtype), d->type->name);
    if (!same_shape(a, d))
        return fail(f, "%s: has shape %s, but case.txt says %s", path,
            npy_shape_text(has, a->rank, a->size),
            npy_shape_text(says, d->rank, d->size));
    return true;
}

static bool read_tensor(onnx_case *c, size_t tensor, const onnx_text *text,
    const char *folder, failure *f)
{
    const struct tensor_row *row = &TENSORS[tensor];
    char path[PATH_BYTES];
    declared d = {.rank = 0};

    snprintf(path, sizeof path, "%s/%s.npy", folder, row->name);
    c->given[tensor] = true;
    return parse_dtype(&d, row, text, f) && parse_shape(&d, row, text, f) &&
           read_array(&c->tensor[tensor], &d, path, f);
}

/* ---- The case ------------------------------------------------------------ */

/* The tensor of that name on the inputs' or outputs' side; ONNX_TENSORS if
   there is none. */
static size_t find_tensor(const char *name, size_t length, bool output)
{
    size_t i = 0;
    while (i < ONNX_TENSORS &&
           (TENSORS[i].output != output || strlen(TENSORS[i].name) != length ||
               memcmp(TENSORS[i].name, name, length) != 0))
        ++i;
    return i;
}

/* All tensors that the key `inputs` or `outputs` names. */
static bool read_tensors(onnx_case *c, const onnx_text *text,
    const char *folder, bool output, failure *f)
{
    const char *key = output ? "outputs" : "inputs";
    const char *at = onnx_text_get(text, key, f);
    if (at == NULL)
        return false;
    for (size_t length; (length = onnx_text_word(&at)) > 0; at += length) {
        const size_t tensor = find_tensor(at, length, output);
        if (tensor == ONNX_TENSORS || c->given[tensor])
            return fail(f, "%s: %s names '%.*s', which %s", text->path, key,
                (int)(length < 40 ? length : 40), at,
                tensor == ONNX_TENSORS ? "Attention does not have"
                                       : "it has named before");
        if (!read_tensor(c, tensor, text, folder, f))
            return false;
    }
    return true;
}

static bool check_required(const onnx_case *c, const char *path, failure *f)
{
    for (size_t i = 0; i < ONNX_TENSORS; ++i)
        if (TENSORS[i].required && !c->given[i])
            return fail(f, "%s: %s lacks %s, which every case has", path,
                TENSORS[i].output ? "outputs" : "inputs", TENSORS[i].name);
    if (c->given[ONNX_PAST_KEY] != c->given[ONNX_PAST_VALUE])
        return fail(f,
            "%s: has one of past_key and past_value, but both or "
            "none are allowed",
            path);
    return true;
}

/* Of a tensor that the case has, or could have. */
static bool is_tensor_key(const char *key)
{
    const char *dot = strchr(key, '.');
    if (dot == NULL ||
        (strcmp(dot, ".dtype") != 0 && strcmp(dot, ".shape") != 0))
        return false;
    const size_t length = (size_t)(dot - key);
    return find_tensor(key, length, false) < ONNX_TENSORS ||
           find_tensor(key, length, true) < ONNX_TENSORS;
}

static bool is_known(const char *key)
{
    /* Those that change nothing: see ATTRIBUTES. */
    static const char *const OTHERS[] = {"onnx_name", "opset", "dtype",
        "softmax_precision", "attributes_set", "inputs", "outputs"};
    for (size_t i = 0; i < COUNT(OTHERS); ++i)
        if (strcmp(key, OTHERS[i]) == 0)
            return true;
    for (size_t i = 0; i < ONNX_ATTRIBUTES; ++i)
        if (strcmp(key, ATTRIBUTES[i].key) == 0)
            return true;
    return is_tensor_key(key);
}

/* An attribute that is not obeyed would make another case of it. */
static bool check_keys(const onnx_text *text, failure *f)
{
    for (size_t i = 0; i < text->count; ++i)
        if (!is_known(text->key[i]))
            return fail(f,
                "%s: has the key '%.60s', which is none of a case's: its "
                "attributes, inputs, outputs and their dtypes and shapes",
                text->path, text->key[i]);
    return true;
}

bool onnx_case_read(onnx_case *c, const char *folder, failure *f)
{
    char path[PATH_BYTES];
    onnx_text text;

    memset(c, 0, sizeof *c);
    snprintf(path, sizeof path, "%s/case.txt", folder);
    const bool ok = onnx_text_read(&text, path, f) &&
                    parse_attributes(c, &text, f) &&
                    read_tensors(c, &text, folder, false, f) &&
                    read_tensors(c, &text, folder, true, f) &&
                    check_required(c, path, f) && check_keys(&text, f);
    if (!ok)
        onnx_case_free(c);
    return ok;
}

void onnx_case_free(onnx_case *c)
{
    for (size_t i = 0; i < ONNX_TENSORS; ++i)
        npy_free(&c->tensor[i]);
    memset(c, 0, sizeof *c);
}
