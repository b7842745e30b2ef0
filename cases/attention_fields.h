/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_fields.h - the fields of an attention case by their names: what a
 * line tells, and what is made simpler.
 */
#ifndef CLATTN_CASES_ATTENTION_FIELDS_H
#define CLATTN_CASES_ATTENTION_FIELDS_H

#include "attention_case.h"

enum attention_field_kind {
    FIELD_SIZE,   /* size_t */
    FIELD_WHOLE,  /* int32_t */
    FIELD_BITS,   /* uint32_t */
    FIELD_FLAG,   /* bool */
    FIELD_NUMBER, /* float */
    FIELD_SEED,   /* uint64_t */
    FIELD_LAYOUT, /* enums, by name */
    FIELD_FILL,
    FIELD_DIAGONAL, /* int32_t, by name */
    FIELD_DTYPE,
    FIELD_MASK
};

typedef struct attention_field {
    const char *name;
    enum attention_field_kind kind;
    size_t at;     /* in an attention_case */
    int64_t least; /* of a whole number in a line */
    uint64_t most;
} attention_field;

enum {
    ATTENTION_FIELD_TEXT = 64 /* bytes that hold every name and value */
};

/* In the order of a line, which is that in which a case is made simpler; NULL
   past the last. */
const attention_field *attention_field_at(size_t n);

/* Words by value, NULL behind the last, for each kind that has them; else NULL.
   "" is a value without a word. */
const char *const *attention_field_words(enum attention_field_kind kind);

/* Every field but numbers as a whole number; of a size and a seed its bits. */
int64_t attention_field_whole(
    const attention_case *c, const attention_field *f);
void attention_field_set(
    attention_case *c, const attention_field *f, int64_t value);

float attention_field_number(const attention_case *c, const attention_field *f);
void attention_field_set_number(
    attention_case *c, const attention_field *f, float number);

/* "name=value" */
const char *attention_field_text(const attention_case *c,
    const attention_field *f, char text[ATTENTION_FIELD_TEXT]);
/* Whether the value is the one that a line need not tell. */
bool attention_field_is_unset(
    const attention_case *c, const attention_field *f);

#endif
