/* SPDX-License-Identifier: Apache-2.0
 *
 * resident.h - whether something can be done for ever: the memory of the process
 * while it is done again and again.
 */
#ifndef CLATTN_TESTS_RESIDENT_H
#define CLATTN_TESTS_RESIDENT_H

#include <stddef.h>

/* Resident bytes of this process. */
size_t resident_bytes(void);

/* Does it so many times, and returns by what share of its size the process has
   grown since a tenth of them: pools and caches are full by then. */
double resident_growth(size_t times, void (*deed)(void));

/* The limit of that share. */
#define RESIDENT_FLAT 0.02

#endif
