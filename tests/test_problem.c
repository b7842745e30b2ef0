/* SPDX-License-Identifier: Apache-2.0
 *
 * test_problem.c - which descriptors of attention are legal, and what is said
 * of the others.  Needs no device.
 */
#include <math.h>
#include <string.h>

#include "problem.h"
#include "refusal.h"
#include "suite.h"

#define SIZE(field, value) EDIT_SIZE(clattn_attention, field, value)
#define INT(field, value)  EDIT_INT(clattn_attention, field, value)
#define REAL(field, value) EDIT_REAL(clattn_attention, field, value)
#define TWO_31             ((size_t)1 << 31)

static clattn_attention small_attention(void)
{
    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = 2;
    a.Hq = 4;
    a.Hkv = 2;
    a.Lq = 3;
    a.Lk = 5;
    a.D = 8;
    a.Dv = 6;
    a.dtype = CLATTN_F32;
    return a;
}

static const refusal SIZES[] = {
    {"the plain problem", {{NO_EDIT, 0, 0, 0}}, NULL},
    {"B forgotten", {SIZE(B, SIZE_UNSET)}, "B is not set"},
    {"Hq forgotten", {SIZE(Hq, SIZE_UNSET)}, "Hq is not set"},
    {"Hkv forgotten", {SIZE(Hkv, SIZE_UNSET)}, "Hkv is not set"},
    {"Lq forgotten", {SIZE(Lq, SIZE_UNSET)}, "Lq is not set"},
    {"Lk forgotten", {SIZE(Lk, SIZE_UNSET)}, "Lk is not set"},
    {"D forgotten", {SIZE(D, SIZE_UNSET)}, "D is not set, and must be 1 to"},
    {"Dv forgotten", {SIZE(Dv, SIZE_UNSET)}, "Dv is not set"},
    {"B = 0", {SIZE(B, 0)}, NULL},
    {"Lq = 0", {SIZE(Lq, 0)}, NULL},
    {"Lk = 0", {SIZE(Lk, 0)}, NULL},
    {"no heads at all", {SIZE(Hq, 0), SIZE(Hkv, 0)}, NULL},
    {"no query heads of two", {SIZE(Hq, 0)}, NULL},
    {"no key heads for four", {SIZE(Hkv, 0)}, "Hkv is 0, but must divide Hq"},
    {"3 does not divide 4", {SIZE(Hkv, 3)},
        "Hkv is 3, but must divide Hq, which is 4"},
    {"more key heads than query heads", {SIZE(Hkv, 8)}, "Hkv is 8"},
    {"one key head for all", {SIZE(Hkv, 1)}, NULL},
    {"D = 0", {SIZE(D, 0)}, "D is 0, but must be 1 to 512"},
    {"D = 1", {SIZE(D, 1)}, NULL},
    {"D = 512", {SIZE(D, 512)}, NULL},
    {"D = 513", {SIZE(D, 513)}, "D is 513, but must be 1 to 512"},
    {"Dv = 0", {SIZE(Dv, 0)}, "Dv is 0, but must be 1 to 512"},
    {"Dv = 512", {SIZE(Dv, 512)}, NULL},
    {"Dv = 513", {SIZE(Dv, 513)}, "Dv is 513, but must be 1 to 512"},
    {"B beyond int", {SIZE(B, TWO_31)}, "B is 2147483648, but must be 0 to"},
    {"B at int's end", {SIZE(B, TWO_31 - 1)}, NULL},
    {"Hq beyond int", {SIZE(Hq, TWO_31)}, "Hq is 2147483648"},
    {"Hkv beyond int", {SIZE(Hkv, TWO_31)}, "Hkv is 2147483648"},
    {"Lq beyond int", {SIZE(Lq, TWO_31)}, "Lq is 2147483648"},
    {"Lk beyond int", {SIZE(Lk, TWO_31)}, "Lk is 2147483648"},
    {"q larger than a size_t counts",
        {SIZE(B, TWO_31 - 1), SIZE(Lq, TWO_31 - 1), SIZE(D, 512)},
        "q (2147483647, 4, 2147483647, 512)"},
    {"bytes, not elements, are counted",
        {SIZE(B, TWO_31 - 1), SIZE(Lq, TWO_31 - 1), SIZE(Hq, 1), SIZE(Hkv, 1),
            SIZE(D, 2)},
        "q (2147483647, 1, 2147483647, 2)"},
    {"an empty tensor may be as long as it likes",
        {SIZE(B, 0), SIZE(Lq, TWO_31 - 1), SIZE(Lk, TWO_31 - 1), SIZE(D, 512)},
        NULL},
};

