/* SPDX-License-Identifier: Apache-2.0
 *
 * device_text.c - what is known of a device, for people and as JSON.
 */
#include "device_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "json_text.h"

enum {
    SIZE_TEXT = 24
};

/* ---- Rows --------------------------------------------------------------- */

static const char *bytes_text(char text[SIZE_TEXT], uint64_t bytes)
{
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024.0 && unit < 4; unit++)
        value /= 1024.0;
    snprintf(text, SIZE_TEXT, "%.4g %s", value, UNITS[unit]);
    return text;
}

static void memory_text(char *text, size_t capacity, const clattn_device *d)
{
    char all[SIZE_TEXT];
    char buffer[SIZE_TEXT];
    char local[SIZE_TEXT];
    snprintf(text, capacity, "%s %s, largest buffer %s, local %s",
        bytes_text(all, d->global_bytes),
        d->unified_memory ? "shared with the host" : "of its own",
        bytes_text(buffer, d->max_buffer_bytes),
        bytes_text(local, d->local_bytes));
}

size_t device_rows(device_row row[DEVICE_ROWS], const clattn_device *d)
{
    static const char *const LABELS[DEVICE_ROWS] = {"kind", "platform",
        "vendor", "driver", "version", "units", "memory", "group"};
    const char *const texts[] = {d->kind, d->platform, d->vendor, d->driver};
    const size_t size = sizeof row[0].text;
    for (size_t i = 0; i < DEVICE_ROWS; i++)
        row[i].label = LABELS[i];
    for (size_t i = 0; i < 4; i++)
        snprintf(row[i].text, size, "%s", texts[i]);
    snprintf(row[4].text, size, "%s, %s", d->version, d->c_version);
    snprintf(row[5].text, size,
        "%" PRIu32 " at %" PRIu32 " MHz, native f32 vectors of %" PRIu32,
        d->compute_units, d->clock_mhz, d->native_width);
    memory_text(row[6].text, size, d);
    snprintf(row[7].text, size, "up to %" PRIu64 " work-items", d->max_group);
    return DEVICE_ROWS;
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *json_number(uint64_t number)
{
    return json_integer((json_int_t)number);
}

/* A NULL value, as without memory, makes json_object_set_new fail. */
int device_fill_json(json_t *o, const clattn_device *d)
{
    int failed = json_object_set_new(o, "name", json_text(d->name));
    failed |= json_object_set_new(o, "kind", json_text(d->kind));
    failed |= json_object_set_new(o, "platform", json_text(d->platform));
    failed |= json_object_set_new(o, "vendor", json_text(d->vendor));
    failed |= json_object_set_new(o, "driver", json_text(d->driver));
    failed |= json_object_set_new(o, "version", json_text(d->version));
    failed |= json_object_set_new(o, "c_version", json_text(d->c_version));
    failed |=
        json_object_set_new(o, "compute_units", json_number(d->compute_units));
    failed |= json_object_set_new(o, "clock_mhz", json_number(d->clock_mhz));
    failed |=
        json_object_set_new(o, "native_width", json_number(d->native_width));
    failed |=
        json_object_set_new(o, "global_bytes", json_number(d->global_bytes));
    failed |= json_object_set_new(
        o, "max_buffer_bytes", json_number(d->max_buffer_bytes));
    failed |=
        json_object_set_new(o, "local_bytes", json_number(d->local_bytes));
    failed |= json_object_set_new(o, "max_group", json_number(d->max_group));
    failed |= json_object_set_new(
        o, "unified_memory", json_boolean(d->unified_memory));
    failed |= json_object_set_new(o, "note", json_text(d->note));
    return failed;
}
