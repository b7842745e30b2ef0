/* SPDX-License-Identifier: Apache-2.0
 *
 * ticks.c - wall clock.
 */
#define _POSIX_C_SOURCE 200809L
#include "ticks.h"

#include <time.h>

double ticks_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}
