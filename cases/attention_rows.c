/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_rows.c - the kernel rows that do attention.
 */
#include "attention_rows.h"

#include <string.h>

#include "context.h"
#include "plan.h"

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

bool attention_row_is(const char *row)
{
    const char *name = NULL;
    for (size_t n = 0; (name = attention_row_name(n)) != NULL; ++n)
        if (strcmp(name, row) == 0)
            return true;
    return false;
}

bool row_needs_asking(const clattn_context *ctx, const char *row)
{
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (strcmp(KERNEL_ROWS[i].name, row) == 0)
            return row_is_foreign(&KERNEL_ROWS[i], &ctx->limits);
    return false;
}

/* "tiled" of "tiled16". */
static size_t family_length(const char *row)
{
    return strcspn(row, "0123456789");
}

bool attention_row_is_like(const char *row, const char *other)
{
    const size_t length = family_length(row);
    return family_length(other) == length && strncmp(row, other, length) == 0;
}

bool attention_row_has_turn(const char *row, size_t configuration)
{
    size_t members = 0, turn = 0;
    const char *name = NULL;
    for (size_t n = 0; (name = attention_row_name(n)) != NULL; ++n)
        if (attention_row_is_like(name, row)) {
            if (strcmp(name, row) == 0)
                turn = members;
            ++members;
        }
    return members == 0 || configuration % members == turn;
}
