/* SPDX-License-Identifier: Apache-2.0
 *
 * test_show.c - reading lists and shaded matrices in a terminal.
 */
#define _XOPEN_SOURCE 600 /* posix_openpt, setenv */
#include "show.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "suite.h"

enum {
    MOST = 120,
    LINE = 4000
};

static char *shown(const reading *r, show_style style)
{
    FILE *to = capture_begin();
    show_reading(to, r, style);
    return capture_end(to);
}

static const show_style PLAIN = {0, 80, 0};
static const show_style COLOUR = {1, 80, 1};

/* "It" reads "goat" most; one row is empty, one has a NaN. */
static char *const GOAT[] = {"the", "goat", "saw", "the", "it"};
static const float GOAT_WEIGHTS[25] = {0.50f, 0.30f, 0.10f, 0.08f,
    0.02f,                              /* the */
    0.00f, 0.00f, 0.00f, 0.00f, 0.00f,  /* goat */
    0.25f, 0.25f, 0.20f, 0.16f, 0.14f,  /* saw: two alike */
    0.10f, 0.20f, NAN, 0.30f, 0.30f,    /* the */
    0.04f, 0.83f, 0.00f, 0.00f, 0.13f}; /* it */

static reading goat_reading(const words *names)
{
    return (reading){5, 5, GOAT_WEIGHTS, names, names, "head 1"};
}

static const words GOAT_WORDS = {5, (char **)(void *)GOAT};

START_TEST(plain_text_is_exactly_this)
{
    const reading r = goat_reading(&GOAT_WORDS);
    char *text = shown(&r, PLAIN);
    ck_assert_str_eq(text,
        "head 1: what each word reads most (the:0 is word 0)\n"
        "  0 the   the:0 0.50 #####        goat 0.30 ###      saw 0.10 #\n"
        "  1 goat  reads nothing\n"
        "  2 saw   the:0 0.25 ###          goat 0.25 ###      saw 0.20 ##\n"
        "  3 the     saw  nan             the:3 0.30 ###       it 0.30 ###\n"
        "  4 it     goat 0.83 ########       it 0.13 #      the:0 0.04\n"
        "\n"
        "rows read columns:\n"
        "           0  1  2  3  4\n"
        "  0 the   ++ -- .. ..\n"
        "  1 goat\n"
        "  2 saw   -- -- :: :: ::\n"
        "  3 the   .. :: ?? -- --\n"
        "  4 it       @@       ..\n"
        "  0 \" .:-=+*#%@\" 0.83\n");
    free(text);
}
END_TEST

START_TEST(colour_paints_the_same_words_and_numbers)
{
    const reading r = goat_reading(&GOAT_WORDS);
    char *text = shown(&r, COLOUR);
    ck_assert_msg(strstr(text, "goat 0.83 \033[38;5;37m\u2588") != NULL,
        "no block bar behind the weight:\n%s", text);
    ck_assert_msg(strstr(text, "#") == NULL, "a # in:\n%s", text);
    size_t on = 0, off = 0;
    for (const char *at = text; (at = strchr(at, '\033')) != NULL; ++at)
        if (strncmp(at, "\033[0m", 4) == 0)
            ++off;
        else
            ++on;
    ck_assert_uint_gt(on, 25); /* a cell each, and the bars */
    ck_assert_uint_eq(on, off);
    free(text);
}
END_TEST

START_TEST(block_bars_show_eighths)
{
    static char *const one[] = {"a"};
    static const char *const bars[] = {"\u2588\u258f", "\u2588\u258e",
        "\u2588\u258d", "\u2588\u258c", "\u2588\u258b", "\u2588\u258a",
        "\u2588\u2589", "\u2588\u2588"};
    const words names = {1, (char **)(void *)one};
    const float weight = (float)(9 + _i) / 80.0f; /* of a bar of 10 */
    const reading r = {1, 1, &weight, &names, &names, "t"};
    char *text = shown(&r, (show_style){0, 80, 1});
    char line[100];
    snprintf(line, sizeof line, "  0 a  a %.2f %s\n", (double)weight, bars[_i]);
    ck_assert_msg(strstr(text, line) != NULL, "no line\n%sin\n%s", line, text);
    free(text);
}
END_TEST

/* More than the whole fills the bar, and no more. */
START_TEST(bars_end_where_their_room_does)
{
    static char *const one[] = {"a"};
    static const struct {
        float weight;
        const char *line;
    } BARS[] = {{1.0f, "  0 a  a 1.00 ##########\n"},
        {INFINITY, "  0 a  a inf ##########\n"}};
    const words names = {1, (char **)(void *)one};
    const reading r = {1, 1, &BARS[_i].weight, &names, &names, "t"};
    char *text = shown(&r, PLAIN);
    ck_assert_msg(strstr(text, BARS[_i].line) != NULL, "no line\n%sin\n%s",
        BARS[_i].line, text);
    free(text);
}
END_TEST

