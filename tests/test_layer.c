/* SPDX-License-Identifier: Apache-2.0
 *
 * test_layer.c - projections, heads and output projection in one call, against
 * the reference, the textbook's formula and what needs neither.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layer_case.h"
#include "opencl.h"
#include "run.h"
#include "rows.h"
#include "suite.h"

static void check_run(layer_trial *trial, enum run_way way, const char *text)
{
    clattn_error error;
    const clattn_status status = run_layer(trial, way, &error);
    ck_assert_msg(status == CLATTN_OK, "%s, %s: %s", text, run_way_name(way),
        error.message);
}

static void check_same_bits(
    const arena *a, const arena *other, const char *text)
{
    for (size_t m = 0; m < a->memories; ++m)
        ck_assert_msg(memcmp(a->memory[m].data, other->memory[m].data,
                          a->memory[m].count * sizeof(float)) == 0,
            "%s: not the bits of the first run", text);
}

START_TEST(every_layer_agrees_with_the_reference_in_every_way)
{
    const layer_case c = layer_case_at((size_t)_i);
    char text[ARENA_TEXT], why[ARENA_TEXT];
    clattn_error error;
    layer_trial trial, first;
    layer_expected expected;
    layer_case_text(&c, text);
    ck_assert(layer_trial_create(&trial, &c));
    ck_assert(layer_trial_create(&first, &c));
    const clattn_status status = layer_expect(&expected, &trial, &error);
    ck_assert_msg(status == CLATTN_OK, "%s: %s", text, error.message);

    check_run(&first, RUN_HOST, text);
    for (int way = 0; way < RUN_WAYS; ++way) {
        check_run(&trial, way, text);
        ck_assert_msg(layer_meets(&expected, &trial, why), "%s, %s: %s", text,
            run_way_name(way), why);
        check_same_bits(&trial.memory, &first.memory, text);
    }
    for (size_t row = 0; clattn_kernel_name(row) != NULL; ++row) {
        trial.attention.kernel = clattn_kernel_name(row);
        if (!rows_tries(trial.attention.kernel))
            continue;
        if (run_layer(&trial, RUN_ENQUEUE, &error) == CLATTN_UNSUPPORTED) {
            printf("%s\n", error.message); /* the device is too small */
            continue;
        }
        check_run(&trial, RUN_ENQUEUE, text);
        ck_assert_msg(layer_meets(&expected, &trial, why), "%s, row %s: %s",
            text, trial.attention.kernel, why);
    }
    layer_expected_free(&expected);
    layer_trial_destroy(&first);
    layer_trial_destroy(&trial);
}
END_TEST

/* ---- The textbook -------------------------------------------------------- */

enum {
    B = 2,
    L = 5,
    E = 8
};

/* A row of x times a column of w, plus bias: one element of q, k or v. */
static double projected(const layer_trial *trial, size_t w, size_t bias,
    size_t b, size_t i, size_t column)
{
    const arena *a = &trial->memory;
    double sum = *arena_at(a, bias, 0, 0, 0, column);
    for (size_t n = 0; n < E; ++n)
        sum += (double)*arena_at(a, LAYER_X, b, 0, i, n) *
               *arena_at(a, w, 0, 0, n, column);
    return sum;
}

static double score(const layer_trial *trial, size_t b, size_t i, size_t j)
{
    double sum = 0;
    for (size_t d = 0; d < E; ++d)
        sum += projected(trial, LAYER_W_Q, LAYER_B_Q, b, i, d) *
               projected(trial, LAYER_W_K, LAYER_B_K, b, j, d);
    return sum / sqrt(E);
}

/* softmax(q k^T / sqrt(E)), a row of it. */
static void weights_of(
    const layer_trial *trial, size_t b, size_t i, double weights[L])
{
    double sum = 0;
    for (size_t j = 0; j < L; ++j)
        sum += weights[j] = exp(score(trial, b, i, j));
    for (size_t j = 0; j < L; ++j)
        weights[j] /= sum;
}

