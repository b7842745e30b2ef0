/* SPDX-License-Identifier: Apache-2.0
 *
 * test_words.c - token files, terminal widths and the mean of heads.
 */
#include "words.h"

#include <string.h>

#include "data_file.h"
#include "scratch.h"
#include "suite.h"
#include "utf8.h"

#define FFFD "\xEF\xBF\xBD"

/* ---- Files that are read ------------------------------------------------- */

static const struct file_case {
    const char *about;
    const char *data;
    size_t bytes;
    size_t count;
    const char *text[4];
} FILES[] = {
    {"a token a line", BYTES("[CLS]\nthe\n##s\n"), 3, {"[CLS]", "the", "##s"}},
    {"the last newline is optional", BYTES("a\nb"), 2, {"a", "b"}},
    {"CR LF ends a line too", BYTES("a\r\nb\r\n"), 2, {"a", "b"}},
    {"and a last line without LF", BYTES("a\r\nb\r"), 2, {"a", "b"}},
    {"another CR is a control", BYTES("a\rb\n"), 1, {"a" FFFD "b"}},
    {"an empty line is an empty token", BYTES("a\n\nb\n"), 3, {"a", "", "b"}},
    {"also the first", BYTES("\na\n"), 2, {"", "a"}},
    {"spaces belong to a token", BYTES(" a \n"), 1, {" a "}},
    {"a byte order mark does not",
        BYTES("\xEF\xBB\xBF"
              "a\n"),
        1, {"a"}},
    {"but on the second line",
        BYTES("a\n\xEF\xBB\xBF"
              "b\n"),
        2,
        {"a", "\xEF\xBB\xBF"
              "b"}},
    {"an empty file has no tokens", BYTES(""), 0, {0}},
    {"several scripts",
        BYTES("\xE5\xB1\xB1\xE7\xBE\x8A\n\xC3\xA9\n\xF0\x9F\x90\x90\n"), 3,
        {"\xE5\xB1\xB1\xE7\xBE\x8A", "\xC3\xA9", "\xF0\x9F\x90\x90"}},
    {"escape and tab", BYTES("\x1b[2J\ta\n"), 1, {FFFD "[2J" FFFD "a"}},
    {"zero bytes", BYTES("a\0b\n"), 1, {"a" FFFD "b"}},
    {"DEL and C1 controls",
        BYTES("\x7f\xC2\x9B"
              "m\xC2\xA0\n"),
        1, {FFFD FFFD "m\xC2\xA0"}},
    {"what turns the direction, first and last of both ranges",
        BYTES("\xE2\x80\xAA\xE2\x80\xAE"
              "a\xE2\x81\xA6\xE2\x81\xA9\n"),
        1, {FFFD FFFD "a" FFFD FFFD}},
    {"their neighbours stay", BYTES("\xE2\x80\xAF\xE2\x81\xAA\n"), 1,
        {"\xE2\x80\xAF\xE2\x81\xAA"}},
    {"line separators",
        BYTES("a\xE2\x80\xA8"
              "b\n"),
        1, {"a" FFFD "b"}},
    {"a stray continuation",
        BYTES("a\x80"
              "b\n"),
        1, {"a" FFFD "b"}},
    {"a cut character at the end", BYTES("a\xE5\xB1\n"), 1, {"a" FFFD}},
    {"a cut character before another",
        BYTES("\xE5\xB1"
              "b\n"),
        1, {FFFD "b"}},
    {"an overlong slash", BYTES("\xC0\xAF\n"), 1, {FFFD FFFD}},
    {"an overlong form of three", BYTES("\xE0\x9F\xBF\n"), 1, {FFFD FFFD FFFD}},
    {"an overlong form of four", BYTES("\xF0\x8F\xBF\xBF\n"), 1,
        {FFFD FFFD FFFD FFFD}},
    {"a surrogate", BYTES("\xED\xA0\x80\n"), 1, {FFFD FFFD FFFD}},
    {"beyond U+10FFFF", BYTES("\xF4\x90\x80\x80\n"), 1, {FFFD FFFD FFFD FFFD}},
    {"the last character there is", BYTES("\xF4\x8F\xBF\xBF\n"), 1,
        {"\xF4\x8F\xBF\xBF"}},
    {"Latin-1", BYTES("caf\xE9\n"), 1, {"caf" FFFD}},
};

