/* SPDX-License-Identifier: Apache-2.0
 *
 * fields.h - the fields of the three descriptors as a table, and the values
 * that a careless or hostile caller puts there.
 */
#ifndef CLATTN_TESTS_FIELDS_H
#define CLATTN_TESTS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_SIZE, /* size_t */
    FIELD_INT,  /* int32_t or uint32_t */
    FIELD_REAL  /* float */
};

typedef struct field {
    const char *name;
    const char *word; /* that a refusal must have; NULL: it may name another
                         field that this one contradicts */
    enum field_kind kind;
    size_t offset;
} field;

typedef struct field_table {
    const field *rows;
    size_t count;
} field_table;

extern const field_table ATTENTION_FIELDS, LINEAR_FIELDS, LAYER_FIELDS;

/* Values of a kind: ends of types and ranges, powers of two, NaN.  Those of a
   size that products overflow with come first. */
size_t field_values(enum field_kind kind);
enum {
    FIELD_SIZE_ENDS = 8
};

/* Set a struct's field to value number `value` of its kind, and say what that
   is in `text`, of at least 24 bytes. */
void field_set(void *to, const field *f, size_t value, char *text);

#endif
