/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.c - what fuzz targets are made of.
 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_require(int holds, const char *text)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", text);
    abort();
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int file = -1;
    static char path[40];
    if (file < 0) {
        file = memfd_create("fuzz", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    fuzz_require(file >= 0 && ftruncate(file, 0) == 0 &&
                     pwrite(file, data, size, 0) == (ssize_t)size,
        "a file in memory can be written");
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_require(text != NULL, "there is memory for a text");
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

void fuzz_look(const void *data, size_t bytes)
{
    const volatile char *at = data;
    for (size_t i = 0; i < bytes; ++i)
        (void)at[i];
}
