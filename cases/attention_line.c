/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_line.c - attention cases as lines of names and values, from one
 * table of their fields; simpler cases from the same table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AT(member)   offsetof(attention_case, member)

enum kind {
    SIZE,   /* size_t */
    WHOLE,  /* int32_t */
    BITS,   /* uint32_t */
    FLAG,   /* bool */
    NUMBER, /* float */
    SEED,   /* uint64_t */
    LAYOUT, /* enums, by name */
    FILL,
    DIAGONAL, /* int32_t, by name */
    DTYPE
};

/* In the order of a line, which is that in which a case is made simpler. */
static const struct field {
    const char *name;
    enum kind kind;
    size_t at;
} FIELDS[] = {
    {"B", SIZE, AT(size.B)},
    {"Hq", SIZE, AT(size.Hq)},
    {"Hkv", SIZE, AT(size.Hkv)},
    {"Lq", SIZE, AT(size.Lq)},
    {"Lk", SIZE, AT(size.Lk)},
    {"D", SIZE, AT(size.D)},
    {"Dv", SIZE, AT(size.Dv)},
    {"layout", LAYOUT, AT(layout)},
    {"fill", FILL, AT(fill)},
    {"dropout", NUMBER, AT(dropout_p)},
    {"mask", DTYPE, AT(mask_dtype)},
    {"mask_axes", BITS, AT(mask_axes)},
    {"mask_padded", FLAG, AT(mask_padded)},
    {"alibi", FLAG, AT(alibi)},
    {"softcap", NUMBER, AT(softcap)},
    {"sinks", FLAG, AT(sinks)},
    {"query_starts", FLAG, AT(query_starts)},
    {"key_starts", FLAG, AT(key_starts)},
    {"query_lengths", FLAG, AT(query_lengths)},
    {"key_lengths", FLAG, AT(key_lengths)},
    {"windowed", FLAG, AT(windowed)},
    {"window_left", WHOLE, AT(window_left)},
    {"window_right", WHOLE, AT(window_right)},
    {"causal", WHOLE, AT(causal)},
    {"item_offsets", FLAG, AT(item_offsets)},
    {"diagonal", DIAGONAL, AT(diagonal)},
    {"diagonal_offset", WHOLE, AT(diagonal_offset)},
    {"has_scale", WHOLE, AT(has_scale)},
    {"scale", NUMBER, AT(scale)},
    {"returns", BITS, AT(returns)},
    {"q", DTYPE, AT(dtype.q)},
    {"k", DTYPE, AT(dtype.k)},
    {"v", DTYPE, AT(dtype.v)},
    {"out", DTYPE, AT(dtype.out)},
    {"weights", DTYPE, AT(dtype.weights)},
    {"precision", WHOLE, AT(precision)},
    {"seed", SEED, AT(seed)},
};

/* Words by value, for each kind that has them. */
static const char *const LAYOUT_WORDS[] = {
    "dense", "blhd", "packed", "padded", "shared", NULL};
static const char *const FILL_WORDS[] = {
    "random", "equal", "tall", "huge", "sunk", "tiny", "nan", "units", NULL};
static const char *const DIAGONAL_WORDS[] = {
    "unset", "top-left", "bottom-right", "offset", NULL};
static const char *const DTYPE_WORDS[] = {
    "none", "f32", "f16", "bf16", "bool", NULL};

static const char *const *words_of(enum kind kind)
{
    return kind == LAYOUT     ? LAYOUT_WORDS
           : kind == FILL     ? FILL_WORDS
           : kind == DIAGONAL ? DIAGONAL_WORDS
           : kind == DTYPE    ? DTYPE_WORDS
                              : NULL;
}

/* ---- Fields as numbers ------------------------------------------------------ */

