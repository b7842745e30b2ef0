/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli.c - the program as a process: exit codes, messages, and that a
 * failure leaves no file behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <clattn/clattn.h>
#include <jansson.h>

#include "commands.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"
#include "tensors.h"

/* One line that begins with the program's name. */
static void check_sentence(const char *about, const char *text)
{
    const char *newline = strchr(text, '\n');
    ck_assert_msg(
        strncmp(text, "clattn: ", 8) == 0 && newline && newline[1] == '\0',
        "%s: standard error is no single sentence: \"%s\"", about, text);
}

/* ---- Files -------------------------------------------------------------- */

/* A model of width 4 without head count, inputs that fit and that do not. */
static void make_files(void)
{
    static const tensor_row MODEL[] = {{"W_Q", 2, {4, 4}, 0},
        {"W_K", 2, {4, 4}, 0}, {"W_V", 2, {4, 4}, 0}, {NULL, 0, {0}, 0}};
    static const tensor_row TWO[] = {
        {"0.W_Q", 2, {4, 4}, 0}, {"1.W_Q", 2, {4, 4}, 0}, {NULL, 0, {0}, 0}};
    static const float VALUES[400] = {0};
    char path[SCRATCH_PATH];
    scratch_begin();
    tensors_write(path, "model.safetensors", MODEL, NULL, NULL);
    tensors_write(path, "two.safetensors", TWO, NULL, NULL);
    stored_write("x34.npy", 2, (const size_t[]){3, 4}, VALUES);
    stored_write("x35.npy", 2, (const size_t[]){3, 5}, VALUES);
    stored_write("x234.npy", 3, (const size_t[]){2, 3, 4}, VALUES);
    stored_write("x4.npy", 1, (const size_t[]){4}, VALUES);
    stored_write("x2225.npy", 4, (const size_t[]){2, 2, 2, 5}, VALUES);
    stored_write("x3225.npy", 4, (const size_t[]){3, 2, 2, 5}, VALUES);
    stored_write("x2325.npy", 4, (const size_t[]){2, 3, 2, 5}, VALUES);
    stored_write("x2235.npy", 4, (const size_t[]){2, 2, 3, 5}, VALUES);
    stored_write("x2224.npy", 4, (const size_t[]){2, 2, 2, 4}, VALUES);
    scratch_write(path, "words.txt", "a\nb\n", 4);
    scratch_write(path, "garbage.npy", "\x93NUMPY", 6);
    scratch_write(path, "garbage.safetensors", "\xff\xff\xff\xff\xff", 5);
    scratch_write(path, "older.npy", "older", 5);
    scratch_write(path, "link.png", "", 0);
}

#define RUN             "run", "--model", "@model.safetensors", "--heads", "2", "--input"
#define ATTEND(q, k, v) "attend", "--query", q, "--key", k, "--value", v

/* ---- Wrong use ---------------------------------------------------------- */

