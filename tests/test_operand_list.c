/* SPDX-License-Identifier: Apache-2.0
 *
 * test_operand_list.c - which tensors and arrays a call must bring, and where
 * they may lie.  Needs no device.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "operand.h"
#include "problem.h"
#include "refusal.h"
#include "suite.h"

/* Memory to point into; what is in it is never read. */
static char MEMORY[1 << 16];

/* ---- What is asked for and what is given --------------------------------- */

/* A descriptor that asks for every operand there is. */
static clattn_attention ask_for_all(void)
{
    clattn_attention a, complete;
    clattn_error error;

    clattn_attention_init(&a, sizeof a);
    a.B = 2;
    a.Hq = 4;
    a.Hkv = 2;
    a.Lq = 3;
    a.Lk = 5;
    a.D = 8;
    a.Dv = 6;
    a.dtype = CLATTN_F16;
    a.flags = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS | 0x3f00;
    a.q_rows = 7;
    a.k_rows = 11;
    a.causal = 1;
    a.diagonal = CLATTN_OFFSET;
    a.mask.dtype = CLATTN_BOOL;
    a.mask.size[0] = a.mask.size[1] = 1;
    a.mask.size[2] = 3;
    a.mask.size[3] = 5;
    ck_assert_int_eq(
        problem_attention(&complete, &a, false, false, &error), CLATTN_OK);
    return complete;
}

/* Name, bytes from the first element to the last, and whether it is an int32
   array, in the order of clattn_attention_args. */
static const struct {
    const char *name;
    size_t bytes;
    bool array, output;
} ATTENTION[] = {
    {"out", 2 * 7 * 4 * 6, false, true},
    {"lse", 4 * 4 * 7, false, true},
    {"weights", 2 * 2 * 4 * 3 * 5, false, true},
    {"q", 2 * 7 * 4 * 8, false, false},
    {"k", 2 * 11 * 2 * 8, false, false},
    {"v", 2 * 11 * 2 * 6, false, false},
    {"mask", 3 * 5, false, false},
    {"sinks", 4 * 4, false, false},
    {"query_lengths", 4 * 2, true, false},
    {"key_lengths", 4 * 2, true, false},
    {"query_starts", 4 * 2, true, false},
    {"key_starts", 4 * 2, true, false},
    {"diagonal_offsets", 4 * 2, true, false},
    {"workspace", 0, false, true},
};

START_TEST(attention_lists_its_operands_in_order)
{
    const clattn_attention a = ask_for_all();
    const clattn_attention_args args = {.struct_size = sizeof args};
    operand list[MAX_OPERANDS];

    ck_assert_uint_eq(operands_of_attention(list, &a, &args), COUNT(ATTENTION));
    for (size_t i = 0; i < COUNT(ATTENTION); ++i) {
        ck_assert_str_eq(list[i].name, ATTENTION[i].name);
        ck_assert_msg(
            operand_span(&list[i]) * list[i].element == ATTENTION[i].bytes,
            "%s: %zu bytes, want %zu", list[i].name,
            operand_span(&list[i]) * list[i].element, ATTENTION[i].bytes);
        ck_assert_msg(list[i].array == ATTENTION[i].array &&
                          list[i].output == ATTENTION[i].output,
            "%s: array or output", list[i].name);
    }
}
END_TEST

/* Give operand i of the list a place of its own. */
static void give(operand *op, size_t i)
{
    op->at.host = MEMORY + 4096 * i;
    op->begin = (size_t)(uintptr_t)op->at.host;
}

START_TEST(what_is_asked_for_must_be_given)
{
    const clattn_attention a = ask_for_all();
    const clattn_attention_args args = {.struct_size = sizeof args};
    operand list[MAX_OPERANDS];
    clattn_error error;
    const size_t count = operands_of_attention(list, &a, &args) - 1;

    for (size_t i = 0; i < count; ++i)
        give(&list[i], i);
    clattn_status got = operands_check(list, count, OPERANDS_ON_HOST, &error);
    refusal_check("all given", got, CLATTN_OK, &error, NULL);
    for (size_t i = 0; i < count; ++i) {
        char words[64];
        snprintf(words, sizeof words, "%s.host is NULL", list[i].name);
        list[i].at.host = NULL;
        got = operands_check(list, count, OPERANDS_ON_HOST, &error);
        refusal_check(list[i].name, got, CLATTN_INVALID, &error, words);
        give(&list[i], i);
    }
}
END_TEST

