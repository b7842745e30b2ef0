/* SPDX-License-Identifier: Apache-2.0
 *
 * test_lanes_functions.c - the exponential and the hyperbolic tangent of
 * kernels/lanes.clh against double precision, over all their range, in every
 * width of vector.
 *
 * Every 61st float by default; CLATTN_TEST_ALL=1 takes all from 2^-20 up.  Prints the
 * largest errors, which docs/NUMERICS.md states.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "source.h"
#include "suite.h"

enum {
    BATCH = 1 << 20, /* floats of one launch */
    STRIDE = 61
};

/* What docs/NUMERICS.md states. */
static const double EXP2_BOUND = 1.1e-7;
static const double TANH_BOUND = 3e-7;

static const int WIDTHS[] = {1, 4, 8, 16};

/* The functions on VW floats in a row; LOAD_ROW and STORE_ROW are the file's
   own. */
static const char KERNELS[] =
    "__kernel void do_exp2(__global float *y, __global const float *x)\n"
    "{\n"
    "    const size_t at = get_global_id(0) * VW;\n"
    "    STORE_ROW(STORAGE_F32, exp2_negative(LOAD_ROW(1, x + at)), y + at);\n"
    "}\n"
    "__kernel void do_tanh(__global float *y, __global const float *x)\n"
    "{\n"
    "    const size_t at = get_global_id(0) * VW;\n"
    "    STORE_ROW(STORAGE_F32, tanh_lanes(LOAD_ROW(1, x + at)), y + at);\n"
    "}\n";

/* ---- The device ------------------------------------------------------------------- */

typedef struct functions {
    cl_program program;
    cl_kernel exp2, tanh;
    cl_mem x, y;
    int width;
} functions;

static void print_log(cl_program program)
{
    char log[4000] = "";
    clGetProgramBuildInfo(program, opencl_get()->device, CL_PROGRAM_BUILD_LOG,
        sizeof log, log, NULL);
    printf("%s\n", log);
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    return kernel;
}

