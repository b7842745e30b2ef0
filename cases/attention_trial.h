/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_trial.h - an attention case made concrete: strides, offsets,
 * lengths and numbers, all from its seed.
 */
#ifndef CLATTN_CASES_ATTENTION_TRIAL_H
#define CLATTN_CASES_ATTENTION_TRIAL_H

#include "attention_case.h"

enum attention_slot {
    SLOT_Q,
    SLOT_K,
    SLOT_V,
    SLOT_OUT,
    SLOT_LSE,
    SLOT_WEIGHTS,
    SLOT_KEY_LENGTHS,
    SLOT_OFFSETS,
    SLOT_QUERY_LENGTHS,
    SLOT_QUERY_STARTS,
    SLOT_KEY_STARTS,
    SLOT_MASK,
    SLOT_SINKS
};

/* Not to be copied: the problem points into it. */
typedef struct attention_trial {
    attention_case of;
    clattn_attention problem;
    arena memory;           /* slots of attention_slot */
    bool host_arrays;       /* hand int32 arrays over as host memory always */
    float *slopes;          /* Hq of them */
    unsigned char *reached; /* element of k -> whether a row looks at it */
    uint64_t dropout_seed, dropout_offset;
} attention_trial;

/* False where memory is short.  Outputs hold the pattern, as does what no row
   may look at: hidden keys, and queries that see none. */
bool attention_trial_create(attention_trial *trial, const attention_case *c);
void attention_trial_destroy(attention_trial *trial);

/* Arguments of a host call, or with the arena's buffers those of an enqueue. */
clattn_attention_args attention_trial_args(
    const attention_trial *trial, const cl_mem *buffers);

/* ---- What the rules of the header say -------------------------------------- */

/* Of one item: how many keys and queries it has, and on which key its row 0
   stands. */
size_t attention_trial_keys(const attention_trial *trial, size_t b);
size_t attention_trial_queries(const attention_trial *trial, size_t b);
int64_t attention_trial_offset(const attention_trial *trial, size_t b);

bool attention_trial_sees(
    const attention_trial *trial, size_t b, size_t h, size_t i, size_t j);
/* What ALiBi and an additive mask add to the score of a key that is seen, and
   the sum of their magnitudes. */
double attention_trial_bias(const attention_trial *trial, size_t b, size_t h,
    size_t i, size_t j, double *magnitude);
double attention_trial_scale(const attention_trial *trial);

/* Whether the case returns a stage that shows hidden keys' scores too. */
bool attention_case_shows_hidden(const attention_case *c);

/* Write `value` to every column of k and v that no row may look at. */
void attention_trial_poison(attention_trial *trial, float value);

/* ---- For the library's own steps ------------------------------------------ */

/* Draw what the case leaves open: where the items of a packed batch lie, before
   tensors are placed; then arrays and numbers, into allocated memory. */
void attention_trial_pack(attention_trial *trial);
void attention_trial_fill_arrays(attention_trial *trial);
bool attention_trial_fill(attention_trial *trial);

#endif