START_TEST(token_files_become_printable_words)
{
    const struct file_case *c = &FILES[_i];
    char path[SCRATCH_PATH];
    failure f = {.text = ""};
    words w;
    scratch_write(path, "tokens.txt", c->data, c->bytes);
    ck_assert_msg(
        words_read(&w, path, c->count, &f), "%s: %s", c->about, f.text);
    ck_assert_msg(w.count == c->count, "%s: %zu words", c->about, w.count);
    for (size_t i = 0; i < c->count; ++i)
        ck_assert_msg(strcmp(w.text[i], c->text[i]) == 0,
            "%s: word %zu is '%s', not '%s'", c->about, i, w.text[i],
            c->text[i]);
    words_free(&w);
}
END_TEST

/* ---- Files that are refused ---------------------------------------------- */

static void check_refusal(
    const char *path, size_t expected, const char *message)
{
    failure f = {.text = ""};
    words w = {7, NULL};
    ck_assert_msg(!words_read(&w, path, expected, &f), "%s is read", path);
    ck_assert_msg(
        strncmp(f.text, path, strlen(path)) == 0 && strstr(f.text, message),
        "'%s' begins not with '%s' or lacks '%s'", f.text, path, message);
    ck_assert_msg(w.count == 0 && !w.text, "words are left after: %s", f.text);
}

START_TEST(another_number_of_tokens_names_both)
{
    char path[SCRATCH_PATH];
    scratch_write(path, "three.txt", BYTES("a\nb\nc\n"));
    check_refusal(path, 2, "3 tokens, but 2 are needed");
    check_refusal(path, 4, "3 tokens, but 4 are needed");
    check_refusal(path, 0, "3 tokens, but 0 are needed");
    scratch_write(path, "empty.txt", BYTES(""));
    check_refusal(path, 1, "0 tokens, but 1 are needed");
}
END_TEST

START_TEST(what_is_no_token_file_is_refused)
{
    char path[SCRATCH_PATH], line[5000];
    scratch_path(path, "missing.txt");
    check_refusal(path, 1, "No such file");
    scratch_path(path, "");
    check_refusal(path, 1, "is a folder");
    memset(line, 'x', sizeof line);
    scratch_write(path, "long.txt", line, sizeof line);
    check_refusal(path, 1, "line 1 is longer than a token may be: 4096 bytes");
    scratch_write(path, "longest.txt", line, 4096);
    words w;
    failure f;
    ck_assert_msg(words_read(&w, path, 1, &f), "%s", f.text);
    ck_assert_uint_eq(strlen(w.text[0]), 4096);
    words_free(&w);
    /* Never ends, never has a newline: memory must not follow it. */
    check_refusal("/dev/zero", 1, "line 1 is longer");
}
END_TEST

/* ---- The rest ------------------------------------------------------------ */

START_TEST(numbers_stand_in_for_tokens)
{
    failure f;
    words w;
    ck_assert(words_number(&w, 12, &f));
    ck_assert_uint_eq(w.count, 12);
    ck_assert_str_eq(w.text[0], "0");
    ck_assert_str_eq(w.text[11], "11");
    words_free(&w);
    ck_assert_uint_eq(w.count, 0);
    words_free(&w);
    words_free(NULL);
    ck_assert(words_number(&w, 0, &f));
    ck_assert_uint_eq(w.count, 0);
    words_free(&w);
}
END_TEST