static const struct message_case {
    const char *arguments[24];
    const char *message[3]; /* what standard error must hold */
} WRONG_USES[] = {
    {{NULL}, {"a command is needed"}},
    {{"runn"}, {"unknown command runn; did you mean run?"}},
    {{"--versoin"}, {"did you mean --version?"}},
    {{"xyzzy"}, {"unknown command xyzzy"}},
    {{"--version", "now"}, {"unexpected argument now"}},
    {{"devices", "--jsom"}, {"--jsom", "did you mean --json?"}},
    {{"devices", "0"}, {"unexpected argument 0"}},
    {{"devices", "--json=no"}, {"--json takes no value, but no"}},
    {{"run", "--input", "@x34.npy"}, {"run needs --model F.safetensors"}},
    {{"run", "--model", "@model.safetensors"}, {"run needs --input X.npy"}},
    {{RUN, "@x34.npy", "--causal", "False"},
        {"--causal False", "top-left or bottom-right"}},
    {{RUN, "@x34.npy", "--causal=0"}, {"--causal 0"}},
    {{RUN, "@x34.npy", "--causal"}, {"--causal needs a value"}},
    {{RUN, "@x34.npy", "--show=False"}, {"--show takes no value"}},
    {{RUN, "@x34.npy", "--heads", "2"}, {"--heads is given twice"}},
    {{"run", "--model", "m", "--input", "x", "--heads", "0"},
        {"--heads 0", "from 1 up"}},
    {{"run", "--model", "m", "--input", "x", "--heads", "2.5"},
        {"--heads 2.5"}},
    {{RUN, "@x34.npy", "--layer", "-1"}, {"--layer -1"}},
    {{RUN, "@x34.npy", "--lengths", "3;2"}, {"--lengths 3;2", ".npy"}},
    {{RUN, "@x34.npy", "--weight-order", "oi"}, {"in-out or out-in"}},
    {{RUN, "@x34.npy", "--show", "--head", "first"}, {"--head first", "mean"}},
    {{RUN, "@x34.npy", "--head", "1"},
        {"--head 1", "--show, --picture or --steps"}},
    {{RUN, "@x34.npy", "--tokens", "t"}, {"--tokens t has no effect"}},
    {{RUN, "@x34.npy", "--batch", "0"}, {"--batch 0 has no effect"}},
    {{RUN, "@x34.npy", "--tolerance", "1"}, {"without --expect"}},
    {{RUN, "@x34.npy", "--expect", "y.npy", "--tolerance", "nan"},
        {"--tolerance nan"}},
    {{RUN, "@x34.npy", "--expect", "y.npy", "--tolerance", "-1"},
        {"--tolerance -1"}},
    {{ATTEND("q", "k", "v"), "--scale", "nan"}, {"--scale nan", "finite"}},
    {{ATTEND("q", "k", "v"), "--scale", "inf"}, {"--scale inf", "finite"}},
    {{ATTEND("q", "k", "v"), "--scale", ""}, {"--scale is empty; S is"}},
    {{ATTEND("q", "k", "v"), "--kernel", ""}, {"--kernel is empty; ROW is"}},
    {{ATTEND("q", "k", "v"), "--device="}, {"--device is empty; SPEC is"}},
    {{ATTEND("q", "k", "v"), "--output", ""}, {"--output is empty; O.npy is"}},
    {{ATTEND("", "k", "v")}, {"--query is empty; Q.npy is needed"}},
    {{"bench", "--shape", "1,1,1,1", "--kernel", ""}, {"--kernel is empty"}},
    {{"check", "--markdown", ""}, {"--markdown is empty; F.md is needed"}},
    {{"map", ""}, {"A.npy is empty"}},
    {{ATTEND("q", "k", "v"), "--causal", "False"},
        {"--causal False", "top-left"}},
    {{ATTEND("q", "k", "v"), "--causal", "true"}, {"--causal true"}},
    {{ATTEND("q", "k", "v"), "--layout", "lhbd"}, {"bhld or blhd"}},
    {{ATTEND("q", "k", "v"), "--path", "fast"}, {"auto or materialised"}},
    {{"attend", "--query", "q", "--key", "k"}, {"attend needs --value V.npy"}},
    {{RUN, "@x34.npy", "--output", "@y.npy", "--context", "@./y.npy"},
        {"--output", "--context", "one file for two results"}},
    {{RUN, "@x34.npy", "--lse", "@./x34.npy"},
        {"--lse", "would replace --input", "a file of its own"}},
    {{"map", "@link.png", "--picture", "@link.png"},
        {"--picture", "would replace"}},
    {{"map", "a.npy", "--picture", "p.gif"}, {"p.gif", ".png, .svg or .pdf"}},
    {{"map"}, {"map needs A.npy"}},
    {{"map", "a.npy", "b.npy"}, {"unexpected argument b.npy"}},
    {{"map", "a.npy", "--model", "m"}, {"unknown option --model"}},
};

START_TEST(wrong_use_exits_with_2_and_names_the_option)
{
    const struct message_case *row = &WRONG_USES[_i];
    const char *about = row->message[0];
    program_result got;
    program_run(&got, row->arguments, NULL);
    ck_assert_msg(
        got.code == 2, "%s: exit code %d, %s", about, got.code, got.err);
    ck_assert_msg(got.out[0] == '\0', "%s: printed %s", about, got.out);
    check_sentence(about, got.err);
    for (size_t i = 0; i < 3 && row->message[i]; i++)
        ck_assert_msg(strstr(got.err, row->message[i]) != NULL,
            "\"%s\" does not hold \"%s\"", got.err, row->message[i]);
}
END_TEST

/* ---- Failures ----------------------------------------------------------- */

#define OUTPUTS \
    "--output", "@older.npy", "--attention", "@new.npy", "--lse", "@newer.npy"

