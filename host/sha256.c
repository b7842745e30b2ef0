/* SPDX-License-Identifier: Apache-2.0
 *
 * sha256.c - SHA-256 as FIPS 180-4 defines it; names of variables are its own.
 */
#include "sha256.h"

#include <string.h>

enum {
    ROUNDS = 64,
    LENGTH_AT = SHA256_BLOCK - 8 /* of the last block: the length in bits */
};

/* The first 32 bits of the fractions of the square roots of the first 8 primes,
   and of the cube roots of the first 64. */
static const uint32_t H0[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t K[ROUNDS] = {0x428a2f98, 0x71374491, 0xb5c0fbcf,
    0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
    0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c,
    0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee,
    0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static void schedule(uint32_t W[ROUNDS], const unsigned char *block)
{
    for (int t = 0; t < 16; ++t)
        W[t] = big_endian(block + 4 * t);
    for (int t = 16; t < ROUNDS; ++t) {
        const uint32_t x = W[t - 15], y = W[t - 2];
        const uint32_t sigma0 = rotr(x, 7) ^ rotr(x, 18) ^ x >> 3;
        const uint32_t sigma1 = rotr(y, 17) ^ rotr(y, 19) ^ y >> 10;
        W[t] = sigma1 + W[t - 7] + sigma0 + W[t - 16];
    }
}

static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t W[ROUNDS];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    schedule(W, block);
    for (int t = 0; t < ROUNDS; ++t) {
        const uint32_t Sigma1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25);
        const uint32_t Ch = (e & f) ^ (~e & g);
        const uint32_t T1 = h + Sigma1 + Ch + K[t] + W[t];
        const uint32_t Sigma0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22);
        const uint32_t Maj = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + T1;
        d = c;
        c = b;
        b = a;
        a = T1 + Sigma0 + Maj;
    }
    const uint32_t sum[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i)
        state[i] += sum[i];
}

void sha256_begin(sha256 *hash)
{
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, H0, sizeof H0);
}

void sha256_add(sha256 *hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    while (bytes > 0) {
        const size_t used = (size_t)(hash->bytes % SHA256_BLOCK);
        const size_t room = SHA256_BLOCK - used;
        const size_t step = bytes < room ? bytes : room;
        memcpy(hash->block + used, at, step);
        hash->bytes += step;
        at += step;
        bytes -= step;
        if (step == room)
            add_block(hash->state, hash->block);
    }
}

/* A one bit, zeros to the end of a block, and in it the length in bits. */
static void pad(sha256 *hash)
{
    static const unsigned char padding[SHA256_BLOCK] = {0x80};
    const uint64_t bits = 8 * hash->bytes;
    const size_t used = (size_t)(hash->bytes % SHA256_BLOCK);
    unsigned char length[8];
    for (int i = 0; i < 8; ++i)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(hash, padding,
        used < LENGTH_AT ? LENGTH_AT - used : LENGTH_AT + SHA256_BLOCK - used);
    sha256_add(hash, length, sizeof length);
}

void sha256_end(sha256 *hash, unsigned char digest[SHA256_BYTES])
{
    pad(hash);
    for (int i = 0; i < SHA256_BYTES; ++i)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_text(char text[SHA256_TEXT], const void *data, size_t bytes)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[SHA256_BYTES];
    sha256 hash;

    sha256_begin(&hash);
    sha256_add(&hash, data, bytes);
    sha256_end(&hash, digest);
    for (int i = 0; i < SHA256_BYTES; ++i) {
        text[2 * i] = hex[digest[i] >> 4];
        text[2 * i + 1] = hex[digest[i] & 15];
    }
    text[SHA256_TEXT - 1] = '\0';
}