/* Every field but NUMBER as a whole number. */
static int64_t get_whole(const attention_case *c, const struct field *f)
{
    const char *at = (const char *)c + f->at;
    size_t size;
    uint64_t seed;
    int32_t whole;
    bool flag;
    switch (f->kind) {
    case SIZE:
        memcpy(&size, at, sizeof size);
        return (int64_t)size;
    case SEED:
        memcpy(&seed, at, sizeof seed);
        return (int64_t)seed;
    case FLAG:
        memcpy(&flag, at, sizeof flag);
        return flag;
    default:
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
}

static void set_whole(attention_case *c, const struct field *f, int64_t value)
{
    char *at = (char *)c + f->at;
    const size_t size = (size_t)value;
    const uint64_t seed = (uint64_t)value;
    const int32_t whole = (int32_t)value;
    const bool flag = value != 0;
    switch (f->kind) {
    case SIZE:
        memcpy(at, &size, sizeof size);
        break;
    case SEED:
        memcpy(at, &seed, sizeof seed);
        break;
    case FLAG:
        memcpy(at, &flag, sizeof flag);
        break;
    default:
        memcpy(at, &whole, sizeof whole);
        break;
    }
}

static float get_number(const attention_case *c, const struct field *f)
{
    float number;
    memcpy(&number, (const char *)c + f->at, sizeof number);
    return number;
}

static void set_number(attention_case *c, const struct field *f, float number)
{
    memcpy((char *)c + f->at, &number, sizeof number);
}

/* ---- Lines ------------------------------------------------------------------ */

static int print_field(
    const attention_case *c, const struct field *f, char *text, size_t room)
{
    const char *const *words = words_of(f->kind);
    const int64_t whole = f->kind == NUMBER ? 0 : get_whole(c, f);
    if (f->kind == NUMBER && get_number(c, f) == 0)
        return 0;
    if (f->kind == NUMBER)
        return snprintf(
            text, room, "%s=%.9g ", f->name, (double)get_number(c, f));
    if (whole == 0 && f->kind != SIZE)
        return 0;
    if (words != NULL)
        return snprintf(text, room, "%s=%s ", f->name, words[whole]);
    if (f->kind == SEED)
        return snprintf(
            text, room, "%s=%" PRIu64 " ", f->name, (uint64_t)whole);
    return snprintf(text, room, "%s=%" PRId64 " ", f->name, whole);
}

const char *attention_case_line(const attention_case *c, char text[ARENA_TEXT])
{
    size_t used = 0;
    for (size_t n = 0; n < COUNT(FIELDS) && used < ARENA_TEXT; ++n)
        used +=
            (size_t)print_field(c, &FIELDS[n], text + used, ARENA_TEXT - used);
    if (used > 0 && used < ARENA_TEXT)
        text[used - 1] = '\0'; /* the last blank */
    return text;
}

const char *attention_case_text(const attention_case *c, char text[ARENA_TEXT])
{
    char line[ARENA_TEXT];
    snprintf(text, ARENA_TEXT, "%s: %.*s", c->about, ARENA_TEXT - 100,
        attention_case_line(c, line));
    return text;
}

static const struct field *find_field(const char *name, size_t length)
{
    for (size_t n = 0; n < COUNT(FIELDS); ++n)
        if (strlen(FIELDS[n].name) == length &&
            strncmp(FIELDS[n].name, name, length) == 0)
            return &FIELDS[n];
    return NULL;
}

static bool set_word(
    attention_case *c, const struct field *f, const char *value)
{
    const char *const *words = words_of(f->kind);
    for (int64_t n = 0; words[n] != NULL; ++n)
        if (strcmp(words[n], value) == 0) {
            set_whole(c, f, n);
            return true;
        }
    return false;
}

static bool set_field(
    attention_case *c, const struct field *f, const char *value)
{
    char *end = NULL;
    if (words_of(f->kind) != NULL)
        return set_word(c, f, value);
    errno = 0;
    if (f->kind == NUMBER)
        set_number(c, f, strtof(value, &end));
    else if (f->kind == SEED || f->kind == SIZE)
        set_whole(c, f, (int64_t)strtoull(value, &end, 10));
    else
        set_whole(c, f, strtoll(value, &end, 10));
    return end != value && *end == '\0' && errno == 0;
}

/* One "name=value". */
static bool parse_pair(attention_case *c, const char *pair, size_t length)
{
    char value[64];
    const char *equals = memchr(pair, '=', length);
    if (equals == NULL)
        return false;
    const struct field *f = find_field(pair, (size_t)(equals - pair));
    const size_t rest = length - (size_t)(equals - pair) - 1;
    if (f == NULL || rest >= sizeof value)
        return false;
    memcpy(value, equals + 1, rest);
    value[rest] = '\0';
    return set_field(c, f, value);
}

bool attention_case_parse(
    attention_case *c, const char *line, char text[ARENA_TEXT])
{
    *c = (attention_case){.about = "a line", .size = {1, 1, 1, 1, 1, 1, 1}};
    for (const char *at = line; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length > 0 && !parse_pair(c, at, length)) {
            snprintf(text, ARENA_TEXT,
                "'%.*s' is no field of an attention case and its value",
                (int)(length < 60 ? length : 60), at);
            return false;
        }
        at += length + (at[length] == ' ');
    }
    attention_case_mend(c);
    return true;
}

/* Whether a line has a pair of this name. */
static bool tells(const char *line, const char *name)
{
    const size_t length = strlen(name);
    for (; *line != '\0'; line += strcspn(line, " ")) {
        line += strspn(line, " ");
        if (strncmp(line, name, length) == 0 && line[length] == '=')
            return true;
    }
    return false;
}

const char *attention_case_missing(const char *line)
{
    for (size_t n = 0; n < COUNT(FIELDS); ++n)
        if (FIELDS[n].kind == SIZE && !tells(line, FIELDS[n].name))
            return FIELDS[n].name;
    return NULL;
}

/* ---- Simpler cases ----------------------------------------------------------- */

bool attention_case_simpler(
    attention_case *simpler, const attention_case *c, size_t n)
{
    if (n >= 2 * COUNT(FIELDS))
        return false;
    const struct field *f = &FIELDS[n / 2];
    *simpler = *c;
    if (f->kind == NUMBER)
        set_number(simpler, f, n % 2 && get_number(c, f) != 0 ? 1.0f : 0.0f);
    else if (f->kind == SIZE) {
        const int64_t size = get_whole(c, f);
        set_whole(simpler, f, size < 2 ? size : n % 2 ? size - 1 : size / 2);
    } else if (f->kind != SEED) {
        set_whole(simpler, f, 0);
    }
    attention_case_mend(simpler);
    return true;
}

static bool is_same(const attention_case *one, const attention_case *other)
{
    char text[2][ARENA_TEXT];
    return strcmp(attention_case_line(one, text[0]),
               attention_case_line(other, text[1])) == 0;
}

attention_case attention_case_shrink(const attention_case *c,
    attention_case_shows *shows, void *state, size_t tries)
{
    attention_case least = *c, simpler;
    bool again = true;
    while (again) {
        again = false;
        for (size_t n = 0; attention_case_simpler(&simpler, &least, n); ++n) {
            if (is_same(&simpler, &least))
                continue;
            if (tries == 0)
                return least;
            --tries;
            if (shows(&simpler, state)) {
                least = simpler;
                again = true;
            }
        }
    }
    return least;
}
