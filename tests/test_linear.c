/* SPDX-License-Identifier: Apache-2.0
 *
 * test_linear.c - y = x W + b in all sizes, against the reference and against
 * what needs no reference.
 */
#include <math.h>
#include <string.h>

#include "linear_case.h"
#include "opencl.h"
#include "run.h"
#include "suite.h"

static void check_run(linear_trial *trial, enum run_way way, const char *text)
{
    clattn_error error;
    const clattn_status status = run_linear(trial, way, &error);
    ck_assert_msg(status == CLATTN_OK, "%s, %s: %s", text, run_way_name(way),
        error.message);
}

START_TEST(every_size_agrees_with_the_reference_in_every_way)
{
    const linear_case c = linear_case_at((size_t)_i);
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    linear_trial trial, first;
    expected y;
    linear_case_text(&c, text);
    ck_assert(linear_trial_create(&trial, &c));
    ck_assert(linear_trial_create(&first, &c));
    const clattn_status status = linear_expect(&y, &trial, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);

    check_run(&first, RUN_HOST, text);
    for (int way = 0; way < RUN_WAYS; ++way) {
        check_run(&trial, way, text);
        ck_assert_msg(linear_meets(&y, &trial, why), "%s, %s: %s", text,
            run_way_name(way), why);
        for (size_t m = 0; m < trial.memory.memories; ++m)
            ck_assert_msg(
                memcmp(trial.memory.memory[m].data, first.memory.memory[m].data,
                    trial.memory.memory[m].count * sizeof(float)) == 0,
                "%s, %s: not the bits of the first run", text,
                run_way_name(way));
    }
    expected_free(&y);
    linear_trial_destroy(&first);
    linear_trial_destroy(&trial);
}
END_TEST

/* ---- What needs no reference --------------------------------------------- */

enum {
    ROWS = 19,
    N_IN = 23,
    N_OUT = 37
};

