/* SPDX-License-Identifier: Apache-2.0
 *
 * subject_search.c - attention that a row gets wrong: made simple, and as a
 * line that brings it back.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "subject.h"

#define KERNEL "kernel="

const char *subject_line(
    const attention_case *c, const char *row, char line[SUBJECT_LINE])
{
    char text[ARENA_TEXT];
    attention_case told = *c;
    attention_case_mend(&told);
    snprintf(line, SUBJECT_LINE, "%s%s%.*s", attention_case_line(&told, text),
        row ? " " KERNEL : "", SUBJECT_ROW - 1, row ? row : "");
    return line;
}

/* The value of one "kernel=". */
static bool parse_row(
    char row[SUBJECT_ROW], const char *pair, size_t length, char *why)
{
    const size_t name = strlen(KERNEL);
    const bool first = row[0] == '\0';
    if (first && length > name && length - name < SUBJECT_ROW) {
        snprintf(row, SUBJECT_ROW, "%.*s", (int)(length - name), pair + name);
        return true;
    }
    snprintf(why, ARENA_TEXT, "'%.*s' is %s", (int)(length < 60 ? length : 60),
        pair,
        first ? "not the name of a row"
              : "one too many: a line tells one row at most");
    return false;
}

bool subject_parse(attention_case *c, char row[SUBJECT_ROW], const char *line,
    char why[ARENA_TEXT])
{
    char rest[SUBJECT_LINE + 1] = "";
    size_t used = 0;
    row[0] = '\0';
    if (strlen(line) >= SUBJECT_LINE) {
        snprintf(why, ARENA_TEXT, "the line has %zu bytes, but may have %d",
            strlen(line), SUBJECT_LINE - 1);
        return false;
    }
    for (const char *at = line; *at != '\0'; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (strncmp(at, KERNEL, strlen(KERNEL)) != 0)
            used += (size_t)snprintf(
                rest + used, sizeof rest - used, "%.*s ", (int)length, at);
        else if (!parse_row(row, at, length, why))
            return false;
        at += length;
    }
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
