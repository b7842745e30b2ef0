/* SPDX-License-Identifier: Apache-2.0
 *
 * values.c - numbers and lists in option values.
 */
#include "values.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "npy.h"

bool value_size(size_t *to, option_id id, const char *text, size_t low,
    size_t high, failure *f)
{
    char *end = NULL;
    errno = 0;
    /* strtoull alone would take blanks and a sign. */
    const unsigned long long number =
        isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    if (end && !*end && errno == 0 && number >= low && number <= high) {
        *to = (size_t)number;
        return true;
    }
    if (high == SIZE_MAX)
        return fail(f, "%s %s is not a whole number from %zu up",
            option_name(id), text, low);
    return fail(f, "%s %s is not a whole number from %zu to %zu",
        option_name(id), text, low, high);
}

bool value_uint64(uint64_t *to, option_id id, const char *text, failure *f)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long number =
        isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || number > UINT64_MAX)
        return fail(f, "%s %s is not a whole number from 0 to %" PRIu64,
            option_name(id), text, UINT64_MAX);
    *to = number;
    return true;
}

bool value_float(float *to, option_id id, const char *text, failure *f)
{
    char *end = NULL;
    const bool blank = isspace((unsigned char)text[0]);
    errno = 0;
    const float number = strtof(text, &end);
    const bool vanished = errno == ERANGE && number == 0.0f;
    if (blank || end == text || *end || !isfinite(number) || vanished)
        return fail(f, "%s %s is not a finite number of float's range",
            option_name(id), text);
    *to = number;
    return true;
}

bool value_float_in(float *to, option_id id, const char *text, float low,
    float high, failure *f)
{
    float number = 0.0f;
    if (!value_float(&number, id, text, f))
        return false;
    if (number < low || number > high) {
        if (high == FLT_MAX)
            return fail(f, "%s %s is not a number from %g up", option_name(id),
                text, (double)low);
        return fail(f, "%s %s is not a number from %g to %g", option_name(id),
            text, (double)low, (double)high);
    }
    *to = number;
    return true;
}

bool value_one_of(int32_t *to, option_id id, const char *text,
    const value_word *table, failure *f)
{
    char list[200] = "";
    for (const value_word *row = table; row->word; row++) {
        if (strcmp(row->word, text) == 0) {
            *to = row->meaning;
            return true;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
            row == table ? "" : " or ", row->word);
    }
    return fail(
        f, "%s %s is not allowed, only %s", option_name(id), text, list);
}

bool value_precision(int32_t *to, const char *text, int32_t dtype, failure *f)
{
    static const value_word PRECISIONS[] = {{"f32", CLATTN_PRECISION_F32},
        {"storage", CLATTN_PRECISION_STORAGE}, {NULL, 0}};
    *to = CLATTN_PRECISION_F32;
    if (text && !value_one_of(to, OPTION_PRECISION, text, PRECISIONS, f))
        return false;
    return *to == CLATTN_PRECISION_F32 || dtype == CLATTN_F16 ||
           dtype == CLATTN_BF16 ||
           fail(f,
               "--precision storage needs --dtype f16 or bf16: there is nothing "
               "to round to in f32");
}

bool value_kernel(option_id id, const char *text, failure *f)
{
    char list[1000] = "fused or materialised";
    const char *name = NULL;
    if (strcmp(text, "fused") == 0 || strcmp(text, "materialised") == 0)
        return true;
    for (size_t i = 0; (name = clattn_kernel_name(i)) != NULL; i++) {
        const size_t used = strlen(list);
        if (strcmp(text, name) == 0)
            return true;
        snprintf(list + used, sizeof list - used, " or %s", name);
    }
    return fail(
        f, "%s %s is not allowed, only %s", option_name(id), text, list);
}

bool value_is_file(const char *text)
{
    const size_t size = strlen(text);
    return size >= 4 && strcmp(text + size - 4, ".npy") == 0;
}

static size_t count_values(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

bool value_list(void **value, size_t *count, size_t bytes, value_take *take,
    const char *kind, option_id id, const char *text, failure *f)
{
    *count = count_values(text);
    *value = calloc(*count, bytes);
    if (!*value)
        return fail(
            f, "no memory for %zu values of %s", *count, option_name(id));
    const char *at = text;
    for (size_t i = 0; i < *count; i++, at += *at == ',') {
        if (take((char *)*value + i * bytes, &at) &&
            (*at == ',' || *at == '\0'))
            continue;
        free(*value);
        *value = NULL;
        *count = 0;
        return fail(f,
            "%s %s is neither a comma list of %s nor a file name that ends in "
            ".npy",
            option_name(id), text, kind);
    }
    return true;
}

static bool take_integer(void *to, const char **at)
{
    char *end = NULL;
    const char first = **at == '-' ? (*at)[1] : **at;
    if (!isdigit((unsigned char)first))
        return false;
    errno = 0;
    const long long number = strtoll(*at, &end, 10);
    if (errno || number < INT32_MIN || number > INT32_MAX)
        return false;
    *(int32_t *)to = (int32_t)number;
    *at = end;
    return true;
}

bool integers_parse(integers *list, option_id id, const char *text, failure *f)
{
    *list = (integers){.id = id, .text = text};
    if (!text)
        return true;
    list->is_file = value_is_file(text);
    if (list->is_file)
        return true;
    void *value = NULL;
    const bool done =
        value_list(&value, &list->count, sizeof *list->value, take_integer,
            "whole numbers from -2147483648 to 2147483647", id, text, f);
    list->value = value;
    return done;
}

bool integers_read(integers *list, failure *f)
{
    return !list->text || !list->is_file ||
           npy_read_int32(&list->value, &list->count, list->text, f);
}

bool integers_load(integers *list, size_t count, int32_t low, int32_t high,
    const char *whose, failure *f)
{
    const char *name = option_name(list->id);
    if (!list->text)
        return true;
    if (!integers_read(list, f))
        return false;
    if (list->count != count)
        return fail(f, "%s %s has %zu value%s, but %s has %zu item%s", name,
            list->text, list->count, list->count == 1 ? "" : "s", whose, count,
            count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++)
        if (list->value[i] < low || list->value[i] > high)
            return fail(f,
                "%s %s: value %d of item %zu is not from %d to %d, as %s needs",
                name, list->text, (int)list->value[i], i, (int)low, (int)high,
                whose);
    return true;
}

void integers_free(integers *list)
{
    free(list->value);
    list->value = NULL;
    list->count = 0;
}
