/* SPDX-License-Identifier: Apache-2.0
 *
 * test_problem_layer.c - which descriptors of linear and layer are legal, what
 * is said of the others, and what is filled in.  Needs no device.
 */
#include <string.h>

#include "problem.h"
#include "refusal.h"
#include "suite.h"

#define TWO_31 ((size_t)1 << 31)

/* ---- Linear -------------------------------------------------------------- */

#define L_SIZE(field, value) EDIT_SIZE(clattn_linear, field, value)
#define L_INT(field, value)  EDIT_INT(clattn_linear, field, value)

static clattn_linear small_linear(void)
{
    clattn_linear l;
    clattn_linear_init(&l, sizeof l);
    l.rows = 3;
    l.n_in = 4;
    l.n_out = 5;
    l.dtype = CLATTN_F32;
    l.weight_order = CLATTN_IN_OUT;
    return l;
}

static const refusal LINEARS[] = {
    {"the plain problem", {{NO_EDIT, 0, 0, 0}}, NULL},
    {"no rows", {L_SIZE(rows, 0)}, NULL},
    {"rows forgotten", {L_SIZE(rows, SIZE_UNSET)}, "rows is not set"},
    {"n_in forgotten", {L_SIZE(n_in, SIZE_UNSET)}, "n_in is not set"},
    {"n_out forgotten", {L_SIZE(n_out, SIZE_UNSET)}, "n_out is not set"},
    {"n_in = 0", {L_SIZE(n_in, 0)}, "n_in is 0, but must be 1 to"},
    {"n_out = 0", {L_SIZE(n_out, 0)}, "n_out is 0, but must be 1 to"},
    {"rows beyond int", {L_SIZE(rows, TWO_31)}, "rows is 2147483648"},
    {"n_in beyond int", {L_SIZE(n_in, TWO_31)}, "n_in is 2147483648"},
    {"order forgotten", {L_INT(weight_order, 0)},
        "weight_order is 0 (not set), but must be CLATTN_IN_OUT"},
    {"order 3", {L_INT(weight_order, 3)}, "weight_order is 3"},
    {"dtype forgotten", {L_INT(dtype, 0)}, "dtype is 0 (not set)"},
    {"bias", {L_INT(has_bias, 1)}, NULL},
    {"has_bias 2", {L_INT(has_bias, 2)}, "has_bias is 2, but must be 0 or 1"},
    {"reserved", {L_INT(reserved, 1)}, "reserved is 1, but must be 0"},
    {"f16 weights", {L_INT(w.dtype, CLATTN_F16)}, NULL},
    {"bool weights", {L_INT(w.dtype, CLATTN_BOOL)}, "w.dtype is 4 (bool)"},
    {"f64 x", {L_INT(x.dtype, CLATTN_F64)}, "x.dtype is 5 (f64)"},
    {"y.reserved", {L_INT(y.reserved, 2)}, "y.reserved is 2"},
    {"a batch stride", {L_SIZE(x.batch, 12)},
        "x.batch is 12, but must be 0: x has only a row stride"},
    {"a head stride", {L_SIZE(w.head, 2)},
        "w.head is 2, but must be 0: w has no heads"},
    {"rows of x with a gap", {L_SIZE(x.row, 9)}, NULL},
    {"rows of y narrower than its columns", {L_SIZE(y.row, 4)},
        "y (1, 1, 3, 5) with strides 0, 0, 4 would write elements onto"},
    {"a y too large",
        {L_SIZE(rows, TWO_31 - 1), L_SIZE(n_out, TWO_31 - 1),
            L_SIZE(y.row, SIZE_MAX / 8)},
        "y (1, 1, 2147483647, 2147483647)"},
};

START_TEST(linears_are_refused_by_name)
{
    const refusal *row = &LINEARS[_i];
    clattn_linear l = small_linear(), complete, untouched;
    clattn_error error;

    memset(&complete, 0x5a, sizeof complete);
    untouched = complete;
    refusal_apply(&l, row->edits);
    refusal_check_row(
        row, problem_linear(&complete, &l, false, &error), &error);
    if (row->words)
        ck_assert_msg(memcmp(&complete, &untouched, sizeof complete) == 0,
            "%s: a refusal must leave *complete alone", row->about);
}
END_TEST

