/* SPDX-License-Identifier: Apache-2.0
 *
 * subject_search.c - attention that a row gets wrong: made simple, and as a
 * line that brings it back.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "subject.h"

#define KERNEL " kernel="

const char *subject_line(
    const attention_case *c, const char *row, char line[SUBJECT_LINE])
{
    char text[ARENA_TEXT];
    snprintf(line, SUBJECT_LINE, "%s%s%.*s", attention_case_line(c, text),
        row ? KERNEL : "", SUBJECT_ROW - 1, row ? row : "");
    return line;
}

bool subject_parse(attention_case *c, char row[SUBJECT_ROW], const char *line,
    char why[ARENA_TEXT])
{
    char rest[SUBJECT_LINE];
    const char *kernel = strstr(line, KERNEL);
    const size_t length = kernel ? (size_t)(kernel - line) : strlen(line);
    snprintf(row, SUBJECT_ROW, "%s", kernel ? kernel + strlen(KERNEL) : "");
    snprintf(rest, sizeof rest, "%.*s", (int)length, line);
    return attention_case_parse(c, rest, why);
}

/* ---- Simpler ------------------------------------------------------------ */

typedef struct search {
    const device_queues *at;
    const char *row;
    time_t begin;
    double seconds;
    char *why; /* of the simplest so far */
} search;

static bool is_wrong(const attention_case *c, void *state)
{
    search *s = state;
    char why[ARENA_TEXT];
    clattn_error error;
    subject tried;
    if (difftime(time(NULL), s->begin) > s->seconds)
        return false;
    const bool wrong =
        subject_attention(&tried, s->at, c, &error) == CLATTN_OK &&
        subject_run(&tried, s->row, why) == SUBJECT_WRONG;
    subject_destroy(&tried);
    if (wrong)
        memcpy(s->why, why, sizeof why);
    return wrong;
}

attention_case subject_simplest(const device_queues *at,
    const attention_case *c, const char *row, size_t tries, double seconds,
    char why[ARENA_TEXT])
{
    search s = {at, row, time(NULL), seconds, why};
    return attention_case_shrink(c, is_wrong, &s, tries);
}
