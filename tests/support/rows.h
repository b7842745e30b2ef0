/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.h - small steps of the tests that hold each kernel row to a property.
 */
#ifndef CLATTN_TESTS_ROWS_H
#define CLATTN_TESTS_ROWS_H

#include "attention_trial.h"

/* Whether tests of all rows look at this one.  Rows in registers take seconds to
   build on a CPU, and those of matrix units take few problems: they meet the
   cases and draws of tests that ask for their turn, and all others where
   CLATTN_TEST_ALL asks for all. */
bool rows_tries(const char *row);
/* Whether a row takes this case, or configuration of draws: those in registers
   take one in four, by turns. */
bool rows_has_turn(const char *row, size_t number);

/* The rows that do attention and are looked at; NULL past the last. */
const char *rows_row(size_t index);
/* How many, as loop tests count. */
int rows_count(void);

/* The name if it is that of a row or of a path with rows, else NULL: the
   planner's choice.  Rows but the last ones may be taken out of the library. */
const char *rows_or_choice(const char *kernel);

/* Forces a row or, with a note on standard output, none if this device is too
   small for it or takes other ones. */
void rows_take(attention_trial *trial, const char *row);

/* A trial that is forced so. */
void rows_create(attention_trial *trial, const attention_case *c, int row);
/* Its name, for messages. */
const char *rows_name(const attention_trial *trial);

/* A call that fails fails the test. */
void rows_run(attention_trial *trial);
/* After a change of inputs. */
void rows_rerun(attention_trial *trial);

float *rows_at(const attention_trial *trial, enum attention_slot slot, size_t b,
    size_t h, size_t row, size_t column);

/* Which head of k and v a head of q reads. */
size_t rows_kv_head(const attention_trial *trial, size_t h);

/* Call `check` for each row of out. */
typedef void rows_check(
    const attention_trial *trial, size_t b, size_t h, size_t i);
void rows_for_each(const attention_trial *trial, rows_check *check);

/* One row of an output has the same bits in both trials. */
void rows_assert_bits(const attention_trial *one, const attention_trial *other,
    enum attention_slot slot, size_t b, size_t h, size_t i, const char *about);
/* All memory has. */
void rows_assert_all_bits(const attention_trial *one,
    const attention_trial *other, const char *about);

#endif
