/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_tensor.c - one tensor or mask of a descriptor, checked and completed.
 */
#include "problem_tensor.h"

#include <stdio.h>
#include <string.h>

#include "error.h"
#include "extent.h"
#include "problem.h"

clattn_status size_check(
    size_t size, size_t least, const char *name, clattn_error *error)
{
    if (size == SIZE_UNSET)
        return error_set(error, CLATTN_INVALID,
            "%s is not set, and must be %zu to %d", name, least, INT32_MAX);
    if (size < least || size > INT32_MAX)
        return error_set(error, CLATTN_INVALID,
            "%s is %zu, but must be %zu to %d", name, size, least, INT32_MAX);
    return CLATTN_OK;
}

/* "f32, f16 or bf16" for a set of dtypes. */
static void list_dtypes(char *text, size_t capacity, unsigned dtypes)
{
    size_t used = 0;
    text[0] = '\0';
    for (int32_t d = CLATTN_F32; d <= CLATTN_F64; ++d) {
        if (!(dtypes & 1u << d))
            continue;
        const unsigned later = dtypes >> (d + 1);
        const char *between = used == 0 ? "" : later ? ", " : " or ";
        const int n = snprintf(
            text + used, capacity - used, "%s%s", between, dtype_name(d));
        if (n < 0 || (size_t)n >= capacity - used)
            return;
        used += (size_t)n;
    }
}

clattn_status dtype_check(
    int32_t dtype, unsigned dtypes, const char *name, clattn_error *error)
{
    char allowed[64];

    if (dtype_bytes(dtype) != 0 && (dtypes & 1u << dtype) != 0)
        return CLATTN_OK;
    list_dtypes(allowed, sizeof allowed, dtypes);
    return error_set(error, CLATTN_INVALID, "%s is %d (%s), but must be %s",
        name, dtype, dtype == 0 ? "not set" : dtype_name(dtype), allowed);
}

clattn_status tensor_unused(const clattn_tensor *tensor, const char *name,
    const char *why, clattn_error *error)
{
    if (tensor->batch == 0 && tensor->head == 0 && tensor->row == 0 &&
        tensor->dtype == 0 && tensor->reserved == 0)
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "%s has strides %zu, %zu, %zu and dtype %d, but must be all 0: %s",
        name, tensor->batch, tensor->head, tensor->row, tensor->dtype, why);
}

/* Strides that a tensor of this order does not have. */
static clattn_status check_order(
    const clattn_tensor *tensor, const tensor_rule *rule, clattn_error *error)
{
    if (rule->order == ORDER_MATRIX && tensor->batch != 0)
        return error_set(error, CLATTN_INVALID,
            "%s.batch is %zu, but must be 0: %s has only a row stride",
            rule->name, tensor->batch, rule->name);
    if (rule->order >= ORDER_BLE && tensor->head != 0)
        return error_set(error, CLATTN_INVALID,
            "%s.head is %zu, but must be 0: %s has no heads", rule->name,
            tensor->head, rule->name);
    return CLATTN_OK;
}

/* The strides of a dense tensor; false if one overflows. */
static bool dense_strides(clattn_tensor *tensor, const tensor_rule *rule)
{
    const size_t H = rule->size[1], rows = rule->size[2];
    const size_t columns = rule->size[3];
    size_t head = columns, row = columns, item = 0;

    if (rule->order == ORDER_BHLD && !size_mul(rows, columns, &head))
        return false;
    if (rule->order != ORDER_BHLD && !size_mul(H, columns, &row))
        return false;
    if (!size_mul(H, rows, &item) || !size_mul(item, columns, &item))
        return false;
    tensor->batch = rule->packed || rule->order == ORDER_MATRIX ? 0 : item;
    tensor->head = rule->order >= ORDER_BLE ? 0 : head;
    tensor->row = row;
    return true;
}

/* Whether the elements lie apart, and their last byte has a number. */
static clattn_status check_extent(
    const clattn_tensor *tensor, const tensor_rule *rule, clattn_error *error)
{
    /* Items of a packed tensor without batch stride share its rows. */
    const bool shared = rule->packed && tensor->batch == 0;
    const size_t size[4] = {shared && rule->size[0] > 1 ? 1 : rule->size[0],
        rule->size[1], rule->size[2], rule->size[3]};
    const size_t stride[4] = {tensor->batch, tensor->head, tensor->row, 1};
    size_t span = 0;

    if (!extent_span(size, stride, &span) ||
        !size_mul(span, dtype_bytes(tensor->dtype), &span))
        return error_set(error, CLATTN_INVALID,
            "%s (%zu, %zu, %zu, %zu) with strides %zu, %zu, %zu ends past "
            "what a size_t of bytes can count",
            rule->name, size[0], size[1], size[2], size[3], tensor->batch,
            tensor->head, tensor->row);
    if (rule->written && !extent_apart(size, stride))
        return error_set(error, CLATTN_INVALID,
            "%s (%zu, %zu, %zu, %zu) with strides %zu, %zu, %zu would write "
            "elements onto each other; each stride must step over all that "
            "smaller ones reach",
            rule->name, size[0], size[1], size[2], size[3], tensor->batch,
            tensor->head, tensor->row);
    return CLATTN_OK;
}

