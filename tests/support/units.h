/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - tests of all rows, about rows of matrix units alone: these are slow
 * where the units are emulated, and take one kind of problem.
 *
 *   CLATTN_TEST_UNITS=f16   or bf16: they alone, a few problems in that storage,
 *                           each on the one whose turn it is
 *   CLATTN_TEST_ALL=1       every problem on all of them
 */
#ifndef CLATTN_TESTS_UNITS_H
#define CLATTN_TESTS_UNITS_H

#include <stdbool.h>

#include "attention_case.h"

/* Whether the test is about them; then the case becomes one that they take. */
bool units_asked(void);
void units_round(attention_case *c);

bool units_have(const char *row); /* as one of them */

/* Whether a row is to be tried on the n-th problem. */
bool units_have_turn(const char *row, size_t n);

#endif
