/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_terminal.c - arguments, names of files and the environment with
 * controls in them: none of these comes to a terminal from the program.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"
#include "utf8.h"

/* ESC, CSI as UTF-8 and as a byte, turned text, and a letter that stays. */
#define WILD           \
    "\x1b[31m\xC2\x9B" \
    "1m\x9b"           \
    "4m\u202E\u00fc"
#define KEPT "?[31m?1m?4m?\u00fc"

static const struct {
    const char *arguments[12];
    const char *environment; /* or NULL */
    bool on_out;             /* else on standard error */
} LINES[] = {
    {{WILD}, NULL, false},
    {{"--help", WILD}, NULL, false},
    {{"devices", "--" WILD}, NULL, false},
    {{"devices"}, "CLATTN_DEVICE=" WILD, true},
    {{"map", "@" WILD ".npy"}, NULL, false},
    {{"map", "@x" WILD ".npy", "--show"}, NULL, true},
    {{"map", "@x.npy", "--picture", "@" WILD ".svg"}, NULL, true},
    {{"map", "@x.npy", "--tokens", "@" WILD}, NULL, false},
    {{"attend", "--reference", "--query", "@x.npy", "--key", "@x.npy",
         "--value", "@x.npy", "--output", "@" WILD ".npy"},
        NULL, true},
    {{"run", "--model", "@" WILD, "--input", "@x.npy", "--heads", "1"}, NULL,
        false},
    {{"bench", "--shape", "1,1,4,4", "--device", WILD}, NULL, false},
    {{"check", "--quick", "--draw", WILD}, NULL, false},
};

static void make_files(void)
{
    static const float VALUES[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    scratch_begin();
    stored_write("x.npy", 2, (const size_t[]){3, 3}, VALUES);
    stored_write("x" WILD ".npy", 2, (const size_t[]){3, 3}, VALUES);
}

static void check_fit(size_t line, const char *text)
{
    bool fit;
    for (size_t bytes = strlen(text), length; bytes > 0; bytes -= length) {
        length = utf8_next(&fit, text, bytes);
        ck_assert_msg(fit || *text == '\n', "line %zu: byte 0x%02x before %s",
            line, (unsigned)(unsigned char)*text, text + 1);
        text += length;
    }
}

START_TEST(no_control_comes_through)
{
    static program_result got;
    const char *const environment[] = {LINES[_i].environment, NULL};
    const size_t line = (size_t)_i;
    program_run(&got, LINES[_i].arguments, environment);
    check_fit(line, got.out);
    check_fit(line, got.err);
    const char *text = LINES[_i].on_out ? got.out : got.err;
    ck_assert_msg(strstr(text, KEPT) != NULL, "line %zu: exit code %d: %s%s",
        line, got.code, got.out, got.err);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("terminal");
    tcase_add_unchecked_fixture(t, make_files, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, no_control_comes_through, 0, (int)COUNT(LINES));

    Suite *suite = suite_create("cli terminal");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