clattn_status tensor_complete(
    clattn_tensor *tensor, const tensor_rule *rule, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    char name[48];

    if (tensor->reserved != 0)
        return error_set(error, CLATTN_INVALID,
            "%s.reserved is %d, but must be 0", rule->name, tensor->reserved);
    if (tensor->dtype == 0)
        tensor->dtype = rule->default_type;
    snprintf(name, sizeof name, "%s.dtype", rule->name);
    TRY(dtype_check(tensor->dtype, rule->dtypes, name, error));
    TRY(check_order(tensor, rule, error));
    for (int d = 0; d < 4; ++d)
        if (rule->size[d] == 0)
            return CLATTN_OK;

    const bool dense =
        tensor->batch == 0 && tensor->head == 0 && tensor->row == 0;
    if (dense && !dense_strides(tensor, rule))
        return error_set(error, CLATTN_INVALID,
            "%s (%zu, %zu, %zu, %zu) has more elements than a size_t can count",
            rule->name, rule->size[0], rule->size[1], rule->size[2],
            rule->size[3]);
    TRY(check_extent(tensor, rule, error));

cleanup:
    return status;
}

/* Sizes 1 or the problem's own. */
static clattn_status check_mask_sizes(
    const clattn_mask *mask, const size_t whole[4], clattn_error *error)
{
    static const char *const NAMES[4] = {"B", "Hq", "Lq", "Lk"};

    for (int d = 0; d < 4; ++d) {
        const size_t size = mask->size[d];
        if (size == 1 || size == whole[d])
            continue;
        return error_set(error, CLATTN_INVALID,
            "mask.size[%d] is %zu, but must be 1 or %s, which is %zu%s", d,
            size, NAMES[d], whole[d],
            d == 3 && size < whole[d]
                ? "; a mask for fewer keys needs a smaller Lk"
                : "");
    }
    return CLATTN_OK;
}

/* Dense strides where all are 0; then 0 where a size is 1, so that an element
   is found without asking which sizes broadcast. */
static clattn_status complete_mask_strides(
    clattn_mask *mask, clattn_error *error)
{
    size_t *stride = mask->stride;
    const size_t *size = mask->size;
    size_t span = 0;

    const bool dense =
        stride[0] == 0 && stride[1] == 0 && stride[2] == 0 && stride[3] == 0;
    if (!dense && size[3] > 1 && stride[3] != 1)
        return error_set(error, CLATTN_INVALID,
            "mask.stride[3] is %zu, but must be 1", stride[3]);
    bool fits = true;
    if (dense) {
        stride[3] = 1;
        for (int d = 3; d > 0; --d)
            fits = fits && size_mul(stride[d], size[d], &stride[d - 1]);
    }
    for (int d = 0; d < 4; ++d)
        if (size[d] == 1)
            stride[d] = 0;
    if (!fits || !extent_span(size, stride, &span) ||
        !size_mul(span, dtype_bytes(mask->dtype), &span))
        return error_set(error, CLATTN_INVALID,
            "mask (%zu, %zu, %zu, %zu) ends past what a size_t of bytes can "
            "count",
            size[0], size[1], size[2], size[3]);
    return CLATTN_OK;
}

clattn_status mask_complete(
    clattn_mask *mask, const size_t whole[4], clattn_error *error)
{
    static const clattn_mask NONE = {0};
    clattn_status status = CLATTN_OK;

    if (mask->dtype == 0 && memcmp(mask, &NONE, sizeof NONE) != 0)
        return error_set(error, CLATTN_INVALID,
            "mask.dtype is not set, but the mask has sizes (%zu, %zu, %zu, "
            "%zu) or strides",
            mask->size[0], mask->size[1], mask->size[2], mask->size[3]);
    if (mask->dtype == 0)
        return CLATTN_OK;
    if (mask->reserved != 0)
        return error_set(error, CLATTN_INVALID,
            "mask.reserved is %d, but must be 0", mask->reserved);
    TRY(dtype_check(mask->dtype, DTYPES_MASK, "mask.dtype", error));
    TRY(check_mask_sizes(mask, whole, error));
    TRY(complete_mask_strides(mask, error));

cleanup:
    return status;
}
