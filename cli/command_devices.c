/* SPDX-License-Identifier: Apache-2.0
 *
 * command_devices.c - `clattn devices`: the flat list of OpenCL devices.
 */
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>
#include <jansson.h>

#include "commands.h"
#include "device_text.h"
#include "environment.h"
#include "json_text.h"
#include "session.h"
#include "text.h"

static const option_row ROWS[] = {
    {OPTION_JSON, NULL, NULL, "print a JSON array of objects"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

enum {
    PASSED_OVER_MAX = 8000 /* more than the library tells */
};

typedef struct device_list {
    size_t count;
    clattn_device *device;
} device_list;

static bool list_devices(device_list *list, failure *f)
{
    clattn_error error;
    size_t count = 0;
    *list = (device_list){0};
    if (!library_ok(clattn_device_count(&count, &error), &error, f))
        return false;
    list->device = calloc(count ? count : 1, sizeof *list->device);
    if (!list->device)
        return fail(f, "no memory for a list of %zu devices", count);
    for (; list->count < count; list->count++) {
        clattn_device *d = &list->device[list->count];
        d->struct_size = sizeof *d;
        if (!library_ok(clattn_device_get(d, list->count, &error), &error, f))
            return false;
    }
    return true;
}

/* ---- Why the default is the default ------------------------------------- */

/* The order of clattn_context_create. */
static int kind_rank(const clattn_device *d)
{
    if (strcmp(d->kind, "gpu") == 0)
        return d->unified_memory ? 1 : 0;
    if (strcmp(d->kind, "accelerator") == 0)
        return 2;
    return strcmp(d->kind, "cpu") == 0 ? 3 : 4;
}

static uint64_t speed(const clattn_device *d)
{
    return (uint64_t)d->compute_units * d->clock_mhz;
}

/* What decides between the default `d` and another. */
static const char *advantage(const clattn_device *d, const clattn_device *other)
{
    static const char *const KINDS[] = {"a discrete GPU comes first",
        "a GPU comes before the other kinds",
        "an accelerator comes before a CPU", "a CPU comes before other kinds",
        "its kind comes first"};
    if (!d->note[0] && other->note[0])
        return "no fault of it is known";
    if (kind_rank(d) != kind_rank(other))
        return KINDS[kind_rank(d)];
    if (d->global_bytes != other->global_bytes)
        return "it has the most memory of its kind";
    if (speed(d) != speed(other))
        return "it has the most compute units x clock";
    return "it comes first among equals";
}

/* The one that would be the default without `except`. */
static const clattn_device *runner_up(const device_list *list, size_t except)
{
    const clattn_device *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const clattn_device *d = &list->device[i];
        if (i == except)
            continue;
        const bool better = !best || kind_rank(d) < kind_rank(best) ||
                            (kind_rank(d) == kind_rank(best) &&
                                d->global_bytes > best->global_bytes);
        best = better ? d : best;
    }
    return best;
}

static const char *why_default(const device_list *list, size_t index)
{
    const char *wanted = environment_value("CLATTN_DEVICE");
    const clattn_device *second = runner_up(list, index);
    if (wanted && wanted[0])
        return "CLATTN_DEVICE asks for it";
    return second ? advantage(&list->device[index], second)
                  : "it is the only one";
}

/* ---- Text --------------------------------------------------------------- */

static void print_device(const device_list *list, size_t index)
{
    const clattn_device *d = &list->device[index];
    device_row row[DEVICE_ROWS];
    printf("%zu  %s\n", index, d->name);
    if (d->is_default)
        printf("   default    because %s\n", why_default(list, index));
    for (size_t i = 0, count = device_rows(row, d); i < count; i++)
        printf("   %-10s %s\n", row[i].label, row[i].text);
    if (d->note[0])
        printf("   note       %s\n", d->note);
}

/* What is not in the list, and what to do where that is empty. */
static void print_missing(FILE *to, const device_list *list)
{
    static char passed[PASSED_OVER_MAX];
    clattn_devices_passed_over(passed, sizeof passed);
    if (list->count == 0)
        fprintf(to,
            "no OpenCL device found; install a driver: pocl-opencl-icd for "
            "CPUs, or that of the GPU's vendor\n");
    for (const char *line = passed; *line;) {
        const size_t length = strcspn(line, "\n");
        fprintf(to, "passed over: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_list(const device_list *list)
{
    bool has_default = false;
    for (size_t i = 0; i < list->count; i++) {
        print_device(list, i);
        has_default = has_default || list->device[i].is_default;
    }
    const char *wanted = environment_value("CLATTN_DEVICE");
    if (list->count > 0 && !has_default) {
        printf("no default: CLATTN_DEVICE=");
        text_put(stdout, wanted ? wanted : "");
        printf(" matches none of them\n");
    }
    print_missing(stdout, list);
}

/* ---- JSON --------------------------------------------------------------- */

/* A NULL value, as without memory, makes json_object_set_new fail. */
static bool fill_object(json_t *o, const device_list *list, size_t i)
{
    const clattn_device *d = &list->device[i];
    int failed = json_object_set_new(o, "index", json_integer((json_int_t)i));
    failed |= device_fill_json(o, d);
    failed |= json_object_set_new(o, "default", json_boolean(d->is_default));
    failed |= json_object_set_new(o, "why",
        d->is_default ? json_text(why_default(list, i)) : json_null());
    return failed == 0;
}

/* The array alone is on standard output, so that a program can read it. */
static bool print_json(const device_list *list, failure *f)
{
    json_t *array = json_array();
    bool done = array != NULL;
    for (size_t i = 0; done && i < list->count; i++) {
        json_t *object = json_object();
        done = object && fill_object(object, list, i) &&
               json_array_append(array, object) == 0;
        json_decref(object);
    }
    if (done) {
        json_dumpf(array, stdout, JSON_INDENT(2));
        printf("\n");
        print_missing(stderr, list);
    }
    json_decref(array);
    return done || fail(f, "no memory for the list of devices as JSON");
}

static exit_code run(const options *given, failure *f)
{
    device_list list;
    bool done = list_devices(&list, f);
    if (done && given->value[OPTION_JSON])
        done = print_json(&list, f);
    else if (done)
        print_list(&list);
    free(list.device);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const command COMMAND_DEVICES = {
    .name = "devices",
    .summary = "list the OpenCL devices and which is the default",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