/* ---- Any size ------------------------------------------------------------ */

static const struct size_case {
    const char *about;
    size_t rows, columns, width;
    const char *word; /* before the number, where there is room */
} SIZES[] = {
    {"one word", 1, 1, 80, "w"},
    {"one word in a narrow terminal", 1, 1, 10, "w"},
    {"a sentence", 14, 14, 80, "w"},
    {"a sentence in a narrow terminal", 14, 14, 40, "w"},
    {"long words", 14, 14, 80, "Donaudampfschifffahrtsgesellschaft"},
    {"long words, narrow", 14, 14, 40, "Donaudampfschifffahrtsgesellschaft"},
    {"Chinese", 20, 20, 80, "\u5c71\u7f8a"},
    {"Chinese, narrow", 20, 20, 40, "\u5c71\u7f8a\u5c71\u7f8a\u5c71\u7f8a"},
    {"the longest with a matrix", 30, 30, 100, "w"},
    {"the longest, a column too few for wide cells", 30, 30, 98, "w"},
    {"a paragraph", 95, 95, 80, "word"},
    {"a paragraph, wide", 95, 95, 200, "word"},
    {"more keys than queries", 3, 95, 80, "word"},
    {"more queries than keys", 95, 2, 80, "word"},
    {"empty words", 9, 9, 80, ""},
};

typedef struct sentence {
    char letters[MOST][100];
    char *text[MOST];
    words names;
    float weight[MOST * MOST];
} sentence;

/* Row i reads key (i * 7) % columns with 0.5 and the others alike. */
static sentence *sentence_new(const struct size_case *c)
{
    sentence *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < MOST; ++i) {
        s->text[i] = s->letters[i];
        if (c->word[0] != '\0')
            snprintf(s->letters[i], sizeof s->letters[i], "%s%zu", c->word, i);
    }
    s->names = (words){0, s->text};
    for (size_t i = 0; i < c->rows; ++i)
        for (size_t j = 0; j < c->columns; ++j)
            s->weight[i * c->columns + j] =
                j == i * 7 % c->columns ? 0.5f : 0.5f / (float)c->columns;
    return s;
}

static char *sentence_shown(
    const struct size_case *c, sentence *s, show_style style)
{
    words queries = {c->rows, s->text}, keys = {c->columns, s->text};
    const reading r = {
        c->rows, c->columns, s->weight, &queries, &keys, "mean of 12 heads"};
    return shown(&r, style);
}

START_TEST(no_line_is_wider_than_the_terminal)
{
    const struct size_case *c = &SIZES[_i];
    const size_t width = c->width < 40 ? 40 : c->width;
    sentence *s = sentence_new(c);
    char *text = sentence_shown(c, s, (show_style){0, c->width, _i % 2});
    char line[LINE];
    size_t lines = 0;
    const char *next = strchr(text, '\n') + 1; /* the title is the caller's */
    while ((next = capture_line(line, sizeof line, next)) != NULL) {
        ++lines;
        ck_assert_msg(words_width(line) <= width, "%s: %zu columns: %s",
            c->about, words_width(line), line);
        ck_assert_msg(strchr(line, '\033') == NULL,
            "%s: an escape sequence in plain text: %s", c->about, line);
        ck_assert_msg(line[0] == '\0' || line[strlen(line) - 1] != ' ',
            "%s: blanks at the end of: \"%s\"", c->about, line);
    }
    ck_assert_msg(lines >= c->rows, "%s: %zu lines", c->about, lines);
    free(text);
    free(s);
}
END_TEST

START_TEST(every_word_has_a_line_with_what_it_reads_most)
{
    const struct size_case *c = &SIZES[_i];
    sentence *s = sentence_new(c);
    char *text = sentence_shown(c, s, (show_style){0, c->width, 0});
    char line[LINE], begin[40], number[40];
    const char *next = strchr(text, '\n') + 1;
    for (size_t i = 0; i < c->rows; ++i) {
        next = capture_line(line, sizeof line, next);
        ck_assert_msg(next != NULL, "%s: no line for row %zu", c->about, i);
        snprintf(begin, sizeof begin, "%zu ", i);
        snprintf(number, sizeof number, " 0.%s", c->columns == 1 ? "5" : "50");
        ck_assert_msg(
            strncmp(line + strspn(line, " "), begin, strlen(begin)) == 0,
            "%s: row %zu is: %s", c->about, i, line);
        ck_assert_msg(strstr(line, number) != NULL,
            "%s: row %zu has no weight%s: %s", c->about, i, number, line);
    }
    free(text);
    free(s);
}
END_TEST

