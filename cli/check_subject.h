/* SPDX-License-Identifier: Apache-2.0
 *
 * check_subject.h - one case of a table or a draw, on its way to the scores.
 */
#ifndef CLATTN_CLI_CHECK_SUBJECT_H
#define CLATTN_CLI_CHECK_SUBJECT_H

#include "check_report.h"
#include "subject.h"

typedef struct check_subject {
    const check_run *run;
    enum check_table table;
    enum check_storage storage;
    char text[ARENA_TEXT]; /* of a case of linear or layer */
    subject subject;       /* to be destroyed, also after a failure */
} check_subject;

bool check_attention(check_subject *to, const check_run *run,
    const attention_case *c, enum check_table table, failure *f);

/* On a row as check_row_name counts them; the outcome is scored, and `why` as
   subject_run has it. */
enum subject_outcome check_subject_on(
    check_subject *s, size_t row, char why[ARENA_TEXT]);

#endif
