/* SPDX-License-Identifier: Apache-2.0
 *
 * ways.c - one descriptor given to every call that takes one.
 */
#include "ways.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WAYS(X, name)                                                        \
    static clattn_status ask_##X(                                            \
        clattn_context *ctx, const void *problem, clattn_error *error)       \
    {                                                                        \
        return clattn_##X##_supported(ctx, problem, error);                  \
    }                                                                        \
    static clattn_status plan_##X(clattn_plan **plan, clattn_context *ctx,   \
        const void *problem, clattn_error *error)                            \
    {                                                                        \
        return clattn_##X##_plan(plan, ctx, problem, error);                 \
    }                                                                        \
    static clattn_status refer_##X(const void *problem, clattn_error *error) \
    {                                                                        \
        const clattn_##X##_args none = {.struct_size = sizeof none};         \
        return clattn_##X##_reference(problem, &none, error);                \
    }                                                                        \
    const ways name = {ask_##X, plan_##X, refer_##X};

WAYS(attention, ATTENTION_WAYS)
WAYS(linear, LINEAR_WAYS)
WAYS(layer, LAYER_WAYS)

/* One sentence without a line's end, which fits; nothing after a success. */
static bool message_fits(const clattn_error *error)
{
    const char *end = memchr(error->message, '\0', sizeof error->message);
    if (error->status == CLATTN_OK)
        return end == error->message;
    return end && end - error->message > 10 && strchr(error->message, ' ') &&
           !strchr(error->message, '\n');
}

static const char *check(
    char *why, const char *call, clattn_status got, const clattn_error *error)
{
    if (error->status == (int32_t)got && message_fits(error) &&
        (got == CLATTN_OK || got == CLATTN_INVALID ||
            got == CLATTN_UNSUPPORTED))
        return NULL;
    snprintf(why, WAYS_TEXT, "%s returned %d and said %d, \"%.504s\"", call,
        (int)got, (int)error->status, error->message);
    return why;
}

const char *ways_differ(char *why, const ways *w, clattn_context *ctx,
    const void *problem, clattn_error *asked, clattn_plan **plan)
{
    clattn_error planned, referred;
    clattn_plan *const before = (clattn_plan *)why; /* any that is not ours */
    *plan = before;
    const clattn_status got = w->ask(ctx, problem, asked);
    const clattn_status made = w->plan(plan, ctx, problem, &planned);
    const clattn_status reference = w->refer(problem, &referred);
    const bool is_set = *plan != before; /* by a success alone */
    if (!is_set)
        *plan = NULL;
    if (check(why, "supported", got, asked) ||
        check(why, "plan", made, &planned) ||
        check(why, "reference", reference, &referred))
        return why;
    if (got == made && strcmp(asked->message, planned.message) == 0 &&
        is_set == (made == CLATTN_OK) && (*plan != NULL) == is_set &&
        reference != CLATTN_UNSUPPORTED)
        return NULL;
    snprintf(why, WAYS_TEXT,
        "supported: %d \"%.400s\", plan%s: %d \"%.400s\", reference: %d",
        (int)got, asked->message, is_set ? " set" : "", (int)made,
        planned.message, (int)reference);
    return why;
}
