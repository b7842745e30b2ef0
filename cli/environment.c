/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.c - all that the program reads of its environment.
 */
#define _GNU_SOURCE /* secure_getenv */
#include "environment.h"

#include <stdlib.h>

const char *environment_value(const char *name)
{
    return secure_getenv(name);
}
