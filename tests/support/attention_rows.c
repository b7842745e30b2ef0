/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_rows.c - the kernel rows that do attention.
 */
#include "attention_rows.h"

#include <string.h>

#include "clattn/clattn.h"

const char *attention_row_name(size_t index)
{
    const char *name = NULL;
    size_t row = 0;
    do {
        do
            name = clattn_kernel_name(row++);
        while (name != NULL && strncmp(name, "matmul", 6) == 0);
    } while (name != NULL && index-- > 0);
    return name;
}
