/* SPDX-License-Identifier: Apache-2.0
 *
 * hint.c - what a platform needs of its surroundings and does not say itself.
 */
#include "hint.h"

#include <stddef.h>
#include <string.h>

/* PoCL 3.1 keeps all that it compiles in files, which its devices begin with;
   rusticl of Mesa 22.3 uses no driver that it is not told to. */
#define POCL_CACHE                                                \
    "its cache must be a folder with room that it may write to: " \
    "POCL_CACHE_DIR, XDG_CACHE_HOME or ~/.cache"

static const struct {
    const char *platform, *no_devices, *no_build;
} HINTS[] = {
    {"Portable Computing Language", POCL_CACHE, POCL_CACHE},
    {"rusticl", "RUSTICL_ENABLE must name the drivers it may use", ""},
};

static size_t find(const char *platform)
{
    size_t i = 0;
    while (i < sizeof HINTS / sizeof HINTS[0] &&
           strcmp(platform, HINTS[i].platform) != 0)
        ++i;
    return i;
}

const char *hint_no_devices(const char *platform)
{
    const size_t i = find(platform);
    return i < sizeof HINTS / sizeof HINTS[0] ? HINTS[i].no_devices : "";
}

const char *hint_no_build(const char *platform)
{
    const size_t i = find(platform);
    return i < sizeof HINTS / sizeof HINTS[0] ? HINTS[i].no_build : "";
}
