/* SPDX-License-Identifier: Apache-2.0
 *
 * test_problem_complete.c - what is filled in to a legal descriptor, and which
 * versions of a struct are taken.  Needs no device.
 */
#include <string.h>

#include "problem.h"
#include "refusal.h"
#include "suite.h"

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

/* ---- What is filled in --------------------------------------------------- */

static clattn_attention completed(const clattn_attention *a, bool layer)
{
    clattn_attention complete;
    clattn_error error;
    const clattn_status got =
        problem_attention(&complete, a, layer, false, &error);
    ck_assert_msg(got == CLATTN_OK, "%s", error.message);
    return complete;
}

static void check_tensor(const char *name, const clattn_tensor *got,
    size_t batch, size_t head, size_t row, int32_t dtype)
{
    ck_assert_msg(got->batch == batch && got->head == head && got->row == row,
        "%s: strides %zu, %zu, %zu, want %zu, %zu, %zu", name, got->batch,
        got->head, got->row, batch, head, row);
    ck_assert_msg(
        got->dtype == dtype, "%s: dtype %d, want %d", name, got->dtype, dtype);
}

START_TEST(dense_tensors_get_strides_in_the_order_of_their_shape)
{
    clattn_attention a = small_attention();
    a.flags = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS;
    a.dtype = CLATTN_F16;
    const clattn_attention c = completed(&a, false);

    check_tensor("q", &c.q, 4 * 3 * 8, 3 * 8, 8, CLATTN_F16);
    check_tensor("k", &c.k, 2 * 5 * 8, 5 * 8, 8, CLATTN_F16);
    check_tensor("v", &c.v, 2 * 5 * 6, 5 * 6, 6, CLATTN_F16);
    check_tensor("out", &c.out, 4 * 3 * 6, 3 * 6, 6, CLATTN_F16);
    check_tensor("lse", &c.lse, 4 * 3, 3, 1, CLATTN_F32);
    check_tensor("weights", &c.weights, 4 * 3 * 5, 3 * 5, 5, CLATTN_F16);
}
END_TEST

START_TEST(inside_a_layer_heads_lie_side_by_side)
{
    clattn_attention a = small_attention();
    a.flags = CLATTN_RETURN_LSE;
    const clattn_attention c = completed(&a, true);

    check_tensor("q", &c.q, 3 * 4 * 8, 8, 4 * 8, CLATTN_F32);
    check_tensor("v", &c.v, 5 * 2 * 6, 6, 2 * 6, CLATTN_F32);
    check_tensor("lse", &c.lse, 4 * 3, 3, 1, CLATTN_F32);
}
END_TEST

START_TEST(packed_tensors_have_no_batch_stride)
{
    clattn_attention a = small_attention();
    a.flags = CLATTN_RETURN_LSE | CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS |
              CLATTN_RETURN_SCORES;
    a.q_rows = 7;
    a.k_rows = 11;
    const clattn_attention c = completed(&a, false);

    check_tensor("q", &c.q, 0, 8, 4 * 8, CLATTN_F32);
    check_tensor("k", &c.k, 0, 8, 2 * 8, CLATTN_F32);
    check_tensor("lse", &c.lse, 0, 7, 1, CLATTN_F32);
    check_tensor("weights", &c.weights, 4 * 3 * 5, 3 * 5, 5, CLATTN_F32);
}
END_TEST

START_TEST(unset_scale_and_diagonal_get_their_meaning)
{
    clattn_attention a = small_attention();
    a.D = 64;
    const clattn_attention c = completed(&a, false);

    ck_assert_int_eq(c.has_scale, 1);
    ck_assert(c.scale == 0.125f);
    ck_assert_int_eq(c.diagonal, CLATTN_TOP_LEFT);
    ck_assert_int_eq(c.diagonal_offset, 0);
    ck_assert_int_eq(c.lse.dtype, 0);
}
END_TEST

START_TEST(mask_strides_are_0_where_a_size_is_1)
{
    clattn_attention a = small_attention();
    a.mask.dtype = CLATTN_BOOL;
    const size_t size[4] = {2, 1, 3, 5};
    memcpy(a.mask.size, size, sizeof size);
    const clattn_attention dense = completed(&a, false);
    ck_assert_uint_eq(dense.mask.stride[0], 15);
    ck_assert_uint_eq(dense.mask.stride[1], 0);
    ck_assert_uint_eq(dense.mask.stride[2], 5);
    ck_assert_uint_eq(dense.mask.stride[3], 1);

    const size_t stride[4] = {100, 50, 8, 1};
    memcpy(a.mask.stride, stride, sizeof stride);
    const clattn_attention gaps = completed(&a, false);
    ck_assert_uint_eq(gaps.mask.stride[0], 100);
    ck_assert_uint_eq(gaps.mask.stride[1], 0);
    ck_assert_uint_eq(gaps.mask.stride[2], 8);
    ck_assert_uint_eq(gaps.mask.stride[3], 1);
}
END_TEST

START_TEST(references_alone_know_f64)
{
    clattn_attention a = small_attention(), complete;
    clattn_error error;
    a.dtype = CLATTN_F64;
    a.flags = CLATTN_RETURN_LSE;
    a.lse.dtype = CLATTN_F64;

    clattn_status got = problem_attention(&complete, &a, false, true, &error);
    ck_assert_msg(got == CLATTN_OK, "%s", error.message);
    a.dtype = CLATTN_F32;
    got = problem_attention(&complete, &a, false, false, &error);
    refusal_check("lse f64", got, CLATTN_INVALID, &error, "lse.dtype is 5");
}
END_TEST

/* ---- Versions of structs ------------------------------------------------- */

