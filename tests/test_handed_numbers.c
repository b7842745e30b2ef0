/* SPDX-License-Identifier: Apache-2.0
 *
 * test_handed_numbers.c - what users of other attention libraries have met with
 * the range of numbers, scale and softcap, on every kernel row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "builds.h"
#include "context.h"
#include "handed.h"
#include "opencl.h"
#include "rows.h"
#include "run.h"
#include "suite.h"

#define HIDDEN (-(double)INFINITY)
#define LN2    0.69314718055994531

#define LSE              .returns = CLATTN_RETURN_LSE
#define MASK(type, axes) .mask_dtype = CLATTN_##type, .mask_axes = (axes)
#define SCALE(s)         .has_scale = 1, .scale = (s)
#define ALL(type) \
    .dtype = {CLATTN_##type, CLATTN_##type, CLATTN_##type, CLATTN_##type, 0}
#define FROM_F32(type) .dtype = {.out = CLATTN_##type}

static const handed_case CASES[] = {
    /* ---- The range of numbers ---- */
    {{"weighted values whose sum is beyond f16", {1, 1, 1, 1, 2, 1, 1},
         ALL(F16), LSE},
        .v = LIST(60000, 60000), .out = LIST(60000), .tolerance = EXACT},
    {{"scores about 2000", {1, 1, 1, 1, 2, 1, 1}, SCALE(1), LSE},
        .q = LIST(2048), .k = LIST(1, 1 - 0x1p-10), .v = LIST(1, 0),
        .out = LIST(0.88079708), .lse = LIST(2048.1269), .tolerance = CLOSE},
    {{"scores of 10^10, whose steps are hundreds", {1, 1, 1, 1, 3, 1, 1},
         SCALE(1)},
        .q = LIST(90000), .k = LIST(90000, 90000, 89000), .v = LIST(1, 2, 7),
        .out = LIST(1.5), .tolerance = EXACT},
    {{"scores of 10^10 by their scale", {1, 1, 1, 2, 3, 1, 1}, SCALE(1.3e10f)},
        .q = LIST(1.1, -0.7), .k = LIST(1.7, 1.7, 1), .v = LIST(1, 2, 7),
        .out = LIST(1.5, 7), .tolerance = EXACT},
    {{"the largest scores of f16", {1, 1, 1, 1, 2, 1, 1}, ALL(F16)},
        .q = LIST(65504), .k = LIST(65504, 65504), .v = LIST(1, 2),
        .out = LIST(1.5), .tolerance = EXACT},
    {{"bf16 is rounded to nearest", {1, 1, 1, 1, 1, 1, 1}, FROM_F32(BF16), LSE},
        .v = LIST(0.2691408770292272), .out = LIST(0.26953125),
        .tolerance = EXACT},
    {{"the smallest f16 is kept", {1, 1, 1, 1, 1, 1, 1}, ALL(F16), LSE},
        .v = LIST(0x1p-24), .out = LIST(0x1p-24), .tolerance = EXACT},
    {{"just below f16's smallest normal", {1, 1, 1, 1, 1, 1, 1}, FROM_F32(F16),
         LSE},
        .v = LIST(0x1.ffcp-15), .out = LIST(0x1p-14), .tolerance = EXACT},
    {{"f16 above its largest number is infinite", {1, 1, 1, 1, 1, 1, 1},
         FROM_F32(F16), LSE},
        .v = LIST(-65520), .out = LIST(HIDDEN), .tolerance = EXACT},
    {{"a mask of f32 in a problem of f16", {1, 1, 1, 1, 2, 1, 1},
         MASK(F32, AXIS_K), ALL(F16), LSE},
        .v = LIST(1, 3), .mask = LIST(0, -1e9), .out = LIST(1),
        .tolerance = EXACT},
    {{"finite masks shift all scores alike", {1, 1, 1, 1, 2, 1, 1},
         MASK(F32, AXIS_K), ALL(F16), LSE},
        .v = LIST(1, 3), .mask = LIST(-1e9, -1e9), .out = LIST(2),
        .tolerance = EXACT},
    {{"the largest finite mask shifts too", {1, 1, 1, 1, 2, 1, 1},
         MASK(F32, AXIS_K), LSE},
        .v = LIST(1, 3), .mask = LIST(-0x1.fffffep+127, -0x1.fffffep+127),
        .out = LIST(2), .tolerance = EXACT},
    {{"f16 without f16 arithmetic", {1, 1, 1, 1, 2, 1, 1}, SCALE(1), ALL(F16),
         LSE},
        .q = LIST(1), .k = LIST(1, 0), .v = LIST(1, 2), .out = LIST(1.2685547),
        .tolerance = 1e-7},
    {{"bf16 the same", {1, 1, 1, 1, 2, 1, 1}, SCALE(1), ALL(BF16), LSE},
        .q = LIST(1), .k = LIST(1, 0), .v = LIST(1, 2), .out = LIST(1.265625),
        .tolerance = EXACT},
    /* ---- Scale and softcap ---- */
    {{"a negative scale", {1, 1, 1, 1, 2, 1, 1}, SCALE(-1), LSE}, .q = LIST(1),
        .k = LIST(1, 2), .v = LIST(0, 1), .out = LIST(0.26894142),
        .tolerance = CLOSE},
    {{"scale 0 is no unset scale", {1, 1, 1, 1, 2, 1, 1}, SCALE(0), LSE},
        .q = LIST(100), .k = LIST(1, 2), .v = LIST(0, 1), .out = LIST(0.5),
        .lse = LIST(LN2), .tolerance = CLOSE},
    {{"softcap comes before the mask", {1, 1, 1, 1, 2, 1, 1}, SCALE(1),
         .softcap = 1, MASK(F32, AXIS_K), LSE},
        .v = LIST(1, 100), .mask = LIST(0, HIDDEN), .out = LIST(1),
        .tolerance = EXACT},
};

