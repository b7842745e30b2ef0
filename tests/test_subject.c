/* SPDX-License-Identifier: Apache-2.0
 *
 * test_subject.c - what a subject makes of what a call does: with a made-up
 * operation, so that no device is needed and every fault can be had.
 */
#include <string.h>

#include "subject.h"
#include "suite.h"

/* What the made-up call does. */
static struct {
    clattn_status status;
    cl_int code;        /* of OpenCL */
    const char *broken; /* of its contract */
    bool wrong;         /* the result is not what it must be */
    size_t changes;  /* which run leaves other bits than the first; 0: none */
    size_t runs;     /* so far */
    const char *row; /* that was asked for last */
} call;

static clattn_status made_up_run(
    subject *s, enum run_way way, char broken[ARENA_TEXT], clattn_error *error)
{
    (void)way;
    call.runs++;
    strcpy(broken, call.broken ? call.broken : "");
    strcpy(error->message, "a reason");
    error->cl_code = call.code;
    *arena_at(s->memory, 0, 0, 0, 0, 0) =
        call.changes && call.runs == call.changes ? 2.0f : 1.0f;
    return call.status;
}

static bool made_up_meets(const subject *s, char why[ARENA_TEXT])
{
    (void)s;
    strcpy(why, call.wrong ? "off" : "");
    return !call.wrong;
}

static const expected *made_up_expected(const subject *s, size_t slot)
{
    (void)s;
    (void)slot;
    return NULL;
}

static void made_up_row(subject *s, const char *row)
{
    (void)s;
    call.row = row;
}

static void made_up_destroy(subject *s)
{
    arena_free(s->memory);
}

static void make_subject(subject *s, arena *memory)
{
    static const subject_kind KIND = {made_up_run, made_up_meets,
        made_up_expected, made_up_row, made_up_destroy, 0};
    clattn_error error;
    *memory = (arena){.memories = 0};
    *s = (subject){.kind = &KIND, .memory = memory};
    arena_place(memory, 0,
        (arena_tensor){.name = "out",
            .size = {1, 1, 1, 1},
            .memory = ARENA_NEW,
            .output = true});
    ck_assert(arena_allocate(memory));
    ck_assert_int_eq(subject_ready(s, &error), CLATTN_OK);
}

static const struct subject_case {
    const char *about;
    clattn_status status;
    const char *broken;
    bool wrong;
    size_t changes;
    enum subject_outcome want;
    const char *why; /* holds */
    size_t runs;     /* of five that are wanted */
} CASES[] = {
    {"all the same", CLATTN_OK, NULL, false, 0, SUBJECT_RIGHT, "", 5},
    {"the last run has other bits", CLATTN_OK, NULL, false, 5, SUBJECT_WRONG,
        "different bits", 5},
    {"the second run has other bits", CLATTN_OK, NULL, false, 2, SUBJECT_WRONG,
        "different bits", 2},
    {"the result is off", CLATTN_OK, NULL, true, 0, SUBJECT_WRONG, "off", 1},
    {"refused", CLATTN_UNSUPPORTED, NULL, false, 0, SUBJECT_NOT_TAKEN,
        "a reason", 1},
    {"no memory, which says nothing of the row", CLATTN_NO_MEMORY, NULL, false,
        0, SUBJECT_NO_MEMORY, "a reason", 1},
    {"no memory, but with a write", CLATTN_NO_MEMORY, "it wrote", false, 0,
        SUBJECT_WRONG, "it wrote", 1},
    {"the device fails", CLATTN_DEVICE_ERROR, NULL, false, 0, SUBJECT_WRONG,
        "a reason", 1},
    {"no compiler", CLATTN_BUILD_FAILED, NULL, false, 0, SUBJECT_WRONG,
        "a reason", 1},
    {"invalid, which no case is", CLATTN_INVALID, NULL, false, 0, SUBJECT_WRONG,
        "a reason", 1},
    {"right, but beside the workspace", CLATTN_OK, "byte 3 was written", false,
        0, SUBJECT_WRONG, "byte 3", 1},
    {"refused, but with a write", CLATTN_UNSUPPORTED, "it wrote", false, 0,
        SUBJECT_WRONG, "it wrote", 1},
};

START_TEST(every_fault_of_a_repeated_call_is_found_and_ends_it)
{
    const struct subject_case *row = &CASES[_i];
    char why[ARENA_TEXT] = "";
    subject s;
    arena memory;
    make_subject(&s, &memory);
    call.status = row->status;
    call.broken = row->broken;
    call.wrong = row->wrong;
    call.changes = row->changes;
    call.runs = 0;
    enum subject_outcome got = SUBJECT_RIGHT;
    for (size_t n = 0; n < 5 && got == SUBJECT_RIGHT; ++n)
        got = subject_repeat(&s, "a row", n, why);
    ck_assert_msg(got == row->want && strstr(why, row->why) != NULL,
        "%s: outcome %d: %s", row->about, (int)got, why);
    ck_assert_msg(
        call.runs == row->runs, "%s: %zu runs", row->about, call.runs);
    ck_assert_str_eq(call.row, "a row");
    subject_destroy(&s);
}
END_TEST

/* Not every driver means memory: some say so of a kernel that strayed. */
START_TEST(a_device_out_of_resources_is_wrong_and_out_of_memory_is_not)
{
    char why[ARENA_TEXT] = "";
    subject s;
    arena memory;
    make_subject(&s, &memory);
    memset(&call, 0, sizeof call);
    call.status = CLATTN_NO_MEMORY;
    call.code = CL_OUT_OF_RESOURCES;
    ck_assert_int_eq(subject_run(&s, NULL, why), SUBJECT_WRONG);
    call.code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    ck_assert_int_eq(subject_run(&s, NULL, why), SUBJECT_NO_MEMORY);
    subject_destroy(&s);
}
END_TEST

START_TEST(a_run_and_another_are_compared)
{
    char why[ARENA_TEXT] = "";
    subject s;
    arena memory;
    make_subject(&s, &memory);
    memset(&call, 0, sizeof call);
    ck_assert_int_eq(subject_run(&s, NULL, why), SUBJECT_RIGHT);
    ck_assert_uint_eq(call.runs, 2);
    ck_assert_ptr_null(call.row);
    call.changes = 4;
    ck_assert_int_eq(subject_run(&s, NULL, why), SUBJECT_WRONG);
    subject_destroy(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("subject");
    TCase *made_up = tcase_create("made up");
    tcase_add_loop_test(made_up,
        every_fault_of_a_repeated_call_is_found_and_ends_it, 0,
        (int)COUNT(CASES));
    tcase_add_test(
        made_up, a_device_out_of_resources_is_wrong_and_out_of_memory_is_not);
    tcase_add_test(made_up, a_run_and_another_are_compared);
    suite_add_tcase(suite, made_up);
    return suite_main(suite, 0);
}