static void call(const clattn_linear *problem, float *y, const float *x,
    const float *w, const float *b)
{
    clattn_error error;
    const clattn_linear_args args = {.struct_size = sizeof args,
        .y = {.host = y},
        .x = {.host = x},
        .w = {.host = w},
        .b = {.host = b}};
    const clattn_status status =
        clattn_linear_host(opencl_get()->ctx, problem, &args, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

static clattn_linear problem_of(
    size_t rows, size_t n_in, size_t n_out, int32_t order)
{
    clattn_linear problem;
    clattn_linear_init(&problem, sizeof problem);
    problem.rows = rows, problem.n_in = n_in, problem.n_out = n_out;
    problem.dtype = CLATTN_F32;
    problem.weight_order = order;
    return problem;
}

/* Small whole numbers: every sum is exact in f32, in any order. */
static void fill_whole(float *values, size_t count, uint32_t step)
{
    for (size_t i = 0; i < count; ++i)
        values[i] = (float)((i * step + 3) % 17) - 8.0f;
}

START_TEST(the_identity_returns_x_bit_for_bit)
{
    const int32_t order = _i == 0 ? CLATTN_IN_OUT : CLATTN_OUT_IN;
    const clattn_linear problem = problem_of(ROWS, N_IN, N_IN, order);
    float x[ROWS * N_IN], w[N_IN * N_IN] = {0}, y[ROWS * N_IN];
    for (size_t i = 0; i < ROWS * N_IN; ++i)
        x[i] = sinf((float)i) * 1e3f;
    for (size_t i = 0; i < N_IN; ++i)
        w[i * N_IN + i] = 1.0f;
    call(&problem, y, x, w, NULL);
    ck_assert_mem_eq(y, x, sizeof x);
}
END_TEST

START_TEST(whole_numbers_are_exact_in_both_orders)
{
    float x[ROWS * N_IN], w[N_IN * N_OUT], turned[N_OUT * N_IN];
    float b[N_OUT], y[ROWS * N_OUT], y_turned[ROWS * N_OUT];
    fill_whole(x, ROWS * N_IN, 7);
    fill_whole(w, N_IN * N_OUT, 5);
    fill_whole(b, N_OUT, 11);
    for (size_t i = 0; i < N_IN * N_OUT; ++i)
        turned[i % N_OUT * N_IN + i / N_OUT] = w[i];

    clattn_linear problem = problem_of(ROWS, N_IN, N_OUT, CLATTN_IN_OUT);
    problem.has_bias = 1;
    call(&problem, y, x, w, b);
    problem.weight_order = CLATTN_OUT_IN;
    call(&problem, y_turned, x, turned, b);

    for (size_t row = 0; row < ROWS; ++row)
        for (size_t column = 0; column < N_OUT; ++column) {
            double sum = b[column];
            for (size_t n = 0; n < N_IN; ++n)
                sum += (double)x[row * N_IN + n] * w[n * N_OUT + column];
            ck_assert_double_eq(y[row * N_OUT + column], sum);
        }
    ck_assert_mem_eq(y, y_turned, sizeof y);
}
END_TEST

START_TEST(doubling_x_doubles_y_bit_for_bit)
{
    const clattn_linear problem = problem_of(ROWS, N_IN, N_OUT, CLATTN_OUT_IN);
    float x[ROWS * N_IN], w[N_IN * N_OUT], y[ROWS * N_OUT], twice[ROWS * N_OUT];
    for (size_t i = 0; i < ROWS * N_IN; ++i)
        x[i] = sinf((float)i);
    for (size_t i = 0; i < N_IN * N_OUT; ++i)
        w[i] = cosf((float)i);
    call(&problem, y, x, w, NULL);
    for (size_t i = 0; i < ROWS * N_IN; ++i)
        x[i] *= 2;
    call(&problem, twice, x, w, NULL);
    for (size_t i = 0; i < ROWS * N_OUT; ++i)
        ck_assert_float_eq(twice[i], 2 * y[i]);
}
END_TEST

START_TEST(nan_stays_in_its_row)
{
    const clattn_linear problem = problem_of(ROWS, N_IN, N_OUT, CLATTN_OUT_IN);
    float x[ROWS * N_IN], w[N_IN * N_OUT], y[ROWS * N_OUT];
    fill_whole(x, ROWS * N_IN, 7);
    fill_whole(w, N_IN * N_OUT, 5);
    x[4 * N_IN + 2] = NAN;
    call(&problem, y, x, w, NULL);
    for (size_t i = 0; i < ROWS * N_OUT; ++i)
        ck_assert_msg(!!isnan(y[i]) == (i / N_OUT == 4),
            "NaN in row 4 of x: y[%zu][%zu] is %g", i / N_OUT, i % N_OUT,
            (double)y[i]);
}
END_TEST

/* ---- Refusals ------------------------------------------------------------ */

static const struct {
    const char *about, *names; /* what the message must name */
    size_t n_in, n_out;
    int32_t dtype, order, has_bias;
    const char *kernel;
    clattn_status want;
} REFUSALS[] = {
    {"no columns in", "n_in", 0, 7, CLATTN_F32, CLATTN_IN_OUT, 0, NULL,
        CLATTN_INVALID},
    {"no columns out", "n_out", 5, 0, CLATTN_F32, CLATTN_IN_OUT, 0, NULL,
        CLATTN_INVALID},
    {"a size that was never set", "n_in", SIZE_MAX, 7, CLATTN_F32,
        CLATTN_IN_OUT, 0, NULL, CLATTN_INVALID},
    {"no dtype", "dtype", 5, 7, 0, CLATTN_IN_OUT, 0, NULL, CLATTN_INVALID},
    {"no weight order", "weight_order", 5, 7, CLATTN_F32, 0, 0, NULL,
        CLATTN_INVALID},
    {"a bias flag of 2", "has_bias", 5, 7, CLATTN_F32, CLATTN_IN_OUT, 2, NULL,
        CLATTN_INVALID},
    {"a double", "f64", 5, 7, CLATTN_F64, CLATTN_IN_OUT, 0, NULL,
        CLATTN_INVALID},
    {"a kernel that is not there", "no_such_row", 5, 7, CLATTN_F32,
        CLATTN_IN_OUT, 0, "no_such_row", CLATTN_INVALID},
    {"a bool", "bool", 5, 7, CLATTN_BOOL, CLATTN_IN_OUT, 0, NULL,
        CLATTN_INVALID},
};

START_TEST(what_is_refused_is_named)
{
    clattn_context *ctx = opencl_get()->ctx;
    clattn_error error;
    clattn_plan *plan = NULL;
    clattn_linear problem = problem_of(
        3, REFUSALS[_i].n_in, REFUSALS[_i].n_out, REFUSALS[_i].order);
    problem.dtype = REFUSALS[_i].dtype;
    problem.has_bias = REFUSALS[_i].has_bias;
    problem.kernel = REFUSALS[_i].kernel;
    const clattn_status supported =
        clattn_linear_supported(ctx, &problem, &error);
    ck_assert_msg(supported == REFUSALS[_i].want, "%s: got \"%s\" (%s)",
        REFUSALS[_i].about, clattn_status_text(supported), error.message);
    ck_assert_msg(strstr(error.message, REFUSALS[_i].names) != NULL,
        "%s: the message does not name %s: %s", REFUSALS[_i].about,
        REFUSALS[_i].names, error.message);
    ck_assert_int_eq(
        clattn_linear_plan(&plan, ctx, &problem, &error), REFUSALS[_i].want);
    ck_assert_ptr_null(plan);
}
END_TEST

START_TEST(sixteen_bits_are_supported)
{
    const int32_t dtypes[] = {CLATTN_F16, CLATTN_BF16};
    clattn_error error;
    clattn_linear problem = problem_of(3, 5, 7, CLATTN_IN_OUT);
    problem.dtype = dtypes[_i];
    ck_assert_msg(clattn_linear_supported(
                      opencl_get()->ctx, &problem, &error) == CLATTN_OK,
        "%s", error.message);
}
END_TEST

int main(void)
{
    TCase *sizes = tcase_create("sizes");
    tcase_add_unchecked_fixture(sizes, opencl_open, opencl_close);
    tcase_set_timeout(sizes, 300);
    tcase_add_loop_test(sizes,
        every_size_agrees_with_the_reference_in_every_way, 0,
        (int)linear_case_count());

    TCase *properties = tcase_create("properties");
    tcase_add_unchecked_fixture(properties, opencl_open, opencl_close);
    tcase_add_loop_test(properties, the_identity_returns_x_bit_for_bit, 0, 2);
    tcase_add_test(properties, whole_numbers_are_exact_in_both_orders);
    tcase_add_test(properties, doubling_x_doubles_y_bit_for_bit);
    tcase_add_test(properties, nan_stays_in_its_row);

    TCase *refusals = tcase_create("refusals");
    tcase_add_unchecked_fixture(refusals, opencl_open, opencl_close);
    tcase_add_loop_test(
        refusals, what_is_refused_is_named, 0, (int)COUNT(REFUSALS));
    tcase_add_loop_test(refusals, sixteen_bits_are_supported, 0, 2);

    Suite *suite = suite_create("linear");
    suite_add_tcase(suite, sizes);
    suite_add_tcase(suite, properties);
    suite_add_tcase(suite, refusals);
    return suite_main(suite, 1);
}
