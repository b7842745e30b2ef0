/* SPDX-License-Identifier: Apache-2.0
 *
 * json_text.c - making them UTF-8.
 */
#define _POSIX_C_SOURCE 200809L
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

json_t *json_text(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return NULL;
    text_clean(copy);
    json_t *value = json_string(copy);
    free(copy);
    return value;
}
