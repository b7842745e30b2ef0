/* SPDX-License-Identifier: Apache-2.0
 *
 * operand_arrays.c - the arrays of a call in host memory: lengths, starts and
 * offsets of its items, and the sinks of its heads.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "operand.h"

/* What the two sides, queries and keys, say in the same way. */
typedef struct side {
    const char *lengths_name, *starts_name, *limit_name, *rows_name;
    const clattn_input *lengths, *starts; /* NULL where the flag is not set */
    size_t limit, rows;                   /* Lq, q_rows or Lk, k_rows */
} side;

static side query_side(
    const clattn_attention *a, const clattn_attention_args *args)
{
    const side queries = {
        .lengths_name = "query_lengths",
        .starts_name = "query_starts",
        .limit_name = "Lq",
        .rows_name = "q_rows",
        .lengths =
            a->flags & CLATTN_QUERY_LENGTHS ? &args->query_lengths : NULL,
        .starts = a->flags & CLATTN_QUERY_STARTS ? &args->query_starts : NULL,
        .limit = a->Lq,
        .rows = a->q_rows,
    };
    return queries;
}

static side key_side(
    const clattn_attention *a, const clattn_attention_args *args)
{
    const side keys = {
        .lengths_name = "key_lengths",
        .starts_name = "key_starts",
        .limit_name = "Lk",
        .rows_name = "k_rows",
        .lengths = a->flags & CLATTN_KEY_LENGTHS ? &args->key_lengths : NULL,
        .starts = a->flags & CLATTN_KEY_STARTS ? &args->key_starts : NULL,
        .limit = a->Lk,
        .rows = a->k_rows,
    };
    return keys;
}

int32_t operand_int(const clattn_input *array, size_t i)
{
    int32_t value = 0;
    const char *bytes = array->host;
    memcpy(&value, bytes + (array->offset + i) * sizeof value, sizeof value);
    return value;
}

static item_rows side_rows(const side *s, size_t b)
{
    item_rows rows = {0, s->limit};

    if (s->starts != NULL)
        rows.start = (size_t)operand_int(s->starts, b);
    if (s->lengths != NULL)
        rows.count = (size_t)operand_int(s->lengths, b);
    else if (s->starts != NULL)
        rows.count = (size_t)operand_int(s->starts, b + 1) - rows.start;
    return rows;
}

item_rows operand_query_rows(const clattn_attention *complete,
    const clattn_attention_args *args, size_t b)
{
    const side queries = query_side(complete, args);
    return side_rows(&queries, b);
}

item_rows operand_key_rows(const clattn_attention *complete,
    const clattn_attention_args *args, size_t b)
{
    const side keys = key_side(complete, args);
    return side_rows(&keys, b);
}

static bool on_host(const clattn_input *array)
{
    return array != NULL && array->host != NULL;
}

static clattn_status check_lengths(const side *s, size_t B, clattn_error *error)
{
    for (size_t b = 0; b < B; ++b) {
        const int32_t length = operand_int(s->lengths, b);
        if (length < 0 || (size_t)length > s->limit)
            return error_set(error, CLATTN_INVALID,
                "%s[%zu] is %d, but must be 0 to %s, which is %zu",
                s->lengths_name, b, length, s->limit_name, s->limit);
    }
    return CLATTN_OK;
}

static clattn_status check_starts_range(
    const side *s, size_t count, clattn_error *error)
{
    for (size_t b = 0; b < count; ++b) {
        const int32_t start = operand_int(s->starts, b);
        if (start < 0 || (size_t)start > s->rows)
            return error_set(error, CLATTN_INVALID,
                "%s[%zu] is %d, but must be 0 to %s, which is %zu",
                s->starts_name, b, start, s->rows_name, s->rows);
    }
    return CLATTN_OK;
}

/* Starts without lengths: each item ends where the next begins. */
static clattn_status check_starts_alone(
    const side *s, size_t B, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    TRY(check_starts_range(s, B + 1, error));
    for (size_t b = 0; b < B; ++b) {
        const int32_t start = operand_int(s->starts, b);
        const int32_t end = operand_int(s->starts, b + 1);
        if (end < start)
            return error_set(error, CLATTN_INVALID,
                "%s[%zu] is %d, but must be at least %s[%zu], which is %d",
                s->starts_name, b + 1, end, s->starts_name, b, start);
        if ((size_t)(end - start) > s->limit)
            return error_set(error, CLATTN_INVALID,
                "%s[%zu] and [%zu] are %d and %d, but an item may have at "
                "most %s rows, which is %zu",
                s->starts_name, b, b + 1, start, end, s->limit_name, s->limit);
    }

cleanup:
    return status;
}

