/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_expected.c - what the outputs of a layer trial must hold.
 *
 * The tolerance goes through the layer as the numbers do: the error of x W + b
 * is the error that q, k and v bring into attention, and that of out is what
 * out brings into W_o.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layer_case.h"
#include "linear_case.h"
#include "error.h"
#include "tolerance.h"

/* Dense double copies of all inputs, and the order of what was computed. */
typedef struct dense_layer {
    double *of[LAYER_SLOTS];
} dense_layer;

static bool take_inputs(dense_layer *in, const arena *a)
{
    bool taken = true;
    for (size_t slot = LAYER_X; slot <= LAYER_B_O; ++slot) {
        in->of[slot] = NULL;
        if (a->tensor[slot].name != NULL) {
            in->of[slot] = arena_dense(a, slot);
            taken = taken && in->of[slot] != NULL;
        }
    }
    return taken;
}

static void free_inputs(dense_layer *in)
{
    for (size_t slot = LAYER_X; slot <= LAYER_B_O; ++slot)
        free(in->of[slot]);
}

static bool create_outputs(layer_expected *e, const layer_case *c)
{
    const size_t queries = c->size.B * c->size.Lq;
    const size_t keys = c->size.B * c->size.Lk * c->size.Hkv;
    const size_t rows = queries * c->size.Hq;
    *e = (layer_expected){.of = {{.count = 0}}};
    return expected_create(&e->of[LAYER_Y], queries * c->size.Ey) &&
           expected_create(&e->of[LAYER_Q], rows * c->size.D) &&
           expected_create(&e->of[LAYER_K], keys * c->size.D) &&
           expected_create(&e->of[LAYER_V], keys * c->size.Dv) &&
           expected_create(&e->of[LAYER_OUT], rows * c->size.Dv) &&
           expected_create(&e->of[LAYER_LSE], rows) &&
           expected_create(&e->of[LAYER_WEIGHTS], rows * c->size.Lk);
}

/* Dense, double, everything returned; q, k, v and out (B, H, L, D), so that
   they compare with a tensor of any strides. */
static void reference_problem(
    clattn_layer *layer, clattn_attention *attention, const layer_trial *trial)
{
    const layer_case *c = &trial->of;
    *attention = trial->attention;
    attention->kernel = NULL;
    attention->dtype = CLATTN_F64;
    attention->lse.dtype = CLATTN_F64;
    attention->flags |= CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS;
    const clattn_tensor q = {.batch = c->size.Hq * c->size.Lq * c->size.D,
        .head = c->size.Lq * c->size.D,
        .row = c->size.D};
    const clattn_tensor k = {.batch = c->size.Hkv * c->size.Lk * c->size.D,
        .head = c->size.Lk * c->size.D,
        .row = c->size.D};
    attention->q = q, attention->k = k;
    attention->v =
        (clattn_tensor){.batch = c->size.Hkv * c->size.Lk * c->size.Dv,
            .head = c->size.Lk * c->size.Dv,
            .row = c->size.Dv};
    *layer = trial->problem;
    layer->attention = attention;
    layer->x = layer->y = layer->x_k = layer->x_v = (clattn_tensor){.row = 0};
    layer->w_q = layer->w_k = layer->w_v = layer->w_o = layer->x;
    layer->flags |= CLATTN_KEEP_QKV;
    if (layer->flags & CLATTN_PROJECT_OUT) { /* else y is out */
        layer->flags |= CLATTN_KEEP_OUT;
        attention->out =
            (clattn_tensor){.batch = c->size.Hq * c->size.Lq * c->size.Dv,
                .head = c->size.Lq * c->size.Dv,
                .row = c->size.Dv};
    }
}

