/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_layer.c - the reference of a layer as the chain of its steps.
 */
#include <math.h>
#include <string.h>

#include "draw.h"
#include "judge.h"
#include "suite.h"

#define NAN_D ((double)NAN)

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

/* ---- Layer --------------------------------------------------------------- */

enum {
    MOST = 1024
};

/* A layer with its memory; all that could be given is there to be given. */
typedef struct layer_call {
    clattn_layer l;
    clattn_attention a;
    clattn_layer_args args;
    clattn_attention_args inner;
    double x[MOST], x_k[MOST], x_v[MOST];
    double w[4][MOST], b[4][64];
    double y[MOST], q[MOST], k[MOST], v[MOST], out[MOST], weights[MOST];
} layer_call;

static layer_call C, D;
static judge J;

static void fill(draw *d, double *to, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        to[i] = (double)draw_value(d);
}

static void place(layer_call *c)
{
    clattn_layer_args *args = &c->args;

    args->struct_size = sizeof *args;
    args->x.host = c->x;
    args->w_q.host = c->w[0];
    args->w_k.host = c->w[1];
    args->w_v.host = c->w[2];
    args->y.host = c->y;
    args->attention = &c->inner;
    c->inner.struct_size = sizeof c->inner;
    c->l.attention = &c->a;
    for (size_t i = 0; i < MOST; ++i)
        c->y[i] = c->q[i] = c->k[i] = c->v[i] = c->out[i] = c->weights[i] =
            NAN_D;
}

/* B = 2, 4 query and 2 key heads, 3 rows, D = 2, Dv = 3, E = 5. */
static void start_layer(layer_call *c, uint32_t flags)
{
    draw d = draw_start(1);

    memset(c, 0, sizeof *c);
    fill(&d, c->x, MOST);
    fill(&d, c->x_k, MOST);
    fill(&d, c->x_v, MOST);
    fill(&d, c->w[0], 4 * MOST);
    fill(&d, c->b[0], 4 * 64);
    clattn_attention_init(&c->a, sizeof c->a);
    c->a.B = 2;
    c->a.Hq = 4;
    c->a.Hkv = 2;
    c->a.Lq = c->a.Lk = 3;
    c->a.D = 2;
    c->a.Dv = 3;
    c->a.dtype = CLATTN_F64;
    clattn_layer_init(&c->l, sizeof c->l);
    c->l.E = 5;
    c->l.Ey = flags & CLATTN_PROJECT_OUT ? 7 : 12;
    c->l.weight_order = CLATTN_IN_OUT;
    c->l.flags = flags;
    place(c);
    c->args.b_q.host = flags & CLATTN_BIAS_Q ? c->b[0] : NULL;
    c->args.b_k.host = flags & CLATTN_BIAS_K ? c->b[1] : NULL;
    c->args.b_v.host = flags & CLATTN_BIAS_V ? c->b[2] : NULL;
    c->args.b_o.host = flags & CLATTN_BIAS_O ? c->b[3] : NULL;
    c->args.w_o.host = flags & CLATTN_PROJECT_OUT ? c->w[3] : NULL;
    c->args.q.host = flags & CLATTN_KEEP_QKV ? c->q : NULL;
    c->args.k.host = flags & CLATTN_KEEP_QKV ? c->k : NULL;
    c->args.v.host = flags & CLATTN_KEEP_QKV ? c->v : NULL;
    c->inner.out.host = flags & CLATTN_KEEP_OUT ? c->out : NULL;
}

static void run_layer(const layer_call *c)
{
    clattn_error error;
    const clattn_status got = clattn_layer_reference(&c->l, &c->args, &error);
    ck_assert_msg(got == CLATTN_OK, "%s", error.message);
}

/* One step of the chain, by the reference of linear. */
static void project(double *y, const double *x, const double *w, const void *b,
    size_t rows, size_t n_in, size_t n_out)
{
    clattn_linear l = linear_of(rows, n_in, n_out);
    const clattn_linear_args args = {.struct_size = sizeof args,
        .x.host = x,
        .w.host = w,
        .b.host = b,
        .y.host = y};

    l.has_bias = b != NULL;
    ck_assert_int_eq(clattn_linear_reference(&l, &args, NULL), CLATTN_OK);
}