/* Starts and lengths: each item lies within the rows. */
static clattn_status check_ends(const side *s, size_t B, clattn_error *error)
{
    for (size_t b = 0; b < B; ++b) {
        const item_rows item = side_rows(s, b);
        if (item.count > s->rows - item.start)
            return error_set(error, CLATTN_INVALID,
                "%s[%zu] + %s[%zu] is %zu + %zu, but must be at most %s, "
                "which is %zu",
                s->starts_name, b, s->lengths_name, b, item.start, item.count,
                s->rows_name, s->rows);
    }
    return CLATTN_OK;
}

static clattn_status check_side(const side *s, size_t B, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    if (on_host(s->lengths))
        TRY(check_lengths(s, B, error));
    if (!on_host(s->starts))
        return CLATTN_OK;
    if (s->lengths == NULL)
        return check_starts_alone(s, B, error);
    TRY(check_starts_range(s, B, error));
    if (on_host(s->lengths))
        TRY(check_ends(s, B, error));

cleanup:
    return status;
}

static int compare_starts(const void *a, const void *b)
{
    const item_rows *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* The first item, in an order of ascending starts, that reaches into the next
   one; count if none does. */
static size_t find_overlap(const item_rows *items, size_t count)
{
    for (size_t n = 0; n + 1 < count; ++n)
        if (items[n].start + items[n].count > items[n + 1].start)
            return n;
    return count;
}

/* Items in the order of the batch mostly ascend: no need to sort them then. */
static bool ascend_apart(const side *s, size_t B)
{
    size_t end = 0;
    for (size_t b = 0; b < B; ++b) {
        const item_rows item = side_rows(s, b);
        if (item.count > 0 && item.start < end)
            return false;
        if (item.count > 0)
            end = item.start + item.count;
    }
    return true;
}

/* No row may belong to two query items, since both would write it. */
static clattn_status check_items_apart(
    const side *s, size_t B, clattn_error *error)
{
    if (ascend_apart(s, B))
        return CLATTN_OK;

    item_rows *items = calloc(B, sizeof *items);
    if (items == NULL)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory to sort the %zu items of query_starts", B);
    size_t count = 0;
    for (size_t b = 0; b < B; ++b) {
        const item_rows item = side_rows(s, b);
        if (item.count > 0)
            items[count++] = item;
    }
    qsort(items, count, sizeof *items, compare_starts);

    clattn_status status = CLATTN_OK;
    const size_t n = find_overlap(items, count);
    if (n < count)
        status = error_set(error, CLATTN_INVALID,
            "query_starts and query_lengths give one item rows %zu to %zu and "
            "another %zu to %zu, but query items may not overlap",
            items[n].start, items[n].start + items[n].count - 1,
            items[n + 1].start, items[n + 1].start + items[n + 1].count - 1);
    free(items);
    return status;
}

/* Whether two items would write the same rows: not if each has its own batch
   stride to go by. */
static bool rows_shared(const clattn_attention *a)
{
    return a->out.batch == 0 ||
           ((a->flags & CLATTN_RETURN_LSE) != 0 && a->lse.batch == 0);
}

/* A NaN or an infinity takes the whole row with it; -inf takes nothing. */
static clattn_status check_sinks(
    const clattn_input *sinks, size_t heads, clattn_error *error)
{
    for (size_t h = 0; h < heads; ++h) {
        float sink = 0.0f;
        memcpy(&sink,
            (const char *)sinks->host + (sinks->offset + h) * sizeof sink,
            sizeof sink);
        if (isnan(sink) || sink == INFINITY)
            return error_set(error, CLATTN_INVALID,
                "sinks[%zu] is %g, but must be finite, or -inf for none", h,
                (double)sink);
    }
    return CLATTN_OK;
}

clattn_status operands_check_arrays(const clattn_attention *complete,
    const clattn_attention_args *args, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const side queries = query_side(complete, args);
    const side keys = key_side(complete, args);
    const size_t B = complete->B;

    if (B == 0)
        return CLATTN_OK;
    TRY(check_side(&queries, B, error));
    TRY(check_side(&keys, B, error));
    if ((complete->flags & CLATTN_SINKS) != 0 && on_host(&args->sinks))
        TRY(check_sinks(&args->sinks, complete->Hq, error));
    if (on_host(queries.starts) && on_host(queries.lengths) &&
        rows_shared(complete))
        TRY(check_items_apart(&queries, B, error));

cleanup:
    return status;
}
