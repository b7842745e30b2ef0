/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_plain.h - attention in plain f32 as one would write it down, the
 * measure of what f32 can be expected to do; or with one step coarser, to see
 * whether a judge notices.
 */
#ifndef CLATTN_CASES_ATTENTION_PLAIN_H
#define CLATTN_CASES_ATTENTION_PLAIN_H

#include "attention_trial.h"

/* What an evaluation might round on its way. */
typedef struct plain_rounding {
    const char *about;
    float (*score)(float), (*weight)(float), (*exponential)(float);
} plain_rounding;

/* Nothing is rounded but by f32 itself. */
extern const plain_rounding PLAIN;

/* Fill the trial's outputs; false where memory is short.  Its maximum passes
   over NaN, so no weight of a row with one is to be trusted. */
bool attention_plain(attention_trial *trial, const plain_rounding *r);

#endif