START_TEST(weights_of_both_orders_get_their_own_row)
{
    clattn_linear l = small_linear(), c;
    clattn_error error;

    ck_assert_int_eq(problem_linear(&c, &l, false, &error), CLATTN_OK);
    ck_assert_uint_eq(c.x.row, 4);
    ck_assert_uint_eq(c.w.row, 5);
    ck_assert_uint_eq(c.y.row, 5);
    ck_assert_int_eq(c.w.dtype, CLATTN_F32);
    l.weight_order = CLATTN_OUT_IN;
    ck_assert_int_eq(problem_linear(&c, &l, false, &error), CLATTN_OK);
    ck_assert_uint_eq(c.w.row, 4);
}
END_TEST

/* ---- Layer --------------------------------------------------------------- */

/* A layer and its attention as one struct, so that one table edits both. */
typedef struct whole {
    clattn_layer layer;
    clattn_attention attention;
} whole;

#define SIZE(field, value)   EDIT_SIZE(whole, layer.field, value)
#define INT(field, value)    EDIT_INT(whole, layer.field, value)
#define A_SIZE(field, value) EDIT_SIZE(whole, attention.field, value)
#define A_INT(field, value)  EDIT_INT(whole, attention.field, value)

static whole small_layer(void)
{
    whole w;
    clattn_attention_init(&w.attention, sizeof w.attention);
    w.attention.B = 2;
    w.attention.Hq = 4;
    w.attention.Hkv = 2;
    w.attention.Lq = 3;
    w.attention.Lk = 3;
    w.attention.D = 8;
    w.attention.Dv = 6;
    w.attention.dtype = CLATTN_F32;
    clattn_layer_init(&w.layer, sizeof w.layer);
    w.layer.E = 10;
    w.layer.Ey = 24;
    w.layer.weight_order = CLATTN_OUT_IN;
    return w;
}

#define PACKED A_INT(flags, CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS)

static const refusal LAYERS[] = {
    {"the plain layer", {{NO_EDIT, 0, 0, 0}}, NULL},
    {"E forgotten", {SIZE(E, SIZE_UNSET)}, "E is not set"},
    {"Ey forgotten", {SIZE(Ey, SIZE_UNSET)}, "Ey is not set"},
    {"E = 0", {SIZE(E, 0)}, "E is 0, but must be 1 to"},
    {"Ek beyond int", {SIZE(Ek, TWO_31)}, "Ek is 2147483648"},
    {"Ev beyond int", {SIZE(Ev, TWO_31)}, "Ev is 2147483648"},
    {"y is out, but of another width", {SIZE(Ey, 25)},
        "Ey is 25, but must be Hq * Dv = 24 without CLATTN_PROJECT_OUT"},
    {"y of any width after W_o", {SIZE(Ey, 25), INT(flags, CLATTN_PROJECT_OUT)},
        NULL},
    {"Ey = 0 after W_o", {SIZE(Ey, 0), INT(flags, CLATTN_PROJECT_OUT)},
        "Ey is 0, but must be 1 to"},
    {"order forgotten", {INT(weight_order, 0)}, "weight_order is 0"},
    {"a flag of attention's", {INT(flags, CLATTN_RETURN_LSE)},
        "the layer's flags has bits 0x1"},
    {"an unknown flag", {INT(flags, 1 << 27)},
        "the layer's flags has bits 0x8000000"},
    {"b_o without W_o", {INT(flags, CLATTN_BIAS_O)},
        "the layer's flags has CLATTN_BIAS_O, but not CLATTN_PROJECT_OUT"},
    {"out kept without W_o", {INT(flags, CLATTN_KEEP_OUT)},
        "CLATTN_KEEP_OUT, but not CLATTN_PROJECT_OUT, without which y already"},
    {"w_o without W_o", {SIZE(w_o.row, 24)}, "w_o has strides 0, 0, 24"},
    {"out described where y is out", {A_INT(out.dtype, CLATTN_F16)},
        "attention.out has strides 0, 0, 0 and dtype 2"},
    {"out described before W_o",
        {A_INT(out.dtype, CLATTN_F16), INT(flags, CLATTN_PROJECT_OUT)}, NULL},
    {"x_k without Ek", {SIZE(x_k.row, 10)}, "x_k has strides 0, 0, 10"},
    {"x_v without Ev", {INT(x_v.dtype, 1)}, "x_v has strides 0, 0, 0 and"},
    {"own keys, but fewer", {A_SIZE(Lk, 2)},
        "Lk is 2, but must be Lq, which is 3, where Ek is 0"},
    {"other keys, fewer", {A_SIZE(Lk, 2), SIZE(Ek, 7)}, NULL},
    {"other values of own keys", {SIZE(Ev, 7)}, NULL},
    {"own keys, packed", {PACKED, A_SIZE(q_rows, 6), A_SIZE(k_rows, 6)}, NULL},
    {"own keys, packed, of which queries read a part",
        {PACKED, A_SIZE(q_rows, 6), A_SIZE(k_rows, 6), A_SIZE(Lq, 1)}, NULL},
    {"own keys, packed with other rows",
        {PACKED, A_SIZE(q_rows, 6), A_SIZE(k_rows, 7)},
        "k_rows is 7, but must be q_rows, which is 6"},
    {"own keys, only queries packed",
        {A_INT(flags, CLATTN_QUERY_STARTS), A_SIZE(q_rows, 6)},
        "attention.flags has CLATTN_QUERY_STARTS alone"},
    {"own keys, only keys packed",
        {A_INT(flags, CLATTN_KEY_STARTS), A_SIZE(k_rows, 6)},
        "attention.flags has CLATTN_KEY_STARTS alone"},
    {"packed x with room for each item, q without",
        {PACKED, A_SIZE(q_rows, 6), A_SIZE(k_rows, 6), SIZE(x.row, 10),
            SIZE(x.batch, 60)},
        "x.batch is 60 and attention.q.batch is 0"},
    {"one packed item has room of its own in any case",
        {PACKED, A_SIZE(q_rows, 6), A_SIZE(k_rows, 6), A_SIZE(B, 1),
            SIZE(x.row, 10), SIZE(x.batch, 60)},
        NULL},
    {"attention that writes q onto itself",
        {A_SIZE(q.row, 8), A_SIZE(q.head, 24)},
        "q (2, 4, 3, 8) with strides 0, 24, 8 would write"},
    {"a head stride of x", {SIZE(x.head, 10)}, "x.head is 10, but must be 0"},
    {"a batch stride of w_q", {SIZE(w_q.batch, 10)}, "w_q.batch is 10"},
    {"a head stride of w_v", {SIZE(w_v.head, 10)}, "w_v.head is 10"},
    {"w_k bool", {INT(w_k.dtype, CLATTN_BOOL)}, "w_k.dtype is 4 (bool)"},
    {"x of no dtype", {INT(x.dtype, 9)}, "x.dtype is 9"},
    {"y onto itself", {SIZE(y.row, 20), SIZE(y.batch, 72)},
        "y (2, 1, 3, 24) with strides 72, 0, 20"},
    {"weights side by side in one matrix",
        {INT(weight_order, CLATTN_IN_OUT), SIZE(w_q.row, 60), SIZE(w_k.row, 60),
            SIZE(w_v.row, 60)},
        NULL},
    {"heads that are wider than int", {A_SIZE(Hq, TWO_31 - 2)},
        "Hq * D is 2147483646 * 8"},
    {"attention that is wrong itself", {A_SIZE(Hkv, 3)}, "Hkv is 3"},
    {"attention of another size", {A_SIZE(struct_size, 5)},
        "attention.struct_size is 5"},
};