static clattn_status reference(layer_expected *e, const layer_trial *trial,
    const dense_layer *in, clattn_error *error)
{
    clattn_attention attention;
    clattn_layer layer;
    clattn_attention_args inner;
    reference_problem(&layer, &attention, trial);
    clattn_layer_args args = layer_trial_args(trial, &inner, NULL);

    if (layer.flags & CLATTN_KEEP_OUT)
        inner.out = (clattn_output){.host = e->of[LAYER_OUT].value};
    inner.lse = (clattn_output){.host = e->of[LAYER_LSE].value};
    inner.weights = (clattn_output){.host = e->of[LAYER_WEIGHTS].value};
    args.y = (clattn_output){.host = e->of[LAYER_Y].value};
    args.q = (clattn_output){.host = e->of[LAYER_Q].value};
    args.k = (clattn_output){.host = e->of[LAYER_K].value};
    args.v = (clattn_output){.host = e->of[LAYER_V].value};
    clattn_input *const inputs[] = {&args.x, &args.x_k, &args.x_v, &args.w_q,
        &args.w_k, &args.w_v, &args.w_o, &args.b_q, &args.b_k, &args.b_v,
        &args.b_o};
    for (size_t slot = LAYER_X; slot <= LAYER_B_O; ++slot)
        *inputs[slot] = (clattn_input){.host = in->of[slot]};
    return clattn_layer_reference(&layer, &args, error);
}

/* (B, H, L, C) to (B, L, H, C), or back if `back`. */
static void exchange(
    const double *from, double *to, const size_t size[4], bool back)
{
    const size_t H = size[1], L = size[2], C = size[3];
    for (size_t i = 0; i < size[0] * H * L; ++i) {
        const size_t l = i % L, h = i / L % H, b = i / L / H;
        const size_t side_by_side = ((b * L + l) * H + h) * C;
        memcpy(back ? to + i * C : to + side_by_side,
            back ? from + side_by_side : from + i * C, C * sizeof *to);
    }
}

/* Slack of one projection, written to a slot that is (B, H, L, C); returns the
   largest of its finite values, or NaN where memory is short. */
static double project(expected *e, const layer_trial *trial, const double *x,
    const double *w, const double *b, const size_t size[4], size_t n_in)
{
    const size_t n_out = size[1] * size[3];
    const bool in_out = trial->of.order == CLATTN_IN_OUT;
    double *rows = calloc(e->count + 1, sizeof *rows);
    double *turned =
        in_out ? transposed(w, 1, n_in * n_out) : transposed(w, n_out, n_in);
    double most = NAN;
    if (rows != NULL && turned != NULL) {
        const tolerance_linear values = {.rows = size[0] * size[2],
            .n_in = n_in,
            .n_out = n_out,
            .x = x,
            .w = turned,
            .b = b};
        tolerance_of_linear(&values, rows);
        exchange(rows, e->slack, size, true);
        most = 0;
        for (size_t i = 0; i < e->count; ++i)
            most = fmax(most, e->slack[i]); /* passes over NaN */
    }
    free(rows);
    free(turned);
    return most;
}

/* Slack of q, k and v, and from it that of attention's outputs. */
static bool allow_attention(
    layer_expected *e, const layer_trial *trial, const dense_layer *in)
{
    const layer_case *c = &trial->of;
    const double *x_k = c->size.Ek ? in->of[LAYER_X_K] : in->of[LAYER_X];
    const double *x_v = c->size.Ev ? in->of[LAYER_X_V] : x_k;
    const size_t Ek = c->size.Ek ? c->size.Ek : c->size.E;
    const size_t Ev = c->size.Ev ? c->size.Ev : Ek;
    const size_t q_size[] = {c->size.B, c->size.Hq, c->size.Lq, c->size.D};
    const size_t k_size[] = {c->size.B, c->size.Hkv, c->size.Lk, c->size.D};
    const size_t v_size[] = {c->size.B, c->size.Hkv, c->size.Lk, c->size.Dv};
    const tolerance_attention values = {.B = c->size.B,
        .Hq = c->size.Hq,
        .Hkv = c->size.Hkv,
        .Lq = c->size.Lq,
        .Lk = c->size.Lk,
        .D = c->size.D,
        .Dv = c->size.Dv,
        .scale = 1 / sqrt((double)c->size.D),
        .q = e->of[LAYER_Q].value,
        .k = e->of[LAYER_K].value,
        .v = e->of[LAYER_V].value,
        .p = e->of[LAYER_WEIGHTS].value,
        .lse = e->of[LAYER_LSE].value,
        .q_error = project(&e->of[LAYER_Q], trial, in->of[LAYER_X],
            in->of[LAYER_W_Q], in->of[LAYER_B_Q], q_size, c->size.E),
        .k_error = project(&e->of[LAYER_K], trial, x_k, in->of[LAYER_W_K],
            in->of[LAYER_B_K], k_size, Ek),
        .v_error = project(&e->of[LAYER_V], trial, x_v, in->of[LAYER_W_V],
            in->of[LAYER_B_V], v_size, Ev)};
    return !isnan(values.q_error) && !isnan(values.k_error) &&
           !isnan(values.v_error) &&
           tolerance_of_attention(&values, e->of[LAYER_OUT].slack,
               e->of[LAYER_LSE].slack, e->of[LAYER_WEIGHTS].slack);
}

