/* SPDX-License-Identifier: Apache-2.0
 *
 * speed_table.h - the rows that `clattn bench --suite` measures, with what each
 * of them promises on a CPU device.
 */
#ifndef CLATTN_BENCH_SPEED_TABLE_H
#define CLATTN_BENCH_SPEED_TABLE_H

#include "bench_case.h"

extern const bench_case SPEED_TABLE[];
extern const size_t N_SPEED_TABLE;

#endif