/* The layer's steps one by one; J.out holds heads side by side. */
static void run_chain(layer_call *c, double *y)
{
    const clattn_attention *a = &c->a;
    const size_t q_rows = a->B * a->Lq, k_rows = a->B * a->Lk;
    const size_t Ek = c->l.Ek ? c->l.Ek : c->l.E;
    const size_t Ev = c->l.Ev ? c->l.Ev : Ek;
    const double *x_k = c->l.Ek ? c->x_k : c->x;
    const double *x_v = c->l.Ev ? c->x_v : x_k;
    const clattn_attention options = *a;
    const clattn_tensor q = {a->Lq * 8, 2, 8, 0, 0};
    const clattn_tensor k = {a->Lk * 4, 2, 4, 0, 0};
    const clattn_tensor v = {a->Lk * 6, 3, 6, 0, 0};
    const clattn_tensor out = {a->Lq * 12, 3, 12, 0, 0};

    judge_start(&J, a->B, 4, 2, a->Lq, a->Lk, 2, 3);
    J.a = options;
    J.a.q = q;
    J.a.k = k;
    J.a.v = v;
    J.a.out = out;
    J.args.lse.host = NULL;
    J.args.key_lengths = c->inner.key_lengths;
    if (c->inner.weights.host == NULL)
        J.args.weights.host = NULL;
    project(J.q, c->x, c->w[0], c->args.b_q.host, q_rows, c->l.E, 8);
    project(J.k, x_k, c->w[1], c->args.b_k.host, k_rows, Ek, 4);
    project(J.v, x_v, c->w[2], c->args.b_v.host, k_rows, Ev, 6);
    judge_run(&J);
    if (c->l.flags & CLATTN_PROJECT_OUT)
        project(y, J.out, c->w[3], c->args.b_o.host, q_rows, 12, c->l.Ey);
    else
        memcpy(y, J.out, q_rows * 12 * sizeof *y);
}

static const struct {
    const char *about;
    uint32_t flags;
    size_t Ek, Ev, Lk;
} CHAINS[] = {
    {"no bias, y is out", 0, 0, 0, 3},
    {"biases", CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V, 0, 0, 3},
    {"W_o", CLATTN_PROJECT_OUT, 0, 0, 3},
    {"everything", 0x7f << 20, 0, 0, 3},
    {"other keys, of which values come", CLATTN_PROJECT_OUT, 4, 0, 5},
    {"other values", CLATTN_KEEP_QKV, 0, 6, 3},
    {"other keys and other values", 0x7f << 20, 4, 6, 5},
};

START_TEST(a_layer_is_the_chain_of_its_steps)
{
    double y[MOST];
    const char *about = CHAINS[_i].about;

    start_layer(&C, CHAINS[_i].flags);
    C.l.Ek = CHAINS[_i].Ek;
    C.l.Ev = CHAINS[_i].Ev;
    C.a.Lk = CHAINS[_i].Lk;
    C.args.x_k.host = C.l.Ek ? C.x_k : NULL;
    C.args.x_v.host = C.l.Ev ? C.x_v : NULL;
    C.a.flags = CLATTN_RETURN_WEIGHTS;
    C.inner.weights.host = C.weights;
    run_layer(&C);
    run_chain(&C, y);
    judge_expect(about, C.y, y, 6 * C.l.Ey, 0);
    judge_expect(about, C.weights, J.weights, 24 * C.a.Lk, 0);
    if (C.l.flags & CLATTN_KEEP_QKV) {
        judge_expect("q", C.q, J.q, 6 * 8, 0);
        judge_expect("k", C.k, J.k, 2 * C.a.Lk * 4, 0);
        judge_expect("v", C.v, J.v, 2 * C.a.Lk * 6, 0);
    }
    if (C.l.flags & CLATTN_KEEP_OUT)
        judge_expect("out", C.out, J.out, 6 * 12, 0);
}
END_TEST

