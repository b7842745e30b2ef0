/* SPDX-License-Identifier: Apache-2.0
 *
 * test_onnx_judge.c - how far an output may be from what a case expects.
 */
#include "onnx_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clattn/clattn.h"
#include "suite.h"

/* The case's own limit in all rows is that of its dtype in the standard. */
static const struct judge_case {
    const char *about;
    int32_t dtype;
    double got, exact, stored;
    bool want;
} JUDGES[] = {
    {"f32, the same", CLATTN_F32, 1, 1, 1, true},
    {"f32, 9e-6 off at 1", CLATTN_F32, 1 + 9e-6, 1, 1, true},
    {"f32, 1.1e-5 off at 1", CLATTN_F32, 1 + 1.1e-5, 1, 1, false},
    {"f32, 4e-6 off at 0", CLATTN_F32, -4e-6, 0, 0, true},
    {"f32, 6e-6 off at 0", CLATTN_F32, 6e-6, 0, 0, false},
    {"f32, 4e-6 of 1000", CLATTN_F32, 1000.004, 1000, 1000, true},
    {"f32, 6e-6 of 1000", CLATTN_F32, -1000.006, -1000, -1000, false},
    {"f32, whatever is exact", CLATTN_F32, 1, 2, 1, true},
    {"f32, infinity", CLATTN_F32, INFINITY, 0, INFINITY, true},
    {"f32, the other infinity", CLATTN_F32, INFINITY, 0, -INFINITY, false},
    {"f32, large for infinity", CLATTN_F32, -3e38, 0, -INFINITY, false},
    {"f32, infinity for a number", CLATTN_F32, INFINITY, 0, 1, false},
    {"f32, NaN for a number", CLATTN_F32, NAN, 0, 1, false},
    {"f32, a number for NaN", CLATTN_F32, 1, 0, NAN, false},
    {"f32, NaN for NaN", CLATTN_F32, NAN, 0, NAN, true},
    {"f32, NaN for infinity", CLATTN_F32, NAN, 0, INFINITY, false},
    {"f16, the same", CLATTN_F16, 1, 1, 1, true},
    {"f16, the next", CLATTN_F16, 1 + 0x1p-10, 1, 1, true},
    {"f16, the one after", CLATTN_F16, 1 + 0x1p-9, 1, 1, false},
    {"f16, the next below a power", CLATTN_F16, 1 - 0x1p-11, 1, 1, true},
    {"f16, the third below a power", CLATTN_F16, 1 - 3 * 0x1p-11, 1, 1, false},
    {"f16, the next of 0 and further, as f32 may be off", CLATTN_F16, 0x1p-20,
        0, 0, true},
    {"f16, exact and the next of what is stored", CLATTN_F16, 1, 1, 1 + 0x1p-10,
        true},
    {"f16, exact and two from what is stored", CLATTN_F16, 1, 1, 1 + 0x1p-9,
        false},
    {"f16, the stored one alone", CLATTN_F16, 1 + 0x1p-9, 1, 1 + 0x1p-9, false},
    {"f16, infinity", CLATTN_F16, -INFINITY, -INFINITY, -INFINITY, true},
    {"f16, large for infinity", CLATTN_F16, 65504, INFINITY, INFINITY, false},
    {"bf16, the next", CLATTN_BF16, 1 + 0x1p-7, 1, 1, true},
    {"bf16, the one after", CLATTN_BF16, 1 + 0x1p-6, 1, 1, false},
    {"bf16, exact and two from what is stored", CLATTN_BF16, 1, 1, 1 + 0x1p-6,
        true},
    {"bf16, exact and three from what is stored", CLATTN_BF16, 1, 1,
        1 + 3 * 0x1p-7, false},
};

static npy_array one(void *data, int32_t dtype, double value)
{
    clattn_convert(data, dtype, &value, CLATTN_F64, 1, NULL);
    return (npy_array){
        .rank = 1, .size = {1}, .count = 1, .dtype = dtype, .data = data};
}

START_TEST(an_output_passes_if_it_is_near_enough)
{
    const struct judge_case *row = &JUDGES[_i];
    const onnx_limit own = {1e-7, row->dtype == CLATTN_BF16 ? 0x1p-6 : 1e-3, 0};
    char report[ONNX_REPORT];
    float got, exact, stored;
    failure f = {.text = ""};
    one(&got, row->dtype, row->got);
    one(&exact, row->dtype, row->exact);
    const npy_array expected = one(&stored, row->dtype, row->stored);
    const bool ok = onnx_judge(report, "Y", &expected, &got, &exact, own, &f);
    ck_assert_msg(ok == row->want, "%s: %s, but it must %s: %s %s", row->about,
        ok ? "passes" : "fails", row->want ? "pass" : "fail", report, f.text);
    ck_assert_msg(ok == (f.text[0] == '\0'), "%s: '%s'", row->about, f.text);
}
END_TEST

START_TEST(a_refusal_names_the_worst_element)
{
    float got[12], stored[12];
    char report[ONNX_REPORT];
    failure f = {.text = ""};
    const npy_array expected = {.rank = 3,
        .size = {2, 2, 3},
        .count = 12,
        .dtype = CLATTN_F32,
        .data = stored};
    for (int i = 0; i < 12; ++i)
        got[i] = stored[i] = (float)i;
    got[2] += 0.5f;
    got[10] += 100.0f;
    ck_assert(!onnx_judge(
        report, "Y", &expected, got, NULL, (onnx_limit){1, 1, 0}, &f));
    ck_assert_msg(strncmp(f.text, "Y[1,1,1] is 110, but 10 is stored", 33) == 0,
        "%s", f.text);
    ck_assert(!onnx_judge_copy(report, "K", &expected, got, &f));
    ck_assert_msg(strncmp(f.text, "K[0,0,2] is 2.5, but 2 is stored", 32) == 0,
        "%s", f.text);
}
END_TEST

int main(void)
{
    TCase *judge = tcase_create("judge");
    tcase_add_loop_test(
        judge, an_output_passes_if_it_is_near_enough, 0, (int)COUNT(JUDGES));
    tcase_add_test(judge, a_refusal_names_the_worst_element);
    Suite *suite = suite_create("onnx_judge");
    suite_add_tcase(suite, judge);
    return suite_main(suite, 0);
}
