/* SPDX-License-Identifier: Apache-2.0
 *
 * failure.c - one sentence of what went wrong, on its way to standard error.
 */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

bool fail(failure *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    f->no_memory = false;
    return false;
}

bool fail_memory(failure *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    f->no_memory = true;
    return false;
}