static const refusal FLAGS[] = {
    {"an unknown flag", {INT(flags, 1 << 6)}, "flags has bits 0x40"},
    {"the flag after the last", {INT(flags, 1 << 14)}, "flags has bits 0x4000"},
    {"a layer's flag", {INT(flags, CLATTN_PROJECT_OUT)},
        "flags has bits 0x1000000, which belong to the flags of a layer"},
    {"weights and scores", {INT(flags, 1 << 1 | 1 << 2)},
        "flags has 0x6, but at most one of RETURN_WEIGHTS"},
    {"scaled and capped", {INT(flags, 1 << 3 | 1 << 4)}, "flags has 0x18"},
    {"weights and lse", {INT(flags, 1 << 0 | 1 << 1)}, NULL},
    {"all arrays",
        {INT(flags, 0x3f00), SIZE(q_rows, 6), SIZE(k_rows, 10),
            INT(diagonal, CLATTN_OFFSET), INT(causal, 1)},
        NULL},
    {"starts without rows of q", {INT(flags, CLATTN_QUERY_STARTS)},
        "q_rows is 0, but must be 1 to"},
    {"starts without rows of k", {INT(flags, CLATTN_KEY_STARTS)},
        "k_rows is 0, but must be 1 to"},
    {"rows of q without starts", {SIZE(q_rows, 6)},
        "q_rows is 6, but must be 0 without CLATTN_QUERY_STARTS"},
    {"rows of k without starts", {SIZE(k_rows, 6)},
        "k_rows is 6, but must be 0 without CLATTN_KEY_STARTS"},
    {"rows beyond int", {INT(flags, CLATTN_KEY_STARTS), SIZE(k_rows, TWO_31)},
        "k_rows is 2147483648"},
    {"a packed batch of no items needs no rows",
        {INT(flags, CLATTN_QUERY_STARTS), SIZE(B, 0)}, NULL},
    {"a packed batch of empty items needs no rows",
        {INT(flags, CLATTN_KEY_STARTS), SIZE(Lk, 0)}, NULL},
};

static const refusal NUMBERS[] = {
    {"scale without has_scale", {REAL(scale, 0.5)},
        "scale is 0.5, but must be 0 unless has_scale is 1"},
    {"NaN scale without has_scale", {REAL(scale, NAN)}, "scale is nan"},
    {"NaN scale", {INT(has_scale, 1), REAL(scale, NAN)},
        "scale is nan, but must be finite"},
    {"infinite scale", {INT(has_scale, 1), REAL(scale, INFINITY)},
        "scale is inf, but must be finite"},
    {"scale 0", {INT(has_scale, 1)}, NULL},
    {"negative scale", {INT(has_scale, 1), REAL(scale, -2)}, NULL},
    {"has_scale 2", {INT(has_scale, 2)}, "has_scale is 2"},
    {"softcap", {REAL(softcap, 30)}, NULL},
    {"negative softcap", {REAL(softcap, -1)}, "softcap is -1"},
    {"NaN softcap", {REAL(softcap, NAN)}, "softcap is nan"},
    {"infinite softcap", {REAL(softcap, INFINITY)}, "softcap is inf"},
    {"dropout 0.1", {REAL(dropout_p, 0.1)}, NULL},
    {"dropout 1", {REAL(dropout_p, 1)}, NULL},
    {"negative dropout", {REAL(dropout_p, -1)},
        "dropout_p is -1, but must be 0 to 1"},
    {"dropout above 1", {REAL(dropout_p, 1.5)}, "dropout_p is 1.5"},
    {"NaN dropout", {REAL(dropout_p, NAN)}, "dropout_p is nan"},
    {"precision 2", {INT(precision, 2)}, "precision is 2"},
    {"weights in v's storage, f16",
        {INT(precision, CLATTN_PRECISION_STORAGE), INT(dtype, CLATTN_F16)},
        NULL},
    {"weights in v's storage, bf16",
        {INT(precision, CLATTN_PRECISION_STORAGE), INT(v.dtype, CLATTN_BF16)},
        NULL},
    {"weights in v's storage, f32", {INT(precision, CLATTN_PRECISION_STORAGE)},
        "precision is CLATTN_PRECISION_STORAGE, but v is f32"},
};

