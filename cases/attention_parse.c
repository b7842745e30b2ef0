/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_parse.c - the attention case of a line: what the line says, or
 * nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_fields.h"

/* A line on its way to a case. */
typedef struct parsing {
    attention_case *c;
    uint64_t told; /* bit n: field n */
    char *text;    /* for the sentence of what is wrong */
} parsing;

/* One "name=value" of it. */
typedef struct pair {
    const char *at;
    int length; /* to be shown */
    size_t n;   /* of the field */
    const attention_field *field;
    char value[ATTENTION_FIELD_TEXT];
} pair;

/* ---- Values --------------------------------------------------------------- */

static bool parse_word(attention_case *c, const pair *p)
{
    const char *const *words = attention_field_words(p->field->kind);
    for (int64_t n = 0; words[n] != NULL; ++n)
        if (p->value[0] != '\0' && strcmp(words[n], p->value) == 0) {
            attention_field_set(c, p->field, n);
            return true;
        }
    return false;
}

/* Digits alone, behind a minus at most, within the field's range. */
static bool parse_whole(attention_case *c, const pair *p)
{
    const attention_field *f = p->field;
    const bool negative = p->value[0] == '-';
    const char *digits = p->value + negative;
    if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0')
        return false;
    errno = 0;
    const uint64_t value = strtoull(digits, NULL, 10);
    if (errno != 0)
        return false;
    if (negative
            ? value > 0 - (uint64_t)f->least
            : value > f->most || (f->least > 0 && value < (uint64_t)f->least))
        return false;
    attention_field_set(c, f, (int64_t)(negative ? 0 - value : value));
    return true;
}

/* A number that a float holds, rounded; not one that becomes 0 or infinite. */
static bool parse_number(attention_case *c, const pair *p)
{
    char *end = NULL;
    if (p->value[0] == '\0' || strchr("-.0123456789", p->value[0]) == NULL)
        return false;
    errno = 0;
    const float number = strtof(p->value, &end);
    attention_field_set_number(c, p->field, number);
    return end != p->value && *end == '\0' && isfinite(number) &&
           (errno == 0 || number != 0);
}

static bool parse_value(attention_case *c, const pair *p)
{
    if (attention_field_words(p->field->kind) != NULL)
        return parse_word(c, p);
    return p->field->kind == FIELD_NUMBER ? parse_number(c, p)
                                          : parse_whole(c, p);
}

/* ---- What is wrong -------------------------------------------------------- */

/* "q is f32, f16 or bf16" */
static void tell_words(const attention_field *f, char *text, size_t room)
{
    const char *const *words = attention_field_words(f->kind);
    int used = snprintf(text, room, "%s is", f->name);
    for (size_t n = 0; words[n] != NULL && (size_t)used < room; ++n)
        if (words[n][0] != '\0')
            used +=
                snprintf(text + used, room - (size_t)used, " %s%s", words[n],
                    words[n + 1] == NULL   ? ""
                    : words[n + 2] == NULL ? " or"
                                           : ",");
}

static bool refuse_value(const parsing *parsed, const pair *p)
{
    const attention_field *f = p->field;
    char allowed[200];
    if (attention_field_words(f->kind) != NULL)
        tell_words(f, allowed, sizeof allowed);
    else if (f->kind == FIELD_NUMBER)
        snprintf(allowed, sizeof allowed,
            "%s is a finite number that a float holds", f->name);
    else
        snprintf(allowed, sizeof allowed,
            "%s is a whole number from %" PRId64 " to %" PRIu64, f->name,
            f->least, f->most);
    snprintf(parsed->text, ARENA_TEXT, "'%.*s' is not allowed: %s", p->length,
        p->at, allowed);
    return false;
}

static bool refuse_pair(const parsing *parsed, const pair *p, const char *why)
{
    snprintf(parsed->text, ARENA_TEXT, "'%.*s' is %s", p->length, p->at, why);
    return false;
}

/* ---- Lines ---------------------------------------------------------------- */

/* False: there is no field of this name, or no value. */
static bool find_field(pair *p, size_t length)
{
    const char *equals = memchr(p->at, '=', length);
    const size_t name = equals != NULL ? (size_t)(equals - p->at) : 0;
    for (p->n = 0; (p->field = attention_field_at(p->n)) != NULL; ++p->n)
        if (name > 0 && strlen(p->field->name) == name &&
            strncmp(p->field->name, p->at, name) == 0)
            break;
    const size_t rest = length - name - 1;
    if (p->field == NULL || rest >= sizeof p->value)
        return false;
    memcpy(p->value, equals + 1, rest);
    p->value[rest] = '\0';
    return true;
}

static bool parse_pair(parsing *parsed, const char *at, size_t length)
{
    pair p = {.at = at, .length = (int)(length < 60 ? length : 60)};
    if (!find_field(&p, length))
        return refuse_pair(
            parsed, &p, "no field of an attention case and its value");
    if (parsed->told >> p.n & 1)
        return refuse_pair(
            parsed, &p, "one too many: a line tells each field once");
    parsed->told |= (uint64_t)1 << p.n;
    return parse_value(parsed->c, &p) || refuse_value(parsed, &p);
}

static bool is_same(const attention_case *one, const attention_case *other,
    const attention_field *f)
{
    if (f->kind == FIELD_NUMBER)
        return attention_field_number(one, f) ==
               attention_field_number(other, f);
    return attention_field_whole(one, f) == attention_field_whole(other, f);
}

/* What is told must be what is run.  Mending may fill in what is not told. */
static bool agree(const parsing *parsed)
{
    char told[ATTENTION_FIELD_TEXT], allowed[ATTENTION_FIELD_TEXT];
    const attention_case line = *parsed->c;
    const attention_field *f = NULL;
    attention_case_mend(parsed->c);
    for (size_t n = 0; (f = attention_field_at(n)) != NULL; ++n) {
        if (!(parsed->told >> n & 1) || is_same(&line, parsed->c, f))
            continue;
        snprintf(parsed->text, ARENA_TEXT,
            "'%s' contradicts the rest of the line, with which %s is allowed",
            attention_field_text(&line, f, told),
            attention_field_text(parsed->c, f, allowed));
        return false;
    }
    return true;
}

bool attention_case_parse(
    attention_case *c, const char *line, char text[ARENA_TEXT])
{
    parsing parsed = {.c = c, .text = text};
    *c = (attention_case){.about = "a line", .size = {1, 1, 1, 1, 1, 1, 1}};
    for (const char *at = line; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length > 0 && !parse_pair(&parsed, at, length))
            return false;
        at += length + (at[length] == ' ');
    }
    return agree(&parsed);
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
    const attention_field *f = NULL;
    for (size_t n = 0; (f = attention_field_at(n)) != NULL; ++n)
        if (f->kind == FIELD_SIZE && !tells(line, f->name))
            return f->name;
    return NULL;
}