START_TEST(one_head_without_projection_is_the_textbook_within_1e_6)
{
    const layer_case c = {.about = "textbook",
        .size = {B, 1, 1, L, L, E, E, E, 0, 0, E},
        .order = CLATTN_IN_OUT,
        .flags = CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V,
        .returns = CLATTN_RETURN_WEIGHTS,
        .seed = (uint64_t)_i};
    layer_trial trial;
    ck_assert(layer_trial_create(&trial, &c));
    check_run(&trial, RUN_HOST, c.about);
    const arena *a = &trial.memory;
    for (size_t row = 0; row < B * L; ++row) {
        const size_t b = row / L, i = row % L;
        double weights[L];
        weights_of(&trial, b, i, weights);
        for (size_t j = 0; j < L; ++j)
            ck_assert_double_eq_tol(
                *arena_at(a, LAYER_WEIGHTS, b, 0, i, j), weights[j], 1e-6);
        for (size_t column = 0; column < E; ++column) {
            double y = 0;
            for (size_t j = 0; j < L; ++j)
                y += weights[j] *
                     projected(&trial, LAYER_W_V, LAYER_B_V, b, j, column);
            ck_assert_double_eq_tol(
                *arena_at(a, LAYER_Y, b, 0, i, column), y, 1e-6);
        }
    }
    layer_trial_destroy(&trial);
}
END_TEST

/* ---- What needs no reference --------------------------------------------- */

static const layer_case PADDED = {.about = "padded rows",
    .size = {4, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16},
    .order = CLATTN_OUT_IN,
    .flags = CLATTN_BIAS_Q | CLATTN_PROJECT_OUT,
    .returns = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS,
    .key_lengths = true,
    .seed = 5};

START_TEST(nan_in_padded_rows_changes_no_bit_of_valid_rows)
{
    layer_trial clean, poisoned;
    ck_assert(layer_trial_create(&clean, &PADDED));
    ck_assert(layer_trial_create(&poisoned, &PADDED));
    for (size_t b = 0; b < PADDED.size.B; ++b)
        for (size_t row = layer_trial_keys(&poisoned, b); row < PADDED.size.Lq;
             ++row)
            for (size_t column = 0; column < PADDED.size.E; ++column)
                *arena_at(&poisoned.memory, LAYER_X, b, 0, row, column) = NAN;
    arena_remember(&poisoned.memory);
    check_run(&clean, RUN_HOST, "numbers in padded rows");
    check_run(&poisoned, RUN_HOST, "NaN in padded rows");

    for (size_t b = 0; b < PADDED.size.B; ++b)
        for (size_t row = 0; row < layer_trial_keys(&clean, b); ++row)
            ck_assert_msg(memcmp(arena_at(&clean.memory, LAYER_Y, b, 0, row, 0),
                              arena_at(&poisoned.memory, LAYER_Y, b, 0, row, 0),
                              PADDED.size.Ey * sizeof(float)) == 0,
                "y[%zu][%zu] changed with the padded rows of x", b, row);
    layer_trial_destroy(&clean);
    layer_trial_destroy(&poisoned);
}
END_TEST

/* Heads, projections, all: what is kept must be what the rest was made of. */
START_TEST(kept_tensors_through_attention_give_the_layers_output)
{
    layer_case c = PADDED;
    c.flags = CLATTN_KEEP_QKV;
    c.size.Ey = c.size.Hq * c.size.Dv;
    layer_trial trial;
    clattn_error error;
    clattn_attention_args inner;
    ck_assert(layer_trial_create(&trial, &c));
    trial.attention.kernel = "materialised"; /* it may return the weights too */
    check_run(&trial, RUN_HOST, c.about);

    const arena *a = &trial.memory;
    float out[4 * 9 * 32]; /* B Lq Hq Dv */
    ck_assert_uint_eq(
        sizeof out, arena_elements(&a->tensor[LAYER_Y]) * sizeof(float));
    clattn_attention problem = trial.attention;
    problem.flags = CLATTN_KEY_LENGTHS;
    problem.q = arena_strides(a, LAYER_Q);
    problem.k = arena_strides(a, LAYER_K);
    problem.v = arena_strides(a, LAYER_V);
    problem.out = (clattn_tensor){.batch = 9 * 32, .head = 8, .row = 32};
    layer_trial_args(&trial, &inner, NULL);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.host = out},
        .q = arena_input(a, LAYER_Q, NULL),
        .k = arena_input(a, LAYER_K, NULL),
        .v = arena_input(a, LAYER_V, NULL),
        .key_lengths = inner.key_lengths};
    const clattn_status status =
        clattn_attention_host(opencl_get()->ctx, &problem, &args, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    ck_assert_mem_eq(out, arena_at(a, LAYER_Y, 0, 0, 0, 0), sizeof out);
    layer_trial_destroy(&trial);
}
END_TEST