static const refusal DIAGONALS[] = {
    {"causal without a diagonal", {INT(causal, 1)}, "diagonal is not set"},
    {"a window to the left without a diagonal", {INT(window_left, 0)},
        "diagonal is not set"},
    {"a window to the right without a diagonal", {INT(window_right, 0)},
        "diagonal is not set"},
    {"causal top left", {INT(causal, 1), INT(diagonal, CLATTN_TOP_LEFT)}, NULL},
    {"causal bottom right",
        {INT(causal, 1), INT(diagonal, CLATTN_BOTTOM_RIGHT)}, NULL},
    {"a window with an offset",
        {INT(window_left, 4), INT(diagonal, CLATTN_OFFSET),
            INT(diagonal_offset, -7)},
        NULL},
    {"a diagonal that nothing uses", {INT(diagonal, CLATTN_TOP_LEFT)},
        "diagonal is 1, but must not be set without causal"},
    {"diagonal 4", {INT(causal, 1), INT(diagonal, 4)}, "diagonal is 4"},
    {"diagonal -1", {INT(causal, 1), INT(diagonal, -1)}, "diagonal is -1"},
    {"causal 2", {INT(causal, 2), INT(diagonal, 1)},
        "causal is 2, but must be 0 or 1"},
    {"window_left -2", {INT(window_left, -2)}, "window_left is -2"},
    {"window_right -2", {INT(window_right, -2)}, "window_right is -2"},
    {"an offset top left",
        {INT(causal, 1), INT(diagonal, CLATTN_TOP_LEFT),
            INT(diagonal_offset, 1)},
        "diagonal_offset is 1, but must be 0 unless diagonal is"},
    {"an offset that nothing uses", {INT(diagonal_offset, 1)},
        "diagonal_offset is 1"},
    {"an offset and one for each item",
        {INT(causal, 1), INT(diagonal, CLATTN_OFFSET), INT(diagonal_offset, 1),
            INT(flags, CLATTN_DIAGONAL_OFFSETS)},
        "diagonal_offset is 1, but must be 0 where CLATTN_DIAGONAL_OFFSETS"},
    {"an offset for each item, top left",
        {INT(causal, 1), INT(diagonal, CLATTN_TOP_LEFT),
            INT(flags, CLATTN_DIAGONAL_OFFSETS)},
        "diagonal is 1, but CLATTN_DIAGONAL_OFFSETS needs CLATTN_OFFSET"},
    {"an offset for each item that nothing uses",
        {INT(diagonal, CLATTN_OFFSET), INT(flags, CLATTN_DIAGONAL_OFFSETS)},
        "diagonal is 3, but must not be set"},
};

static const refusal TENSORS[] = {
    {"dtype forgotten", {INT(dtype, 0)}, "dtype is 0 (not set), but must be"},
    {"dtype bool", {INT(dtype, CLATTN_BOOL)}, "dtype is 4 (bool)"},
    {"dtype 6", {INT(dtype, 6)}, "dtype is 6 (unknown dtype)"},
    {"dtype -1", {INT(dtype, -1)}, "dtype is -1 (unknown dtype)"},
    {"dtype f64", {INT(dtype, CLATTN_F64)},
        "dtype is 5 (f64), but must be f32, f16 or bf16"},
    {"q of another dtype", {INT(q.dtype, CLATTN_F16)}, NULL},
    {"q bool", {INT(q.dtype, CLATTN_BOOL)}, "q.dtype is 4 (bool)"},
    {"k f64", {INT(k.dtype, CLATTN_F64)}, "k.dtype is 5 (f64)"},
    {"v of no dtype", {INT(v.dtype, 99)}, "v.dtype is 99"},
    {"out bool", {INT(out.dtype, CLATTN_BOOL)}, "out.dtype is 4"},
    {"lse f16", {INT(flags, 1), INT(lse.dtype, CLATTN_F16)},
        "lse.dtype is 2 (f16), but must be f32"},
    {"weights bf16", {INT(flags, 2), INT(weights.dtype, CLATTN_BF16)}, NULL},
    {"weights bool", {INT(flags, 2), INT(weights.dtype, CLATTN_BOOL)},
        "weights.dtype is 4"},
    {"lse that is not returned", {INT(lse.dtype, CLATTN_F32)},
        "lse has strides 0, 0, 0 and dtype 1, but must be all 0"},
    {"weights that are not returned", {SIZE(weights.row, 5)},
        "weights has strides 0, 0, 5"},
    {"q.reserved", {INT(q.reserved, 1)}, "q.reserved is 1, but must be 0"},
    {"out.reserved", {INT(out.reserved, 1)}, "out.reserved is 1"},
    {"q beside itself, as an input may",
        {SIZE(q.row, 1), SIZE(q.head, 0), SIZE(q.batch, 1)}, NULL},
    {"k for all items", {SIZE(k.row, 8), SIZE(k.head, 40)}, NULL},
    {"out in rows with gaps",
        {SIZE(out.row, 7), SIZE(out.head, 21), SIZE(out.batch, 84)}, NULL},
    {"out (B, L, H, D)",
        {SIZE(out.row, 24), SIZE(out.head, 6), SIZE(out.batch, 72)}, NULL},
    {"rows of out narrower than its columns",
        {SIZE(out.row, 5), SIZE(out.head, 18), SIZE(out.batch, 72)},
        "out (2, 4, 3, 6) with strides 72, 18, 5 would write elements onto"},
    {"all items of out in one place", {SIZE(out.row, 6), SIZE(out.head, 18)},
        "out (2, 4, 3, 6) with strides 0, 18, 6"},
    {"heads of out that reach into each other",
        {SIZE(out.row, 6), SIZE(out.head, 17), SIZE(out.batch, 72)},
        "out (2, 4, 3, 6) with strides 72, 17, 6"},
    {"a stride of one item is not looked at",
        {SIZE(B, 1), SIZE(out.row, 6), SIZE(out.head, 18)}, NULL},
    {"lse onto itself",
        {INT(flags, 1), SIZE(lse.row, 1), SIZE(lse.head, 2),
            SIZE(lse.batch, 12)},
        "lse (2, 4, 3, 1) with strides 12, 2, 1"},
    {"weights onto themselves",
        {INT(flags, 2), SIZE(weights.row, 4), SIZE(weights.head, 15),
            SIZE(weights.batch, 60)},
        "weights (2, 4, 3, 5)"},
    {"a stride whose end a size_t does not hold",
        {SIZE(k.row, SIZE_MAX / 2), SIZE(k.head, 1), SIZE(k.batch, 1)},
        "k (2, 2, 5, 8) with strides"},
    {"packed items of out in one place",
        {INT(flags, CLATTN_QUERY_STARTS), SIZE(q_rows, 6), SIZE(out.row, 24),
            SIZE(out.head, 6)},
        NULL},
    {"packed rows of out onto each other",
        {INT(flags, CLATTN_QUERY_STARTS), SIZE(q_rows, 6), SIZE(out.row, 23),
            SIZE(out.head, 6)},
        "out (1, 4, 6, 6) with strides 0, 6, 23"},
};