static void functions_open(functions *f, int width)
{
    char *text = NULL;
    char options[64];
    cl_int code = CL_SUCCESS;
    ck_assert_int_eq(source_assemble(&text, "lanes.clh", "", NULL), CLATTN_OK);
    const char *parts[] = {text, KERNELS};
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DVW=%d", width);
    f->program =
        clCreateProgramWithSource(opencl_get()->cl, 2, parts, NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    code = clBuildProgram(
        f->program, 1, &opencl_get()->device, options, NULL, NULL);
    if (code != CL_SUCCESS)
        print_log(f->program);
    ck_assert_int_eq(code, CL_SUCCESS);
    f->exp2 = kernel_of(f->program, "do_exp2");
    f->tanh = kernel_of(f->program, "do_tanh");
    f->x = opencl_blank(BATCH * sizeof(float));
    f->y = opencl_blank(BATCH * sizeof(float));
    f->width = width;
    free(text);
}

static void functions_close(functions *f)
{
    clReleaseMemObject(f->x);
    clReleaseMemObject(f->y);
    clReleaseKernel(f->exp2);
    clReleaseKernel(f->tanh);
    clReleaseProgram(f->program);
}

/* y = function(x), BATCH of them. */
static void evaluate(
    const functions *f, cl_kernel kernel, const float *x, float *y)
{
    const size_t items = BATCH / (size_t)f->width;
    const cl_command_queue queue = opencl_get()->in_order;
    ck_assert_int_eq(clEnqueueWriteBuffer(queue, f->x, CL_TRUE, 0,
                         BATCH * sizeof *x, x, 0, NULL, NULL),
        CL_SUCCESS);
    clSetKernelArg(kernel, 0, sizeof f->y, &f->y);
    clSetKernelArg(kernel, 1, sizeof f->x, &f->x);
    ck_assert_int_eq(clEnqueueNDRangeKernel(
                         queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL),
        CL_SUCCESS);
    opencl_read(f->y, y, BATCH * sizeof *y);
}

/* ---- Errors ------------------------------------------------------------------------- */

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Every step-th float of one sign from the magnitude `least` to `most`. */
typedef struct range {
    float sign, least, most;
    bool all; /* with CLATTN_TEST_ALL each one */
} range;

typedef struct worst {
    double error;
    float at;
} worst;

/* The largest relative error over a range, sampled. */
static worst largest_error(
    const functions *f, cl_kernel kernel, range r, double (*exact)(double))
{
    static float x[BATCH], y[BATCH];
    const char *all = getenv("CLATTN_TEST_ALL");
    const uint64_t step = r.all && all != NULL && *all != '\0' ? 1 : STRIDE;
    const uint64_t end = to_bits(r.most);
    worst w = {0, 0};
    for (uint64_t bits = to_bits(r.least); bits <= end;) {
        for (size_t n = 0; n < BATCH; ++n, bits += step)
            x[n] = copysignf(
                from_bits((uint32_t)(bits < end ? bits : end)), r.sign);
        evaluate(f, kernel, x, y);
        for (size_t n = 0; n < BATCH; ++n) {
            const double want = exact((double)x[n]);
            const double error =
                want == 0 ? 0 : fabs(((double)y[n] - want) / want);
            if (!(error <= w.error))
                w = (worst){error, x[n]};
        }
    }
    return w;
}

static void check_bound(const char *name, int width, worst w, double bound)
{
    printf("%s, width %d: largest relative error %.3g, at x = %.9g\n", name,
        width, w.error, (double)w.at);
    ck_assert_msg(w.error <= bound, "%s, width %d: error %.3g at %.9g (%a)",
        name, width, w.error, (double)w.at, (double)w.at);
}

/* Below 2^-20 both functions are close to a straight line, which every 61st
   float shows as well as all do. */
START_TEST(the_exponential_keeps_its_bound)
{
    static const range RANGES[] = {
        {-1, 0x1p-126f, 0x1p-20f, false}, {-1, 0x1p-20f, 126, true}};
    functions f;
    functions_open(&f, WIDTHS[_i]);
    for (size_t n = 0; n < COUNT(RANGES); ++n)
        check_bound("2^x", WIDTHS[_i],
            largest_error(&f, f.exp2, RANGES[n], exp2), EXP2_BOUND);
    functions_close(&f);
}
END_TEST

START_TEST(the_tangent_keeps_its_bound)
{
    static const range RANGES[] = {{1, 0x1p-126f, 0x1p-20f, false},
        {1, 0x1p-20f, 100, true}, {-1, 0x1p-20f, 100, false}};
    functions f;
    functions_open(&f, WIDTHS[_i]);
    for (size_t n = 0; n < COUNT(RANGES); ++n)
        check_bound("tanh(x)", WIDTHS[_i],
            largest_error(&f, f.tanh, RANGES[n], tanh), TANH_BOUND);
    functions_close(&f);
}
END_TEST

/* ---- Edges ---------------------------------------------------------------------------- */

static const struct {
    const char *about;
    float x, exp2, tanh;
    bool both; /* exp2 takes no x above 0 */
} EDGES[] = {
    {"0", 0.0f, 1, 0, true},
    {"-0", -0.0f, 1, -0.0f, true},
    {"the largest subnormal", -0x1.fffffcp-127f, 1, -0x1.fffffcp-127f, true},
    {"-1/2", -0.5f, 0x1.6a09e6p-1f, -0x1.d9353ep-2f, true},
    {"-1", -1, 0.5f, -0x1.85efacp-1f, true},
    {"the last that is not flushed", -126, 0x1p-126f, -1, true},
    {"the first that is", -0x1.f80002p+6f, 0, -1, true},
    {"-149", -149, 0, -1, true},
    {"-1e9", -1e9f, 0, -1, true},
    {"the least float", -0x1.fffffep+127f, 0, -1, true},
    {"-infinity", -INFINITY, 0, -1, true},
    {"NaN", NAN, NAN, NAN, true},
    {"10", 10, 0, 1, false},
    {"the largest float", 0x1.fffffep+127f, 0, 1, false},
    {"infinity", INFINITY, 0, 1, false},
};

static void check_edge(const char *name, const char *about, int width,
    float got, float want, double bound)
{
    const bool right = isnan(want) ? isnan(got)
                                   : fabs((double)got - (double)want) <=
                                             bound * fabs((double)want) &&
                                         !signbit(got) == !signbit(want);
    ck_assert_msg(right, "%s of %s, width %d: %g, want %g", name, about, width,
        (double)got, (double)want);
}

START_TEST(edges_are_what_they_must_be)
{
    static float x[BATCH], y[BATCH];
    functions f;
    functions_open(&f, WIDTHS[_i]);
    for (size_t n = 0; n < BATCH; ++n)
        x[n] = EDGES[n % COUNT(EDGES)].x;
    evaluate(&f, f.exp2, x, y);
    for (size_t n = 0; n < COUNT(EDGES); ++n)
        if (EDGES[n].both)
            check_edge("2^x", EDGES[n].about, WIDTHS[_i], y[n], EDGES[n].exp2,
                EXP2_BOUND);
    evaluate(&f, f.tanh, x, y);
    for (size_t n = 0; n < COUNT(EDGES); ++n)
        check_edge("tanh", EDGES[n].about, WIDTHS[_i], y[n], EDGES[n].tanh,
            TANH_BOUND);
    functions_close(&f);
}
END_TEST

/* More keys never weigh less: a rounding may not turn the order. */
START_TEST(the_exponential_is_1_at_0_and_never_above)
{
    static float x[BATCH], y[BATCH];
    functions f;
    functions_open(&f, WIDTHS[_i]);
    for (size_t n = 0; n < BATCH; ++n)
        x[n] = -ldexpf((float)n, -24);
    evaluate(&f, f.exp2, x, y);
    for (size_t n = 0; n < BATCH; ++n)
        ck_assert_msg(y[n] <= 1.0f, "2^%g is %.9g", (double)x[n], (double)y[n]);
    ck_assert_float_eq(y[0], 1.0f);
    functions_close(&f);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("functions");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(
        t, the_exponential_keeps_its_bound, 0, (int)COUNT(WIDTHS));
    tcase_add_loop_test(t, the_tangent_keeps_its_bound, 0, (int)COUNT(WIDTHS));
    tcase_add_loop_test(t, edges_are_what_they_must_be, 0, (int)COUNT(WIDTHS));
    tcase_add_loop_test(
        t, the_exponential_is_1_at_0_and_never_above, 0, (int)COUNT(WIDTHS));

    Suite *suite = suite_create("lanes functions");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
