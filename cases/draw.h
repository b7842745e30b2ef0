/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.h - random numbers that a seed repeats on every machine.
 */
#ifndef CLATTN_CASES_DRAW_H
#define CLATTN_CASES_DRAW_H

#include <stddef.h>
#include <stdint.h>

typedef struct draw {
    uint64_t state;
} draw;

draw draw_start(uint64_t seed);
uint64_t draw_bits(draw *d);
size_t draw_below(draw *d, size_t limit); /* 0 to limit - 1; limit is not 0 */
size_t draw_between(draw *d, size_t least, size_t most); /* both included */
float draw_value(draw *d); /* in [-1, 1), a multiple of 2^-23 */

/* One of `count` sizes. */
size_t draw_size(draw *d, const size_t *sizes, size_t count);

#endif