START_TEST(weights_stand_below_each_other_whatever_the_script)
{
    static char *const mixed[] = {"a", "\u5c71\u7f8a", "e\u0301", "goat"};
    static const float weight[16] = {
        0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0};
    const words names = {4, (char **)(void *)mixed};
    const reading r = {4, 4, weight, &names, &names, "t"};
    char *text = shown(&r, PLAIN);
    char line[LINE];
    const char *next = strchr(text, '\n') + 1;
    for (size_t i = 0; i < 4; ++i) {
        next = capture_line(line, sizeof line, next);
        char *number = strstr(line, " 1.00");
        ck_assert_msg(number != NULL, "row %zu: %s", i, line);
        *number = '\0';
        /* index, query of 4 columns, key of 4 */
        ck_assert_msg(words_width(line) == 2 + 1 + 1 + 4 + 2 + 4,
            "row %zu: the weight follows column %zu: %s", i, words_width(line),
            line);
    }
    free(text);
}
END_TEST

static const struct {
    const char *about;
    size_t rows, columns, width;
    bool drawn;
} MATRICES[] = {
    {"a word", 1, 1, 80, true},
    {"30 words", 30, 30, 120, true},
    {"30 words in narrow cells", 30, 30, 75, true},
    {"30 words in the least that holds them", 30, 30, 69, true},
    {"30 words that do not fit", 30, 30, 68, false},
    {"31 rows", 31, 30, 200, false},
    {"31 columns", 30, 31, 200, false},
};

START_TEST(the_matrix_is_drawn_where_it_fits)
{
    const struct size_case c = {MATRICES[_i].about, MATRICES[_i].rows,
        MATRICES[_i].columns, MATRICES[_i].width, "w"};
    sentence *s = sentence_new(&c);
    char *text = sentence_shown(&c, s, (show_style){0, c.width, 0});
    const bool drawn = strstr(text, "rows read columns") != NULL;
    ck_assert_msg(drawn == MATRICES[_i].drawn, "%s: %s", c.about,
        drawn ? "drawn" : "not drawn");
    free(text);
    free(s);
}
END_TEST

START_TEST(narrow_cells_have_every_second_index_above_them)
{
    const struct size_case c = {"12 words", 12, 12, 40, "w"};
    sentence *s = sentence_new(&c);
    char *text = sentence_shown(&c, s, (show_style){0, c.width, 0});
    ck_assert_msg(strstr(text, "\n          0   2   4   6   8  10\n") != NULL,
        "%s", text);
    /* Row 1 reads key 7: 14 columns of narrow cells before it. */
    ck_assert_msg(strstr(text, "\n   1 w1  ") != NULL, "%s", text);
    const char *row = strstr(strstr(text, "rows read"), "\n   1 w1  ");
    ck_assert_msg(row != NULL && strcspn(row, "@") == 10 + 14, "%s", text);
    free(text);
    free(s);
}
END_TEST

START_TEST(what_would_read_0_00_is_shown_only_if_it_is_the_most)
{
    static const float weight[6] = {0.99f, 0.006f, 0.004f, 0, 0.001f, 0.002f};
    const words queries = {2, (char **)(void *)GOAT};
    const words keys = {3, (char **)(void *)GOAT};
    const reading r = {2, 3, weight, &queries, &keys, "t"};
    char *text = shown(&r, PLAIN);
    ck_assert_msg(strstr(text, "  0 the    the 0.99 ##########  goat 0.01\n"
                               "  1 goat   saw 0.00\n") != NULL,
        "%s", text);
    free(text);
}
END_TEST

START_TEST(keys_that_are_other_words_are_named)
{
    static char *const queries[] = {"goat"}, *const keys[] = {"die", "Ziege"};
    static const float weight[2] = {0.25f, 0.75f};
    const words q = {1, (char **)(void *)queries};
    const words k = {2, (char **)(void *)keys};
    const reading r = {1, 2, weight, &q, &k, "t"};
    char *text = shown(&r, PLAIN);
    ck_assert_msg(strstr(text, "  0 die  1 Ziege\n") != NULL, "%s", text);
    free(text);
}
END_TEST

START_TEST(without_words_it_says_so)
{
    const words none = {0, NULL};
    const reading rows = {0, 5, NULL, &none, &GOAT_WORDS, "head 2"};
    const reading columns = {5, 0, NULL, &GOAT_WORDS, &none, "head 2"};
    char *text = shown(_i == 0 ? &rows : &columns, PLAIN);
    ck_assert_str_eq(
        text, _i == 0 ? "head 2: nothing to show, because there are no reading "
                        "words.\n"
                      : "head 2: nothing to show, because there are no read "
                        "words.\n");
    free(text);
}
END_TEST