static const struct message_case FAILURES[] = {
    {{RUN, "@none.npy", OUTPUTS}, {"none.npy"}},
    {{RUN, "@garbage.npy", OUTPUTS}, {"garbage.npy"}},
    {{RUN, "@words.txt", OUTPUTS}, {"words.txt"}},
    {{RUN, "@x4.npy", OUTPUTS}, {"x4.npy", "rank 1", "2 to 3"}},
    {{RUN, "@x2225.npy", OUTPUTS}, {"x2225.npy", "rank 4", "2 to 3"}},
    {{RUN, "@x35.npy", OUTPUTS},
        {"x35.npy", "width 5", "model.safetensors takes width 4"}},
    {{RUN, "@x34.npy", "--lengths", "4", OUTPUTS},
        {"--lengths 4", "0 to 3", "x34.npy"}},
    {{RUN, "@x34.npy", "--lengths", "-1", OUTPUTS}, {"--lengths -1", "0 to 3"}},
    {{RUN, "@x234.npy", "--lengths", "3", OUTPUTS},
        {"--lengths 3 has 1 value,", "x234.npy has 2 items"}},
    {{RUN, "@x34.npy", "--lengths", "@none.npy", OUTPUTS}, {"none.npy"}},
    {{RUN, "@x34.npy", "--device", "no such device", OUTPUTS},
        {"no such device"}},
    {{RUN, "@x34.npy", "--device", "99", OUTPUTS}, {"99"}},
    {{RUN, "@x34.npy", OUTPUTS, "--context", "@none/c.npy"}, {"none/c.npy"}},
    {{RUN, "@x34.npy", OUTPUTS, "--show", "--head", "2"},
        {"--head 2", "counted from 0"}},
    {{RUN, "@x34.npy", OUTPUTS, "--show", "--batch", "1"}, {"--batch 1"}},
    {{RUN, "@x34.npy", OUTPUTS, "--show", "--tokens", "@words.txt"},
        {"words.txt", "2", "3"}},
    {{RUN, "@x34.npy", OUTPUTS, "--expect", "@x35.npy"},
        {"x35.npy has shape (3, 5), but the output has (3, 4)"}},
    {{"run", "--model", "@model.safetensors", "--input", "@x34.npy", OUTPUTS},
        {"never guessed", "--heads H"}},
    {{"run", "--model", "@model.safetensors", "--input", "@x34.npy", "--heads",
         "3", OUTPUTS},
        {"3 heads do not divide the 4 outputs of W_Q"}},
    {{"run", "--model", "@two.safetensors", "--input", "@x34.npy", OUTPUTS},
        {"2 attention layers", "0, 1"}},
    {{"run", "--model", "@garbage.safetensors", "--input", "@x34.npy", OUTPUTS},
        {"garbage.safetensors"}},
    {{"run", "--model", "@none", "--input", "@x34.npy", OUTPUTS}, {"none"}},
    {{ATTEND("@x2225.npy", "@x2225.npy", "@none.npy"), OUTPUTS}, {"none.npy"}},
    {{ATTEND("@x4.npy", "@x4.npy", "@x4.npy"), OUTPUTS}, {"rank 1", "2 to 4"}},
    {{ATTEND("@x2225.npy", "@x234.npy", "@x234.npy"), OUTPUTS},
        {"x2225.npy has 4 axes, but", "x234.npy has 3"}},
    {{ATTEND("@x2225.npy", "@x3225.npy", "@x3225.npy"), OUTPUTS},
        {"x2225.npy has 2 items, but", "x3225.npy has 3"}},
    {{ATTEND("@x2225.npy", "@x2224.npy", "@x2225.npy"), OUTPUTS},
        {"x2225.npy has 5 columns, but", "x2224.npy has 4"}},
    {{ATTEND("@x2225.npy", "@x2225.npy", "@x2235.npy"), OUTPUTS},
        {"x2225.npy has 2 rows, but", "x2235.npy has 3"}},
    {{ATTEND("@x2225.npy", "@x2225.npy", "@x2325.npy"), OUTPUTS},
        {"x2225.npy has 2 heads, but", "x2325.npy has 3"}},
    {{ATTEND("@x2225.npy", "@x2325.npy", "@x2325.npy"), OUTPUTS},
        {"x2225.npy has 2 heads", "3 heads of"}},
    {{ATTEND("@x2225.npy", "@x2225.npy", "@x2225.npy"), "--causal", "1,2,3",
         OUTPUTS},
        {"--causal 1,2,3 has 3 values", "2 items"}},
    {{ATTEND("@x2225.npy", "@x2225.npy", "@x2225.npy"), "--lengths", "1,3",
         OUTPUTS},
        {"--lengths 1,3", "3 of item 1", "0 to 2"}},
    {{"map", "@none.npy"}, {"none.npy"}},
    {{"map", "@x4.npy"}, {"rank 1", "2 to 4"}},
    {{"map", "@x34.npy", "--tokens", "@words.txt"},
        {"3 queries and 4 keys", "x34.npy"}},
    {{"map", "@x34.npy", "--head", "1"}, {"--head 1", "x34.npy"}},
    {{"map", "@x34.npy", "--picture", "@none/a.png"}, {"none/a.png"}},
};

