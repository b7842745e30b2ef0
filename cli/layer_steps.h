/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_steps.h - the steps of a layer that has run, for `run --steps`.
 */
#ifndef CLATTN_CLI_LAYER_STEPS_H
#define CLATTN_CLI_LAYER_STEPS_H

#include <stdio.h>

#include "layer_run.h"
#include "words.h"

/* Of one item of the batch, with the numbers of one head.  The run must have
   wanted weights and qkv. */
bool layer_steps_print(const layer_run *run, FILE *to, size_t item, size_t head,
    const words *tokens, failure *f);

#endif
