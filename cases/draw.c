/* SPDX-License-Identifier: Apache-2.0
 *
 * draw.c - SplitMix64: one addition and two multiplications a number, good
 * enough to fill tensors.  Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", 2014.
 */
#include "draw.h"

draw draw_start(uint64_t seed)
{
    return (draw){.state = seed};
}

uint64_t draw_bits(draw *d)
{
    d->state += 0x9e3779b97f4a7c15u;
    uint64_t z = d->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

size_t draw_below(draw *d, size_t limit)
{
    return (size_t)(draw_bits(d) % limit);
}

size_t draw_between(draw *d, size_t least, size_t most)
{
    return least + draw_below(d, most - least + 1);
}

float draw_value(draw *d)
{
    const int32_t whole = (int32_t)(draw_bits(d) >> 40); /* 24 bits */
    return (float)(whole - 0x800000) / 0x800000;
}

size_t draw_size(draw *d, const size_t *sizes, size_t count)
{
    return sizes[draw_below(d, count)];
}