START_TEST(a_failure_exits_with_1_and_leaves_no_file)
{
    const struct message_case *row = &FAILURES[_i];
    const char *about = row->message[0];
    program_result got;
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    const size_t files = scratch_count("");
    program_run(&got, row->arguments, NULL);
    ck_assert_msg(
        got.code == 1, "%s: exit code %d, %s", about, got.code, got.err);
    check_sentence(about, got.err);
    for (size_t i = 0; i < 3 && row->message[i]; i++)
        ck_assert_msg(strstr(got.err, row->message[i]) != NULL,
            "\"%s\" does not hold \"%s\"", got.err, row->message[i]);
    ck_assert_msg(scratch_count("") == files, "%s: left a file", about);
    char *older = scratch_read(scratch_path(path, "older.npy"), &bytes);
    ck_assert_msg(older && strcmp(older, "older") == 0,
        "%s: changed an older file", about);
    free(older);
}
END_TEST

START_TEST(a_picture_of_20000_words_is_refused_before_the_work)
{
    char path[SCRATCH_PATH];
    const size_t size[] = {20000, 4};
    float *values = calloc(size[0] * size[1], sizeof *values);
    ck_assert_ptr_nonnull(values);
    stored_write("long.npy", 2, size, values);
    free(values);
    const char *const arguments[] = {
        RUN, "@long.npy", "--picture", "@long.png", NULL};
    program_result got;
    program_run(&got, arguments, NULL);
    ck_assert_int_eq(got.code, 1);
    check_sentence("20000 words", got.err);
    ck_assert_msg(strstr(got.err, "20000") != NULL, "%s", got.err);
    remove(scratch_path(path, "long.npy"));
}
END_TEST