#define MASK(b, h, i, j)                                                       \
    INT(mask.dtype, CLATTN_F32), SIZE(mask.size[0], b), SIZE(mask.size[1], h), \
        SIZE(mask.size[2], i), SIZE(mask.size[3], j)

static const refusal MASKS[] = {
    {"a whole mask", {MASK(2, 4, 3, 5)}, NULL},
    {"one for all heads", {MASK(2, 1, 3, 5)}, NULL},
    {"one number for all", {MASK(1, 1, 1, 1)}, NULL},
    {"a mask for key heads", {MASK(2, 2, 3, 5)},
        "mask.size[1] is 2, but must be 1 or Hq, which is 4"},
    {"a mask of another batch", {MASK(3, 1, 3, 5)},
        "mask.size[0] is 3, but must be 1 or B, which is 2"},
    {"a mask of fewer items", {MASK(0, 1, 3, 5)},
        "mask.size[0] is 0, but must be 1 or B, which is 2"},
    {"a mask of other rows", {MASK(1, 1, 2, 5)},
        "mask.size[2] is 2, but must be 1 or Lq, which is 3"},
    {"a mask of an item, with a batch stride alone",
        {MASK(2, 1, 3, 5), SIZE(mask.stride[0], 20)}, "mask.stride[3] is 0"},
    {"a mask narrower than the keys", {MASK(1, 1, 3, 4)},
        "mask.size[3] is 4, but must be 1 or Lk, which is 5; a mask for fewer "
        "keys needs a smaller Lk"},
    {"a mask wider than the keys", {MASK(1, 1, 3, 6)},
        "mask.size[3] is 6, but must be 1 or Lk, which is 5"},
    {"a mask with a size left out", {MASK(1, 1, 3, 0)}, "mask.size[3] is 0"},
    {"sizes without dtype", {SIZE(mask.size[3], 5)}, "mask.dtype is not set"},
    {"a stride without dtype", {SIZE(mask.stride[2], 5)},
        "mask.dtype is not set"},
    {"rows with a gap", {MASK(1, 1, 3, 5), SIZE(mask.stride[2], 8)},
        "mask.stride[3] is 0, but must be 1"},
    {"rows of two columns with another stride",
        {MASK(1, 1, 1, 1), SIZE(Lk, 2), SIZE(mask.size[3], 2),
            SIZE(mask.stride[3], 2)},
        "mask.stride[3] is 2, but must be 1"},
    {"a column stride of one column is not looked at",
        {MASK(1, 1, 3, 1), SIZE(mask.stride[2], 7)}, NULL},
    {"a mask whose end a size_t does not hold",
        {MASK(1, 1, 3, 1), SIZE(mask.stride[2], SIZE_MAX / 2 + 1)},
        "mask (1, 1, 3, 1) ends past what"},
    {"a mask whose bytes a size_t does not hold",
        {MASK(1, 1, 3, 1), SIZE(mask.stride[2], SIZE_MAX / 4)},
        "mask (1, 1, 3, 1) ends past what"},
    {"mask f64", {INT(mask.dtype, CLATTN_F64)},
        "mask.dtype is 5 (f64), but must be f32, f16, bf16 or bool"},
    {"mask of no dtype", {INT(mask.dtype, 7)}, "mask.dtype is 7"},
    {"mask.reserved", {INT(mask.reserved, 1), INT(mask.dtype, 1)},
        "mask.reserved is 1"},
};

