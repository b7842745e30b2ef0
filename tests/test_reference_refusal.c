/* SPDX-License-Identifier: Apache-2.0
 *
 * test_reference_refusal.c - what the references refuse, and that they then
 * leave every output alone.
 */
#include <math.h>
#include <string.h>

#include "judge.h"
#include "refusal.h"
#include "suite.h"

static judge J, BEFORE;

#define SIZE(field, value) EDIT_SIZE(judge, field, value)
#define INT(field, value)  EDIT_INT(judge, field, value)
#define REAL(field, value) EDIT_REAL(judge, field, value)

static const refusal ATTENTIONS[] = {
    {"a descriptor that is wrong", {SIZE(a.Hkv, 3)}, "Hkv is 3"},
    {"a descriptor of no version", {SIZE(a.struct_size, 0)},
        "attention.struct_size is 0"},
    {"arguments of no version", {SIZE(args.struct_size, 0)},
        "args.struct_size is 0"},
    {"no q", {SIZE(args.q.host, 0)}, "q.host is NULL, but must hold 24"},
    {"no out", {SIZE(args.out.host, 0)}, "out.host is NULL"},
    {"no lse, which is asked for", {SIZE(args.lse.host, 0)},
        "lse.host is NULL"},
    {"weights, which are not asked for", {INT(a.flags, CLATTN_RETURN_LSE)},
        "weights is given, but the descriptor does not ask for it"},
    {"no mask",
        {INT(a.mask.dtype, CLATTN_BOOL), SIZE(a.mask.size[0], 1),
            SIZE(a.mask.size[1], 1), SIZE(a.mask.size[2], 1),
            SIZE(a.mask.size[3], 1)},
        "mask.host is NULL, but must hold 1 elements of 1 bytes"},
    {"an offset without a pointer", {SIZE(args.sinks.offset, 3)},
        "sinks.offset is 3"},
    {"a workspace", {SIZE(args.workspace.host, 4096)}, "workspace is given"},
    {"a buffer", {SIZE(args.k.mem, 4096)}, "k.mem is set"},
    {"dropout of -1", {REAL(a.dropout_p, -1)}, "dropout_p is -1"},
    {"dropout of 1.5", {REAL(a.dropout_p, 1.5)}, "dropout_p is 1.5"},
};

static void start(judge *j)
{
    judge_start(j, 1, 4, 2, 3, 5, 2, 2);
}

static void expect_untouched(const judge *j)
{
    ck_assert_mem_eq(j->out, BEFORE.out, sizeof j->out);
    ck_assert_mem_eq(j->lse, BEFORE.lse, sizeof j->lse);
    ck_assert_mem_eq(j->weights, BEFORE.weights, sizeof j->weights);
    ck_assert_mem_eq(j->q, BEFORE.q, sizeof j->q);
}

START_TEST(attention_refuses_and_writes_nothing)
{
    clattn_error error;

    start(&J);
    start(&BEFORE);
    refusal_apply(&J, ATTENTIONS[_i].edits);
    refusal_check_row(&ATTENTIONS[_i],
        clattn_attention_reference(&J.a, &J.args, &error), &error);
    expect_untouched(&J);
}
END_TEST

START_TEST(null_is_refused_and_an_error_struct_is_optional)
{
    clattn_error error;

    start(&J);
    refusal_check("attention",
        clattn_attention_reference(NULL, &J.args, &error), CLATTN_INVALID,
        &error, "attention is NULL");
    refusal_check("args", clattn_attention_reference(&J.a, NULL, &error),
        CLATTN_INVALID, &error, "args is NULL");
    refusal_check("linear", clattn_linear_reference(NULL, NULL, &error),
        CLATTN_INVALID, &error, "linear is NULL");
    refusal_check("layer", clattn_layer_reference(NULL, NULL, &error),
        CLATTN_INVALID, &error, "layer is NULL");
    ck_assert_int_eq(
        clattn_attention_reference(NULL, NULL, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_reference(&J.a, &J.args, NULL), CLATTN_OK);
}
END_TEST

START_TEST(an_error_is_cleared_by_a_call_that_succeeds)
{
    clattn_error error;

    memset(&error, 0x5a, sizeof error);
    start(&J);
    ck_assert_int_eq(
        clattn_attention_reference(&J.a, &J.args, &error), CLATTN_OK);
    ck_assert_int_eq(error.status, CLATTN_OK);
    ck_assert_int_eq(error.cl_code, CL_SUCCESS);
    ck_assert_str_eq(error.message, "");
}
END_TEST

START_TEST(out_may_share_no_memory_with_an_input)
{
    const size_t shifts[2] = {0, 10};
    clattn_error error;

    for (int n = 0; n < 2; ++n) {
        start(&J);
        start(&BEFORE);
        J.args.out.host = J.q;
        J.args.out.offset = shifts[n];
        refusal_check("out is q",
            clattn_attention_reference(&J.a, &J.args, &error), CLATTN_INVALID,
            &error, "overlaps it");
        expect_untouched(&J);
    }
    start(&J);
    J.args.out.host = J.lse;
    refusal_check("out is lse",
        clattn_attention_reference(&J.a, &J.args, &error), CLATTN_INVALID,
        &error, "out (192 bytes, 24 elements) begins 0 bytes into lse");
}
END_TEST

START_TEST(lengths_out_of_range_are_refused)
{
    const int32_t lengths[1] = {6};
    clattn_error error;

    start(&J);
    start(&BEFORE);
    judge_array(&J, CLATTN_KEY_LENGTHS, lengths, 1);
    refusal_check("six of five keys",
        clattn_attention_reference(&J.a, &J.args, &error), CLATTN_INVALID,
        &error, "key_lengths[0] is 6, but must be 0 to Lk, which is 5");
    expect_untouched(&J);
}
END_TEST

START_TEST(linear_refuses_and_writes_nothing)
{
    double x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8};
    clattn_linear l;
    clattn_error error;
    clattn_linear_args args = {.struct_size = sizeof args,
        .x.host = x,
        .w.host = x,
        .y.host = y,
        .b.host = x};

    clattn_linear_init(&l, sizeof l);
    l.rows = l.n_in = l.n_out = 2;
    l.dtype = CLATTN_F64;
    l.weight_order = CLATTN_OUT_IN;
    refusal_check("a bias that is not asked for",
        clattn_linear_reference(&l, &args, &error), CLATTN_INVALID, &error,
        "b is given, but the descriptor does not ask for it");
    args.b.host = NULL;
    args.y.host = x;
    refusal_check("y is x", clattn_linear_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "y (32 bytes, 4 elements) begins 0 bytes into");
    args.struct_size = 1;
    refusal_check("a version", clattn_linear_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "args.struct_size is 1");
    for (int i = 0; i < 4; ++i)
        ck_assert(x[i] == i + 1 && y[i] == i + 5);
}
END_TEST

