/* SPDX-License-Identifier: Apache-2.0
 *
 * philox.c - Philox4x32-10, the random numbers of dropout.
 */
#include "philox.h"

enum {
    ROUNDS = 10
};

/* The paper's multipliers, and what is added to the key after each round: the
   golden ratio and the square root of 3 less 1, as 32-bit fractions. */
static const uint32_t MULTIPLIER[2] = {0xd2511f53u, 0xcd9e8d57u};
static const uint32_t KEY_STEP[2] = {0x9e3779b9u, 0xbb67ae85u};

static void one_round(uint32_t word[4], const uint32_t key[2])
{
    const uint64_t even = (uint64_t)MULTIPLIER[0] * word[0];
    const uint64_t odd = (uint64_t)MULTIPLIER[1] * word[2];

    word[0] = (uint32_t)(odd >> 32) ^ word[1] ^ key[0];
    word[1] = (uint32_t)odd;
    word[2] = (uint32_t)(even >> 32) ^ word[3] ^ key[1];
    word[3] = (uint32_t)even;
}

void philox4x32_10(
    uint32_t word[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t k[2] = {key[0], key[1]};

    for (int i = 0; i < 4; ++i)
        word[i] = counter[i];
    for (int r = 0; r < ROUNDS; ++r) {
        one_round(word, k);
        k[0] += KEY_STEP[0];
        k[1] += KEY_STEP[1];
    }
}
