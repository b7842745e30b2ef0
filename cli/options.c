/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - parsing by a command's table.
 */
#include "options.h"

#include <string.h>

static const char *const NAMES[OPTION_COUNT] = {
    [OPTION_ALIBI] = "--alibi",
    [OPTION_ATTENTION] = "--attention",
    [OPTION_BATCH] = "--batch",
    [OPTION_CAUSAL] = "--causal",
    [OPTION_CONTEXT] = "--context",
    [OPTION_CU_KEY] = "--cu-key",
    [OPTION_CU_QUERY] = "--cu-query",
    [OPTION_DEVICE] = "--device",
    [OPTION_DIAGONAL] = "--diagonal",
    [OPTION_DRAW] = "--draw",
    [OPTION_DROPOUT] = "--dropout",
    [OPTION_DROPOUT_OFFSET] = "--dropout-offset",
    [OPTION_DTYPE] = "--dtype",
    [OPTION_EXPECT] = "--expect",
    [OPTION_EXPLAIN] = "--explain",
    [OPTION_FULL] = "--full",
    [OPTION_HEAD] = "--head",
    [OPTION_HEADS] = "--heads",
    [OPTION_HEADS_KV] = "--heads-kv",
    [OPTION_HELP] = "--help",
    [OPTION_INPUT] = "--input",
    [OPTION_JSON] = "--json",
    [OPTION_KERNEL] = "--kernel",
    [OPTION_KEY] = "--key",
    [OPTION_LAYER] = "--layer",
    [OPTION_LAYOUT] = "--layout",
    [OPTION_LENGTHS] = "--lengths",
    [OPTION_LENGTHS_HALF] = "--lengths-half",
    [OPTION_LSE] = "--lse",
    [OPTION_MARKDOWN] = "--markdown",
    [OPTION_MASK] = "--mask",
    [OPTION_MODEL] = "--model",
    [OPTION_NO_OUTPUT_PROJECTION] = "--no-output-projection",
    [OPTION_NO_ROPE] = "--no-rope",
    [OPTION_NO_SCALE] = "--no-scale",
    [OPTION_ONNX] = "--onnx",
    [OPTION_OUTPUT] = "--output",
    [OPTION_PATH] = "--path",
    [OPTION_PICTURE] = "--picture",
    [OPTION_PRECISION] = "--precision",
    [OPTION_PREFIX] = "--prefix",
    [OPTION_QUERY] = "--query",
    [OPTION_QUERY_LENGTHS] = "--query-lengths",
    [OPTION_QUICK] = "--quick",
    [OPTION_QUIET] = "--quiet",
    [OPTION_READ_BF16] = "--read-bf16",
    [OPTION_REFERENCE] = "--reference",
    [OPTION_SCALE] = "--scale",
    [OPTION_SCORES] = "--scores",
    [OPTION_SEED] = "--seed",
    [OPTION_SHAPE] = "--shape",
    [OPTION_SHOW] = "--show",
    [OPTION_SINKS] = "--sinks",
    [OPTION_SOFTCAP] = "--softcap",
    [OPTION_STAGE] = "--stage",
    [OPTION_STEPS] = "--steps",
    [OPTION_SUITE] = "--suite",
    [OPTION_TOKENS] = "--tokens",
    [OPTION_TOLERANCE] = "--tolerance",
    [OPTION_VALUE] = "--value",
    [OPTION_WEIGHT_ORDER] = "--weight-order",
    [OPTION_WINDOW] = "--window",
};

enum {
    LONGEST_WORD = 40, /* longer ones are like no name of ours */
    HELP_COLUMN = 26,
    HELP_WIDTH = 79
};

const char *option_name(option_id id)
{
    return NAMES[id];
}

const option_row *command_row(const command *c, option_id id)
{
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].id == id)
            return &c->rows[i];
    return NULL;
}

/* ---- The nearest name --------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST_WORD + 1];
    const size_t columns = strlen(b);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            const size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], diagonal) + 1);
        }
    }
    return row[columns];
}

const char *nearest_word(const char *text, const char *const *words)
{
    const char *nearest = NULL;
    const size_t length = strlen(text);
    if (length > LONGEST_WORD)
        return NULL;
    size_t best = length / 3 + 1;
    for (; *words; words++) {
        const size_t d = distance(text, *words);
        if (d < best) {
            best = d;
            nearest = *words;
        }
    }
    return nearest;
}

/* `text` up to its value, if it has one. */
static bool fail_unknown(
    const char *text, size_t size, const command *c, failure *f)
{
    char name[LONGEST_WORD + 2];
    const char *names[OPTION_COUNT + 1] = {NULL};
    for (size_t i = 0; i < c->row_count; i++)
        names[i] = NAMES[c->rows[i].id];
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    const char *nearest = nearest_word(name, names);
    if (nearest)
        return fail(f, "unknown option %s of clattn %s; did you mean %s?", name,
            c->name, nearest);
    return fail(f, "unknown option %.*s; clattn %s --help lists what there is",
        (int)size, text, c->name);
}

/* ---- Parsing ------------------------------------------------------------ */

static const option_row *row_of(const command *c, const char *text, size_t size)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const char *name = NAMES[c->rows[i].id];
        if (strlen(name) == size && memcmp(name, text, size) == 0)
            return &c->rows[i];
    }
    return NULL;
}

/* What may follow an option as its value: all but another option. */
static bool is_value(const char *argument)
{
    return argument && strncmp(argument, "--", 2) != 0;
}

/* Some layers have no prefix. */
static bool may_be_empty(option_id id)
{
    return id == OPTION_PREFIX;
}

