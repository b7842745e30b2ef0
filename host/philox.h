/* SPDX-License-Identifier: Apache-2.0
 *
 * philox.h - Philox4x32-10, the random numbers of dropout.
 *
 * A function of counter and key alone, without state, so that any entry can be
 * had in any order: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
 * 3", 2011, section 3.3.
 */
#ifndef CLATTN_HOST_PHILOX_H
#define CLATTN_HOST_PHILOX_H

#include <stdint.h>

void philox4x32_10(
    uint32_t word[4], const uint32_t counter[4], const uint32_t key[2]);

#endif