static const struct width_case {
    const char *about, *text;
    size_t columns;
} WIDTHS[] = {
    {"nothing", "", 0},
    {"ASCII", "##ing", 5},
    {"Latin", "\xC3\xA9t\xC3\xA9", 3},
    {"a letter and its accent", "e\xCC\x81", 1},
    {"Chinese", "\xE5\xB1\xB1\xE7\xBE\x8A", 4},
    {"kana", "\xE3\x81\x82\xE3\x82\xAB", 4},
    {"half-width kana", "\xEF\xBD\xB1", 1},
    {"a full-width letter", "\xEF\xBC\xA1", 2},
    {"a Hangul syllable", "\xED\x95\x9C", 2},
    {"the same of three parts", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 2},
    {"an ideographic space", "\xE3\x80\x80", 2},
    {"an animal", "\xF0\x9F\x90\x90", 2},
    {"extension B", "\xF0\xA0\x80\x80", 2},
    {"Hebrew with points", "\xD7\xA9\xD6\xB8\xD7\x81", 1},
    {"Hindi", "\xE0\xA4\x95\xE0\xA5\x8D", 1},
    {"Thai", "\xE0\xB8\x81\xE0\xB8\xB4", 1},
    {"a zero-width joiner", "\xE2\x80\x8D", 0},
    {"a variation selector", "\xE2\x9D\xA4\xEF\xB8\x8F", 1},
    {"the replacement character", FFFD, 1},
    {"SentencePiece's underline", "\xE2\x96\x81the", 4},
    {"GPT-2's space", "\xC4\xA0the", 4},
};

START_TEST(width_counts_terminal_columns)
{
    const struct width_case *c = &WIDTHS[_i];
    size_t columns = words_width(c->text);
    ck_assert_msg(columns == c->columns, "%s: '%s' takes %zu columns, not %zu",
        c->about, c->text, columns, c->columns);
}
END_TEST

static size_t encode(char *text, uint32_t code)
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3F));
    text[0] = (char)((0xF00u >> length) | code);
    return length;
}

/* Whole, each character is itself; cut short anywhere, it is one replacement.
   (An assertion for each of three million would take a minute.) */
START_TEST(every_code_point_is_decoded_and_every_cut_is_not)
{
    char text[4];
    uint32_t code;
    for (uint32_t u = 0; u <= 0x10FFFF; ++u) {
        if (u >= 0xD800 && u <= 0xDFFF)
            continue;
        size_t length = encode(text, u);
        for (size_t bytes = 1; bytes <= length; ++bytes) {
            uint32_t wanted = bytes == length ? u : UTF8_REPLACEMENT;
            size_t got = utf8_decode(&code, text, bytes);
            if (got != bytes || code != wanted)
                ck_abort_msg("%zu bytes of U+%04X are decoded as U+%04X of %zu",
                    bytes, (unsigned)u, (unsigned)code, got);
        }
    }
}
END_TEST

START_TEST(mean_is_taken_over_heads)
{
    /* Three heads of two elements.  0.1f three times: a sum in f32 would be
       rounded twice and miss 0.1f. */
    const float weights[] = {0.1f, 1.0f, 0.1f, 2.0f, 0.1f, 6.0f};
    float mean[3] = {-1, -1, -1};
    reading_mean(mean, weights, 3, 2);
    ck_assert(mean[0] == 0.1f);
    ck_assert(mean[1] == 3.0f);
    ck_assert(mean[2] == -1.0f);
    reading_mean(mean, weights, 1, 2);
    ck_assert(mean[1] == 1.0f);
}
END_TEST

int main(void)
{
    TCase *files = tcase_create("files");
    tcase_add_unchecked_fixture(files, scratch_begin, scratch_end);
    tcase_add_loop_test(
        files, token_files_become_printable_words, 0, (int)COUNT(FILES));
    tcase_add_test(files, another_number_of_tokens_names_both);
    tcase_add_test(files, what_is_no_token_file_is_refused);

    TCase *text = tcase_create("text");
    tcase_add_test(text, numbers_stand_in_for_tokens);
    tcase_add_loop_test(
        text, width_counts_terminal_columns, 0, (int)COUNT(WIDTHS));
    tcase_add_test(text, every_code_point_is_decoded_and_every_cut_is_not);
    tcase_add_test(text, mean_is_taken_over_heads);

    Suite *suite = suite_create("words");
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, text);
    return suite_main(suite, 0);
}