/* ---- Refusals ------------------------------------------------------------ */

typedef void spoil(clattn_layer *layer, clattn_attention *attention);

static void no_attention(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->attention = NULL;
}

static void no_order(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->weight_order = 0;
}

static void no_width(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->E = 0;
}

static void attentions_flag(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->flags |= CLATTN_RETURN_WEIGHTS;
}

static void out_is_y(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->flags = CLATTN_KEEP_OUT;
    layer->Ey = 32;
}

static void width_of_out(clattn_layer *layer, clattn_attention *attention)
{
    (void)attention;
    layer->flags &= ~(uint32_t)CLATTN_PROJECT_OUT;
    layer->Ey = 15;
}

static void other_length(clattn_layer *layer, clattn_attention *attention)
{
    (void)layer;
    attention->Lk = 11;
}

static void packed(clattn_layer *layer, clattn_attention *attention)
{
    (void)layer;
    attention->flags |= CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS;
    attention->q_rows = attention->k_rows = 36;
}

static void half(clattn_layer *layer, clattn_attention *attention)
{
    (void)layer;
    attention->dtype = CLATTN_F16;
}

static void capped(clattn_layer *layer, clattn_attention *attention)
{
    (void)layer;
    attention->softcap = 3;
}

static const struct {
    const char *about, *names;
    spoil *spoil;
    clattn_status want;
} REFUSALS[] = {
    {"no attention", "attention", no_attention, CLATTN_INVALID},
    {"no weight order", "weight_order", no_order, CLATTN_INVALID},
    {"no columns", "E", no_width, CLATTN_INVALID},
    {"a flag of attention's", "flags", attentions_flag, CLATTN_INVALID},
    {"out asked for twice", "CLATTN_KEEP_OUT", out_is_y, CLATTN_INVALID},
    {"y is out, but of another width", "Ey", width_of_out, CLATTN_INVALID},
    {"keys of x, but of another length", "Lk", other_length, CLATTN_INVALID},
    {"a packed batch", "QUERY_STARTS", packed, CLATTN_UNSUPPORTED},
};

START_TEST(what_is_refused_is_named)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    layer_trial trial;
    ck_assert(layer_trial_create(&trial, &PADDED));
    REFUSALS[_i].spoil(&trial.problem, &trial.attention);
    const clattn_status supported =
        clattn_layer_supported(opencl_get()->ctx, &trial.problem, &error);
    ck_assert_msg(supported == REFUSALS[_i].want, "%s: got \"%s\" (%s)",
        REFUSALS[_i].about, clattn_status_text(supported), error.message);
    ck_assert_msg(strstr(error.message, REFUSALS[_i].names) != NULL,
        "%s: the message does not name %s: %s", REFUSALS[_i].about,
        REFUSALS[_i].names, error.message);
    ck_assert_int_eq(
        clattn_layer_plan(&plan, opencl_get()->ctx, &trial.problem, &error),
        REFUSALS[_i].want);
    ck_assert_ptr_null(plan);
    layer_trial_destroy(&trial);
}
END_TEST

START_TEST(what_attention_does_a_layer_does)
{
    static spoil *const OPTIONS[] = {half, capped};
    clattn_error error;
    layer_trial trial;
    ck_assert(layer_trial_create(&trial, &PADDED));
    OPTIONS[_i](&trial.problem, &trial.attention);
    ck_assert_msg(clattn_layer_supported(
                      opencl_get()->ctx, &trial.problem, &error) == CLATTN_OK,
        "%s", error.message);
    layer_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *layers = tcase_create("layers");
    tcase_add_unchecked_fixture(layers, opencl_open, opencl_close);
    tcase_set_timeout(layers, 300);
    tcase_add_loop_test(layers,
        every_layer_agrees_with_the_reference_in_every_way, 0,
        (int)layer_case_count());
    tcase_add_loop_test(
        layers, one_head_without_projection_is_the_textbook_within_1e_6, 0, 4);
    tcase_add_test(layers, nan_in_padded_rows_changes_no_bit_of_valid_rows);
    tcase_add_test(
        layers, kept_tensors_through_attention_give_the_layers_output);
    tcase_add_loop_test(
        layers, what_is_refused_is_named, 0, (int)COUNT(REFUSALS));
    tcase_add_loop_test(layers, what_attention_does_a_layer_does, 0, 2);

    Suite *suite = suite_create("layer");
    suite_add_tcase(suite, layers);
    return suite_main(suite, 1);
}
