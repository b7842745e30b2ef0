/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the program clattn.
 */
#include "commands.h"

int main(int count, char **arguments)
{
    return (int)clattn_program(count, arguments);
}
