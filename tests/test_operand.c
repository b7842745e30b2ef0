/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operand.c - which tensors of a call may touch, and where their memory
 * ends.  Needs no device.
 */
#include <stdint.h>
#include <string.h>

#include "operand.h"
#include "problem.h"
#include "refusal.h"
#include "suite.h"

/* Memory to point into; what is in it is never read. */
static char MEMORY[1 << 16];

/* ---- Overlap ------------------------------------------------------------- */

typedef struct box {
    size_t at; /* in elements of the first one's size */
    size_t size[4], stride[4];
} box;

static operand make_box(const char *name, bool output, const box *b)
{
    operand op = {
        .name = name,
        .output = output,
        .wanted = true,
        .element = 4,
        .at = {.host = MEMORY, .offset = b->at},
        .begin = 4 * b->at,
        .capacity = SIZE_MAX,
    };
    memcpy(op.size, b->size, sizeof op.size);
    memcpy(op.stride, b->stride, sizeof op.stride);
    return op;
}

/* clang-format off */
static const struct {
    const char *about;
    box out, in;
    bool apart;
} BOXES[] = {
    { "one after the other",
      {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, {8, {1, 1, 2, 4}, {8, 8, 4, 1}}, true },
    { "one before the other",
      {8, {1, 1, 2, 4}, {8, 8, 4, 1}}, {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, true },
    { "the same place",
      {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, false },
    { "a last element shared",
      {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, {7, {1, 1, 2, 4}, {8, 8, 4, 1}}, false },
    { "half shared",
      {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, {4, {1, 1, 2, 4}, {8, 8, 4, 1}}, false },
    { "packed q and k, (B, L, 3, H, D)",
      {0, {2, 2, 5, 4}, {120, 4, 24, 1}}, {8, {2, 2, 5, 4}, {120, 4, 24, 1}},
      true },
    { "packed q and v",
      {0, {2, 2, 5, 4}, {120, 4, 24, 1}}, {16, {2, 2, 5, 4}, {120, 4, 24, 1}},
      true },
    { "packed with fewer key heads than query heads",
      {0, {2, 4, 5, 4}, {120, 4, 24, 1}}, {16, {2, 2, 5, 4}, {120, 4, 24, 1}},
      true },
    { "packed q and v of other widths",
      {0, {2, 4, 5, 4}, {120, 4, 24, 1}}, {16, {2, 4, 5, 2}, {120, 2, 24, 1}},
      true },
    { "the same, one column too many",
      {0, {2, 4, 5, 4}, {120, 4, 24, 1}}, {16, {2, 3, 5, 3}, {120, 3, 24, 1}},
      false },
    { "packed, one head too many",
      {0, {2, 5, 5, 4}, {120, 4, 24, 1}}, {16, {2, 2, 5, 4}, {120, 4, 24, 1}},
      false },
    { "packed, one column too many",
      {0, {2, 2, 5, 5}, {120, 4, 24, 1}}, {8, {2, 2, 5, 4}, {120, 4, 24, 1}},
      false },
    { "packed, that column at the last head",
      {0, {2, 3, 5, 5}, {120, 4, 24, 1}}, {12, {2, 2, 5, 4}, {120, 4, 24, 1}},
      false },
    { "the second's columns end in the first's next row",
      {0, {1, 1, 5, 4}, {40, 40, 8, 1}}, {4, {1, 1, 5, 5}, {40, 40, 8, 1}},
      false },
    { "heads by turns",
      {0, {1, 3, 2, 4}, {48, 16, 4, 1}}, {8, {1, 3, 2, 4}, {48, 16, 4, 1}},
      true },
    { "items by turns",
      {0, {3, 1, 2, 4}, {16, 8, 4, 1}}, {8, {3, 1, 2, 4}, {16, 8, 4, 1}},
      true },
    { "rows by turns, of other strides",
      {0, {1, 1, 4, 4}, {99, 99, 8, 1}}, {4, {1, 1, 2, 4}, {99, 99, 16, 1}},
      false },
    { "strides of one item and one head do not count",
      {0, {1, 1, 4, 4}, {99, 1, 8, 1}}, {4, {1, 1, 4, 4}, {7, 3, 8, 1}}, true },
    { "a slice of a cache beside the rest",
      {4, {2, 1, 1, 4}, {12, 12, 4, 1}}, {0, {2, 1, 1, 4}, {12, 12, 4, 1}},
      true },
    { "nothing touches nothing",
      {0, {1, 1, 0, 4}, {8, 8, 4, 1}}, {0, {1, 1, 2, 4}, {8, 8, 4, 1}}, true },
};
/* clang-format on */

static clattn_status check_boxes(
    const box *out, const box *in, clattn_error *error)
{
    const operand list[2] = {
        make_box("out", true, out), make_box("q", false, in)};
    return operands_check(list, 2, OPERANDS_ON_HOST, error);
}

START_TEST(an_output_touches_no_other_tensor)
{
    clattn_error error;
    const clattn_status got =
        check_boxes(&BOXES[_i].out, &BOXES[_i].in, &error);
    refusal_check(BOXES[_i].about, got,
        BOXES[_i].apart ? CLATTN_OK : CLATTN_INVALID, &error, "out (");
    const clattn_status turned =
        check_boxes(&BOXES[_i].in, &BOXES[_i].out, &error);
    ck_assert_msg(
        turned == got, "%s: who is the output matters", BOXES[_i].about);
}
END_TEST

/* Mark every element of a box in `map`. */
static void mark(const box *b, unsigned char *map, unsigned char bit)
{
    const size_t count = b->size[0] * b->size[1] * b->size[2] * b->size[3];

    for (size_t n = 0; n < count; ++n) {
        size_t rest = n, at = b->at;
        for (int d = 3; d >= 0; --d) {
            at += rest % b->size[d] * b->stride[d];
            rest /= b->size[d];
        }
        map[at] |= bit;
    }
}

/* A small generator of its own: the same draws everywhere. */
static size_t draw(uint32_t *state, size_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % below;
}

/* Two boxes near each other, of equal strides but perhaps for the heads'. */
static void draw_boxes(uint32_t *state, box *a, box *b)
{
    const box empty = {draw(state, 24), {1, 1, 1, 1}, {0, 0, 0, 1}};
    *a = *b = empty;
    b->at = draw(state, 24);
    for (int d = 0; d < 4; ++d) {
        a->size[d] = 1 + draw(state, 3);
        b->size[d] = 1 + draw(state, 3);
        if (d < 3)
            a->stride[d] = b->stride[d] = draw(state, 16);
    }
    if (draw(state, 2))
        b->stride[1] = draw(state, 16);
}

START_TEST(what_is_accepted_shares_no_element)
{
    uint32_t state = 1;
    size_t interleaved = 0;

    for (int n = 0; n < 20000; ++n) {
        unsigned char map[256] = {0};
        box a, b;
        clattn_error error;
        bool shared = false;

        draw_boxes(&state, &a, &b);
        if (check_boxes(&a, &b, &error) != CLATTN_OK)
            continue;
        mark(&a, map, 1);
        mark(&b, map, 2);
        for (size_t i = 0; i < sizeof map; ++i)
            shared = shared || map[i] == 3;
        ck_assert_msg(!shared, "draw %d of the generator", n);
        const operand x = make_box("a", true, &a), y = make_box("b", true, &b);
        interleaved +=
            a.at < b.at + operand_span(&y) && b.at < a.at + operand_span(&x);
    }
    /* Else the test would have looked at tensors far from each other only. */
    ck_assert_uint_gt(interleaved, 100);
}
END_TEST

START_TEST(memory_of_another_space_never_overlaps)
{
    const box b = {0, {1, 1, 2, 4}, {8, 8, 4, 1}};
    operand list[2] = {make_box("out", true, &b), make_box("q", false, &b)};
    clattn_error error;

    list[1].space = MEMORY;
    ck_assert_int_eq(
        operands_check(list, 2, OPERANDS_ON_HOST, &error), CLATTN_OK);
}
END_TEST

START_TEST(inputs_may_be_one_tensor)
{
    const box b = {0, {1, 1, 2, 4}, {8, 8, 4, 1}};
    const operand list[2] = {
        make_box("q", false, &b), make_box("k", false, &b)};
    clattn_error error;

    ck_assert_int_eq(
        operands_check(list, 2, OPERANDS_ON_HOST, &error), CLATTN_OK);
}
END_TEST

START_TEST(elements_of_other_sizes_do_not_interleave)
{
    const box left = {6, {1, 1, 2, 2}, {8, 8, 4, 1}};
    const box right = {8, {1, 1, 2, 2}, {8, 8, 4, 1}};
    operand list[2] = {
        make_box("out", true, &left), make_box("q", false, &right)};
    clattn_error error;

    list[1].element = 2;
    refusal_check("f16 within f32",
        operands_check(list, 2, OPERANDS_ON_HOST, &error), CLATTN_INVALID,
        &error, "out (24 bytes, 6 elements) begins 8 bytes before q (12 bytes");
}
END_TEST

/* ---- Capacity ------------------------------------------------------------ */

START_TEST(each_tensor_ends_within_its_memory)
{
    const box b = {3, {1, 2, 2, 4}, {20, 10, 4, 1}};
    operand op = make_box("k", false, &b);
    clattn_error error;

    ck_assert_uint_eq(operand_span(&op), 10 + 4 + 4);
    op.capacity = 4 * (3 + 18);
    ck_assert_int_eq(
        operands_check(&op, 1, OPERANDS_ON_HOST, &error), CLATTN_OK);
    op.capacity -= 1;
    refusal_check("a byte short",
        operands_check(&op, 1, OPERANDS_ON_HOST, &error), CLATTN_INVALID,
        &error,
        "k needs 72 bytes (18 elements of 4) from offset 3 elements "
        "on, which is 1 bytes more");
    op.capacity = SIZE_MAX;
    op.begin = SIZE_MAX - 71;
    refusal_check("an end that wraps",
        operands_check(&op, 1, OPERANDS_ON_HOST, &error), CLATTN_INVALID,
        &error, "k.offset is 3");
}
END_TEST

START_TEST(an_offset_that_wraps_is_refused)
{
    clattn_linear l;
    clattn_linear_init(&l, sizeof l);
    l.rows = l.n_in = l.n_out = 1;
    l.dtype = CLATTN_F32;
    l.weight_order = CLATTN_IN_OUT;
    clattn_linear complete;
    clattn_error error;
    operand list[MAX_OPERANDS];
    ck_assert_int_eq(problem_linear(&complete, &l, false, &error), CLATTN_OK);
    clattn_linear_args args = {.struct_size = sizeof args,
        .y = {.host = MEMORY},
        .x = {.host = MEMORY + 64, .offset = SIZE_MAX / 2},
        .w = {.host = MEMORY + 128}};

    const size_t count = operands_of_linear(list, &complete, &args);
    refusal_check("x far away",
        operands_check(list, count, OPERANDS_ON_HOST, &error), CLATTN_INVALID,
        &error, "x.offset is 9223372036854775807");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operand");
    TCase *apart = tcase_create("apart");

    tcase_add_loop_test(
        apart, an_output_touches_no_other_tensor, 0, (int)COUNT(BOXES));
    tcase_add_test(apart, what_is_accepted_shares_no_element);
    tcase_add_test(apart, memory_of_another_space_never_overlaps);
    tcase_add_test(apart, inputs_may_be_one_tensor);
    tcase_add_test(apart, elements_of_other_sizes_do_not_interleave);
    tcase_add_test(apart, each_tensor_ends_within_its_memory);
    tcase_add_test(apart, an_offset_that_wraps_is_refused);
    suite_add_tcase(suite, apart);
    return suite_main(suite, 0);
}
