/* SPDX-License-Identifier: Apache-2.0
 *
 * linear_case.h - problems y = x W + b in one line each, made concrete, and
 * what y must hold.
 */
#ifndef CLATTN_CASES_LINEAR_CASE_H
#define CLATTN_CASES_LINEAR_CASE_H

#include "expected.h"

typedef struct linear_case {
    const char *about;
    size_t rows, n_in, n_out;
    int32_t order; /* CLATTN_IN_OUT or CLATTN_OUT_IN */
    bool bias;
    bool padded; /* gaps behind rows, odd offsets */
    uint64_t seed;
} linear_case;

/* The table, then sizes 1 to 70. */
size_t linear_case_count(void);
linear_case linear_case_at(size_t index);
const char *linear_case_text(const linear_case *c, char text[ARENA_TEXT]);

enum linear_slot {
    LINEAR_X,
    LINEAR_W,
    LINEAR_B,
    LINEAR_Y
};

typedef struct linear_trial {
    linear_case of;
    clattn_linear problem;
    arena memory; /* slots of linear_slot */
} linear_trial;

bool linear_trial_create(linear_trial *trial, const linear_case *c);
void linear_trial_destroy(linear_trial *trial);
clattn_linear_args linear_trial_args(
    const linear_trial *trial, const cl_mem *buffers);

/* By the library's reference, with dense tensors.  To be freed with
   expected_free, also after a failure. */
clattn_status linear_expect(
    expected *e, const linear_trial *trial, clattn_error *error);
bool linear_meets(
    const expected *e, const linear_trial *trial, char text[ARENA_TEXT]);

/* A copy of w, (rows, columns), with rows and columns exchanged; NULL where
   memory is short. */
double *transposed(const double *w, size_t rows, size_t columns);

#endif
