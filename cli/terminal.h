/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.h - how wide a terminal is.
 */
#ifndef CLATTN_CLI_TERMINAL_H
#define CLATTN_CLI_TERMINAL_H

#include <stddef.h>

enum {
    TERMINAL_USUAL = 80 /* columns where a terminal does not say */
};

size_t terminal_width(int descriptor);

#endif
