/* SPDX-License-Identifier: Apache-2.0
 *
 * judge_goals.h - whether a row holds what it promises.
 */
#ifndef CLATTN_BENCH_JUDGE_GOALS_H
#define CLATTN_BENCH_JUDGE_GOALS_H

#include "measure.h"

/* Fill `held` and `met` of result[at] from its figures and its base's. */
void judge_goal(const bench_case *cases, bench_result *result, size_t at);

/* "share >= 80 %", "time <= 1.12 x NAME", ...; "" for a row without a goal. */
const char *goal_text(
    char *text, size_t capacity, const bench_case *cases, size_t at);

/* What stands against it: "84.1 %", "1.07 x", "4096 bytes"; "" if unknown. */
const char *held_text(char *text, size_t capacity, const bench_case *c,
    const bench_result *result);

#endif