START_TEST(layers_are_refused_by_name)
{
    const refusal *row = &LAYERS[_i];
    whole w = small_layer();
    clattn_layer complete, untouched;
    clattn_attention attention, untouched_too;
    clattn_error error;

    memset(&complete, 0x5a, sizeof complete);
    memset(&attention, 0x5a, sizeof attention);
    untouched = complete;
    untouched_too = attention;
    refusal_apply(&w, row->edits);
    w.layer.attention = &w.attention;
    refusal_check_row(row,
        problem_layer(&complete, &attention, &w.layer, false, &error), &error);
    if (row->words)
        ck_assert_msg(
            memcmp(&complete, &untouched, sizeof complete) == 0 &&
                memcmp(&attention, &untouched_too, sizeof attention) == 0,
            "%s: a refusal must leave both outputs alone", row->about);
}
END_TEST

static clattn_layer completed(whole *w, clattn_attention *attention)
{
    clattn_layer complete;
    clattn_error error;

    w->layer.attention = &w->attention;
    const clattn_status got =
        problem_layer(&complete, attention, &w->layer, false, &error);
    ck_assert_msg(got == CLATTN_OK, "%s", error.message);
    ck_assert_ptr_eq(complete.attention, attention);
    return complete;
}

START_TEST(a_layer_without_attention_is_refused)
{
    whole w = small_layer();
    clattn_layer complete;
    clattn_attention attention;
    clattn_error error;

    w.layer.attention = NULL;
    refusal_check("NULL",
        problem_layer(&complete, &attention, &w.layer, false, &error),
        CLATTN_INVALID, &error, "attention is NULL");
}
END_TEST

