/* SPDX-License-Identifier: Apache-2.0
 *
 * plan_words.c - finding words in a plan's line.
 */
#include "plan_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void plan_kernel(char *text, size_t capacity, const char *described)
{
    const char *end = strstr(described, " (");
    const char *start = end ? end : described;
    while (start > described && start[-1] != ' ')
        start--;
    snprintf(text, capacity, "%.*s", end ? (int)(end - start) : 0, start);
}

void plan_path(char *text, size_t capacity, const char *described)
{
    const char *open = strchr(described, '(');
    text[0] = '\0';
    if (open)
        snprintf(text, capacity, "%.*s", (int)strcspn(open + 1, ")"), open + 1);
}

size_t plan_launches(const char *described)
{
    static const char NAME[] = "launches=";
    const char *at = strstr(described, NAME);
    const unsigned long count = at ? strtoul(at + strlen(NAME), NULL, 10) : 1;
    return count ? (size_t)count : 1;
}

void plan_reason(char *text, size_t capacity, const clattn_error *error)
{
    const char *sentence = error->message;
    if (!sentence[0])
        sentence = clattn_status_text((clattn_status)error->status);
    snprintf(text, capacity, "%s", sentence);
}
