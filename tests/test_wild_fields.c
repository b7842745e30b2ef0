/* SPDX-License-Identifier: Apache-2.0
 *
 * test_wild_fields.c - every field of every descriptor set to values that no
 * caller means, alone and in pairs: the ways of calling agree, a refusal is a
 * sentence that names the field, nothing is lost.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_opencl.h"
#include "fields.h"
#include "legal.h"
#include "suite.h"
#include "ways.h"

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

typedef struct target {
    const char *name;
    const field_table *fields;
    void *problem; /* whose fields are spoiled */
    const void *whole;
    size_t bytes;
    const ways *ways;
} target;

#define TARGET(name, fields, problem, whole, ways)         \
    {                                                      \
        name, &(fields), &subject.problem, &subject.whole, \
            sizeof subject.problem, &(ways)                \
    }

static const target TARGETS[] = {
    TARGET("attention", ATTENTION_FIELDS, attention, attention, ATTENTION_WAYS),
    TARGET("linear", LINEAR_FIELDS, linear, linear, LINEAR_WAYS),
    TARGET("layer", LAYER_FIELDS, layer, layer, LAYER_WAYS),
    TARGET("layer.attention", ATTENTION_FIELDS, inside, layer, LAYER_WAYS),
};

static void check_ways(const target *t, const char *what, clattn_error *asked)
{
    char text[WAYS_TEXT];
    clattn_plan *plan = NULL;
    const char *why =
        ways_differ(text, t->ways, subject.ctx, t->whole, asked, &plan);
    clattn_plan_destroy(plan);
    ck_assert_msg(why == NULL, "%s: %s", what, why);
}

/* ---- One field ----------------------------------------------------------- */

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
        check_ways(t, what, &error);
        ck_assert_msg(error.status != CLATTN_INVALID || !f->word ||
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

/* ---- Two fields ---------------------------------------------------------- */

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
