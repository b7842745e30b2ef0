/* SPDX-License-Identifier: Apache-2.0
 *
 * device_text.h - what is known of a device, for people and as JSON.
 */
#ifndef CLATTN_CLI_DEVICE_TEXT_H
#define CLATTN_CLI_DEVICE_TEXT_H

#include <jansson.h>

#include <clattn/clattn.h>

enum {
    DEVICE_ROWS = 8
};

typedef struct device_row {
    const char *label;
    char text[400];
} device_row;

/* Kind, platform, ..., group: not its name, nor its note.  Returns how many. */
size_t device_rows(device_row row[DEVICE_ROWS], const clattn_device *d);

/* Adds name, kind, ..., unified_memory, note; not 0 where memory is short. */
int device_fill_json(json_t *o, const clattn_device *d);

#endif
