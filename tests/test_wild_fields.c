/* SPDX-License-Identifier: Apache-2.0
 *
 * test_wild_fields.c - every field of every descriptor set to values that no
 * caller means, alone and in pairs: the ways of calling agree, a refusal is a
 * sentence that names the field, nothing is lost.
 */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_opencl.h"
#include "fields.h"
#include "legal.h"
#include "suite.h"

static legal subject;

static void begin(void)
{
    FAKE_DEVICE = fake_cpu();
    legal_create(&subject);
    /* Slopes are as many as Hq says, which no test can have of 2^31. */
    subject.attention.alibi_slopes = NULL;
    subject.attention.causal = 1;
}

static void end(void)
{
    legal_destroy(&subject);
    ck_assert_uint_eq(fake_live(), 0);
}

/* ---- One descriptor, three ways of calling ---------------------------------- */

typedef clattn_status to_ask(
    clattn_context *ctx, const void *problem, clattn_error *error);
typedef clattn_status to_plan(clattn_plan **plan, clattn_context *ctx,
    const void *problem, clattn_error *error);
typedef clattn_status to_refer(const void *problem, clattn_error *error);

/* A reference without data: it comes as far as its descriptor is legal. */
#define WAYS(X)                                                              \
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
    }

WAYS(attention)
WAYS(linear)
WAYS(layer)

typedef struct target {
    const char *name;
    const field_table *fields;
    void *problem; /* whose fields are spoiled */
    const void *whole;
    size_t bytes;
    to_ask *ask;
    to_plan *plan;
    to_refer *refer;
} target;

#define TARGET(name, fields, problem, whole, X)                  \
    {                                                            \
        name, &(fields), &subject.problem, &subject.whole,       \
            sizeof subject.problem, ask_##X, plan_##X, refer_##X \
    }

static const target TARGETS[] = {
    TARGET("attention", ATTENTION_FIELDS, attention, attention, attention),
    TARGET("linear", LINEAR_FIELDS, linear, linear, linear),
    TARGET("layer", LAYER_FIELDS, layer, layer, layer),
    TARGET("layer.attention", ATTENTION_FIELDS, inside, layer, layer),
};

/* ---- What holds for every descriptor ------------------------------------------ */

/* A message is one sentence without a line's end, and fits. */
static bool is_sentence(const char *message)
{
    const size_t length = strnlen(message, sizeof((clattn_error *)0)->message);
    return length > 10 && length < sizeof((clattn_error *)0)->message &&
           strchr(message, ' ') != NULL && strchr(message, '\n') == NULL;
}

static void check_refusal(
    const char *what, clattn_status got, const clattn_error *error)
{
    ck_assert_msg(error->status == (int32_t)got, "%s: error.status is %d, %s",
        what, error->status, clattn_status_text(got));
    if (got == CLATTN_OK) {
        ck_assert_str_eq(error->message, "");
        return;
    }
    ck_assert_msg(got == CLATTN_INVALID || got == CLATTN_UNSUPPORTED,
        "%s: %s: %s", what, clattn_status_text(got), error->message);
    ck_assert_msg(
        is_sentence(error->message), "%s: \"%s\"", what, error->message);
}

/* supported and plan agree, and a reference refuses nothing else. */
static clattn_status check_ways(
    const target *t, const char *what, clattn_error *asked)
{
    clattn_error planned, referred;
    clattn_plan *plan = NULL;
    const clattn_status got = t->ask(subject.ctx, t->whole, asked);
    check_refusal(what, got, asked);
    const clattn_status made = t->plan(&plan, subject.ctx, t->whole, &planned);
    check_refusal(what, made, &planned);
    ck_assert_msg(made == got && strcmp(asked->message, planned.message) == 0,
        "%s: supported: \"%s\", plan: \"%s\"", what, asked->message,
        planned.message);
    ck_assert_msg((plan != NULL) == (got == CLATTN_OK), "%s: a plan", what);
    clattn_plan_destroy(plan);
    const clattn_status reference = t->refer(t->whole, &referred);
    ck_assert_msg(reference == CLATTN_OK || reference == CLATTN_INVALID,
        "%s: reference: %s", what, referred.message);
    check_refusal(what, reference, &referred);
    return got;
}

/* ---- One field --------------------------------------------------------------- */

static void check_field(const target *t, const field *f)
{
    void *kept = malloc(t->bytes);
    ck_assert_ptr_nonnull(kept);
    memcpy(kept, t->problem, t->bytes);
    for (size_t value = 0; value < field_values(f->kind); ++value) {
        clattn_error error;
        char number[24], what[100];
        field_set(t->problem, f, value, number);
        snprintf(what, sizeof what, "%s.%s = %s", t->name, f->name, number);
        const clattn_status got = check_ways(t, what, &error);
        ck_assert_msg(got != CLATTN_INVALID || !f->word ||
                          strstr(error.message, f->word) != NULL,
            "%s: \"%s\" does not name it", what, error.message);
        memcpy(t->problem, kept, t->bytes);
    }
    free(kept);
}

START_TEST(each_field_takes_any_value)
{
    const target *t = &TARGETS[_i];
    for (size_t i = 0; i < t->fields->count; ++i)
        check_field(t, &t->fields->rows[i]);
}
END_TEST

/* ---- Two fields -------------------------------------------------------------- */

/* Sizes and strides, whose products overflow. */
static void check_pair(const target *t, const field *a, const field *b)
{
    void *kept = malloc(t->bytes);
    ck_assert_ptr_nonnull(kept);
    memcpy(kept, t->problem, t->bytes);
    for (size_t i = 0; i < FIELD_SIZE_ENDS; ++i)
        for (size_t j = 0; j < FIELD_SIZE_ENDS; ++j) {
            clattn_error error;
            char first[24], second[24], what[160];
            field_set(t->problem, a, i, first);
            field_set(t->problem, b, j, second);
            snprintf(what, sizeof what, "%s.%s = %s, %s = %s", t->name, a->name,
                first, b->name, second);
            check_ways(t, what, &error);
            memcpy(t->problem, kept, t->bytes);
        }
    free(kept);
}

START_TEST(two_sizes_whose_product_overflows_are_refused)
{
    const target *t = &TARGETS[_i];
    for (size_t i = 0; i < t->fields->count; ++i)
        for (size_t j = 0; j < i; ++j) {
            const field *a = &t->fields->rows[i], *b = &t->fields->rows[j];
            if (a->kind == FIELD_SIZE && b->kind == FIELD_SIZE)
                check_pair(t, a, b);
        }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("fields");
    tcase_add_checked_fixture(t, begin, end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, each_field_takes_any_value, 0, (int)COUNT(TARGETS));
    tcase_add_loop_test(t, two_sizes_whose_product_overflows_are_refused, 0,
        (int)COUNT(TARGETS));

    Suite *suite = suite_create("wild fields");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
