/* SPDX-License-Identifier: Apache-2.0
 *
 * test_foreign_text.c - texts of users and drivers in messages, lists and logs:
 * no control of a terminal comes through, and what is UTF-8 stays.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_opencl.h"

#include "error.h"
#include "passed_over.h"
#include "suite.h"
#include "utf8.h"

/* ---- Cleaning ------------------------------------------------------------- */

static const struct {
    const char *about, *text, *line, *lines;
} TEXTS[] = {
    {"nothing", "", "", ""},
    {"ASCII", "a b~", "a b~", "a b~"},
    {"letters of two to four bytes", "\u00fc\u20ac\U0001F600",
        "\u00fc\u20ac\U0001F600", "\u00fc\u20ac\U0001F600"},
    {"the replacement itself", "\xEF\xBF\xBD", "\xEF\xBF\xBD", "\xEF\xBF\xBD"},
    {"the first beyond C1", "\xC2\xA0", "\xC2\xA0", "\xC2\xA0"},
    {"escape", "a\x1b[2J", "a?[2J", "a?[2J"},
    {"line ends and tabs", "a\tb\r\nc", "a?b??c", "a\tb?\nc"},
    {"DEL", "\x7f", "?", "?"},
    {"C1 as UTF-8",
        "\xC2\x80x\xC2\x9B"
        "31m\xC2\x9F",
        "?x?31m?", "?x?31m?"},
    {"C1 as bytes",
        "\x80\x9b"
        "31m\x9f",
        "??31m?", "??31m?"},
    {"bytes of no UTF-8", "\xff\xfe\xc0\xaf", "????", "????"},
    {"a surrogate", "\xED\xA0\x80", "???", "???"},
    {"cut at the end", "a\xE2\x82", "a?", "a?"},
    {"cut before a letter", "\xF0\x9F\x98z", "?z", "?z"},
    {"line and paragraph separators", "\u2028\u2029", "??", "??"},
    {"turned text", "\u202Ea\u2066", "?a?", "?a?"},
};

START_TEST(controls_become_question_marks_and_the_rest_stays)
{
    char text[64];
    snprintf(text, sizeof text, "%s", TEXTS[_i].text);
    utf8_clean(text);
    ck_assert_msg(
        strcmp(text, TEXTS[_i].line) == 0, "%s: %s", TEXTS[_i].about, text);
    snprintf(text, sizeof text, "%s", TEXTS[_i].text);
    utf8_clean_lines(text);
    ck_assert_msg(
        strcmp(text, TEXTS[_i].lines) == 0, "%s: %s", TEXTS[_i].about, text);
}
END_TEST

/* ---- Messages ------------------------------------------------------------- */

#define WILD           \
    "\x1b[31m\xC2\x9B" \
    "2J\x9b\xff\u00fc"
#define CLEAN "?[31m?2J??\u00fc"

static void check(const char *what, const char *text)
{
    ck_assert_msg(strstr(text, CLEAN) != NULL, "%s: %s", what, text);
    for (const char *at = text; *at; ++at)
        ck_assert_msg(
            (unsigned char)*at >= ' ' && *at != 0x7f, "%s: %s", what, text);
}

START_TEST(messages_are_clean_and_so_is_where_they_are_cut)
{
    static char text[2000];
    clattn_error error;
    error_set(&error, CLATTN_INVALID, "it is %s", WILD);
    check("message", error.message);
    for (size_t i = 0; i + 3 < sizeof text; i += 2)
        memcpy(text + i, "\u00fc", 2);
    error_set(&error, CLATTN_INVALID, "%s", text);
    ck_assert_int_eq(error.message[strlen(error.message) - 1], '?');

    passed_over passed = {.platforms = 1};
    passed_over_add(&passed, WILD, "no");
    passed_over_add(&passed, "b", WILD);
    error_set(&error, CLATTN_NO_DEVICE, "none");
    passed_over_tell(&passed, &error);
    check("passed over", error.message);
    ck_assert_msg(strstr(passed.text, ": no\nb: ") != NULL, "%s", passed.text);
    ck_assert_uint_eq(passed.length, strlen(passed.text));
}
END_TEST

START_TEST(a_spec_is_quoted_clean)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    FAKE_DEVICE = fake_cpu();
    ck_assert_int_eq(
        clattn_context_create(&ctx, WILD, &error), CLATTN_NO_DEVICE);
    check("spec", error.message);
}
END_TEST

START_TEST(the_list_of_devices_is_clean)
{
    clattn_error error;
    clattn_device device = {.struct_size = sizeof device};
    FAKE_DEVICE = fake_cpu();
    FAKE_DEVICE.platform = FAKE_DEVICE.name = "a " WILD;
    ck_assert_msg(clattn_device_get(&device, 0, &error) == CLATTN_OK, "%s",
        error.message);
    check("platform", device.platform);
    check("name", device.name);
    check("vendor", device.vendor);
    check("driver", device.driver);
    check("version", device.version);
    check("language", device.c_version);
}
END_TEST

START_TEST(the_log_of_a_build_is_clean_but_for_its_lines)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    clattn_linear linear;
    clattn_plan *plan = NULL;
    char log[200];
    FAKE_DEVICE = fake_cpu();
    FAKE_DEVICE.refuses_to_build = true;
    FAKE_DEVICE.build_log = "one\nerror: " WILD;
    clattn_linear_init(&linear, sizeof linear);
    linear.rows = linear.n_in = linear.n_out = 3;
    linear.dtype = CLATTN_F32;
    linear.weight_order = CLATTN_IN_OUT;
    ck_assert_int_eq(clattn_context_create(&ctx, NULL, NULL), CLATTN_OK);
    ck_assert_int_ne(
        clattn_linear_plan(&plan, ctx, &linear, &error), CLATTN_OK);
    ck_assert_uint_gt(clattn_context_build_log(ctx, log, sizeof log), 1);
    ck_assert_str_eq(log, "one\nerror: " CLEAN);
    clattn_context_destroy(ctx);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("foreign text");
    tcase_add_loop_test(t, controls_become_question_marks_and_the_rest_stays, 0,
        (int)COUNT(TEXTS));
    tcase_add_test(t, messages_are_clean_and_so_is_where_they_are_cut);
    tcase_add_test(t, a_spec_is_quoted_clean);
    tcase_add_test(t, the_list_of_devices_is_clean);
    tcase_add_test(t, the_log_of_a_build_is_clean_but_for_its_lines);

    Suite *suite = suite_create("foreign text");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
