/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the program clattn.
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>

#include "commands.h"

int main(int count, char **arguments)
{
    /* Files past `ulimit -f`, ours and those of drivers, fail with a code. */
    signal(SIGXFSZ, SIG_IGN);
    return (int)clattn_program(count, arguments);
}