/* A layer of one head whose rows are rows of y. */
static void start_layer(clattn_layer *l, clattn_attention *a)
{
    clattn_attention_init(a, sizeof *a);
    a->B = a->Hq = a->Hkv = a->D = a->Dv = 1;
    a->Lq = a->Lk = 2;
    a->dtype = CLATTN_F64;
    clattn_layer_init(l, sizeof *l);
    l->attention = a;
    l->E = l->Ey = 1;
    l->weight_order = CLATTN_IN_OUT;
}

START_TEST(a_layer_refuses_what_its_attention_may_not_bring)
{
    double x[2] = {1, 2}, w[1] = {1}, y[2] = {5, 6};
    clattn_layer l;
    clattn_attention a;
    clattn_error error;
    clattn_attention_args inner = {.struct_size = sizeof inner};
    clattn_layer_args args = {.struct_size = sizeof args,
        .x.host = x,
        .w_q.host = w,
        .w_k.host = w,
        .w_v.host = w,
        .y.host = y,
        .attention = &inner};

    start_layer(&l, &a);
    inner.q.host = x;
    refusal_check("q", clattn_layer_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "attention.q is given");
    inner.q.host = NULL;
    inner.out.host = w;
    refusal_check("out", clattn_layer_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "attention.out is given");
    inner.out.host = NULL;
    inner.struct_size = 2;
    refusal_check("a version", clattn_layer_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "args.attention.struct_size is 2");
    args.attention = NULL;
    l.attention = &a;
    args.x_k.host = x;
    refusal_check("x_k", clattn_layer_reference(&l, &args, &error),
        CLATTN_INVALID, &error, "x_k is given");
    ck_assert(y[0] == 5 && y[1] == 6);
    args.x_k.host = NULL;
    ck_assert_int_eq(clattn_layer_reference(&l, &args, &error), CLATTN_OK);
}
END_TEST

/* q in double precision would take 2^63 bytes.  Nothing of x is read before
   that is known, so its pointers need not lead anywhere. */
START_TEST(memory_that_cannot_be_had_is_a_status)
{
    const double w[512] = {0};
    clattn_layer l;
    clattn_attention a;
    clattn_error error;
    const clattn_layer_args args = {.struct_size = sizeof args,
        .x.host = (const void *)((uintptr_t)1 << 50),
        .w_q.host = w,
        .w_k.host = w,
        .w_v.host = w,
        .y.host = (void *)((uintptr_t)1 << 60)};

    start_layer(&l, &a);
    a.B = ((size_t)1 << 31) - 1;
    a.Lq = a.Lk = (size_t)1 << 21;
    a.D = 512;
    a.dtype = CLATTN_F32;
    refusal_check("no memory", clattn_layer_reference(&l, &args, &error),
        CLATTN_NO_MEMORY, &error, "no memory for q, 2147483647 items");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reference_refusal");
    TCase *refused = tcase_create("refused");

    tcase_add_loop_test(refused, attention_refuses_and_writes_nothing, 0,
        (int)COUNT(ATTENTIONS));
    tcase_add_test(refused, null_is_refused_and_an_error_struct_is_optional);
    tcase_add_test(refused, an_error_is_cleared_by_a_call_that_succeeds);
    tcase_add_test(refused, out_may_share_no_memory_with_an_input);
    tcase_add_test(refused, lengths_out_of_range_are_refused);
    tcase_add_test(refused, linear_refuses_and_writes_nothing);
    tcase_add_test(refused, a_layer_refuses_what_its_attention_may_not_bring);
    tcase_add_test(refused, memory_that_cannot_be_had_is_a_status);
    suite_add_tcase(suite, refused);
    return suite_main(suite, 0);
}
