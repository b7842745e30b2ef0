/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_linear.c - the reference of linear against numbers worked out
 * by hand.
 */
#include <math.h>

#include "convert.h"
#include "judge.h"
#include "suite.h"

#define NAN_D ((double)NAN)

/* x = (1 2; 0 -1), W = (1 2 3; 4 5 6), b = (10 20 30), in rows with gaps. */
static const double X[6] = {1, 2, NAN_D, 0, -1, NAN_D};
static const double W_IN_OUT[8] = {1, 2, 3, NAN_D, 4, 5, 6, NAN_D};
static const double W_OUT_IN[9] = {1, 4, NAN_D, 2, 5, NAN_D, 3, 6, NAN_D};
static const double BIAS[4] = {NAN_D, 10, 20, 30};

static const struct {
    const char *about;
    int32_t order, has_bias;
    double want[8];
} LINEARS[] = {
    {"W as the formula has it", CLATTN_IN_OUT, 0,
        {9, 12, 15, NAN_D, -4, -5, -6, NAN_D}},
    {"W transposed", CLATTN_OUT_IN, 0, {9, 12, 15, NAN_D, -4, -5, -6, NAN_D}},
    {"with a bias", CLATTN_IN_OUT, 1, {19, 32, 45, NAN_D, 6, 15, 24, NAN_D}},
    {"W transposed, with a bias", CLATTN_OUT_IN, 1,
        {19, 32, 45, NAN_D, 6, 15, 24, NAN_D}},
};

static clattn_linear linear_of(size_t rows, size_t n_in, size_t n_out)
{
    clattn_linear l;
    clattn_linear_init(&l, sizeof l);
    l.rows = rows;
    l.n_in = n_in;
    l.n_out = n_out;
    l.dtype = CLATTN_F64;
    l.weight_order = CLATTN_IN_OUT;
    return l;
}

START_TEST(a_linear_is_what_the_hand_gives)
{
    double y[8];
    clattn_error error;
    clattn_linear l = linear_of(2, 2, 3);
    l.weight_order = LINEARS[_i].order;
    l.has_bias = LINEARS[_i].has_bias;
    l.x.row = 3;
    l.w.row = l.weight_order == CLATTN_IN_OUT ? 4 : 3;
    l.y.row = 4;
    clattn_linear_args args = {.struct_size = sizeof args,
        .x.host = X,
        .w.host = l.weight_order == CLATTN_IN_OUT ? W_IN_OUT : W_OUT_IN,
        .y.host = y};
    if (l.has_bias) {
        args.b.host = BIAS;
        args.b.offset = 1;
    }

    for (int i = 0; i < 8; ++i)
        y[i] = NAN_D;
    const clattn_status got = clattn_linear_reference(&l, &args, &error);
    ck_assert_msg(got == CLATTN_OK, "%s", error.message);
    judge_expect(LINEARS[_i].about, y, LINEARS[_i].want, 8, 0);
}
END_TEST

START_TEST(a_linear_has_a_dtype_for_each_tensor)
{
    const float x[2] = {1, 2};
    const double values[2] = {0.5, 0x1.8p-10};
    uint16_t w[2], y = 0;
    clattn_linear l = linear_of(1, 2, 1);
    l.dtype = CLATTN_F32;
    l.w.dtype = CLATTN_F16;
    l.y.dtype = CLATTN_BF16;
    const clattn_linear_args args = {
        .struct_size = sizeof args, .x.host = x, .w.host = w, .y.host = &y};

    convert_store(w, CLATTN_F16, 0, values, 2);
    ck_assert_int_eq(clattn_linear_reference(&l, &args, NULL), CLATTN_OK);
    /* 0.5 + 3 * 2^-10 is nearer to 0.5 + 4 * 2^-10 than to 0.5, which cutting
       bits would give. */
    ck_assert_uint_eq(y, 0x3f01);
}
END_TEST

START_TEST(a_linear_of_no_rows_needs_no_x)
{
    const double w[1] = {1};
    clattn_linear l = linear_of(0, 1, 1);
    const clattn_linear_args args = {.struct_size = sizeof args, .w.host = w};

    ck_assert_int_eq(clattn_linear_reference(&l, &args, NULL), CLATTN_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_linear");
    TCase *linear = tcase_create("linear");

    tcase_add_loop_test(
        linear, a_linear_is_what_the_hand_gives, 0, (int)COUNT(LINEARS));
    tcase_add_test(linear, a_linear_has_a_dtype_for_each_tensor);
    tcase_add_test(linear, a_linear_of_no_rows_needs_no_x);
    suite_add_tcase(suite, linear);
    return suite_main(suite, 0);
}
