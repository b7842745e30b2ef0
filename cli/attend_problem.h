/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_problem.h - what is asked of `clattn attend`, as the library takes it.
 */
#ifndef CLATTN_CLI_ATTEND_PROBLEM_H
#define CLATTN_CLI_ATTEND_PROBLEM_H

#include <clattn/clattn.h>

#include "attend_data.h"

/* Both keep pointers into *r and *d. */
void attend_describe(
    clattn_attention *a, const attend_request *r, const attend_data *d);
void attend_bring(
    clattn_attention_args *args, const attend_request *r, const attend_data *d);

/* The library's message begins with what it calls a field: put the option that
   filled it before that.  Returns false. */
bool attend_blame(const attend_request *r, failure *f);

#endif
