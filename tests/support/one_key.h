/* SPDX-License-Identifier: Apache-2.0
 *
 * one_key.h - the smallest problem, whose result needs no arithmetic: one key
 * returns its value.
 */
#ifndef CLATTN_TESTS_ONE_KEY_H
#define CLATTN_TESTS_ONE_KEY_H

#include <stdbool.h>

#include "clattn/clattn.h"

void one_key_problem(clattn_attention *problem);

/* Whether a host call on the context gives that value. */
bool one_key_works(clattn_context *ctx);

#endif
