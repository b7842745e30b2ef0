/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_attention.c - the descriptor of attention, checked and completed.
 */
#include <math.h>

#include "error.h"
#include "problem.h"
#include "problem_tensor.h"

/* D and Dv: what a kernel can be asked to hold of a row. */
enum {
    MOST_COLUMNS = 512
};

static const uint32_t RETURN_STAGE =
    CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES | CLATTN_RETURN_SCALED |
    CLATTN_RETURN_CAPPED;
static const uint32_t ARRAYS = CLATTN_QUERY_LENGTHS | CLATTN_KEY_LENGTHS |
                               CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS |
                               CLATTN_DIAGONAL_OFFSETS | CLATTN_SINKS;

static clattn_status columns_check(
    size_t columns, const char *name, clattn_error *error)
{
    if (columns == SIZE_UNSET)
        return error_set(error, CLATTN_INVALID,
            "%s is not set, and must be 1 to %d", name, MOST_COLUMNS);
    if (columns < 1 || columns > MOST_COLUMNS)
        return error_set(error, CLATTN_INVALID,
            "%s is %zu, but must be 1 to %d", name, columns, MOST_COLUMNS);
    return CLATTN_OK;
}

static clattn_status check_sizes(const clattn_attention *a, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    TRY(size_check(a->B, 0, "B", error));
    TRY(size_check(a->Hq, 0, "Hq", error));
    TRY(size_check(a->Hkv, 0, "Hkv", error));
    TRY(size_check(a->Lq, 0, "Lq", error));
    TRY(size_check(a->Lk, 0, "Lk", error));
    TRY(columns_check(a->D, "D", error));
    TRY(columns_check(a->Dv, "Dv", error));
    if (a->Hkv == 0 ? a->Hq != 0 : a->Hq % a->Hkv != 0)
        status = error_set(error, CLATTN_INVALID,
            "Hkv is %zu, but must divide Hq, which is %zu", a->Hkv, a->Hq);

cleanup:
    return status;
}

static clattn_status check_flags(const clattn_attention *a, clattn_error *error)
{
    const uint32_t unknown =
        a->flags & ~(CLATTN_RETURN_LSE | RETURN_STAGE | ARRAYS);
    const uint32_t stage = a->flags & RETURN_STAGE;

    if (unknown >= CLATTN_BIAS_Q && unknown < 2u * CLATTN_KEEP_OUT)
        return error_set(error, CLATTN_INVALID,
            "flags has bits 0x%x, which belong to the flags of a layer",
            (unsigned)unknown);
    if (unknown != 0)
        return error_set(error, CLATTN_INVALID,
            "flags has bits 0x%x, but only those of clattn_flags are allowed",
            (unsigned)unknown);
    if ((stage & (stage - 1)) != 0)
        return error_set(error, CLATTN_INVALID,
            "flags has 0x%x, but at most one of RETURN_WEIGHTS, _SCORES, "
            "_SCALED and _CAPPED can fill weights",
            (unsigned)stage);
    return CLATTN_OK;
}

/* The capacity of one packed side, or 0 where it is not packed. */
static clattn_status check_rows(
    size_t rows, const char *name, bool packed, bool empty, clattn_error *error)
{
    if (!packed && rows != 0)
        return error_set(error, CLATTN_INVALID,
            "%s is %zu, but must be 0 without CLATTN_%s_STARTS", name, rows,
            name[0] == 'q' ? "QUERY" : "KEY");
    if (!packed)
        return CLATTN_OK;
    return size_check(rows, empty ? 0 : 1, name, error);
}

static clattn_status check_packed(
    const clattn_attention *a, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    TRY(check_rows(a->q_rows, "q_rows", (a->flags & CLATTN_QUERY_STARTS) != 0,
        a->B == 0 || a->Lq == 0, error));
    TRY(check_rows(a->k_rows, "k_rows", (a->flags & CLATTN_KEY_STARTS) != 0,
        a->B == 0 || a->Lk == 0, error));

cleanup:
    return status;
}

static clattn_status check_window(
    int32_t window, const char *name, clattn_error *error)
{
    if (window >= -1)
        return CLATTN_OK;
    return error_set(error, CLATTN_INVALID,
        "%s is %d, but must be -1 (off) or a number of keys", name, window);
}