START_TEST(keys_and_values_come_from_x_unless_given)
{
    whole w = small_layer();
    clattn_attention a;
    const clattn_layer own = completed(&w, &a);
    ck_assert_uint_eq(own.Ek, 10);
    ck_assert_uint_eq(own.Ev, 10);
    ck_assert_uint_eq(own.x_v.batch, 30);
    ck_assert_uint_eq(own.w_k.row, 10);
    ck_assert_uint_eq(own.w_v.row, 10);

    w.layer.Ek = 7;
    w.layer.x_k.dtype = CLATTN_BF16;
    w.attention.Lk = 5;
    const clattn_layer other = completed(&w, &a);
    ck_assert_uint_eq(other.Ev, 7);
    ck_assert_uint_eq(other.x_k.batch, 35);
    ck_assert_uint_eq(other.x_v.row, 7);
    ck_assert_int_eq(other.x_v.dtype, CLATTN_BF16);
    ck_assert_uint_eq(other.w_v.row, 7);
}
END_TEST

START_TEST(without_projection_out_is_y_seen_as_heads)
{
    whole w = small_layer();
    clattn_attention a;
    w.layer.y.batch = 200;
    w.layer.y.row = 50;
    w.layer.y.dtype = CLATTN_F16;
    (void)completed(&w, &a);

    ck_assert_uint_eq(a.out.batch, 200);
    ck_assert_uint_eq(a.out.row, 50);
    ck_assert_uint_eq(a.out.head, 6);
    ck_assert_int_eq(a.out.dtype, CLATTN_F16);
}
END_TEST

START_TEST(tensors_of_a_layer_get_their_own_rows)
{
    whole w = small_layer();
    clattn_attention a;
    w.layer.Ey = 11;
    w.layer.flags = CLATTN_PROJECT_OUT;
    const clattn_layer out_in = completed(&w, &a);
    ck_assert_uint_eq(out_in.w_q.row, 10);
    ck_assert_uint_eq(out_in.w_o.row, 24);
    ck_assert_int_eq(out_in.w_o.dtype, CLATTN_F32);

    w.layer.weight_order = CLATTN_IN_OUT;
    const clattn_layer in_out = completed(&w, &a);
    ck_assert_uint_eq(in_out.w_q.row, 32);
    ck_assert_uint_eq(in_out.w_k.row, 16);
    ck_assert_uint_eq(in_out.w_v.row, 12);
    ck_assert_uint_eq(in_out.w_o.row, 11);
    ck_assert_uint_eq(in_out.x.row, 10);
    ck_assert_uint_eq(in_out.x.batch, 30);
    ck_assert_uint_eq(in_out.y.row, 11);
    ck_assert_uint_eq(in_out.y.batch, 33);
    ck_assert_uint_eq(a.q.head, 8);
    ck_assert_uint_eq(a.q.row, 32);
    ck_assert_uint_eq(a.v.row, 12);
    ck_assert_uint_eq(a.out.row, 24);
}
END_TEST

START_TEST(packed_rows_of_a_layer_have_no_batch_stride)
{
    whole w = small_layer();
    clattn_attention a;
    w.attention.flags = CLATTN_QUERY_STARTS;
    w.attention.q_rows = 9;
    w.layer.Ek = 7;
    const clattn_layer packed = completed(&w, &a);

    ck_assert_uint_eq(packed.x.batch, 0);
    ck_assert_uint_eq(packed.x.row, 10);
    ck_assert_uint_eq(packed.y.batch, 0);
    ck_assert_uint_eq(packed.y.row, 24);
    ck_assert_uint_eq(packed.x_k.batch, 21);
    ck_assert_uint_eq(a.out.batch, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem_layer");
    TCase *linear = tcase_create("linear");
    TCase *layer = tcase_create("layer");

    tcase_add_loop_test(
        linear, linears_are_refused_by_name, 0, (int)COUNT(LINEARS));
    tcase_add_test(linear, weights_of_both_orders_get_their_own_row);
    suite_add_tcase(suite, linear);

    tcase_add_loop_test(
        layer, layers_are_refused_by_name, 0, (int)COUNT(LAYERS));
    tcase_add_test(layer, a_layer_without_attention_is_refused);
    tcase_add_test(layer, keys_and_values_come_from_x_unless_given);
    tcase_add_test(layer, without_projection_out_is_y_seen_as_heads);
    tcase_add_test(layer, tensors_of_a_layer_get_their_own_rows);
    tcase_add_test(layer, packed_rows_of_a_layer_have_no_batch_stride);
    suite_add_tcase(suite, layer);
    return suite_main(suite, 0);
}
