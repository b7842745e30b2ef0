/* SPDX-License-Identifier: Apache-2.0
 *
 * plan_words.h - what stands in the line that describes a plan.
 */
#ifndef CLATTN_BENCH_PLAN_WORDS_H
#define CLATTN_BENCH_PLAN_WORDS_H

#include <stddef.h>

#include "clattn/clattn.h"

/* Of "attention: tiled16 (materialised): ...; launches=3 ...": "tiled16",
   "materialised" and 3.  What is not there is "" or 1. */
void plan_kernel(char *text, size_t capacity, const char *described);
void plan_path(char *text, size_t capacity, const char *described);
size_t plan_launches(const char *described);

/* The sentence of a refusal, or that of its status if it has none. */
void plan_reason(char *text, size_t capacity, const clattn_error *error);

#endif