START_TEST(a_file_past_the_limit_of_sizes_is_a_failure)
{
    static program_result got;
    static const float VALUES[64 * 32] = {0}; /* more than the limit */
    struct rlimit before, limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    stored_write("long.npy", 2, (const size_t[]){64, 32}, VALUES);
    setrlimit(RLIMIT_FSIZE, &limit);
    program_run(&got,
        (const char *const[]){ATTEND("@long.npy", "@long.npy", "@long.npy"),
            "--reference", "--output", "@never.npy", NULL},
        NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_msg(got.code == EXIT_FAILED &&
                      strstr(got.err, "never.npy: cannot be written") != NULL,
        "exit code %d: %s", got.code, got.err);
}
END_TEST

START_TEST(a_full_disk_behind_standard_output_is_a_failure)
{
    char command[600];
    snprintf(command, sizeof command,
        "'%s' --help >/dev/full 2>/dev/null; test $? = 1", CLATTN_PROGRAM);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* ---- Help, version, devices --------------------------------------------- */

START_TEST(help_names_every_option_of_its_command)
{
    const command *c = COMMANDS[_i];
    const char *const arguments[] = {c->name, "--help", NULL};
    program_result got;
    program_run(&got, arguments, NULL);
    ck_assert_int_eq(got.code, 0);
    ck_assert_str_eq(got.err, "");
    for (size_t i = 0; i < c->row_count; i++)
        ck_assert_msg(strstr(got.out, option_name(c->rows[i].id)) != NULL,
            "clattn %s --help does not name %s", c->name,
            option_name(c->rows[i].id));
}
END_TEST

START_TEST(global_help_names_every_command)
{
    const char *const arguments[] = {"--help", NULL};
    program_result got;
    program_run(&got, arguments, NULL);
    ck_assert_int_eq(got.code, 0);
    for (size_t i = 0; COMMANDS[i]; i++)
        ck_assert_msg(strstr(got.out, COMMANDS[i]->name) != NULL,
            "clattn --help does not name %s", COMMANDS[i]->name);
}
END_TEST

START_TEST(version_is_the_librarys)
{
    const char *const arguments[] = {"--version", NULL};
    char want[200];
    program_result got;
    program_run(&got, arguments, NULL);
    snprintf(want, sizeof want, "clattn %s\n", clattn_version_text());
    ck_assert_int_eq(got.code, 0);
    ck_assert_str_eq(got.out, want);
}
END_TEST

START_TEST(devices_as_json_are_those_of_the_text_and_one_is_the_default)
{
    const char *const as_json[] = {"devices", "--json", NULL};
    const char *const as_text[] = {"devices", NULL};
    program_result text;
    program_result got;
    size_t defaults = 0;
    program_run(&got, as_json, NULL);
    program_run(&text, as_text, NULL);
    ck_assert_int_eq(got.code, 0);
    ck_assert_int_eq(text.code, 0);
    json_t *list = json_loads(got.out, 0, NULL);
    ck_assert_msg(json_is_array(list), "%s", got.out);
    ck_assert_uint_gt(json_array_size(list), 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *d = json_array_get(list, i);
        ck_assert_int_eq(
            json_integer_value(json_object_get(d, "index")), (int)i);
        ck_assert_msg(strstr(text.out, json_string_value(
                                           json_object_get(d, "name"))) != NULL,
            "%s", text.out);
        defaults += json_is_true(json_object_get(d, "default"));
    }
    ck_assert_uint_eq(defaults, 1);
    json_decref(list);
}
END_TEST

/* PoCL shows as many devices as it is told; of others there are as many as there
   are. */
START_TEST(the_index_of_the_list_is_what_device_takes)
{
    const char *const environment[] = {"POCL_DEVICES=basic basic", NULL};
    const char *const list[] = {"devices", "--json", NULL};
    char index[24];
    const char *const run[] = {RUN, "@x34.npy", "--device", index, NULL};
    program_result got;
    program_run(&got, list, environment);
    json_t *devices = json_loads(got.out, 0, NULL);
    const size_t count = json_array_size(devices);
    for (size_t i = 0; i < count; i++) {
        const json_t *name =
            json_object_get(json_array_get(devices, i), "name");
        if (strncmp(json_string_value(name), "basic", 5) != 0)
            continue;
        snprintf(index, sizeof index, "%zu", i);
        program_run(&got, run, environment);
        ck_assert_msg(got.code == 0, "--device %s: %s", index, got.err);
    }
    json_decref(devices);
    snprintf(index, sizeof index, "%zu", count);
    program_run(&got, run, environment);
    ck_assert_msg(got.code == 1 && strstr(got.err, index), "--device %s: %s",
        index, got.err);
}
END_TEST

static int count_commands(void)
{
    int count = 0;
    while (COMMANDS[count])
        count++;
    return count;
}

int main(void)
{
    Suite *suite = suite_create("cli");
    TCase *wrong = tcase_create("wrong use");
    tcase_set_timeout(wrong, 60);
    tcase_add_unchecked_fixture(wrong, make_files, scratch_end);
    tcase_add_loop_test(wrong, wrong_use_exits_with_2_and_names_the_option, 0,
        COUNT(WRONG_USES));
    suite_add_tcase(suite, wrong);
    TCase *failing = tcase_create("failures");
    tcase_set_timeout(failing, 60);
    tcase_add_unchecked_fixture(failing, make_files, scratch_end);
    tcase_add_loop_test(
        failing, a_failure_exits_with_1_and_leaves_no_file, 0, COUNT(FAILURES));
    tcase_add_test(
        failing, a_picture_of_20000_words_is_refused_before_the_work);
    tcase_add_test(failing, a_file_past_the_limit_of_sizes_is_a_failure);
    tcase_add_test(failing, a_full_disk_behind_standard_output_is_a_failure);
    tcase_add_test(failing, the_index_of_the_list_is_what_device_takes);
    suite_add_tcase(suite, failing);
    TCase *telling = tcase_create("help and devices");
    tcase_set_timeout(telling, 60);
    tcase_add_loop_test(
        telling, help_names_every_option_of_its_command, 0, count_commands());
    tcase_add_test(telling, global_help_names_every_command);
    tcase_add_test(telling, version_is_the_librarys);
    tcase_add_test(
        telling, devices_as_json_are_those_of_the_text_and_one_is_the_default);
    suite_add_tcase(suite, telling);
    return suite_main(suite, 0);
}
