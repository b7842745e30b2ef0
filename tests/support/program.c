/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c - the program clattn as a process.
 */
#define _XOPEN_SOURCE 700 /* putenv */
#include "program.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"

static const char *place(char *path, const char *argument)
{
    if (argument[0] == '@')
        return scratch_path(path, argument + 1);
    if (argument[0] != '%')
        return argument;
    snprintf(path, SCRATCH_PATH, CLATTN_SOURCE_DIR "/examples/minilm/%s",
        argument + 1);
    return path;
}

/* In the child: never returns. */
static void become(const char *const *arguments, const char *const *environment,
    FILE *out, FILE *err)
{
    char *list[PROGRAM_ARGUMENTS + 2] = {strdup(CLATTN_PROGRAM)};
    for (size_t i = 0; arguments[i] && i < PROGRAM_ARGUMENTS; i++) {
        char path[SCRATCH_PATH];
        list[i + 1] = strdup(place(path, arguments[i]));
    }
    for (size_t i = 0; environment && environment[i]; i++)
        putenv(strdup(environment[i]));
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    execv(list[0], list);
    _exit(127);
}

static void collect(FILE *file, char *text, size_t bytes)
{
    rewind(file);
    const size_t size = fread(text, 1, bytes - 1, file);
    text[size] = '\0';
    fclose(file);
}

void program_run(program_result *result, const char *const *arguments,
    const char *const *environment)
{
    int state = 0;
    /* Files, not pipes: the program never waits for a reader. */
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    ck_assert(out && err);
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        become(arguments, environment, out, err);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    result->code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    collect(out, result->out, sizeof result->out);
    collect(err, result->err, sizeof result->err);
}
