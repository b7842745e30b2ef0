/* SPDX-License-Identifier: Apache-2.0
 *
 * ways.h - one descriptor given to every call that takes one: what must hold
 * of their answers, whatever it says.
 */
#ifndef CLATTN_TESTS_WAYS_H
#define CLATTN_TESTS_WAYS_H

#include "clattn/clattn.h"

/* clattn_X_supported, _plan and _reference behind one signature. */
typedef struct ways {
    clattn_status (*ask)(
        clattn_context *ctx, const void *problem, clattn_error *error);
    clattn_status (*plan)(clattn_plan **plan, clattn_context *ctx,
        const void *problem, clattn_error *error);
    /* Without data: it comes as far as its descriptor is legal. */
    clattn_status (*refer)(const void *problem, clattn_error *error);
} ways;

extern const ways ATTENTION_WAYS, LINEAR_WAYS, LAYER_WAYS;

enum {
    WAYS_TEXT = 1400
};

/*
 * supported and plan agree in status and message, a reference refuses only as
 * invalid, statuses fit their messages, and those are sentences.  Returns NULL,
 * or what does not hold, in `why` of WAYS_TEXT bytes.  *asked is supported's
 * error, *plan the caller's, NULL without one.
 */
const char *ways_differ(char *why, const ways *w, clattn_context *ctx,
    const void *problem, clattn_error *asked, clattn_plan **plan);

#endif