START_TEST(ranges_and_scales_are_right)
{
    handed_check(CASES, _i);
}
END_TEST

/* ---- Scores beyond f16 ----------------------------------------------------------- */

/* q.k is 131072 and 131008; the scores differ by 64 / sqrt(128). */
/* Two steps of f16 at 2^-9.  Fused rows count in units of ln 2, where a score of
   16,714 is known to 2^-11: that moves the weight by 3.4e-4 of itself. */
START_TEST(a_dot_product_may_be_beyond_f16)
{
    enum {
        D = 128
    };
    double q[D], k[2 * D];
    const handed_case c = {
        {"a dot product beyond f16", {1, 1, 1, 1, 2, D, 1}, ALL(F16), LSE},
        .q = q, .k = k, .v = LIST(0, 1), .out = LIST(0x1.c84p-9),
        .lse = LIST(11585.24), .tolerance = 0x1p-18};
    for (size_t d = 0; d < D; ++d) {
        q[d] = k[d] = 32;
        k[D + d] = 31.984375;
    }
    handed_check(&c, _i);
}
END_TEST

/* ---- Many keys --------------------------------------------------------------------- */

START_TEST(the_exponential_is_right_over_its_range)
{
    enum {
        KEYS = 800
    };
    double k[KEYS], v[KEYS];
    const handed_case c = {
        {"scores from 0 to -100", {1, 1, 1, 1, KEYS, 1, 1}, SCALE(1), LSE},
        .q = LIST(1), .k = k, .v = v, .out = LIST(0.53120937),
        .lse = LIST(2.1412906), .tolerance = CLOSE};
    for (int j = 0; j < KEYS; ++j) {
        k[j] = -j / 8.0;
        v[j] = j % 2 == 0;
    }
    handed_check(&c, _i);
}
END_TEST

/* Every score is -50, so that a key too many, of score 0, would take all; and
   what lies around k, v and the mask is NaN, or true.  Weights that are divided
   before they are summed are off by 2^-24 each. */
START_TEST(what_lies_behind_the_last_key_counts_for_nothing)
{
    static const size_t LENGTHS[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 129};
    static const int32_t MASKS[] = {0, CLATTN_BOOL};
    double minus[129], one[129];
    for (size_t j = 0; j < 129; ++j) {
        minus[j] = -1;
        one[j] = 1;
    }
    for (size_t n = 0; n < COUNT(LENGTHS) * COUNT(MASKS); ++n) {
        const size_t keys = LENGTHS[n / COUNT(MASKS)];
        const handed_case c = {{"a tail", {1, 1, 1, 1, keys, 1, 1}, SCALE(1),
                                   .mask_dtype = MASKS[n % COUNT(MASKS)],
                                   .mask_axes = AXIS_K, LSE},
            .q = LIST(50), .k = minus, .v = one,
            .mask = MASKS[n % COUNT(MASKS)] ? one : NULL, .out = LIST(1),
            .tolerance = 0x1p-23 + 0x1p-24 * (double)keys};
        handed_check(&c, _i);
    }
}
END_TEST

/* ---- Build options -------------------------------------------------------------------- */

static void check_options(cl_kernel kernel)
{
    cl_program program = NULL;
    char options[1000] = "";
    ck_assert_int_eq(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program,
                         &program, NULL),
        CL_SUCCESS);
    const cl_int code = clGetProgramBuildInfo(program, opencl_get()->device,
        CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, NULL);
    /* Intel's runtime loses a program that lives on in its kernels only.  The
       options are the same on every device: another one tells. */
    if (code == CL_INVALID_PROGRAM &&
        strcmp(opencl_get()->ctx->facts.platform, "Intel(R) OpenCL") == 0) {
        printf("this driver does not tell the options of a build\n");
        return;
    }
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_msg(strstr(options, "-cl-std=CL1.2") != NULL, "%s", options);
    ck_assert_msg(strstr(options, "-cl-fast") == NULL &&
                      strstr(options, "-cl-finite") == NULL &&
                      strstr(options, "-cl-unsafe") == NULL,
        "%s makes infinities and NaN undefined", options);
}

START_TEST(no_kernel_is_built_as_if_there_were_no_infinity)
{
    cl_kernel kernels[BUILDS_OF_PROBLEM];
    const handed_case c = {
        .of = {"options", {1, 1, 1, 1, 2, 1, 1}, MASK(F32, AXIS_K), LSE}};
    attention_trial trial;
    handed_create(&trial, &c);
    rows_take(&trial, handed_row(_i));
    const size_t count = builds_kernels(kernels, &trial.problem);
    ck_assert_msg(count > 0, "row %s", handed_name(handed_row(_i)));
    for (size_t n = 0; n < count; ++n)
        check_options(kernels[n]);
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("numbers");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, ranges_and_scales_are_right, 0, handed_count(COUNT(CASES)));
    tcase_add_loop_test(t, a_dot_product_may_be_beyond_f16, 0, handed_count(1));
    tcase_add_loop_test(
        t, the_exponential_is_right_over_its_range, 0, handed_count(1));
    tcase_add_loop_test(t, what_lies_behind_the_last_key_counts_for_nothing, 0,
        handed_count(1));
    tcase_add_loop_test(
        t, no_kernel_is_built_as_if_there_were_no_infinity, 0, handed_count(1));

    Suite *suite = suite_create("handed numbers");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
