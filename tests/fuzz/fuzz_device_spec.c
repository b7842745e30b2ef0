/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_device_spec.c - any text as a device spec: one of the list, or a
 * sentence; whatever the case of its letters, and for lists of any length.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "fuzz.h"

enum {
    DEVICES = 6
};

static const device_facts FACTS[DEVICES] = {
    {.platform = "rusticl", .kind = "cpu", .name = "llvmpipe", .faulty = true},
    {.platform = "Vendor OpenCL",
        .kind = "gpu",
        .name = "Wide 100",
        .global_bytes = 1000,
        .speed = 5},
    {.platform = "Vendor OpenCL",
        .kind = "gpu",
        .name = "Wide 200",
        .global_bytes = 2000,
        .speed = 5},
    {.platform = "Portable", .kind = "cpu", .name = "cpu-x:y", .speed = 9},
    {.platform = "Vendor OpenCL",
        .kind = "gpu",
        .name = "Small",
        .unified_memory = true},
    {.platform = "", .kind = "other", .name = ""},
};

static void swap_case(char *text)
{
    for (; *text != '\0'; ++text) {
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
        else if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
    }
}

static clattn_status choose(size_t *index, size_t count, const char *spec)
{
    clattn_error error = {.status = -1};
    *index = DEVICES;
    const clattn_status got = device_choose(index, FACTS, count, spec, &error);
    if (got == CLATTN_OK) {
        fuzz_require(*index < count, "a choice is one of the list");
        return got;
    }
    fuzz_require(got == CLATTN_NO_DEVICE && error.status == (int32_t)got,
        "a spec that chooses none is CLATTN_NO_DEVICE");
    fuzz_require(memchr(error.message, '\0', sizeof error.message) != NULL &&
                     strchr(error.message, ' ') != NULL,
        "a refusal is a sentence");
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = fuzz_text(data, size);
    for (size_t count = 0; count <= DEVICES; ++count) {
        size_t index = 0, other = 0;
        const clattn_status got = choose(&index, count, spec);
        swap_case(spec);
        fuzz_require(choose(&other, count, spec) == got && other == index,
            "case does not matter");
    }
    free(spec);
    return 0;
}