/* Slack of y, from that of out. */
static bool allow_y(
    layer_expected *e, const layer_trial *trial, const dense_layer *in)
{
    const layer_case *c = &trial->of;
    const size_t size[] = {c->size.B, c->size.Hq, c->size.Lq, c->size.Dv};
    const size_t width = c->size.Hq * c->size.Dv;
    const expected *out = &e->of[LAYER_OUT];
    double *x = calloc(out->count + 1, sizeof *x);
    double *x_error = calloc(out->count + 1, sizeof *x_error);
    double *turned = NULL;
    bool done = x != NULL && x_error != NULL;
    if (done) {
        exchange(out->value, x, size, false);
        exchange(out->slack, x_error, size, false);
    }
    if (done && !(c->flags & CLATTN_PROJECT_OUT)) {
        memcpy(e->of[LAYER_Y].slack, x_error, out->count * sizeof *x_error);
    } else if (done) {
        turned = c->order == CLATTN_IN_OUT
                     ? transposed(in->of[LAYER_W_O], 1, width * c->size.Ey)
                     : transposed(in->of[LAYER_W_O], c->size.Ey, width);
        const tolerance_linear values = {.rows = c->size.B * c->size.Lq,
            .n_in = width,
            .n_out = c->size.Ey,
            .x = x,
            .w = turned,
            .b = in->of[LAYER_B_O],
            .x_error = x_error};
        done = turned != NULL;
        if (done)
            tolerance_of_linear(&values, e->of[LAYER_Y].slack);
    }
    free(x);
    free(x_error);
    free(turned);
    return done;
}

clattn_status layer_expect(
    layer_expected *e, const layer_trial *trial, clattn_error *error)
{
    dense_layer in;
    clattn_status status = CLATTN_OK;
    const bool taken = take_inputs(&in, &trial->memory);
    const bool ready = create_outputs(e, &trial->of) && taken;
    if (ready)
        status = reference(e, trial, &in, error);
    if (!ready || (status == CLATTN_OK && !(allow_attention(e, trial, &in) &&
                                              allow_y(e, trial, &in))))
        status = error_set(
            error, CLATTN_NO_MEMORY, "no memory for what a layer must give");
    free_inputs(&in);
    return status;
}

void layer_expected_free(layer_expected *e)
{
    for (size_t slot = 0; slot < LAYER_SLOTS; ++slot)
        expected_free(&e->of[slot]);
}

bool layer_meets(
    const layer_expected *e, const layer_trial *trial, char text[ARENA_TEXT])
{
    for (size_t slot = LAYER_Y; slot <= LAYER_WEIGHTS; ++slot)
        if (trial->memory.tensor[slot].name != NULL &&
            !expected_meets(&e->of[slot], &trial->memory, slot, text))
            return false;
    return arena_unharmed(&trial->memory, text);
}