/* Take the option at arguments[*at] and leave *at at its last argument. */
static bool take_option(
    options *given, int *at, int count, char *const *arguments, failure *f)
{
    const char *text = arguments[*at];
    const size_t size = strcspn(text, "=");
    const char *value = text[size] == '=' ? text + size + 1 : NULL;
    const option_row *row = row_of(given->command, text, size);
    if (!row)
        return fail_unknown(text, size, given->command, f);
    const char *name = NAMES[row->id];
    const option_id *again = given->command->repeats;
    const bool repeats = again && *again == row->id;
    if (given->value[row->id] && !repeats)
        return fail(f, "%s is given twice", name);
    if (!row->value && value)
        return fail(f, "%s takes no value, but %s was given", name, value);
    if (row->value && !value) {
        value = *at + 1 < count ? arguments[*at + 1] : NULL;
        if (!is_value(value))
            return fail(f, "%s needs a value: %s %s", name, name, row->value);
        ++*at;
    }
    if (value && !*value && !may_be_empty(row->id))
        return fail(f, "%s is empty; %s is needed", name, row->value);
    given->value[row->id] = value ? value : "";
    if (!repeats)
        return true;
    if (given->repeats == OPTIONS_REPEATS)
        return fail(f, "%s is given more than %d times", name, OPTIONS_REPEATS);
    given->repeated[given->repeats++] = value;
    return true;
}

static bool take_operand(options *given, const char *text, failure *f)
{
    const command *c = given->command;
    if (!c->operand)
        return fail(f,
            "unexpected argument %s; clattn %s takes only options, each "
            "beginning with --",
            *text ? text : "'' (empty)", c->name);
    if (given->operand)
        return fail(f,
            "unexpected argument %s; clattn %s takes one %s and has "
            "%s already",
            text, c->name, c->operand, given->operand);
    if (!*text)
        return fail(f, "%s is empty; clattn %s needs a name there", c->operand,
            c->name);
    given->operand = text;
    return true;
}

static bool check_required(const options *given, failure *f)
{
    const command *c = given->command;
    if (c->operand && !given->operand)
        return fail(f, "clattn %s needs %s", c->name, c->operand);
    for (size_t i = 0; i < c->row_count; i++) {
        const option_row *row = &c->rows[i];
        const bool required =
            row->initial && strcmp(row->initial, "required") == 0;
        if (required && !given->value[row->id])
            return fail(f, "clattn %s needs %s %s", c->name, NAMES[row->id],
                row->value);
    }
    return true;
}

bool options_parse(options *given, const command *c, int count,
    char *const *arguments, failure *f)
{
    bool only_operands = false;
    *given = (options){.command = c};
    for (int i = 0; i < count; i++) {
        const char *text = arguments[i];
        if (!only_operands && strcmp(text, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && text[0] == '-' && text[1]) {
            if (!take_option(given, &i, count, arguments, f))
                return false;
        } else if (!take_operand(given, text, f)) {
            return false;
        }
    }
    return given->value[OPTION_HELP] || check_required(given, f);
}

bool options_need(const options *given, option_id id, const option_id *needs,
    size_t count, failure *f)
{
    char list[200] = "";
    if (!given->value[id])
        return true;
    for (size_t i = 0; i < count; i++) {
        if (given->value[needs[i]])
            return true;
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
            i == 0           ? ""
            : i + 1 == count ? " or "
                             : ", ",
            NAMES[needs[i]]);
    }
    return fail(
        f, "%s %s has no effect without %s", NAMES[id], given->value[id], list);
}

bool options_exclude(const options *given, option_id id,
    const option_id *others, size_t count, const char *why, failure *f)
{
    const char *text = given->value[id];
    for (size_t i = 0; text && i < count; i++)
        if (given->value[others[i]])
            return fail(f, "%s%s%s and %s %s", NAMES[id], *text ? " " : "",
                text, NAMES[others[i]], why);
    return true;
}

/* ---- Help --------------------------------------------------------------- */

/* The words of `text` from column `at` on, indented to HELP_COLUMN. */
static void print_wrapped(FILE *to, const char *text, size_t at)
{
    for (const char *word = text; *word;) {
        const size_t size = strcspn(word, " ");
        if (at + 1 + size > HELP_WIDTH) {
            fprintf(to, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        }
        fprintf(to, " %.*s", (int)size, word);
        at += 1 + size;
        word += size;
        word += *word == ' ';
    }
    fputc('\n', to);
}

static void print_row(FILE *to, const option_row *row)
{
    char left[100];
    char right[600];
    snprintf(left, sizeof left, "  %s%s%s", NAMES[row->id],
        row->value ? " " : "", row->value ? row->value : "");
    const bool plain = row->initial && strcmp(row->initial, "required") == 0;
    snprintf(right, sizeof right, "%s%s%s%s", row->help,
        row->initial ? (plain ? " (" : " (default: ") : "",
        row->initial ? row->initial : "", row->initial ? ")" : "");
    fprintf(to, "%-*s", HELP_COLUMN, left);
    if (strlen(left) > HELP_COLUMN)
        fprintf(to, "\n%*s", HELP_COLUMN, "");
    print_wrapped(to, right, HELP_COLUMN);
}

void command_help(FILE *to, const command *c)
{
    fprintf(to, "clattn %s: %s\n\nusage: clattn %s%s%s", c->name, c->summary,
        c->name, c->operand ? " " : "", c->operand ? c->operand : "");
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].initial && strcmp(c->rows[i].initial, "required") == 0)
            fprintf(to, " %s %s", NAMES[c->rows[i].id], c->rows[i].value);
    fprintf(to, " [options]\n\n");
    for (size_t i = 0; i < c->row_count; i++)
        print_row(to, &c->rows[i]);
    fprintf(to, "\nExit code: 0 done, 1 failed, 2 wrong use.\n");
}
