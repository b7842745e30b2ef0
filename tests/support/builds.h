/* SPDX-License-Identifier: Apache-2.0
 *
 * builds.h - how many programs the problems of a test program come to.
 */
#ifndef CLATTN_TESTS_BUILDS_H
#define CLATTN_TESTS_BUILDS_H

#include <stddef.h>

#include "clattn/clattn.h"

/* Take note of what a problem's plan is built from, on the shared context. */
void builds_note(const clattn_attention *problem);
/* How many different programs that was. */
size_t builds_count(void);

#endif
