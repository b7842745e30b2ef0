/* SPDX-License-Identifier: Apache-2.0
 *
 * ticks.h - the clock that everything is measured by.
 */
#ifndef CLATTN_BENCH_TICKS_H
#define CLATTN_BENCH_TICKS_H

/* Milliseconds of wall clock; only goes forward. */
double ticks_ms(void);

#endif
