/* SPDX-License-Identifier: Apache-2.0
 *
 * print_environment.c - what library and program read of the environment, in a
 * line; "-" for what is empty.
 */
#include <stdio.h>

#include "environment.h"
#include "system.h"

static const char *shown(const char *text)
{
    return text && text[0] != '\0' ? text : "-";
}

int main(void)
{
    environment env;
    environment_read(&env);
    printf("%s %s %s %s %d %d %s %s %d\n", shown(env.device), shown(env.kernel),
        shown(env.disable), shown(env.kernel_dir), env.verbose,
        (int)env.launch_work, shown(environment_value("NO_COLOR")),
        shown(env.cache_dir), (int)(env.cache_limit >> 20));
    return 0;
}