START_TEST(weights_above_one_say_what_a_full_bar_is)
{
    static char *const one[] = {"a"};
    const words names = {1, (char **)(void *)one};
    const float weight = 250.0f;
    const reading r = {1, 1, &weight, &names, &names, "t"};
    char *text = shown(&r, PLAIN);
    ck_assert_msg(strstr(text, "(a full bar: 250)") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "a 250.00 ##########\n") != NULL, "%s", text);
    free(text);
}
END_TEST

/* ---- Which style --------------------------------------------------------- */

START_TEST(a_file_is_plain_and_80_wide)
{
    FILE *to = capture_begin();
    const show_style style = show_style_of(to);
    fclose(to);
    ck_assert_int_eq(style.colour, 0);
    ck_assert_int_eq(style.blocks, 0);
    ck_assert_uint_eq(style.width, 80);
}
END_TEST

static const struct {
    const char *about;
    const char *no_color, *all, *type, *lang; /* NULL: not set */
    int colour, blocks;
} TERMINALS[] = {
    {"UTF-8 by LANG", NULL, NULL, NULL, "en_US.UTF-8", 1, 1},
    {"as glibc writes it", NULL, NULL, NULL, "C.utf8", 1, 1},
    {"with a variant", NULL, NULL, "de_DE.UTF-8@euro", NULL, 1, 1},
    {"LC_ALL goes first", NULL, "C", "C.UTF-8", "C.UTF-8", 1, 0},
    {"empty counts as not set", NULL, "", "", "C.UTF-8", 1, 1},
    {"no locale", NULL, NULL, NULL, NULL, 1, 0},
    {"another encoding", NULL, NULL, NULL, "zh_CN.GB18030", 1, 0},
    {"NO_COLOR", "1", NULL, NULL, "C.UTF-8", 0, 0},
    {"NO_COLOR, whatever it holds", "0", NULL, NULL, "C.UTF-8", 0, 0},
    {"an empty NO_COLOR", "", NULL, NULL, "C.UTF-8", 1, 1},
};

static void set_variable(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

START_TEST(a_terminal_has_colours_and_blocks_where_it_can)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_msg(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0,
        "no pseudo-terminal");
    const int descriptor = open(ptsname(master), O_RDWR | O_NOCTTY);
    FILE *to = fdopen(descriptor, "w");
    ck_assert_ptr_nonnull(to);
    set_variable("NO_COLOR", TERMINALS[_i].no_color);
    set_variable("LC_ALL", TERMINALS[_i].all);
    set_variable("LC_CTYPE", TERMINALS[_i].type);
    set_variable("LANG", TERMINALS[_i].lang);
    const show_style style = show_style_of(to);
    fclose(to);
    close(master);
    ck_assert_msg(style.colour == TERMINALS[_i].colour &&
                      style.blocks == TERMINALS[_i].blocks,
        "%s: colour %d, blocks %d", TERMINALS[_i].about, style.colour,
        style.blocks);
    ck_assert_uint_eq(style.width, 80); /* a new terminal says 0 */
}
END_TEST

int main(void)
{
    TCase *list = tcase_create("show");
    tcase_add_test(list, plain_text_is_exactly_this);
    tcase_add_test(list, colour_paints_the_same_words_and_numbers);
    tcase_add_loop_test(list, block_bars_show_eighths, 0, 8);
    tcase_add_loop_test(list, bars_end_where_their_room_does, 0, 2);
    tcase_add_loop_test(
        list, no_line_is_wider_than_the_terminal, 0, (int)COUNT(SIZES));
    tcase_add_loop_test(list, every_word_has_a_line_with_what_it_reads_most, 0,
        (int)COUNT(SIZES));
    tcase_add_test(list, weights_stand_below_each_other_whatever_the_script);
    tcase_add_loop_test(
        list, the_matrix_is_drawn_where_it_fits, 0, (int)COUNT(MATRICES));
    tcase_add_test(list, narrow_cells_have_every_second_index_above_them);
    tcase_add_test(list, what_would_read_0_00_is_shown_only_if_it_is_the_most);
    tcase_add_test(list, keys_that_are_other_words_are_named);
    tcase_add_loop_test(list, without_words_it_says_so, 0, 2);
    tcase_add_test(list, weights_above_one_say_what_a_full_bar_is);
    tcase_add_test(list, a_file_is_plain_and_80_wide);
    tcase_add_loop_test(list, a_terminal_has_colours_and_blocks_where_it_can, 0,
        (int)COUNT(TERMINALS));
    Suite *suite = suite_create("show");
    suite_add_tcase(suite, list);
    return suite_main(suite, 0);
}
