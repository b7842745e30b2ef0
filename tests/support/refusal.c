/* SPDX-License-Identifier: Apache-2.0
 *
 * refusal.c - tables of descriptors that differ from a legal one by a few
 * fields, and what is said of each.
 */
#include "refusal.h"

#include <check.h>
#include <string.h>

static void apply_one(void *to, const edit *e)
{
    char *field = (char *)to + e->offset;
    const float real = e->kind == REAL_FIELD ? (float)e->number : 0.0f;
    const int32_t number = e->kind == INT_FIELD ? (int32_t)e->number : 0;

    if (e->kind == SIZE_FIELD)
        memcpy(field, &e->size, sizeof e->size);
    if (e->kind == INT_FIELD)
        memcpy(field, &number, sizeof number);
    if (e->kind == REAL_FIELD)
        memcpy(field, &real, sizeof real);
}

void refusal_apply(void *to, const edit edits[MOST_EDITS])
{
    for (int e = 0; e < MOST_EDITS; ++e)
        apply_one(to, &edits[e]);
}

void refusal_check(const char *about, clattn_status got, clattn_status want,
    const clattn_error *error, const char *words)
{
    ck_assert_msg(got == want, "%s: got %s (%s), want %s", about,
        clattn_status_text(got), error->message, clattn_status_text(want));
    if (want == CLATTN_OK)
        return;
    ck_assert_msg(error->status == (int32_t)want, "%s: error.status is %d",
        about, error->status);
    ck_assert_msg(strstr(error->message, words) != NULL,
        "%s: the message is \"%s\", want \"%s\" in it", about, error->message,
        words);
}

void refusal_check_row(
    const refusal *row, clattn_status got, const clattn_error *error)
{
    refusal_check(row->about, got, row->words ? CLATTN_INVALID : CLATTN_OK,
        error, row->words);
}
