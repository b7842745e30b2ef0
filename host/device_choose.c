/* SPDX-License-Identifier: Apache-2.0
 *
 * device_choose.c - which device of a list a spec means; asks nothing of
 * OpenCL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "error.h"

/* ASCII only, whatever the locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether text holds the part [begin, begin + length), whatever the case. */
static bool holds(const char *text, const char *begin, size_t length)
{
    for (; length <= strlen(text); ++text) {
        size_t same = 0;
        while (same < length && lower(text[same]) == lower(begin[same]))
            ++same;
        if (same == length)
            return true;
    }
    return false;
}

static bool matches(const device_facts *facts, const char *spec)
{
    const char *kind = strchr(spec, ':');
    if (!kind)
        return holds(facts->name, spec, strlen(spec)) ||
               holds(facts->platform, spec, strlen(spec));
    const char *name = strchr(kind + 1, ':');
    const char *kind_end = name ? name : kind + strlen(kind);
    return holds(facts->platform, spec, (size_t)(kind - spec)) &&
           holds(facts->kind, kind + 1, (size_t)(kind_end - kind - 1)) &&
           (!name || holds(facts->name, name + 1, strlen(name + 1)));
}

/* Larger is better; the order that clattn_context_create promises. */
static int rank(const device_facts *facts)
{
    if (strcmp(facts->kind, "gpu") == 0)
        return facts->unified_memory ? 3 : 4;
    if (strcmp(facts->kind, "accelerator") == 0)
        return 2;
    return strcmp(facts->kind, "cpu") == 0;
}

static bool better(const device_facts *a, const device_facts *b)
{
    if (a->faulty != b->faulty)
        return b->faulty;
    if (rank(a) != rank(b))
        return rank(a) > rank(b);
    if (a->global_bytes != b->global_bytes)
        return a->global_bytes > b->global_bytes;
    return a->speed > b->speed;
}

/* "0: PoCL:cpu:name; 1: ...", cut to fit. */
static void list_text(
    char *text, size_t capacity, const device_facts *facts, size_t count)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used + 1 < capacity; ++i) {
        const int n = snprintf(text + used, capacity - used, "%s%zu %s:%s:%s",
            i ? ", " : "", i, facts[i].platform, facts[i].kind, facts[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
}

clattn_status device_beyond(
    const char *asked, size_t count, clattn_error *error)
{
    if (count == 0)
        return error_set(error, CLATTN_NO_DEVICE,
            "no OpenCL device found; install the driver of your GPU, or PoCL "
            "to run on the CPU (Debian: apt-get install pocl-opencl-icd)");
    if (count == 1)
        return error_set(
            error, CLATTN_NO_DEVICE, "%s, but the only device is 0", asked);
    return error_set(error, CLATTN_NO_DEVICE,
        "%s, but the devices are 0 to %zu", asked, count - 1);
}

static clattn_status choose_index(
    size_t *index, size_t count, const char *spec, clattn_error *error)
{
    char *end = NULL, asked[100];
    const unsigned long long value = strtoull(spec, &end, 10);
    if (value >= count) {
        snprintf(asked, sizeof asked, "device %.60s is asked for", spec);
        return device_beyond(asked, count, error);
    }
    *index = (size_t)value;
    return CLATTN_OK;
}

clattn_status device_choose(size_t *index, const device_facts *facts,
    size_t count, const char *spec, clattn_error *error)
{
    if (count == 0)
        return device_beyond(spec, count, error);
    if (spec[0] != '\0' && strspn(spec, "0123456789") == strlen(spec))
        return choose_index(index, count, spec, error);

    bool found = false;
    for (size_t i = 0; i < count; ++i) {
        if (!matches(&facts[i], spec))
            continue;
        if (!found || better(&facts[i], &facts[*index]))
            *index = i;
        found = true;
    }
    if (found)
        return CLATTN_OK;

    char there[400];
    list_text(there, sizeof there, facts, count);
    return error_set(error, CLATTN_NO_DEVICE,
        "no device matches '%.60s'; there are %s", spec, there);
}
