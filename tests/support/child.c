/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c - runs this test program again with another environment.
 */
#define _XOPEN_SOURCE 700

#include "child.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* In the child: never returns. */
static void become(const char *mode, const char *const *environment, int output)
{
    char program[] = "/proc/self/exe";
    char *copy = strdup(mode);
    char *arguments[] = {program, copy, NULL};
    for (size_t i = 0; environment[i] != NULL; ++i)
        putenv(strdup(environment[i]));
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
    execv(program, arguments);
    _exit(127);
}

/* Collect what the child writes until it closes its end or time is up; what
   does not fit is read and dropped, so that the child never blocks. */
static bool collect(int input, double deadline, child_result *result)
{
    size_t used = 0;
    for (;;) {
        struct pollfd ready = {.fd = input, .events = POLLIN};
        const double left = deadline - now();
        if (left <= 0 || poll(&ready, 1, (int)(left * 1000) + 1) <= 0)
            return false;
        char piece[512];
        const ssize_t count = read(input, piece, sizeof piece);
        if (count <= 0)
            return true;
        size_t kept = (size_t)count;
        if (kept > sizeof result->output - 1 - used)
            kept = sizeof result->output - 1 - used;
        memcpy(result->output + used, piece, kept);
        used += kept;
    }
}

child_result child_run(
    const char *mode, const char *const *environment, int limit_seconds)
{
    child_result result = {.exit_code = -1};
    const double begin = now();
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        become(mode, environment, ends[1]);
    }
    close(ends[1]);
    if (!collect(ends[0], begin + limit_seconds, &result))
        kill(child, SIGKILL);
    close(ends[0]);
    int state = 0;
    waitpid(child, &state, 0);
    if (WIFEXITED(state))
        result.exit_code = WEXITSTATUS(state);
    result.seconds = now() - begin;
    return result;
}