START_TEST(what_is_not_asked_for_must_not_be_given)
{
    const clattn_attention a = ask_for_all();
    const clattn_attention_args args = {.struct_size = sizeof args};
    operand list[MAX_OPERANDS];
    clattn_error error;
    const size_t count = operands_of_attention(list, &a, &args);

    for (size_t i = 0; i < count; ++i) {
        char words[64];
        operand op = list[i];
        op.wanted = false;
        snprintf(words, sizeof words, "%s.offset is 9", op.name);
        op.at.offset = 9;
        refusal_check(op.name, operands_check(&op, 1, OPERANDS_ON_HOST, &error),
            CLATTN_INVALID, &error, words);
        snprintf(words, sizeof words, "%s is given, but the desc", op.name);
        give(&op, i);
        refusal_check(op.name, operands_check(&op, 1, OPERANDS_ON_HOST, &error),
            CLATTN_INVALID, &error, words);
    }
}
END_TEST

START_TEST(empty_tensors_need_no_pointer)
{
    clattn_attention a = ask_for_all();
    const clattn_attention_args args = {.struct_size = sizeof args};
    operand list[MAX_OPERANDS];
    clattn_error error;

    a.B = 0;
    a.mask.dtype = 0;
    a.flags &= ~(uint32_t)CLATTN_SINKS;
    size_t count = operands_of_attention(list, &a, &args);
    refusal_check("no items",
        operands_check(list, count, OPERANDS_ON_HOST, &error), CLATTN_OK,
        &error, NULL);
}
END_TEST

START_TEST(starts_without_lengths_have_one_more_value)
{
    clattn_attention a = ask_for_all();
    const clattn_attention_args args = {.struct_size = sizeof args};
    operand list[MAX_OPERANDS];

    a.flags &= ~(uint32_t)CLATTN_KEY_LENGTHS;
    operands_of_attention(list, &a, &args);
    ck_assert_str_eq(list[10].name, "query_starts");
    ck_assert_uint_eq(list[10].size[3], 2);
    ck_assert_str_eq(list[11].name, "key_starts");
    ck_assert_uint_eq(list[11].size[3], 3);
}
END_TEST

/* Never dereferenced: this file calls no OpenCL. */
static const cl_mem SOME_MEM = (cl_mem)(void *)MEMORY;

static const struct {
    const char *about;
    enum operand_place place;
    bool array, mem, host;
    const char *words;
} PLACES[] = {
    {"host memory for a host call", OPERANDS_ON_HOST, false, false, true, NULL},
    {"a buffer for enqueue", OPERANDS_ON_DEVICE, false, true, false, NULL},
    {"a buffer for a host call", OPERANDS_ON_HOST, false, true, false,
        "q.mem is set, but a host call or reference takes q.host"},
    {"both for a host call", OPERANDS_ON_HOST, false, true, true,
        "q.mem is set"},
    {"host memory for enqueue", OPERANDS_ON_DEVICE, false, false, true,
        "q.host is set, but enqueue takes q.mem"},
    {"an array in host memory for enqueue", OPERANDS_ON_DEVICE, true, false,
        true, NULL},
    {"an array in a buffer for enqueue", OPERANDS_ON_DEVICE, true, true, false,
        NULL},
    {"an array in both", OPERANDS_ON_DEVICE, true, true, true,
        "q.mem and q.host are both set"},
    {"an array in a buffer for a host call", OPERANDS_ON_HOST, true, true,
        false, "q.mem is set"},
    {"nothing for enqueue", OPERANDS_ON_DEVICE, false, false, false,
        "q.mem is NULL, but must hold 8 elements of 4 bytes"},
};

START_TEST(operands_lie_where_the_call_takes_them)
{
    operand op = {.name = "q",
        .wanted = true,
        .element = 4,
        .size = {1, 1, 2, 4},
        .stride = {8, 8, 4, 1},
        .capacity = SIZE_MAX};
    clattn_error error;

    op.array = PLACES[_i].array;
    op.at.host = PLACES[_i].host ? MEMORY : NULL;
    op.at.mem = PLACES[_i].mem ? SOME_MEM : NULL;
    refusal_check(PLACES[_i].about,
        operands_check(&op, 1, PLACES[_i].place, &error),
        PLACES[_i].words ? CLATTN_INVALID : CLATTN_OK, &error,
        PLACES[_i].words);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operand_list");
    TCase *given = tcase_create("given");

    tcase_add_test(given, attention_lists_its_operands_in_order);
    tcase_add_test(given, what_is_asked_for_must_be_given);
    tcase_add_test(given, what_is_not_asked_for_must_not_be_given);
    tcase_add_test(given, empty_tensors_need_no_pointer);
    tcase_add_test(given, starts_without_lengths_have_one_more_value);
    tcase_add_loop_test(
        given, operands_lie_where_the_call_takes_them, 0, (int)COUNT(PLACES));
    suite_add_tcase(suite, given);
    return suite_main(suite, 0);
}
