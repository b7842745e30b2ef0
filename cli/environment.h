/* SPDX-License-Identifier: Apache-2.0
 *
 * environment.h - all that the program reads of its environment; the library
 * reads its own.
 */
#ifndef CLATTN_CLI_ENVIRONMENT_H
#define CLATTN_CLI_ENVIRONMENT_H

/* NULL if the variable is unset, and always in a set-user-id process. */
const char *environment_value(const char *name);

#endif
