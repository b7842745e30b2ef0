/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_expected.h - what the outputs of one attention trial must hold, by
 * the library's reference in double precision and derived tolerances.
 */
#ifndef CLATTN_CASES_ATTENTION_EXPECTED_H
#define CLATTN_CASES_ATTENTION_EXPECTED_H

#include "attention_trial.h"
#include "expected.h"

/* (B, Hq, Lq, ...), also of a packed batch. */
typedef struct attention_expected {
    expected out, lse;
    expected weights; /* or the stage that the case returns */
} attention_expected;

/* The reference is given dense tensors, padded where the trial is packed, so it
   shares no stride and no packing with it.  To be freed, also after a
   failure. */
clattn_status attention_expect(
    attention_expected *e, const attention_trial *trial, clattn_error *error);
void attention_expected_free(attention_expected *e);

/* Whether each output that the trial returns holds it, and nothing else was
   touched; a sentence if not. */
bool attention_meets(const attention_expected *e, const attention_trial *trial,
    char text[ARENA_TEXT]);

#endif
