/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c - small steps of the tests that hold each kernel row to a property.
 */
#include "rows.h"
#include "attention_rows.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "opencl.h"
#include "plan.h"
#include "run.h"
#include "suite.h"
#include "units.h"

bool rows_tries(const char *row)
{
    return (!attention_row_is_like(row, "simt32") && !units_have(row)) ||
           suite_count(0, 1) == 1;
}

bool rows_has_turn(const char *row, size_t number)
{
    return rows_tries(row) || units_asked() ||
           (number % 4 == 0 && attention_row_has_turn(row, number / 4));
}

const char *rows_row(size_t index)
{
    const char *name = NULL;
    for (size_t n = 0; (name = attention_row_name(n)) != NULL; ++n)
        if (rows_tries(name) && index-- == 0)
            return name;
    return NULL;
}

int rows_count(void)
{
    int count = 0;
    while (rows_row((size_t)count) != NULL)
        ++count;
    return count;
}

const char *rows_or_choice(const char *kernel)
{
    for (size_t i = 0; kernel != NULL && i < N_KERNEL_ROWS; ++i)
        if (strcmp(kernel, KERNEL_ROWS[i].name) == 0 ||
            strcmp(kernel, KERNEL_ROWS[i].path) == 0)
            return kernel;
    return NULL;
}

void rows_take(attention_trial *trial, const char *row)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    trial->problem.kernel = row;
    const clattn_status status = clattn_attention_plan(
        &plan, opencl_get()->ctx, &trial->problem, &error);
    if (status == CLATTN_UNSUPPORTED && row != NULL) {
        printf(
            "the planner's choice instead of row %s: %s\n", row, error.message);
        trial->problem.kernel = NULL;
    }
    clattn_plan_destroy(plan);
}

void rows_create(attention_trial *trial, const attention_case *c, int row)
{
    ck_assert(attention_trial_create(trial, c));
    rows_take(trial, rows_row((size_t)row));
}

const char *rows_name(const attention_trial *trial)
{
    return trial->problem.kernel != NULL ? trial->problem.kernel : "of choice";
}

void rows_run(attention_trial *trial)
{
    clattn_error error;
    const clattn_status status = run_attention(trial, RUN_HOST, &error);
    ck_assert_msg(
        status == CLATTN_OK, "row %s: %s", rows_name(trial), error.message);
}

void rows_rerun(attention_trial *trial)
{
    arena_remember(&trial->memory);
    rows_run(trial);
}

float *rows_at(const attention_trial *trial, enum attention_slot slot, size_t b,
    size_t h, size_t row, size_t column)
{
    return arena_at(&trial->memory, slot, b, h, row, column);
}

size_t rows_kv_head(const attention_trial *trial, size_t h)
{
    return h / (trial->of.size.Hq / trial->of.size.Hkv);
}

void rows_for_each(const attention_trial *trial, rows_check *check)
{
    const attention_case *c = &trial->of;
    for (size_t b = 0; b < c->size.B; ++b)
        for (size_t h = 0; h < c->size.Hq; ++h)
            for (size_t i = 0; i < c->size.Lq; ++i)
                check(trial, b, h, i);
}

void rows_assert_bits(const attention_trial *one, const attention_trial *other,
    enum attention_slot slot, size_t b, size_t h, size_t i, const char *about)
{
    const arena_tensor *t = &one->memory.tensor[slot];
    ck_assert_msg(
        memcmp(rows_at(one, slot, b, h, i, 0), rows_at(other, slot, b, h, i, 0),
            t->size[3] * sizeof(float)) == 0,
        "%s, row %s: %s[%zu][%zu][%zu] changed its bits: %s", one->of.about,
        rows_name(one), t->name, b, h, i, about);
}

void rows_assert_all_bits(
    const attention_trial *one, const attention_trial *other, const char *about)
{
    for (size_t m = 0; m < one->memory.memories; ++m)
        ck_assert_msg(
            memcmp(one->memory.memory[m].data, other->memory.memory[m].data,
                one->memory.memory[m].count * sizeof(float)) == 0,
            "%s, row %s: not the same bits: %s", one->of.about, rows_name(one),
            about);
}
