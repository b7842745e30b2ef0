/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.h - what fuzz targets are made of.  A target is one function on bytes;
 * libFuzzer or replay.c calls it.
 */
#ifndef CLATTN_TESTS_FUZZ_H
#define CLATTN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target: returns 0.  What must hold and does not ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Print the text and abort unless `holds`. */
void fuzz_require(int holds, const char *text);

/* The path of a file in memory with these bytes; the next call changes it. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A copy as text, a 0 behind it, the caller's to free. */
char *fuzz_text(const uint8_t *data, size_t size);

/* Look at every byte, so that a sanitizer sees those that are not there. */
void fuzz_look(const void *data, size_t bytes);

#endif