static clattn_status check_slopes(
    const clattn_attention *a, clattn_error *error)
{
    if (a->alibi_slopes == NULL)
        return CLATTN_OK;
    for (size_t h = 0; h < a->Hq; ++h)
        if (!isfinite(a->alibi_slopes[h]))
            return error_set(error, CLATTN_INVALID,
                "alibi_slopes[%zu] is %g, but must be finite", h,
                (double)a->alibi_slopes[h]);
    return CLATTN_OK;
}

/* diagonal_offset and DIAGONAL_OFFSETS say what CLATTN_OFFSET is, and only
   that. */
static clattn_status check_offset(
    const clattn_attention *a, clattn_error *error)
{
    const bool per_item = (a->flags & CLATTN_DIAGONAL_OFFSETS) != 0;

    if (per_item && a->diagonal != CLATTN_OFFSET)
        return error_set(error, CLATTN_INVALID,
            "diagonal is %d, but CLATTN_DIAGONAL_OFFSETS needs CLATTN_OFFSET",
            a->diagonal);
    if (a->diagonal_offset != 0 && a->diagonal != CLATTN_OFFSET)
        return error_set(error, CLATTN_INVALID,
            "diagonal_offset is %d, but must be 0 unless diagonal is "
            "CLATTN_OFFSET",
            a->diagonal_offset);
    if (a->diagonal_offset != 0 && per_item)
        return error_set(error, CLATTN_INVALID,
            "diagonal_offset is %d, but must be 0 where "
            "CLATTN_DIAGONAL_OFFSETS brings one for each item",
            a->diagonal_offset);
    return CLATTN_OK;
}

static clattn_status complete_diagonal(clattn_attention *a, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    if (a->causal != 0 && a->causal != 1)
        return error_set(error, CLATTN_INVALID,
            "causal is %d, but must be 0 or 1", a->causal);
    if (a->diagonal < CLATTN_DIAGONAL_UNSET || a->diagonal > CLATTN_OFFSET)
        return error_set(error, CLATTN_INVALID,
            "diagonal is %d, but must be one of clattn_diagonal, 0 to %d",
            a->diagonal, CLATTN_OFFSET);
    TRY(check_window(a->window_left, "window_left", error));
    TRY(check_window(a->window_right, "window_right", error));
    TRY(check_slopes(a, error));
    TRY(check_offset(a, error));

    const bool used = a->causal || a->window_left >= 0 ||
                      a->window_right >= 0 || a->alibi_slopes != NULL;
    if (used && a->diagonal == CLATTN_DIAGONAL_UNSET)
        return error_set(error, CLATTN_INVALID,
            "diagonal is not set, but causal, window and ALiBi need one of "
            "CLATTN_TOP_LEFT, CLATTN_BOTTOM_RIGHT and CLATTN_OFFSET");
    if (!used && a->diagonal != CLATTN_DIAGONAL_UNSET)
        return error_set(error, CLATTN_INVALID,
            "diagonal is %d, but must not be set without causal, window or "
            "ALiBi",
            a->diagonal);
    if (!used)
        a->diagonal = CLATTN_TOP_LEFT;

cleanup:
    return status;
}

static clattn_status complete_scale(clattn_attention *a, clattn_error *error)
{
    if (a->has_scale != 0 && a->has_scale != 1)
        return error_set(error, CLATTN_INVALID,
            "has_scale is %d, but must be 0 or 1", a->has_scale);
    /* Written so that NaN is refused too, here and in check_numbers. */
    if (!a->has_scale && !(a->scale == 0.0f))
        return error_set(error, CLATTN_INVALID,
            "scale is %g, but must be 0 unless has_scale is 1",
            (double)a->scale);
    if (!isfinite(a->scale))
        return error_set(error, CLATTN_INVALID,
            "scale is %g, but must be finite", (double)a->scale);
    if (!a->has_scale)
        a->scale = (float)(1.0 / sqrt((double)a->D));
    a->has_scale = 1;
    return CLATTN_OK;
}

static clattn_status check_numbers(
    const clattn_attention *a, clattn_error *error)
{
    if (!(a->softcap >= 0.0f) || !isfinite(a->softcap))
        return error_set(error, CLATTN_INVALID,
            "softcap is %g, but must be 0 (off) or positive and finite",
            (double)a->softcap);
    if (!(a->dropout_p >= 0.0f && a->dropout_p <= 1.0f))
        return error_set(error, CLATTN_INVALID,
            "dropout_p is %g, but must be 0 to 1", (double)a->dropout_p);
    if (a->precision != CLATTN_PRECISION_F32 &&
        a->precision != CLATTN_PRECISION_STORAGE)
        return error_set(error, CLATTN_INVALID,
            "precision is %d, but must be one of clattn_precision, 0 or 1",
            a->precision);
    return CLATTN_OK;
}