START_TEST(weights_side_by_side_in_one_matrix_are_the_same)
{
    start_layer(&C, 0);
    run_layer(&C);
    start_layer(&D, 0);
    for (size_t n = 0; n < 5 * 18; ++n) {
        const size_t i = n / 18, c = n % 18;
        D.x_k[n] = c < 8    ? C.w[0][i * 8 + c]
                   : c < 12 ? C.w[1][i * 4 + c - 8]
                            : C.w[2][i * 6 + c - 12];
    }
    D.l.w_q.row = D.l.w_k.row = D.l.w_v.row = 18;
    D.args.w_q.host = D.args.w_k.host = D.args.w_v.host = D.x_k;
    D.args.w_k.offset = 8;
    D.args.w_v.offset = 12;
    run_layer(&D);
    judge_expect("y", D.y, C.y, 72, 0);
}
END_TEST

START_TEST(transposed_weights_are_the_same)
{
    static const size_t OUT[4] = {8, 4, 6, 7}, IN[4] = {5, 5, 5, 12};

    start_layer(&C, CLATTN_PROJECT_OUT | CLATTN_BIAS_O);
    run_layer(&C);
    start_layer(&D, CLATTN_PROJECT_OUT | CLATTN_BIAS_O);
    D.l.weight_order = CLATTN_OUT_IN;
    for (int m = 0; m < 4; ++m)
        for (size_t n = 0; n < OUT[m] * IN[m]; ++n)
            D.w[m][n % OUT[m] * IN[m] + n / OUT[m]] = C.w[m][n];
    run_layer(&D);
    judge_expect("y", D.y, C.y, 6 * 7, 0);
}
END_TEST

START_TEST(lengths_hide_keys_and_leave_padded_queries_the_formula)
{
    const int32_t lengths[2] = {2, 3};

    start_layer(&C, CLATTN_PROJECT_OUT);
    C.a.flags = CLATTN_KEY_LENGTHS;
    C.inner.key_lengths.host = lengths;
    run_layer(&C);
    double y[MOST];
    run_chain(&C, y);
    judge_expect("padded rows too", C.y, y, 6 * 7, 0);

    start_layer(&D, CLATTN_PROJECT_OUT);
    D.a.flags = CLATTN_KEY_LENGTHS;
    D.inner.key_lengths.host = lengths;
    for (int i = 10; i < 15; ++i)
        D.x[i] = NAN_D; /* row 2 of item 0 */
    run_layer(&D);
    for (int n = 0; n < 6 * 7; ++n) {
        const double want = n / 7 == 2 ? NAN_D : C.y[n];
        judge_expect("NaN in padding", D.y + n, &want, 1, 0);
    }
}
END_TEST

START_TEST(packed_rows_give_what_padded_ones_do)
{
    const int32_t lengths[2] = {2, 3}, starts[3] = {1, 3, 6};

    start_layer(&C, 0x7f << 20);
    C.a.flags = CLATTN_KEY_LENGTHS;
    C.inner.key_lengths.host = lengths;
    run_layer(&C);
    start_layer(&D, 0x7f << 20);
    D.a.flags = CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS;
    D.a.q_rows = D.a.k_rows = 8;
    D.inner.query_starts.host = D.inner.key_starts.host = starts;
    /* Rows 1 to 5 are those of the items; NaN in the others. */
    for (int i = 0; i < 8; ++i)
        for (int c = 0; c < 5; ++c)
            D.x[i * 5 + c] = i < 1 || i > 5 ? NAN_D
                             : i < 3        ? C.x[(i - 1) * 5 + c]
                                            : C.x[i * 5 + c];
    run_layer(&D);
    for (int i = 0; i < 8; ++i) {
        const int from = i < 3 ? i - 1 : i;
        const int none = i < 1 || i > 5;
        for (int c = 0; c < 7; ++c)
            judge_expect("y", D.y + i * 7 + c,
                none ? &D.y[MOST - 1] : &C.y[from * 7 + c], 1, 0);
        for (int c = 0; c < 8; ++c)
            judge_expect("q", D.q + i * 8 + c,
                none ? &D.y[MOST - 1] : &C.q[from * 8 + c], 1, 0);
    }
}
END_TEST

