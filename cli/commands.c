/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.c - from the arguments to a command, and its message to stderr.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include <clattn/clattn.h>

#include "text.h"

const command *const COMMANDS[] = {
    &COMMAND_DEVICES,
    &COMMAND_RUN,
    &COMMAND_ATTEND,
    &COMMAND_MAP,
    &COMMAND_BENCH,
    &COMMAND_CHECK,
    NULL,
};

enum {
    WORDS_MAX = 16 /* commands and global options */
};

static void print_help(void)
{
    printf("clattn: Transformer attention on OpenCL devices\n\n"
           "usage: clattn COMMAND [options]\n\n");
    for (size_t i = 0; COMMANDS[i]; i++)
        printf("  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    printf("\n  clattn COMMAND --help    a command's options\n"
           "  clattn --version         version and commit\n\n"
           "Exit code: 0 done, 1 failed, 2 wrong use.\n");
}

static const command *find_command(const char *name)
{
    for (size_t i = 0; COMMANDS[i]; i++)
        if (strcmp(COMMANDS[i]->name, name) == 0)
            return COMMANDS[i];
    return NULL;
}

static exit_code unknown_command(const char *name, failure *f)
{
    const char *words[WORDS_MAX] = {"--help", "--version"};
    for (size_t i = 0; COMMANDS[i] && i + 3 < WORDS_MAX; i++)
        words[i + 2] = COMMANDS[i]->name;
    const char *nearest = nearest_word(name, words);
    if (nearest)
        fail(f, "unknown command %s; did you mean %s?", name, nearest);
    else
        fail(f, "unknown command %s; clattn --help lists what there is", name);
    return EXIT_WRONG_USE;
}

static exit_code run_command(
    const command *c, int count, char *const *arguments, failure *f)
{
    options given;
    if (!options_parse(&given, c, count, arguments, f))
        return EXIT_WRONG_USE;
    if (given.value[OPTION_HELP]) {
        command_help(stdout, c);
        return EXIT_DONE;
    }
    return c->run(&given, f);
}

static exit_code dispatch(int count, char *const *arguments, failure *f)
{
    if (count < 2) {
        fail(f, "a command is needed; clattn --help lists what there is");
        return EXIT_WRONG_USE;
    }
    const char *first = arguments[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "--version") == 0) {
        if (count > 2) {
            fail(f, "unexpected argument %s after %s", arguments[2], first);
            return EXIT_WRONG_USE;
        }
        if (first[2] == 'h')
            print_help();
        else
            printf("clattn %s\n", clattn_version_text());
        return EXIT_DONE;
    }
    const command *c = find_command(first);
    return c ? run_command(c, count - 2, arguments + 2, f)
             : unknown_command(first, f);
}

static void print_message(const char *text)
{
    fputs("clattn: ", stderr);
    text_put(stderr, text);
    fputc('\n', stderr);
}

exit_code clattn_program(int count, char *const *arguments)
{
    failure f = {.text = ""};
    exit_code code = dispatch(count, arguments, &f);
    const bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (code == EXIT_DONE && !written) {
        fail(&f, "standard output could not be written");
        code = EXIT_FAILED;
    }
    if (code != EXIT_DONE)
        print_message(f.text);
    return code;
}
