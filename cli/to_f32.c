/* SPDX-License-Identifier: Apache-2.0
 *
 * to_f32.c - elements of files as f32, with a refusal of what f32 cannot hold.
 */
#include "to_f32.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "clattn/clattn.h"

static bool check_overflow(const float *to, const char *from, size_t count,
    const char *owner, failure *f)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isinf(to[i]))
            continue;
        double value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        if (!isinf(value))
            return fail(f,
                "%s: element %zu is %g, but f32 holds at most %.8g in "
                "absolute value",
                owner, i, value, (double)FLT_MAX);
    }
    return true;
}

bool to_f32(float *to, const void *from, int32_t dtype, size_t count,
    const char *owner, failure *f)
{
    clattn_error error;
    if (clattn_convert(to, CLATTN_F32, from, dtype, count, &error))
        return fail(f, "%s: %s", owner, error.message);
    if (dtype == CLATTN_F64)
        return check_overflow(to, from, count, owner, f);
    return true;
}
