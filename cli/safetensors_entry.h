/* SPDX-License-Identifier: Apache-2.0
 *
 * safetensors_entry.h - one entry of a .safetensors header: dtype, shape and
 * offsets, each checked against the others and the file.
 */
#ifndef CLATTN_CLI_SAFETENSORS_ENTRY_H
#define CLATTN_CLI_SAFETENSORS_ENTRY_H

#include <jansson.h>

#include "safetensors.h"

/* Where an entry is read. */
typedef struct entry_reader {
    const char *path;
    const char *data; /* the bytes after the header */
    size_t data_bytes;
    failure *f;
} entry_reader;

/* Fill *t; its strings and data belong to `name`, `entry` and the reader's
   data.  Other members of the entry are passed over. */
bool safetensors_entry_read(safetensor *t, const entry_reader *r,
    const char *name, const json_t *entry);

#endif
