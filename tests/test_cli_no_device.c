/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_no_device.c - every command of the program on machines without a
 * device: it says what is wrong there, and what to install.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "drivers.h"
#include "stored.h"
#include "suite.h"
#include "tensors.h"

/* Commands that need a device; `attend` and `run` find all their files. */
static const struct command_line {
    const char *arguments[12];
} COMMAND_LINES[] = {
    {{"run", "--model", "@model.safetensors", "--heads", "2", "--input",
        "@x.npy", "--output", "@out.npy"}},
    {{"attend", "--query", "@x.npy", "--key", "@x.npy", "--value", "@x.npy"}},
    {{"bench", "--shape", "1,1,4,4"}},
    {{"check", "--quick"}},
    {{"check", "--device", "gpu", "--quick"}},
    {{"bench", "--shape", "1,1,4,4", "--device", "0"}},
};

static void make_files(void)
{
    static const tensor_row MODEL[] = {{"W_Q", 2, {4, 4}, 0},
        {"W_K", 2, {4, 4}, 0}, {"W_V", 2, {4, 4}, 0}, {NULL, 0, {0}, 0}};
    static const float VALUES[12] = {0};
    char path[SCRATCH_PATH];
    scratch_begin();
    tensors_write(path, "model.safetensors", MODEL, NULL, NULL);
    stored_write("x.npy", 2, (const size_t[]){3, 4}, VALUES);
}

static void run_on(
    program_result *got, const no_device *machine, const char *const *arguments)
{
    char line[DRIVERS_LINE];
    const char *const environment[] = {
        drivers_line(line, machine->folder, machine->drivers), machine->devices,
        NULL};
    program_run(got, arguments, environment);
}

static void check_words(
    const no_device *machine, const char *command, const char *text)
{
    static const char *const ALWAYS[] = {
        "no OpenCL device found", "install", "pocl-opencl-icd", "passed over"};
    for (size_t i = 0; i < COUNT(ALWAYS); ++i)
        ck_assert_msg(strstr(text, ALWAYS[i]) != NULL,
            "%s on %s: no \"%s\" in: %s", command, machine->about, ALWAYS[i],
            text);
    for (size_t i = 0; machine->words[i]; ++i)
        ck_assert_msg(strstr(text, machine->words[i]) != NULL,
            "%s on %s: no \"%s\" in: %s", command, machine->about,
            machine->words[i], text);
}

START_TEST(a_command_that_needs_a_device_fails_with_a_sentence)
{
    static program_result got;
    const no_device *machine = &NO_DEVICE[_i];
    for (size_t i = 0; i < COUNT(COMMAND_LINES); ++i) {
        const char *const *arguments = COMMAND_LINES[i].arguments;
        run_on(&got, machine, arguments);
        const char *newline = strchr(got.err, '\n');
        ck_assert_msg(got.code == EXIT_FAILED && got.out[0] == '\0',
            "%s on %s: exit code %d: %s%s", arguments[0], machine->about,
            got.code, got.out, got.err);
        ck_assert_msg(strncmp(got.err, "clattn: ", 8) == 0 && newline &&
                          newline[1] == '\0',
            "%s on %s: no single sentence: %s", arguments[0], machine->about,
            got.err);
        check_words(machine, arguments[0], got.err);
    }
}
END_TEST

START_TEST(the_list_of_devices_is_empty_and_says_why)
{
    static program_result got;
    const no_device *machine = &NO_DEVICE[_i];
    run_on(&got, machine, (const char *const[]){"devices", NULL});
    ck_assert_msg(got.code == EXIT_DONE && got.err[0] == '\0', "%d: %s",
        got.code, got.err);
    check_words(machine, "devices", got.out);

    run_on(&got, machine, (const char *const[]){"devices", "--json", NULL});
    ck_assert_msg(got.code == EXIT_DONE && strcmp(got.out, "[]\n") == 0,
        "%d: %s", got.code, got.out);
    check_words(machine, "devices --json", got.err);
}
END_TEST

START_TEST(what_needs_no_device_works)
{
    static program_result got;
    run_on(&got, &NO_DEVICE[_i], (const char *const[]){"map", "@x.npy", NULL});
    ck_assert_msg(got.code == EXIT_DONE && got.err[0] == '\0', "%d: %s",
        got.code, got.err);
}
END_TEST

/* Beside a device that works. */
START_TEST(what_is_broken_is_told_below_what_works)
{
    static const no_device some = {"two that are broken beside PoCL", "some",
        DRIVER_HOLLOW | DRIVER_MISSING | DRIVER_POCL, "HOLLOW_DEVICES=-1",
        {"\npassed over: Hollow?Platform: ", "a_missing.icd: libno_such"}};
    static program_result got;
    run_on(&got, &some, (const char *const[]){"devices", NULL});
    ck_assert_msg(got.code == EXIT_DONE && got.err[0] == '\0', "%d: %s",
        got.code, got.err);
    ck_assert_msg(strncmp(got.out, "0  ", 3) == 0 &&
                      strstr(got.out, "no OpenCL device") == NULL,
        "%s", got.out);
    for (size_t i = 0; some.words[i]; ++i)
        ck_assert_msg(strstr(got.out, some.words[i]) != NULL, "%s", got.out);

    run_on(&got, &some,
        (const char *const[]){
            "bench", "--shape", "1,1,4,4", "--device", "nvidia", NULL});
    ck_assert_msg(got.code == EXIT_FAILED &&
                      strstr(got.err, "no device matches 'nvidia'") != NULL &&
                      strstr(got.err, "a_missing.icd") != NULL,
        "%d: %s", got.code, got.err);
}
END_TEST

int main(void)
{
    const int machines = (int)NO_DEVICE_COUNT;
    TCase *t = tcase_create("no device");
    tcase_add_unchecked_fixture(t, make_files, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, a_command_that_needs_a_device_fails_with_a_sentence, 0, machines);
    tcase_add_loop_test(
        t, the_list_of_devices_is_empty_and_says_why, 0, machines);
    tcase_add_loop_test(t, what_needs_no_device_works, 0, machines);
    tcase_add_test(t, what_is_broken_is_told_below_what_works);

    Suite *suite = suite_create("cli no device");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
