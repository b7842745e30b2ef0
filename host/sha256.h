/* SPDX-License-Identifier: Apache-2.0
 *
 * sha256.h - SHA-256 as FIPS 180-4 defines it: names, and tells damage, in the
 * program cache.
 */
#ifndef CLATTN_HOST_SHA256_H
#define CLATTN_HOST_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    SHA256_BYTES = 32,
    SHA256_BLOCK = 64,
    SHA256_TEXT = 2 * SHA256_BYTES + 1 /* in hex, with a final 0 */
};

typedef struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* so far */
    unsigned char block[SHA256_BLOCK];
} sha256;

void sha256_begin(sha256 *hash);
void sha256_add(sha256 *hash, const void *data, size_t bytes);
/* The hash is used up. */
void sha256_end(sha256 *hash, unsigned char digest[SHA256_BYTES]);

/* Of one piece of data, in lower-case hex. */
void sha256_text(char text[SHA256_TEXT], const void *data, size_t bytes);

#endif
