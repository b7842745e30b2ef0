/* SPDX-License-Identifier: Apache-2.0
 *
 * terminal.c - asking the terminal.
 */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "terminal.h"

#include <sys/ioctl.h>

size_t terminal_width(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return TERMINAL_USUAL;
}