/* The rule of q, k, v or out, told apart by their first letter. */
static tensor_rule rule_of(
    const clattn_attention *a, const char *name, bool layer, bool reference)
{
    const bool query = name[0] == 'q' || name[0] == 'o';
    const bool value = name[0] == 'v' || name[0] == 'o';
    const bool packed =
        (a->flags & (query ? CLATTN_QUERY_STARTS : CLATTN_KEY_STARTS)) != 0;
    const size_t rows =
        query ? (packed ? a->q_rows : a->Lq) : (packed ? a->k_rows : a->Lk);
    const tensor_rule rule = {
        .name = name,
        .size = {a->B, query ? a->Hq : a->Hkv, rows, value ? a->Dv : a->D},
        .order = layer || packed ? ORDER_BLHD : ORDER_BHLD,
        .packed = packed,
        .written = layer || name[0] == 'o',
        .default_type = a->dtype,
        .dtypes = DTYPES_FLOAT | (reference ? DTYPES_F64 : 0),
    };
    return rule;
}

static clattn_status complete_lse(
    clattn_attention *a, bool reference, clattn_error *error)
{
    const bool packed = (a->flags & CLATTN_QUERY_STARTS) != 0;
    const tensor_rule rule = {
        .name = "lse",
        .size = {a->B, a->Hq, packed ? a->q_rows : a->Lq, 1},
        .order = ORDER_BHLD,
        .packed = packed,
        .written = true,
        .default_type = CLATTN_F32,
        .dtypes = DTYPES_F32 | (reference ? DTYPES_F64 : 0),
    };

    if ((a->flags & CLATTN_RETURN_LSE) == 0)
        return tensor_unused(
            &a->lse, "lse", "flags has no CLATTN_RETURN_LSE", error);
    return tensor_complete(&a->lse, &rule, error);
}

static clattn_status complete_weights(
    clattn_attention *a, bool reference, clattn_error *error)
{
    const tensor_rule rule = {
        .name = "weights",
        .size = {a->B, a->Hq, a->Lq, a->Lk},
        .order = ORDER_BHLD,
        .written = true,
        .default_type = a->dtype,
        .dtypes = DTYPES_FLOAT | (reference ? DTYPES_F64 : 0),
    };

    if ((a->flags & RETURN_STAGE) == 0)
        return tensor_unused(&a->weights, "weights",
            "flags has no CLATTN_RETURN_WEIGHTS, _SCORES, _SCALED or _CAPPED",
            error);
    return tensor_complete(&a->weights, &rule, error);
}

static clattn_status complete_tensors(
    clattn_attention *a, bool layer, bool reference, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const struct {
        const char *name;
        clattn_tensor *tensor;
    } main_four[] = {
        {"q", &a->q}, {"k", &a->k}, {"v", &a->v}, {"out", &a->out}};

    TRY(dtype_check(
        a->dtype, DTYPES_FLOAT | (reference ? DTYPES_F64 : 0), "dtype", error));
    for (int t = 0; t < 4; ++t) {
        const tensor_rule rule =
            rule_of(a, main_four[t].name, layer, reference);
        TRY(tensor_complete(main_four[t].tensor, &rule, error));
    }
    TRY(complete_lse(a, reference, error));
    TRY(complete_weights(a, reference, error));
    if (a->precision == CLATTN_PRECISION_STORAGE && a->v.dtype != CLATTN_F16 &&
        a->v.dtype != CLATTN_BF16)
        status = error_set(error, CLATTN_INVALID,
            "precision is CLATTN_PRECISION_STORAGE, but v is %s and must be "
            "f16 or bf16 for that",
            dtype_name(a->v.dtype));

cleanup:
    return status;
}

clattn_status problem_attention(clattn_attention *complete,
    const clattn_attention *given, bool layer, bool reference,
    clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_attention a;

    TRY(problem_take_struct(&a, sizeof a, sizeof a, given, "attention", error));
    TRY(check_sizes(&a, error));
    TRY(check_flags(&a, error));
    TRY(check_packed(&a, error));
    TRY(complete_scale(&a, error));
    TRY(check_numbers(&a, error));
    TRY(complete_diagonal(&a, error));
    const size_t whole[4] = {a.B, a.Hq, a.Lq, a.Lk};
    TRY(mask_complete(&a.mask, whole, error));
    TRY(complete_tensors(&a, layer, reference, error));
    *complete = a;

cleanup:
    return status;
}