START_TEST(init_writes_no_byte_past_the_given_size)
{
    unsigned char bytes[sizeof(clattn_attention) + 64];
    const size_t sizes[] = {0, 4, sizeof(size_t), 100, sizeof(clattn_attention),
        sizeof(clattn_attention) + 32};

    for (size_t s = 0; s < COUNT(sizes); ++s) {
        memset(bytes, 0x5a, sizeof bytes);
        clattn_attention_init((clattn_attention *)(void *)bytes, sizes[s]);
        for (size_t i = sizes[s]; i < sizeof bytes; ++i)
            ck_assert_msg(
                bytes[i] == 0x5a, "size %zu wrote byte %zu", sizes[s], i);
        for (size_t i = sizeof(clattn_attention); i < sizes[s]; ++i)
            ck_assert_msg(bytes[i] == 0, "size %zu left byte %zu", sizes[s], i);
    }
    clattn_attention_init(NULL, sizeof(clattn_attention));
    clattn_linear_init(NULL, sizeof(clattn_linear));
    clattn_layer_init(NULL, sizeof(clattn_layer));
}
END_TEST

START_TEST(init_leaves_required_fields_refused)
{
    clattn_attention a, complete;
    clattn_linear l, complete_l;
    clattn_error error;

    clattn_attention_init(&a, sizeof a);
    ck_assert_int_eq(a.window_left, -1);
    ck_assert_int_eq(a.window_right, -1);
    ck_assert_uint_eq(a.struct_size, sizeof a);
    refusal_check("attention",
        problem_attention(&complete, &a, false, false, &error), CLATTN_INVALID,
        &error, "B is not set");
    clattn_linear_init(&l, sizeof l);
    refusal_check("linear", problem_linear(&complete_l, &l, false, &error),
        CLATTN_INVALID, &error, "rows is not set");
}
END_TEST

START_TEST(older_and_newer_structs_are_taken)
{
    struct {
        clattn_attention a;
        unsigned char more[16];
    } newer = {.a = small_attention()};
    clattn_attention complete;
    clattn_error error;

    newer.a.struct_size = sizeof newer;
    clattn_status got =
        problem_attention(&complete, &newer.a, false, false, &error);
    refusal_check("zeros in what is newer", got, CLATTN_OK, &error, NULL);
    ck_assert_uint_eq(complete.struct_size, sizeof complete);
    newer.more[9] = 1;
    got = problem_attention(&complete, &newer.a, false, false, &error);
    refusal_check("an option that is newer", got, CLATTN_UNSUPPORTED, &error,
        "attention.struct_size is");

    const struct {
        size_t struct_size, a, b;
    } old = {16, 7, 9};
    size_t to[4] = {1, 1, 1, 1};
    got = problem_take_struct(to, sizeof to, 16, &old, "old", &error);
    refusal_check("an older struct", got, CLATTN_OK, &error, NULL);
    ck_assert_uint_eq(to[0], sizeof to);
    ck_assert_uint_eq(to[1], 7);
    ck_assert_uint_eq(to[2], 0);
    ck_assert_uint_eq(to[3], 0);
}
END_TEST

START_TEST(wrong_struct_sizes_are_refused)
{
    const size_t sizes[] = {0, 8, sizeof(clattn_attention) - 1, SIZE_MAX};
    clattn_attention a = small_attention(), complete;
    clattn_error error;

    for (size_t s = 0; s < COUNT(sizes); ++s) {
        a.struct_size = sizes[s];
        refusal_check("struct_size",
            problem_attention(&complete, &a, false, false, &error),
            CLATTN_INVALID, &error, "attention.struct_size is");
    }
    refusal_check("NULL",
        problem_attention(&complete, NULL, false, false, &error),
        CLATTN_INVALID, &error, "attention is NULL");
    ck_assert_int_eq(
        problem_attention(&complete, NULL, false, false, NULL), CLATTN_INVALID);
}
END_TEST

START_TEST(dtypes_have_bytes_and_names)
{
    const struct {
        int32_t dtype;
        size_t bytes;
        const char *name;
    } want[] = {{CLATTN_F32, 4, "f32"}, {CLATTN_F16, 2, "f16"},
        {CLATTN_BF16, 2, "bf16"}, {CLATTN_BOOL, 1, "bool"},
        {CLATTN_F64, 8, "f64"}, {0, 0, "unknown dtype"},
        {6, 0, "unknown dtype"}, {-1, 0, "unknown dtype"}};

    for (size_t d = 0; d < COUNT(want); ++d) {
        ck_assert_uint_eq(dtype_bytes(want[d].dtype), want[d].bytes);
        ck_assert_str_eq(dtype_name(want[d].dtype), want[d].name);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_complete");
    TCase *filled = tcase_create("filled in");
    TCase *structs = tcase_create("structs");

    tcase_add_test(
        filled, dense_tensors_get_strides_in_the_order_of_their_shape);
    tcase_add_test(filled, inside_a_layer_heads_lie_side_by_side);
    tcase_add_test(filled, packed_tensors_have_no_batch_stride);
    tcase_add_test(filled, unset_scale_and_diagonal_get_their_meaning);
    tcase_add_test(filled, mask_strides_are_0_where_a_size_is_1);
    tcase_add_test(filled, references_alone_know_f64);
    suite_add_tcase(suite, filled);

    tcase_add_test(structs, init_writes_no_byte_past_the_given_size);
    tcase_add_test(structs, init_leaves_required_fields_refused);
    tcase_add_test(structs, older_and_newer_structs_are_taken);
    tcase_add_test(structs, wrong_struct_sizes_are_refused);
    tcase_add_test(structs, dtypes_have_bytes_and_names);
    suite_add_tcase(suite, structs);
    return suite_main(suite, 0);
}
