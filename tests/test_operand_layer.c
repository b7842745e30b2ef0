/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operand_layer.c - the tensors and arrays of linear and layer: which
 * there are, how large, and which are asked for.  Needs no device.
 */
#include <string.h>

#include "operand.h"
#include "problem.h"
#include "suite.h"

/* B = 2, 4 heads on 2, 3 rows on 5, D = 8, Dv = 6, E = 10, Ek = 7, Ev = 9,
   Ey = 11: every name with the elements from its first to its last. */
static const struct {
    const char *name;
    size_t span;
} LAYER[] = {
    {"y", 2 * 3 * 11},
    {"q", 2 * 3 * 4 * 8},
    {"k", 2 * 5 * 2 * 8},
    {"v", 2 * 5 * 2 * 6},
    {"x", 2 * 3 * 10},
    {"x_k", 2 * 5 * 7},
    {"x_v", 2 * 5 * 9},
    {"w_q", 10 * 32},
    {"w_k", 7 * 16},
    {"w_v", 9 * 12},
    {"w_o", 24 * 11},
    {"b_q", 32},
    {"b_k", 16},
    {"b_v", 12},
    {"b_o", 11},
    {"workspace", 0},
    {"attention.out", 2 * 3 * 4 * 6},
    {"attention.lse", 2 * 3 * 4},
    {"attention.weights", 2 * 4 * 3 * 5},
    {"attention.q", 2 * 3 * 4 * 8},
    {"attention.k", 2 * 5 * 2 * 8},
    {"attention.v", 2 * 5 * 2 * 6},
    {"attention.mask", 2 * 3 * 5},
    {"attention.sinks", 4},
    {"attention.query_lengths", 2},
    {"attention.key_lengths", 2},
    {"attention.query_starts", 3},
    {"attention.key_starts", 3},
    {"attention.diagonal_offsets", 2},
    {"attention.workspace", 0},
};

static size_t list_layer(
    operand *list, uint32_t flags, size_t Ek, size_t Ev, int32_t order)
{
    clattn_attention a, attention;
    clattn_layer layer, complete;
    clattn_error error;
    const clattn_layer_args args = {.struct_size = sizeof args};
    const clattn_attention_args inner = {.struct_size = sizeof inner};
    const bool project = (flags & CLATTN_PROJECT_OUT) != 0;

    clattn_attention_init(&a, sizeof a);
    a.B = 2;
    a.Hq = 4;
    a.Hkv = 2;
    a.Lq = 3;
    a.Lk = Ek ? 5 : 3;
    a.D = 8;
    a.Dv = 6;
    a.dtype = CLATTN_F32;
    /* For their sizes alone, since all are returned. */
    a.flags = Ek && Ev ? CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS : 0;
    a.mask.dtype = Ek && Ev ? CLATTN_BOOL : 0;
    for (int d = 0; a.mask.dtype && d < 4; ++d)
        a.mask.size[d] = d == 0 ? 2 : d == 1 ? 1 : d == 2 ? 3 : 5;
    clattn_layer_init(&layer, sizeof layer);
    layer.attention = &a;
    layer.E = 10;
    layer.Ey = project ? 11 : 24;
    layer.Ek = Ek;
    layer.Ev = Ev;
    layer.flags = flags;
    layer.weight_order = order;
    ck_assert_int_eq(
        problem_layer(&complete, &attention, &layer, false, &error), CLATTN_OK);
    return operands_of_layer(list, &complete, &layer, &args, &inner);
}

START_TEST(a_layer_lists_its_operands_in_order)
{
    const int32_t order = _i ? CLATTN_IN_OUT : CLATTN_OUT_IN;
    operand list[MAX_OPERANDS];
    const size_t count = list_layer(list, 0x7f << 20, 7, 9, order);

    ck_assert_uint_eq(count, COUNT(LAYER));
    for (size_t i = 0; i < count; ++i) {
        ck_assert_str_eq(list[i].name, LAYER[i].name);
        ck_assert_msg(operand_span(&list[i]) == LAYER[i].span,
            "%s spans %zu elements, want %zu", list[i].name,
            operand_span(&list[i]), LAYER[i].span);
        const bool output = i < 4 || (i > 15 && i < 19) || list[i].size[3] == 0;
        ck_assert_msg(list[i].output == output, "%s: output", list[i].name);
    }
}
END_TEST

START_TEST(weights_span_their_rows_with_gaps)
{
    clattn_linear l, complete;
    clattn_error error;
    const clattn_linear_args args = {.struct_size = sizeof args};
    const size_t gaps[4] = {2 * 20 + 5, 2 * 20 + 4, 3 * 20 + 5, 4 * 20 + 4};
    operand list[MAX_OPERANDS];

    clattn_linear_init(&l, sizeof l);
    l.rows = 3;
    l.n_in = 4;
    l.n_out = 5;
    l.dtype = CLATTN_F32;
    l.weight_order = _i ? CLATTN_OUT_IN : CLATTN_IN_OUT;
    l.x.row = l.w.row = l.y.row = 20;
    l.has_bias = 1;
    l.w.dtype = CLATTN_F16;
    ck_assert_int_eq(problem_linear(&complete, &l, false, &error), CLATTN_OK);
    ck_assert_uint_eq(operands_of_linear(list, &complete, &args), 5);
    ck_assert_uint_eq(operand_span(&list[0]), gaps[0]);
    ck_assert_uint_eq(operand_span(&list[1]), gaps[1]);
    ck_assert_uint_eq(operand_span(&list[2]), gaps[2 + _i]);
    ck_assert_uint_eq(operand_span(&list[3]), 5);
    ck_assert_uint_eq(list[3].element, 2);
    ck_assert_uint_eq(operand_span(&list[4]), 0);
    ck_assert_uint_eq(list[4].element, 1);
}
END_TEST

/* Which of LAYER the flags ask for. */
static const struct {
    const char *about;
    uint32_t flags;
    size_t Ek, Ev;
    const char *wanted;
} LAYERS[] = {
    {"the textbook's", 0, 0, 0, "y x w_q w_k w_v "},
    {"all biases and W_o", 0x1f << 20, 0, 0,
        "y x w_q w_k w_v w_o b_q b_k b_v b_o "},
    {"all kept", CLATTN_PROJECT_OUT | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT, 0, 0,
        "y q k v x w_q w_k w_v w_o attention.out "},
    {"other keys", 0, 7, 0, "y x x_k w_q w_k w_v "},
    {"other values", 0, 0, 7, "y x x_v w_q w_k w_v "},
};

START_TEST(a_layer_asks_for_what_its_flags_say)
{
    operand list[MAX_OPERANDS];
    char wanted[256] = "";
    const size_t count = list_layer(
        list, LAYERS[_i].flags, LAYERS[_i].Ek, LAYERS[_i].Ev, CLATTN_IN_OUT);

    for (size_t i = 0; i < count; ++i)
        if (list[i].wanted)
            strcat(strcat(wanted, list[i].name), " ");
    ck_assert_msg(strcmp(wanted, LAYERS[_i].wanted) == 0,
        "%s: wants %s, should want %s", LAYERS[_i].about, wanted,
        LAYERS[_i].wanted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operand_layer");
    TCase *lists = tcase_create("lists");

    tcase_add_loop_test(lists, a_layer_lists_its_operands_in_order, 0, 2);
    tcase_add_loop_test(lists, weights_span_their_rows_with_gaps, 0, 2);
    tcase_add_loop_test(
        lists, a_layer_asks_for_what_its_flags_say, 0, (int)COUNT(LAYERS));
    suite_add_tcase(suite, lists);
    return suite_main(suite, 0);
}
