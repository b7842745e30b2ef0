/* SPDX-License-Identifier: Apache-2.0
 *
 * numbers.c - real numbers in option values, one per head.
 */
#include "numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static bool take_number(void *to, const char **at)
{
    char *end = NULL;
    /* strtof alone would take blanks, inf and nan. */
    if (!**at || !strchr("+-.0123456789", **at))
        return false;
    const float number = strtof(*at, &end);
    if (end == *at || !isfinite(number))
        return false;
    *(float *)to = number;
    *at = end;
    return true;
}

bool numbers_parse(numbers *list, option_id id, const char *text, failure *f)
{
    *list = (numbers){.id = id, .text = text};
    if (!text)
        return true;
    list->is_file = value_is_file(text);
    if (list->is_file)
        return true;
    void *value = NULL;
    const bool done = value_list(&value, &list->count, sizeof *list->value,
        take_number, "finite numbers", id, text, f);
    list->value = value;
    return done;
}

/* A file can hold what a list cannot say.  A sink of -inf is none. */
static bool check_finite(const numbers *list, failure *f)
{
    const bool sinks = list->id == OPTION_SINKS;
    for (size_t i = 0; i < list->count; i++) {
        const float value = list->value[i];
        if (!isfinite(value) && !(sinks && value == -INFINITY))
            return fail(f, "%s %s: value %zu is %g, but must be finite%s",
                option_name(list->id), list->text, i, (double)value,
                sinks ? ", or -inf for no sink" : "");
    }
    return true;
}

static bool read_file(numbers *list, enum npy_two_bytes two_bytes, failure *f)
{
    npy_array array;
    if (!npy_read(&array, list->text, two_bytes, f))
        return false;
    if (!npy_to_f32(&array, list->text, f)) {
        npy_free(&array);
        return false;
    }
    list->value = array.data;
    list->count = array.count;
    list->was_bf16 = array.was_bf16;
    return check_finite(list, f);
}

bool numbers_load(numbers *list, size_t count, enum npy_two_bytes two_bytes,
    const char *whose, failure *f)
{
    if (!list->text)
        return true;
    if (list->is_file && !read_file(list, two_bytes, f))
        return false;
    if (list->count == count)
        return true;
    return fail(f, "%s %s has %zu value%s, but %s has %zu head%s",
        option_name(list->id), list->text, list->count,
        list->count == 1 ? "" : "s", whose, count, count == 1 ? "" : "s");
}

void numbers_free(numbers *list)
{
    free(list->value);
    list->value = NULL;
    list->count = 0;
}
