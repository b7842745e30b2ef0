/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_command_line.c - any lines as the arguments of the program, one a line,
 * read as far as nothing is opened: options, their values, and how they go
 * together.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attend_request.h"
#include "bench_request.h"
#include "commands.h"
#include "display.h"
#include "expect.h"
#include "fuzz.h"

enum {
    MOST_ARGUMENTS = 64
};

static int split(char *arguments[MOST_ARGUMENTS], char *text)
{
    int count = 0;
    while (text && count < MOST_ARGUMENTS) {
        arguments[count++] = text;
        text = strchr(text, '\n');
        if (text)
            *text++ = '\0';
    }
    return count;
}

/* ---- What commands read of their options --------------------------------- */

static bool read_attend(const options *given, failure *f)
{
    attend_request r;
    const bool ok = attend_request_read(&r, given, f);
    attend_request_free(&r);
    return ok;
}

static bool read_bench(const options *given, failure *f)
{
    static bench_request r; /* large */
    return bench_request_read(&r, given, f);
}

static bool read_others(const options *given, failure *f)
{
    display d;
    expectation e = {0};
    integers lengths = {0};
    const bool ok = display_parse(&d, given, f) &&
                    expectation_parse(&e, given, f) &&
                    integers_parse(&lengths, OPTION_LENGTHS,
                        given->value[OPTION_LENGTHS], f);
    integers_free(&lengths);
    return ok;
}

/* ---- Options ------------------------------------------------------------- */

static bool is_argument(const char *value, char *const *arguments, int count)
{
    for (int i = 0; i < count; ++i) {
        const size_t length = strlen(arguments[i]);
        if (value >= arguments[i] && value <= arguments[i] + length)
            return true;
    }
    return *value == '\0'; /* a switch */
}

static void check_given(
    const options *given, const command *c, char *const *arguments, int count)
{
    for (int id = 0; id < OPTION_COUNT; ++id) {
        const char *value = given->value[id];
        if (!value)
            continue;
        fuzz_require(command_row(c, (option_id)id) != NULL,
            "a given option is one of the command's");
        fuzz_require(is_argument(value, arguments, count),
            "a value is a part of the arguments");
    }
    fuzz_require(given->repeats <= OPTIONS_REPEATS, "repeats fit");
}

static void check_command(const command *c, char *const *arguments, int count)
{
    failure f = {.text = ""};
    options given;
    if (!options_parse(&given, c, count, arguments, &f)) {
        fuzz_require(f.text[0] != '\0', "wrong use has a reason");
        return;
    }
    check_given(&given, c, arguments, count);
    if (given.value[OPTION_HELP])
        return;
    bool ok = true;
    if (c == &COMMAND_ATTEND)
        ok = read_attend(&given, &f);
    else if (c == &COMMAND_BENCH)
        ok = read_bench(&given, &f);
    else
        ok = read_others(&given, &f);
    fuzz_require(ok || f.text[0] != '\0', "a refused value has a reason");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *arguments[MOST_ARGUMENTS];
    char *text = fuzz_text(data, size);
    const int count = split(arguments, text);
    for (size_t i = 0; COMMANDS[i]; ++i)
        if (strcmp(COMMANDS[i]->name, arguments[0]) == 0)
            check_command(COMMANDS[i], arguments + 1, count - 1);
    free(text);
    return 0;
}
