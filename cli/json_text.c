/* SPDX-License-Identifier: Apache-2.0
 *
 * json_text.c - making them UTF-8.
 */
#include "json_text.h"

#include <stdio.h>

json_t *json_text(const char *text)
{
    char clean[512];
    json_t *value = json_string(text);
    if (value)
        return value;
    snprintf(clean, sizeof clean, "%s", text);
    for (char *at = clean; *at; at++)
        if ((unsigned char)*at > 0x7e)
            *at = '?';
    return json_string(clean);
}
