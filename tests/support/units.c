/* SPDX-License-Identifier: Apache-2.0
 *
 * units.c - tests of all rows, about rows of matrix units alone.
 */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum {
    THIN = 47 /* a program takes seconds to build: some for each unit */
};

/* 0: it is not about them. */
static int32_t asked_dtype(void)
{
    const char *name = getenv("CLATTN_TEST_UNITS");
    if (name == NULL || *name == '\0')
        return 0;
    return strcmp(name, "bf16") == 0 ? CLATTN_BF16 : CLATTN_F16;
}

bool units_asked(void)
{
    return asked_dtype() != 0;
}

void units_round(attention_case *c)
{
    if (units_asked())
        attention_case_round(c, asked_dtype());
}

bool units_have(const char *row)
{
    return row != NULL && strncmp(row, "mma", 3) == 0;
}

bool units_have_turn(const char *row, size_t n)
{
    size_t members = 0, place = 0;
    if (!units_asked())
        return true;
    for (size_t i = 0; clattn_kernel_name(i) != NULL; ++i)
        if (units_have(clattn_kernel_name(i))) {
            if (strcmp(row, clattn_kernel_name(i)) == 0)
                place = members;
            ++members;
        }
    if (!units_have(row) || suite_count(0, 1) == 1)
        return units_have(row);
    return n % THIN == 0 && n / THIN % members == place;
}
