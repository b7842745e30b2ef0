/* SPDX-License-Identifier: Apache-2.0
 *
 * refusal.h - tables of descriptors that differ from a legal one by a few
 * fields, and what is said of each.
 */
#ifndef CLATTN_TESTS_REFUSAL_H
#define CLATTN_TESTS_REFUSAL_H

#include <stddef.h>

#include "clattn/clattn.h"

enum edit_kind {
    NO_EDIT,
    SIZE_FIELD, /* size_t */
    INT_FIELD,  /* int32_t or uint32_t */
    REAL_FIELD  /* float */
};

/* One field of a struct, set to a value. */
typedef struct edit {
    enum edit_kind kind;
    size_t offset;
    size_t size;
    double number;
} edit;

enum {
    MOST_EDITS = 8
};

#define EDIT_SIZE(type, field, value)                 \
    {                                                 \
        SIZE_FIELD, offsetof(type, field), value, 0.0 \
    }
#define EDIT_INT(type, field, value)               \
    {                                              \
        INT_FIELD, offsetof(type, field), 0, value \
    }
#define EDIT_REAL(type, field, value)               \
    {                                               \
        REAL_FIELD, offsetof(type, field), 0, value \
    }

typedef struct refusal {
    const char *about;
    edit edits[MOST_EDITS]; /* what is not given changes nothing */
    const char *words;      /* that the message must have; NULL: legal */
} refusal;

void refusal_apply(void *to, const edit edits[MOST_EDITS]);

/* Assert that a call gave `want`, and if that is a failure, that its message
   has `words` in it. */
void refusal_check(const char *about, clattn_status got, clattn_status want,
    const clattn_error *error, const char *words);

/* The same for a row: CLATTN_OK, or CLATTN_INVALID where it has words. */
void refusal_check_row(
    const refusal *row, clattn_status got, const clattn_error *error);

#endif