/* Run a table: complete each row's descriptor and look at what is said. */
static void check_attention(const refusal *row)
{
    clattn_attention a = small_attention(), complete, untouched;
    clattn_error error;

    memset(&complete, 0x5a, sizeof complete);
    untouched = complete;
    refusal_apply(&a, row->edits);
    const clattn_status got =
        problem_attention(&complete, &a, false, false, &error);
    refusal_check_row(row, got, &error);
    if (row->words)
        ck_assert_msg(memcmp(&complete, &untouched, sizeof complete) == 0,
            "%s: a refusal must leave *complete alone", row->about);
}

#define TABLE_TEST(name, table)      \
    START_TEST(name)                 \
    {                                \
        check_attention(&table[_i]); \
    }                                \
    END_TEST

TABLE_TEST(sizes_are_refused_by_name, SIZES)
TABLE_TEST(flags_agree_with_their_values, FLAGS)
TABLE_TEST(numbers_are_refused_out_of_range, NUMBERS)
TABLE_TEST(a_diagonal_is_set_exactly_where_it_is_used, DIAGONALS)
TABLE_TEST(tensors_are_refused_by_name, TENSORS)
TABLE_TEST(masks_are_refused_by_name, MASKS)

START_TEST(slopes_must_be_finite_and_need_a_diagonal)
{
    const float slopes[4] = {1, 0.5f, -0.25f, 0};
    const float wrong[4] = {1, 0.5f, NAN, INFINITY};
    clattn_attention a = small_attention(), complete;
    clattn_error error;

    a.alibi_slopes = slopes;
    clattn_status got = problem_attention(&complete, &a, false, false, &error);
    refusal_check("no diagonal", got, CLATTN_INVALID, &error, "diagonal is");
    a.diagonal = CLATTN_BOTTOM_RIGHT;
    got = problem_attention(&complete, &a, false, false, &error);
    refusal_check("slopes", got, CLATTN_OK, &error, NULL);
    a.alibi_slopes = wrong;
    got = problem_attention(&complete, &a, false, false, &error);
    refusal_check("NaN", got, CLATTN_INVALID, &error, "alibi_slopes[2] is nan");
}
END_TEST

START_TEST(within_a_layer_even_q_may_not_lie_onto_itself)
{
    clattn_attention a = small_attention(), complete;
    clattn_error error;
    a.k.row = 8;
    a.k.head = 40;

    const clattn_status got =
        problem_attention(&complete, &a, true, false, &error);
    refusal_check("k for all items", got, CLATTN_INVALID, &error,
        "k (2, 2, 5, 8) with strides 0, 40, 8");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *refused = tcase_create("refused");

    tcase_add_loop_test(
        refused, sizes_are_refused_by_name, 0, (int)COUNT(SIZES));
    tcase_add_loop_test(
        refused, flags_agree_with_their_values, 0, (int)COUNT(FLAGS));
    tcase_add_loop_test(
        refused, numbers_are_refused_out_of_range, 0, (int)COUNT(NUMBERS));
    tcase_add_loop_test(refused, a_diagonal_is_set_exactly_where_it_is_used, 0,
        (int)COUNT(DIAGONALS));
    tcase_add_loop_test(
        refused, tensors_are_refused_by_name, 0, (int)COUNT(TENSORS));
    tcase_add_loop_test(
        refused, masks_are_refused_by_name, 0, (int)COUNT(MASKS));
    tcase_add_test(refused, slopes_must_be_finite_and_need_a_diagonal);
    tcase_add_test(refused, within_a_layer_even_q_may_not_lie_onto_itself);
    suite_add_tcase(suite, refused);
    return suite_main(suite, 0);
}
