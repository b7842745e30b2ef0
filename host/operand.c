/* SPDX-License-Identifier: Apache-2.0
 *
 * operand.c - whether the tensors and arrays of a call are given where they
 * should be, fit their memory, and overlap nowhere.
 */
#include "operand.h"

#include <stdint.h>

#include "error.h"
#include "extent.h"

size_t operand_span(const operand *op)
{
    size_t span = 0;
    /* The descriptor's check has seen to it that this fits. */
    return extent_span(op->size, op->stride, &span) ? span : SIZE_MAX;
}

static bool is_given(const operand *op)
{
    return op->at.mem != NULL || op->at.host != NULL;
}

static clattn_status check_place(
    const operand *op, enum operand_place place, clattn_error *error)
{
    if (place == OPERANDS_ON_HOST && op->at.mem != NULL)
        return error_set(error, CLATTN_INVALID,
            "%s.mem is set, but a host call or reference takes %s.host alone",
            op->name, op->name);
    if (place == OPERANDS_ON_HOST || op->at.host == NULL)
        return CLATTN_OK;
    if (!op->array)
        return error_set(error, CLATTN_INVALID,
            "%s.host is set, but enqueue takes %s.mem alone", op->name,
            op->name);
    if (op->at.mem != NULL)
        return error_set(error, CLATTN_INVALID,
            "%s.mem and %s.host are both set, but only one of them may be",
            op->name, op->name);
    return CLATTN_OK;
}

static clattn_status check_given(
    const operand *op, enum operand_place place, clattn_error *error)
{
    const size_t span = operand_span(op);

    if (op->wanted && span > 0 && !is_given(op))
        return error_set(error, CLATTN_INVALID,
            "%s.%s is NULL, but must hold %zu elements of %zu bytes", op->name,
            place == OPERANDS_ON_HOST ? "host" : "mem", span, op->element);
    if (!op->wanted && is_given(op))
        return error_set(error, CLATTN_INVALID,
            "%s is given, but the descriptor does not ask for it", op->name);
    if (!op->wanted && op->at.offset != 0)
        return error_set(error, CLATTN_INVALID,
            "%s.offset is %zu, but must be 0: the descriptor does not ask for "
            "%s",
            op->name, op->at.offset, op->name);
    return check_place(op, place, error);
}

/* Bytes that the operand needs from `begin` on. */
static size_t span_bytes(const operand *op)
{
    size_t bytes = 0;
    return size_mul(operand_span(op), op->element, &bytes) ? bytes : SIZE_MAX;
}

static clattn_status check_fit(const operand *op, clattn_error *error)
{
    const size_t bytes = span_bytes(op);
    size_t end = 0;

    if (bytes == 0 || !is_given(op))
        return CLATTN_OK;
    if (op->begin == SIZE_MAX || !size_add(op->begin, bytes, &end))
        return error_set(error, CLATTN_INVALID,
            "%s.offset is %zu, so that its %zu bytes end past all memory",
            op->name, op->at.offset, bytes);
    if (end > op->capacity)
        return error_set(error, CLATTN_INVALID,
            "%s needs %zu bytes (%zu elements of %zu) from offset %zu "
            "elements on, which is %zu bytes more than its memory has",
            op->name, bytes, operand_span(op), op->element, op->at.offset,
            end - op->capacity);
    return CLATTN_OK;
}

/* Along every dimension that both have more than one of and along which either
   steps by whole periods. */
static bool strides_equal(const operand *a, const operand *b, size_t period)
{
    for (int d = 0; d < 4; ++d)
        if (a->size[d] > 1 && b->size[d] > 1 &&
            (a->stride[d] % period == 0 || b->stride[d] % period == 0) &&
            a->stride[d] != b->stride[d])
            return false;
    return true;
}

/*
 * Modulo `period` elements all of an operand lies within `reach` elements of
 * its first one: dimensions that step by whole periods add nothing.
 */
static size_t reach_within(const operand *op, size_t period)
{
    size_t reach = 1;
    for (int d = 0; d < 4; ++d)
        if (op->size[d] > 1 && op->stride[d] % period != 0)
            reach += (op->size[d] - 1) * op->stride[d];
    return reach;
}

/* Whether a and b stay apart because they use different parts of every run of
   `period` elements, as q, k and v use different columns of packed rows. */
static bool apart_within(const operand *a, const operand *b, size_t period)
{
    size_t bytes = 0, a_bytes = 0, b_bytes = 0;

    if (period == 0 || !strides_equal(a, b, period) ||
        !size_mul(period, a->element, &bytes) ||
        !size_mul(reach_within(a, period), a->element, &a_bytes) ||
        !size_mul(reach_within(b, period), b->element, &b_bytes))
        return false;
    if (a_bytes > bytes || b_bytes > bytes)
        return false;
    /* From a's first byte on: b's place within the period. */
    const size_t a_at = a->begin % bytes, b_at = b->begin % bytes;
    const size_t gap = b_at >= a_at ? b_at - a_at : bytes - (a_at - b_at);
    return gap >= a_bytes && gap <= bytes - b_bytes;
}

static bool interleave(const operand *a, const operand *b)
{
    if (a->element != b->element)
        return false;
    for (int d = 0; d < 3; ++d)
        if ((a->size[d] > 1 && apart_within(a, b, a->stride[d])) ||
            (b->size[d] > 1 && apart_within(a, b, b->stride[d])))
            return true;
    return false;
}

static bool overlap(const operand *a, const operand *b)
{
    const size_t a_bytes = span_bytes(a), b_bytes = span_bytes(b);

    if (a_bytes == 0 || b_bytes == 0 || !is_given(a) || !is_given(b))
        return false;
    if (a->space != b->space)
        return false;
    if (a->begin >= b->begin + b_bytes || b->begin >= a->begin + a_bytes)
        return false;
    return !interleave(a, b);
}

static clattn_status check_apart(
    const operand *output, const operand *other, clattn_error *error)
{
    if (!overlap(output, other))
        return CLATTN_OK;
    const bool later = output->begin >= other->begin;
    return error_set(error, CLATTN_INVALID,
        "%s (%zu bytes, %zu elements) begins %zu bytes %s %s (%zu bytes, %zu "
        "elements) and overlaps it, but an output may share no memory with "
        "another tensor",
        output->name, span_bytes(output), operand_span(output),
        later ? output->begin - other->begin : other->begin - output->begin,
        later ? "into" : "before", other->name, span_bytes(other),
        operand_span(other));
}

clattn_status operands_check(const operand *list, size_t count,
    enum operand_place place, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    for (size_t i = 0; i < count; ++i)
        TRY(check_given(&list[i], place, error));
    for (size_t i = 0; i < count; ++i)
        TRY(check_fit(&list[i], error));
    for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
            if (list[i].output && i != j)
                TRY(check_apart(&list[i], &list[j], error));

cleanup:
    return status;
}
