/* SPDX-License-Identifier: Apache-2.0
 *
 * test_onnx.c - the runner of the ONNX cases: what it refuses, what it tells
 * apart, and its exit codes.  That all cases pass is tests of their own.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture.h"
#include "onnx_verdict.h"
#include "scratch.h"
#include "suite.h"

#define CASES CLATTN_SOURCE_DIR "/tests/data/onnx"

/* ---- A case with one change ---------------------------------------------- */

static void copy_file(const char *from, const char *to)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    char *data = scratch_read(from, &bytes);
    ck_assert_msg(data != NULL, "%s cannot be read", from);
    scratch_write(path, to, data, bytes);
    free(data);
}

/* The case `name` as folder "case" of the scratch folder. */
static void copy_case(const char *name)
{
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    snprintf(from, sizeof from, CASES "/%.100s", name);
    mkdir(scratch_path(to, "case"), 0700);
    DIR *entries = opendir(from);
    ck_assert_msg(entries != NULL, "%s cannot be listed", from);
    for (const struct dirent *e; (e = readdir(entries)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(from, sizeof from, CASES "/%.100s/%.100s", name, e->d_name);
        snprintf(to, sizeof to, "case/%.100s", e->d_name);
        copy_file(from, to);
    }
    closedir(entries);
}

static void remove_copy(void)
{
    char folder[SCRATCH_PATH], path[2 * SCRATCH_PATH];
    DIR *entries = opendir(scratch_path(folder, "case"));
    if (entries == NULL)
        return;
    for (const struct dirent *e; (e = readdir(entries)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(entries);
    rmdir(folder);
}

/* `from`, which the file must hold, becomes `to`; without both the file is
   removed. */
static void change(const char *file, const char *from, const char *to)
{
    char name[100], path[SCRATCH_PATH];
    size_t bytes = 0;
    snprintf(name, sizeof name, "case/%s", file);
    if (from == NULL) {
        ck_assert_int_eq(unlink(scratch_path(path, name)), 0);
        return;
    }
    char *old = scratch_read(scratch_path(path, name), &bytes);
    ck_assert_msg(old != NULL, "%s cannot be read", path);
    /* Data may have zeros before the place that is looked for, headers not. */
    char *at = strstr(strncmp(old, "\x93NUMPY", 6) == 0 ? old + 10 : old, from);
    ck_assert_msg(at != NULL, "%s does not hold '%s'", file, from);
    char *changed = malloc(bytes + strlen(to) + 1);
    const size_t before = (size_t)(at - old), skip = strlen(from);
    memcpy(changed, old, before);
    memcpy(changed + before, to, strlen(to));
    memcpy(changed + before + strlen(to), at + skip, bytes - before - skip);
    scratch_write(path, name, changed, bytes - skip + strlen(to));
    free(changed);
    free(old);
}

/* The line that the copy gives; the caller's to free. */
static char *run_copy(enum onnx_verdict *verdict)
{
    char root[SCRATCH_PATH];
    const onnx_runner reference = {.path = ONNX_REFERENCE};
    FILE *to = capture_begin();
    *verdict =
        onnx_verdict_of(to, &reference, scratch_path(root, ""), "case", false);
    return capture_end(to);
}

typedef struct changed_case {
    const char *about;
    const char *name; /* of the case */
    const char *file, *from, *to;
    const char *want; /* part of the sentence */
} changed_case;

static void fails_when_changed(const changed_case *row)
{
    enum onnx_verdict verdict;
    copy_case(row->name);
    change(row->file, row->from, row->to);
    char *line = run_copy(&verdict);
    ck_assert_msg(verdict == ONNX_FAILED && strstr(line, row->want) != NULL,
        "%s: verdict %d, line\n%sbut it must fail with '%s'", row->about,
        verdict, line, row->want);
    ck_assert_msg(strchr(line, '\n') == line + strlen(line) - 1,
        "%s: more than one line:\n%s", row->about, line);
    free(line);
}

/* ---- Damage -------------------------------------------------------------- */

static const changed_case DAMAGES[] = {
    {"no case.txt", "3d", "case.txt", NULL, NULL, "case.txt: cannot be read"},
    {"a line that is no key", "3d", "case.txt", "opset = 23", "opset 23",
        "'opset 23' is not of the form `key = value`"},
    {"a key twice", "3d", "case.txt", "opset = 23", "softcap = 0.0",
        "has the key 'softcap' twice"},
    {"an attribute missing", "3d", "case.txt", "is_causal = 0", "x = 0",
        "has no key 'is_causal'"},
    {"an attribute of another operator", "3d", "case.txt", "opset = 23",
        "newattr = 3", "has the key 'newattr', which is none of a case's"},
    {"a shape of no tensor", "3d", "case.txt", "opset = 23", "W.shape = 3",
        "has the key 'W.shape'"},
    {"a truth that is none", "3d", "case.txt", "is_causal = 0", "is_causal = 2",
        "is_causal is '2', but a whole number from 0 to 1"},
    {"half a window", "3d", "case.txt", "left_window_size = -1",
        "left_window_size = 1.5", "left_window_size is '1.5'"},
    {"a window of -2", "3d", "case.txt", "left_window_size = -1",
        "left_window_size = -2", "left_window_size is '-2'"},
    {"a fifth mode", "3d", "case.txt", "output_mode = 0", "output_mode = 4",
        "qk_matmul_output_mode is '4', but a whole number from 0 to 3"},
    {"a scale that is NaN", "3d", "case.txt", "scale = unset", "scale = nan",
        "scale is 'nan'"},
    {"no softcap", "3d", "case.txt", "softcap = 0.0", "softcap = unset",
        "softcap is 'unset'"},
    {"bytes that are no text", "3d", "case.txt", "onnx_name", "onnx\xff",
        "byte 4 is 0xff, but ASCII is needed"},
    {"an input of another operator", "3d", "case.txt", "inputs = Q K V",
        "inputs = Q K V W", "inputs names 'W', which Attention does not have"},
    {"an output among the inputs", "3d", "case.txt", "inputs = Q K V",
        "inputs = Q K V Y", "inputs names 'Y', which Attention does not have"},
    {"an input twice", "3d", "case.txt", "inputs = Q K V", "inputs = Q K V V",
        "inputs names 'V', which it has named before"},
    {"no V", "3d", "case.txt", "inputs = Q K V", "inputs = Q K",
        "inputs lacks V"},
    {"no Y", "3d", "case.txt", "outputs = Y", "outputs =", "outputs lacks Y"},
    {"an input without a dtype", "3d", "case.txt", "K.dtype", "k.dtype",
        "has no key 'K.dtype'"},
    {"a dtype that is none", "3d", "case.txt", "K.dtype = f32", "K.dtype = f33",
        "K.dtype is 'f33', but f32, f16 or bf16 is allowed"},
    {"keys that are bool", "3d", "case.txt", "K.dtype = f32", "K.dtype = bool",
        "K.dtype is 'bool', but f32, f16 or bf16 is allowed"},
    {"a shape that is none", "3d", "case.txt", "K.shape = 2 6 24",
        "K.shape = 2 6 x", "K.shape is '2 6 x'"},
    {"nine dimensions", "3d", "case.txt", "K.shape = 2 6 24",
        "K.shape = 1 1 1 1 1 1 2 6 24", "at most 8 sizes are allowed"},
    {"an array of another dtype", "3d", "case.txt", "K.dtype = f32",
        "K.dtype = f16", "K.npy: holds f32, but case.txt says f16"},
    {"an array of another shape", "3d", "K.npy", "(2, 6, 24)", "(2, 24, 6)",
        "K.npy: has shape (2, 24, 6), but case.txt says (2, 6, 24)"},
    {"an array missing", "3d", "V.npy", NULL, NULL, "V.npy: cannot be read"},
    {"an expected output missing", "3d", "Y.npy", NULL, NULL,
        "Y.npy: cannot be read"},
    {"an array with too little data", "3d", "Q.npy", "(2, 4, 24)", "(2, 5, 24)",
        "needs 960 bytes of data, but the file has 768"},
    {"a head count that does not divide", "3d", "case.txt",
        "\nkv_num_heads = 3", "\nkv_num_heads = 5",
        "K has rows of 24 values, and kv_num_heads, which must divide that"},
    {"3-D tensors without head counts", "3d", "case.txt", "\nq_num_heads = 3",
        "\nq_num_heads = unset", "Q has rows of 24 values, and q_num_heads"},
    {"head counts that group nothing", "3d", "case.txt", "\nq_num_heads = 3",
        "\nq_num_heads = 2", "columns of K"},
    {"a 4-D tensor with another head count", "4d", "case.txt",
        "q_num_heads = unset", "q_num_heads = 4",
        "Q has 3 heads, but q_num_heads is 4"},
    {"half a past", "4d_with_past_and_present", "case.txt",
        "past_key past_value\noutputs", "past_key\noutputs",
        "has one of past_key and past_value"},
};

START_TEST(a_damaged_case_fails_with_a_sentence)
{
    fails_when_changed(&DAMAGES[_i]);
}
END_TEST

/* ---- Meaning ------------------------------------------------------------- */

static const changed_case MISREADINGS[] = {
    {"causal ignored", "4d_causal", "case.txt", "is_causal = 1",
        "is_causal = 0", "is stored"},
    {"causal ignored, f16", "4d_causal_fp16", "case.txt", "is_causal = 1",
        "is_causal = 0", "is stored"},
    {"causal ignored, bf16", "3d_causal_bf16", "case.txt", "is_causal = 1",
        "is_causal = 0", "is stored"},
    {"another scale", "4d_scaled", "case.txt", "\nscale = 0.0", "\nscale = 0.1",
        "is stored"},
    {"softcap ignored", "4d_softcap", "case.txt", "softcap = 2.0",
        "softcap = 0.0", "is stored"},
    {"a window one too narrow", "local_window", "case.txt", "size = 2",
        "size = 1", "is stored"},
    {"a window to the right one too wide", "bidirectional_window", "case.txt",
        "right_window_size = 2", "right_window_size = 3", "is stored"},
    {"a mask ignored", "4d_attn_mask", "case.txt", "inputs = Q K V attn_mask",
        "inputs = Q K V", "is stored"},
    {"lengths ignored", "4d_gqa_causal_nonpad_decode", "case.txt",
        "inputs = Q K V nonpad_kv_seqlen", "inputs = Q K V", "is stored"},
    {"the scores before the mask", "4d_with_qk_matmul_bias", "case.txt",
        "output_mode = 2", "output_mode = 1", "qk_matmul_output RETURN_CAPPED"},
    {"the scores before softcap", "4d_with_qk_matmul_softcap", "case.txt",
        "output_mode = 1", "output_mode = 0", "qk_matmul_output RETURN_SCALED"},
    {"the weights as scores", "23_fullymasked_qk_matmul_output_mode3_zero",
        "case.txt", "output_mode = 3", "output_mode = 2",
        "qk_matmul_output RETURN_SCORES"},
    {"a past that is no part of the keys", "4d_with_past_and_present",
        "case.txt", "inputs = Q K V attn_mask past_key past_value",
        "inputs = Q K V", "present_key has shape (2, 3, 18, 8), but"},
};

START_TEST(a_case_that_is_read_otherwise_fails)
{
    fails_when_changed(&MISREADINGS[_i]);
}
END_TEST

/* ---- Expected outputs ---------------------------------------------------- */

static const struct flip_case {
    const char *about, *name, *file;
    size_t from_end; /* of the byte, counted from 1 */
    int bits;
    enum onnx_verdict want;
} FLIPS[] = {
    {"the last bit of an f32", "3d", "Y.npy", 4, 1, ONNX_PASSED},
    {"the sign of an f32", "3d", "Y.npy", 1, 0x80, ONNX_FAILED},
    {"the sign of an f16", "4d_fp16", "Y.npy", 1, 0x80, ONNX_FAILED},
    {"two ulp of an f16 and more", "4d_fp16", "Y.npy", 2, 4, ONNX_FAILED},
    {"the sign of a bf16", "4d_causal_bf16", "Y.npy", 1, 0x80, ONNX_FAILED},
    {"the last bit of a key", "4d_with_past_and_present", "present_key.npy", 4,
        1, ONNX_FAILED},
    {"the last bit of a value", "4d_with_past_and_present", "present_value.npy",
        4, 1, ONNX_FAILED},
    {"the sign of a weight", "3d_with_past_and_present_qk_matmul_softmax",
        "qk_matmul_output.npy", 1, 0x80, ONNX_FAILED},
};

static void flip(const char *file, size_t from_end, int bits)
{
    char name[100], path[SCRATCH_PATH];
    size_t bytes = 0;
    snprintf(name, sizeof name, "case/%s", file);
    char *data = scratch_read(scratch_path(path, name), &bytes);
    ck_assert_msg(data != NULL, "%s cannot be read", path);
    data[bytes - from_end] = (char)(data[bytes - from_end] ^ bits);
    scratch_write(path, name, data, bytes);
    free(data);
}

START_TEST(every_expected_output_is_compared_and_how_depends_on_its_dtype)
{
    const struct flip_case *row = &FLIPS[_i];
    enum onnx_verdict verdict;
    copy_case(row->name);
    flip(row->file, row->from_end, row->bits);
    char *line = run_copy(&verdict);
    ck_assert_msg(verdict == row->want, "%s changed: verdict %d, not %d\n%s",
        row->about, verdict, row->want, line);
    free(line);
}
END_TEST

/* ---- The program --------------------------------------------------------- */

static const struct command_case {
    const char *about;
    const char *arguments; /* '@' is the scratch folder */
    int code;
    const char *last; /* line of standard output */
} COMMANDS[] = {
    {"one case", "@ --path reference", 0, "1 passed, 0 failed\n"},
    {"a folder without cases", "@/case --path reference", 1,
        "0 passed, 0 failed\n"},
    {"no such folder", "@/nowhere --path reference", 1, "0 passed, 0 failed\n"},
    {"a value after an equals sign", "@ --path=reference", 0,
        "1 passed, 0 failed\n"},
    {"no folder", "", 2, ""},
    {"an option that is none", "@ --fast", 2, ""},
    {"two folders", "@ @", 2, ""},
    {"an option without its value", "@ --path", 2, ""},
    {"a path that is none", "@ --path cuda", 2, ""},
    {"a kernel for the reference", "@ --path reference --kernel x", 2, ""},
    {"help", "--help", 0,
        "Exit code 1 if a case fails or none runs, 2 for wrong use.\n"},
};

/* The command of a row, for the shell. */
static void write_command(char *to, size_t bytes, const char *arguments)
{
    char folder[SCRATCH_PATH];
    scratch_path(folder, "");
    size_t at = (size_t)snprintf(to, bytes, "'%s' ", ONNX_CASES_PROGRAM);
    for (; *arguments != '\0' && at + SCRATCH_PATH < bytes; ++arguments) {
        if (*arguments == '@')
            at += (size_t)snprintf(to + at, bytes - at, "%s", folder);
        else
            to[at++] = *arguments;
    }
    snprintf(to + at, bytes - at, " 2>/dev/null");
}

START_TEST(the_program_ends_with_totals_and_says_by_its_exit_code_how_it_went)
{
    const struct command_case *row = &COMMANDS[_i];
    char command[4 * SCRATCH_PATH], line[1000], last[1000] = "";
    copy_case("3d");
    write_command(command, sizeof command, row->arguments);
    FILE *out = popen(command, "r");
    ck_assert_ptr_nonnull(out);
    while (fgets(line, sizeof line, out) != NULL)
        snprintf(last, sizeof last, "%s", line);
    const int state = pclose(out);
    ck_assert_msg(WIFEXITED(state) && WEXITSTATUS(state) == row->code &&
                      strcmp(last, row->last) == 0,
        "%s: state %d, not exit code %d; last line '%s', not '%s'", row->about,
        state, row->code, last, row->last);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("cases");
    tcase_add_unchecked_fixture(cases, scratch_begin, scratch_end);
    tcase_add_checked_fixture(cases, NULL, remove_copy);
    tcase_add_loop_test(
        cases, a_damaged_case_fails_with_a_sentence, 0, (int)COUNT(DAMAGES));
    tcase_add_loop_test(
        cases, a_case_that_is_read_otherwise_fails, 0, (int)COUNT(MISREADINGS));
    tcase_add_loop_test(cases,
        every_expected_output_is_compared_and_how_depends_on_its_dtype, 0,
        (int)COUNT(FLIPS));
    tcase_add_loop_test(cases,
        the_program_ends_with_totals_and_says_by_its_exit_code_how_it_went, 0,
        (int)COUNT(COMMANDS));
    Suite *suite = suite_create("onnx");
    suite_add_tcase(suite, cases);
    return suite_main(suite, 0);
}
