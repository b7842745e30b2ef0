/* SPDX-License-Identifier: Apache-2.0
 *
 * resident.c - the memory of the process while something is done again and
 * again.
 */
#define _POSIX_C_SOURCE 200809L
#include "resident.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

size_t resident_bytes(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    const int fields = fscanf(file, "%lu %lu", &all, &resident);
    fclose(file);
    ck_assert_int_eq(fields, 2);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

double resident_growth(size_t times, void (*deed)(void))
{
    const size_t first = times / 10;
    for (size_t n = 0; n < first; ++n)
        deed();
    const size_t before = resident_bytes();
    for (size_t n = first; n < times; ++n)
        deed();
    const size_t after = resident_bytes();
    return ((double)after - (double)before) / (double)before;
}
