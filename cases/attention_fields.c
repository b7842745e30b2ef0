/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_fields.c - the one table of the fields of an attention case, and
 * their values.
 */
#include "attention_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member)   offsetof(attention_case, member)

enum {
    RETURNS = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
              CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED
};

static const attention_field FIELDS[] = {
    {"B", FIELD_SIZE, AT(size.B), 0, SIZE_MAX},
    {"Hq", FIELD_SIZE, AT(size.Hq), 0, SIZE_MAX},
    {"Hkv", FIELD_SIZE, AT(size.Hkv), 1, SIZE_MAX},
    {"Lq", FIELD_SIZE, AT(size.Lq), 0, SIZE_MAX},
    {"Lk", FIELD_SIZE, AT(size.Lk), 0, SIZE_MAX},
    {"D", FIELD_SIZE, AT(size.D), 1, SIZE_MAX},
    {"Dv", FIELD_SIZE, AT(size.Dv), 1, SIZE_MAX},
    {"layout", FIELD_LAYOUT, AT(layout), 0, 0},
    {"fill", FIELD_FILL, AT(fill), 0, 0},
    {"dropout", FIELD_NUMBER, AT(dropout_p), 0, 0},
    {"mask", FIELD_MASK, AT(mask_dtype), 0, 0},
    {"mask_axes", FIELD_BITS, AT(mask_axes), 0, AXES_ALL},
    {"mask_padded", FIELD_FLAG, AT(mask_padded), 0, 1},
    {"alibi", FIELD_FLAG, AT(alibi), 0, 1},
    {"softcap", FIELD_NUMBER, AT(softcap), 0, 0},
    {"sinks", FIELD_FLAG, AT(sinks), 0, 1},
    {"query_starts", FIELD_FLAG, AT(query_starts), 0, 1},
    {"key_starts", FIELD_FLAG, AT(key_starts), 0, 1},
    {"query_lengths", FIELD_FLAG, AT(query_lengths), 0, 1},
    {"key_lengths", FIELD_FLAG, AT(key_lengths), 0, 1},
    {"windowed", FIELD_FLAG, AT(windowed), 0, 1},
    {"window_left", FIELD_WHOLE, AT(window_left), -1, INT32_MAX},
    {"window_right", FIELD_WHOLE, AT(window_right), -1, INT32_MAX},
    {"causal", FIELD_WHOLE, AT(causal), 0, 1},
    {"item_offsets", FIELD_FLAG, AT(item_offsets), 0, 1},
    {"diagonal", FIELD_DIAGONAL, AT(diagonal), 0, 0},
    {"diagonal_offset", FIELD_WHOLE, AT(diagonal_offset), INT32_MIN, INT32_MAX},
    {"has_scale", FIELD_WHOLE, AT(has_scale), 0, 1},
    {"scale", FIELD_NUMBER, AT(scale), 0, 0},
    {"returns", FIELD_BITS, AT(returns), 0, RETURNS},
    {"q", FIELD_DTYPE, AT(dtype.q), 0, 0},
    {"k", FIELD_DTYPE, AT(dtype.k), 0, 0},
    {"v", FIELD_DTYPE, AT(dtype.v), 0, 0},
    {"out", FIELD_DTYPE, AT(dtype.out), 0, 0},
    {"weights", FIELD_DTYPE, AT(dtype.weights), 0, 0},
    {"precision", FIELD_WHOLE, AT(precision), 0, CLATTN_PRECISION_STORAGE},
    {"seed", FIELD_SEED, AT(seed), 0, UINT64_MAX},
};

const attention_field *attention_field_at(size_t n)
{
    return n < COUNT(FIELDS) ? &FIELDS[n] : NULL;
}

/* Words by value, for each kind that has them. */
static const char *const LAYOUT_WORDS[] = {
    "dense", "blhd", "packed", "padded", "shared", NULL};
static const char *const FILL_WORDS[] = {
    "random", "equal", "tall", "huge", "sunk", "tiny", "nan", "units", NULL};
static const char *const DIAGONAL_WORDS[] = {
    "unset", "top-left", "bottom-right", "offset", NULL};
static const char *const DTYPE_WORDS[] = {"", "f32", "f16", "bf16", NULL};
static const char *const MASK_WORDS[] = {
    "none", "f32", "f16", "bf16", "bool", NULL};

const char *const *attention_field_words(enum attention_field_kind kind)
{
    switch (kind) {
    case FIELD_LAYOUT:
        return LAYOUT_WORDS;
    case FIELD_FILL:
        return FILL_WORDS;
    case FIELD_DIAGONAL:
        return DIAGONAL_WORDS;
    case FIELD_DTYPE:
        return DTYPE_WORDS;
    case FIELD_MASK:
        return MASK_WORDS;
    default:
        return NULL;
    }
}

/* ---- Values --------------------------------------------------------------- */

int64_t attention_field_whole(const attention_case *c, const attention_field *f)
{
    const char *at = (const char *)c + f->at;
    size_t size;
    uint64_t seed;
    int32_t whole;
    bool flag;
    switch (f->kind) {
    case FIELD_SIZE:
        memcpy(&size, at, sizeof size);
        return (int64_t)size;
    case FIELD_SEED:
        memcpy(&seed, at, sizeof seed);
        return (int64_t)seed;
    case FIELD_FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag;
    default:
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
}

void attention_field_set(
    attention_case *c, const attention_field *f, int64_t value)
{
    char *at = (char *)c + f->at;
    const size_t size = (size_t)value;
    const uint64_t seed = (uint64_t)value;
    const int32_t whole = (int32_t)value;
    const bool flag = value != 0;
    switch (f->kind) {
    case FIELD_SIZE:
        memcpy(at, &size, sizeof size);
        break;
    case FIELD_SEED:
        memcpy(at, &seed, sizeof seed);
        break;
    case FIELD_FLAG:
        memcpy(at, &flag, sizeof flag);
        break;
    default:
        memcpy(at, &whole, sizeof whole);
        break;
    }
}

float attention_field_number(const attention_case *c, const attention_field *f)
{
    float number;
    memcpy(&number, (const char *)c + f->at, sizeof number);
    return number;
}

void attention_field_set_number(
    attention_case *c, const attention_field *f, float number)
{
    memcpy((char *)c + f->at, &number, sizeof number);
}

bool attention_field_is_unset(const attention_case *c, const attention_field *f)
{
    if (f->kind == FIELD_NUMBER)
        return attention_field_number(c, f) == 0;
    return f->kind != FIELD_SIZE && attention_field_whole(c, f) == 0;
}

const char *attention_field_text(const attention_case *c,
    const attention_field *f, char text[ATTENTION_FIELD_TEXT])
{
    const char *const *words = attention_field_words(f->kind);
    const size_t room = ATTENTION_FIELD_TEXT;
    if (f->kind == FIELD_NUMBER) {
        snprintf(text, room, "%s=%.9g", f->name,
            (double)attention_field_number(c, f));
        return text;
    }
    const int64_t whole = attention_field_whole(c, f);
    if (words != NULL)
        snprintf(text, room, "%s=%s", f->name, words[whole]);
    else if (f->kind == FIELD_SEED || f->kind == FIELD_SIZE)
        snprintf(text, room, "%s=%" PRIu64, f->name, (uint64_t)whole);
    else
        snprintf(text, room, "%s=%" PRId64, f->name, whole);
    return text;
}
