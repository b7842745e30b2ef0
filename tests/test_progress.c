/* SPDX-License-Identifier: Apache-2.0
 *
 * test_progress.c - the line of progress on terminals of all widths: it never
 * wraps, covers the line before and is cleared.
 */
#define _XOPEN_SOURCE   600 /* posix_openpt */
#define _DEFAULT_SOURCE     /* TIOCSWINSZ */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "progress.h"
#include "suite.h"

static const struct {
    unsigned short width;
    size_t columns; /* of each line */
} TERMINALS[] = {{1, 0}, {2, 1}, {20, 19}, {79, 78}, {80, 79}, {200, 79},
    {0, 79}}; /* 0: it does not say */

static const char *const NAMES[] = {"x",
    ("a case whose name is longer than many a terminal is wide, and than most "
     "lines are"),
    "short again"};

/* A terminal hands over in pieces, so the end is marked. */
static void read_all(int master, char *text, size_t bytes)
{
    size_t used = 0;
    ssize_t got = 0;
    do {
        got = read(master, text + used, bytes - 1 - used);
        ck_assert_int_gt(got, 0);
        used += (size_t)got;
    } while (text[used - 1] != '!');
    text[used - 1] = '\0';
}

/* What comes to a terminal of this width. */
static void show_all(char *text, size_t bytes, unsigned short width)
{
    const struct winsize size = {.ws_col = width, .ws_row = 24};
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_msg(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0,
        "no pseudo-terminal");
    FILE *to = fdopen(open(ptsname(master), O_RDWR | O_NOCTTY), "w");
    ck_assert_ptr_nonnull(to);
    ck_assert_int_eq(ioctl(fileno(to), TIOCSWINSZ, &size), 0);
    const progress shown = progress_on(to);
    for (size_t i = 0; i < COUNT(NAMES); ++i)
        progress_tell(&shown, i, COUNT(NAMES), NAMES[i]);
    progress_end(&shown);
    fputc('!', to);
    fflush(to);
    read_all(master, text, bytes);
    fclose(to);
    close(master);
}

START_TEST(no_line_wraps_and_all_are_as_long)
{
    char text[1000];
    const size_t columns = TERMINALS[_i].columns;
    size_t lines = 0, last = 0;
    show_all(text, sizeof text, TERMINALS[_i].width);
    for (const char *at = text; *at == '\r'; at += last, ++lines) {
        last = strcspn(++at, "\r");
        ck_assert_msg(last == columns || (at[last] == '\0' && last == 0),
            "%u columns: a line of %zu", TERMINALS[_i].width, last);
        if (lines == COUNT(NAMES))
            ck_assert_uint_eq(strspn(at, " "), columns);
    }
    ck_assert_uint_eq(lines, COUNT(NAMES) + 2);
    ck_assert_uint_eq(last, 0);
    ck_assert_msg(
        columns < 19 || strstr(text, "1 of 3  x  ") != NULL, "%s", text);
}
END_TEST

int main(void)
{
    TCase *list = tcase_create("progress");
    tcase_add_loop_test(
        list, no_line_wraps_and_all_are_as_long, 0, (int)COUNT(TERMINALS));
    Suite *suite = suite_create("progress");
    suite_add_tcase(suite, list);
    return suite_main(suite, 0);
}
