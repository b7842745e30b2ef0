/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_line.c - attention cases as lines of names and values, and simpler
 * cases.
 */
#include <stdio.h>
#include <string.h>

#include "attention_fields.h"

/* ---- Lines ------------------------------------------------------------------ */

const char *attention_case_line(const attention_case *c, char text[ARENA_TEXT])
{
    char field[ATTENTION_FIELD_TEXT];
    const attention_field *f = NULL;
    size_t used = 0;
    text[0] = '\0';
    for (size_t n = 0; (f = attention_field_at(n)) != NULL; ++n)
        if (!attention_field_is_unset(c, f) && used < ARENA_TEXT)
            used += (size_t)snprintf(text + used, ARENA_TEXT - used, "%s%s",
                used > 0 ? " " : "", attention_field_text(c, f, field));
    return text;
}

const char *attention_case_text(const attention_case *c, char text[ARENA_TEXT])
{
    char line[ARENA_TEXT];
    snprintf(text, ARENA_TEXT, "%s: %.*s", c->about, ARENA_TEXT - 100,
        attention_case_line(c, line));
    return text;
}

/* ---- Simpler cases ----------------------------------------------------------- */

bool attention_case_simpler(
    attention_case *simpler, const attention_case *c, size_t n)
{
    const attention_field *f = attention_field_at(n / 2);
    if (f == NULL)
        return false;
    *simpler = *c;
    if (f->kind == FIELD_NUMBER)
        attention_field_set_number(simpler, f,
            n % 2 && attention_field_number(c, f) != 0 ? 1.0f : 0.0f);
    else if (f->kind == FIELD_SIZE) {
        const int64_t size = attention_field_whole(c, f);
        attention_field_set(simpler, f,
            size < 2 ? size
            : n % 2  ? size - 1
                     : size / 2);
    } else if (f->kind != FIELD_SEED) {
        attention_field_set(simpler, f, 0);
    }
    attention_case_mend(simpler);
    return true;
}

static bool is_same(const attention_case *one, const attention_case *other)
{
    char text[2][ARENA_TEXT];
    return strcmp(attention_case_line(one, text[0]),
               attention_case_line(other, text[1])) == 0;
}

attention_case attention_case_shrink(const attention_case *c,
    attention_case_shows *shows, void *state, size_t tries)
{
    attention_case least = *c, simpler;
    bool again = true;
    while (again) {
        again = false;
        for (size_t n = 0; attention_case_simpler(&simpler, &least, n); ++n) {
            if (is_same(&simpler, &least))
                continue;
            if (tries == 0)
                return least;
            --tries;
            if (shows(&simpler, state)) {
                least = simpler;
                again = true;
            }
        }
    }
    return least;
}