START_TEST(left_padding_is_starts_with_batch_strides)
{
    const int32_t starts[2] = {1, 0}, lengths[2] = {2, 3};
    const clattn_tensor x = {.batch = 15, .row = 5};
    const clattn_tensor y = {.batch = 36, .row = 12};

    start_layer(&C, 0);
    C.a.Lq = C.a.Lk = 2;
    C.a.B = 1;
    C.args.x.offset = 5; /* item 0 without its first row */
    run_layer(&C);
    start_layer(&D, 0);
    D.a.flags = CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS | CLATTN_QUERY_LENGTHS |
                CLATTN_KEY_LENGTHS;
    D.a.q_rows = D.a.k_rows = 3;
    D.l.x = x;
    D.l.y = y;
    D.a.q = (clattn_tensor){.batch = 24, .head = 2, .row = 8};
    D.a.k = (clattn_tensor){.batch = 12, .head = 2, .row = 4};
    D.a.v = (clattn_tensor){.batch = 18, .head = 3, .row = 6};
    D.inner.query_starts.host = D.inner.key_starts.host = starts;
    D.inner.query_lengths.host = D.inner.key_lengths.host = lengths;
    for (int i = 0; i < 5; ++i)
        D.x[i] = NAN_D;
    run_layer(&D);
    judge_expect("row 0 is nobody's", D.y, &D.y[MOST - 1], 1, 0);
    judge_expect("item 0", D.y + 12, C.y, 24, 0);
    start_layer(&C, 0);
    run_layer(&C);
    judge_expect("item 1", D.y + 36, C.y + 36, 36, 0);
}
END_TEST

START_TEST(kept_q_k_and_v_may_be_packed_and_rounded)
{
    start_layer(&C, CLATTN_KEEP_QKV);
    run_layer(&C);
    start_layer(&D, CLATTN_KEEP_QKV);
    const clattn_tensor packed = {.batch = 54, .row = 18, .dtype = CLATTN_F32};
    D.a.q = D.a.k = D.a.v = packed;
    D.a.q.head = D.a.k.head = 2;
    D.a.v.head = 3;
    float together[108];
    D.args.q.host = D.args.k.host = D.args.v.host = together;
    D.args.k.offset = 8;
    D.args.v.offset = 12;
    run_layer(&D);
    for (int n = 0; n < 6 * 8; ++n)
        ck_assert(together[n / 8 * 18 + n % 8] == (float)C.q[n]);
    for (int n = 0; n < 6 * 4; ++n)
        ck_assert(together[n / 4 * 18 + 8 + n % 4] == (float)C.k[n]);
    for (int n = 0; n < 6 * 6; ++n)
        ck_assert(together[n / 6 * 18 + 12 + n % 6] == (float)C.v[n]);
    judge_expect("y is not rounded with them", D.y, C.y, 72, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_layer");
    TCase *layer = tcase_create("layer");

    tcase_add_loop_test(
        layer, a_layer_is_the_chain_of_its_steps, 0, (int)COUNT(CHAINS));
    tcase_add_test(layer, weights_side_by_side_in_one_matrix_are_the_same);
    tcase_add_test(layer, transposed_weights_are_the_same);
    tcase_add_test(
        layer, lengths_hide_keys_and_leave_padded_queries_the_formula);
    tcase_add_test(layer, packed_rows_give_what_padded_ones_do);
    tcase_add_test(layer, left_padding_is_starts_with_batch_strides);
    tcase_add_test(layer, kept_q_k_and_v_may_be_packed_and_rounded);
    suite_add_tcase(suite, layer);
    return suite_main(suite, 0);
}
