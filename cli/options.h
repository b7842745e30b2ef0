/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - what a command accepts, as one table that drives parsing,
 * `--help` and the check of docs/CLI.md.
 */
#ifndef CLATTN_CLI_OPTIONS_H
#define CLATTN_CLI_OPTIONS_H

#include <stdio.h>

#include "failure.h"

/* Every option of every command; commands that share one share its id. */
typedef enum option_id {
    OPTION_ALIBI,
    OPTION_ATTENTION,
    OPTION_BATCH,
    OPTION_CAUSAL,
    OPTION_CONTEXT,
    OPTION_CU_KEY,
    OPTION_CU_QUERY,
    OPTION_DEVICE,
    OPTION_DIAGONAL,
    OPTION_DRAW,
    OPTION_DROPOUT,
    OPTION_DROPOUT_OFFSET,
    OPTION_DTYPE,
    OPTION_EXPECT,
    OPTION_EXPLAIN,
    OPTION_FULL,
    OPTION_HEAD,
    OPTION_HEADS,
    OPTION_HEADS_KV,
    OPTION_HELP,
    OPTION_INPUT,
    OPTION_JSON,
    OPTION_KERNEL,
    OPTION_KEY,
    OPTION_LAYER,
    OPTION_LAYOUT,
    OPTION_LENGTHS,
    OPTION_LENGTHS_HALF,
    OPTION_LSE,
    OPTION_MARKDOWN,
    OPTION_MASK,
    OPTION_MODEL,
    OPTION_NO_OUTPUT_PROJECTION,
    OPTION_NO_ROPE,
    OPTION_NO_SCALE,
    OPTION_ONNX,
    OPTION_OUTPUT,
    OPTION_PATH,
    OPTION_PICTURE,
    OPTION_PRECISION,
    OPTION_PREFIX,
    OPTION_QUERY,
    OPTION_QUERY_LENGTHS,
    OPTION_QUICK,
    OPTION_QUIET,
    OPTION_READ_BF16,
    OPTION_REFERENCE,
    OPTION_SCALE,
    OPTION_SCORES,
    OPTION_SEED,
    OPTION_SHAPE,
    OPTION_SHOW,
    OPTION_SINKS,
    OPTION_SOFTCAP,
    OPTION_STAGE,
    OPTION_STEPS,
    OPTION_SUITE,
    OPTION_TOKENS,
    OPTION_TOLERANCE,
    OPTION_VALUE,
    OPTION_WEIGHT_ORDER,
    OPTION_WINDOW,
    OPTION_COUNT
} option_id;

typedef struct option_row {
    option_id id;
    const char *value;   /* what the value is called; NULL: takes none */
    const char *initial; /* what holds without it; NULL: nothing, "required":
                            there is no going without */
    const char *help;
} option_row;

typedef struct options options;

typedef enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_WRONG_USE = 2
} exit_code;

typedef struct command {
    const char *name;
    const char *summary;
    const char *operand; /* the one argument that is no option; NULL: none */
    const option_row *rows;
    size_t row_count;
    const option_id *repeats; /* the one option that may be given several
                                 times; NULL: none may */
    /* Anything but EXIT_DONE leaves its sentence in *f. */
    exit_code (*run)(const options *given, failure *f);
} command;

enum {
    OPTIONS_REPEATS = 32
};

/* The arguments of one call: texts of argv. */
struct options {
    const command *command;
    const char *operand;
    const char *value[OPTION_COUNT];       /* "" for a flag; NULL: not given */
    const char *repeated[OPTIONS_REPEATS]; /* all values of the option that may
                                              be given several times */
    size_t repeats;
};

/* "--model" */
const char *option_name(option_id id);
/* The row of a command; NULL if the command has no such option. */
const option_row *command_row(const command *c, option_id id);

/* `--name VALUE`, `--name=VALUE`, `--` before an operand.  False is wrong use:
   unknown or repeated option, missing or superfluous value, missing required
   option or operand.  --help waives what is required. */
bool options_parse(options *given, const command *c, int count,
    char *const *arguments, failure *f);

/* Whether one of the `needs` is given where `id` is: an option that would have
   no effect is wrong use. */
bool options_need(const options *given, option_id id, const option_id *needs,
    size_t count, failure *f);

/* Whether none of the `others` is given where `id` is: `why` says what speaks
   against it. */
bool options_exclude(const options *given, option_id id,
    const option_id *others, size_t count, const char *why, failure *f);

/* Of a list of words that ends with NULL the one most like `text`, or NULL if
   none is near. */
const char *nearest_word(const char *text, const char *const *words);

void command_help(FILE *to, const command *c);

#endif
