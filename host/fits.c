/* SPDX-License-Identifier: Apache-2.0
 *
 * fits.c - what rows of kernels need of device and problem: each a question
 * whose no is a reason to decline.
 */
#include <math.h>

#include "plan.h"
#include "problem.h"

bool group_fits(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t x, size_t y, size_t local_bytes)
{
    if (x * y > limits->max_group) {
        decline(declined, row, "needs %zu work-items, the device has %zu",
            x * y, limits->max_group);
        return false;
    }
    if (x > limits->max_group_dim[0] || y > limits->max_group_dim[1]) {
        decline(declined, row,
            "needs %zux%zu work-items, the device has %zux%zu", x, y,
            limits->max_group_dim[0], limits->max_group_dim[1]);
        return false;
    }
    if (local_bytes > limits->local_bytes) {
        decline(declined, row,
            "needs %zu bytes of local memory, the device has %zu", local_bytes,
            limits->local_bytes);
        return false;
    }
    return true;
}

bool loops_fit(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t passes)
{
    if (limits->max_iterations == 0 || passes <= limits->max_iterations)
        return true;
    decline(declined, row,
        "takes %zu loop passes, the device ends loops after %zu", passes,
        limits->max_iterations);
    return false;
}

size_t cpu_lanes(
    declined_rows *declined, const kernel_row *row, const device_limits *limits)
{
    const size_t width = limits->native_width;
    if (limits->is_cpu && width >= 4)
        return width >= 16 ? 16 : width >= 8 ? 8 : 4;
    decline(declined, row,
        "is for CPUs with vectors of 4 floats or more, this is %s with %zu",
        limits->is_cpu ? "one" : "another device", width);
    return 0;
}

bool scale_fits(
    declined_rows *declined, const kernel_row *row, const clattn_attention *a)
{
    if (isfinite(a->scale * 1.44269504f))
        return true;
    decline(declined, row, "scale %g times log2(e) is not finite",
        (double)a->scale);
    return false;
}

bool keeps_no_matrix(
    declined_rows *declined, const kernel_row *row, const clattn_attention *a)
{
    if (!(a->flags & (CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES |
                         CLATTN_RETURN_SCALED | CLATTN_RETURN_CAPPED)))
        return true;
    decline(declined, row, "keeps no matrix of weights or scores");
    return false;
}

/* A sum in parts keeps what it has so far in its result, which must be f32. */
bool sum_fits(declined_rows *declined, const kernel_row *row, size_t part,
    size_t terms, int32_t dtype, const char *result)
{
    if (terms <= part || dtype == CLATTN_F32)
        return true;
    decline(declined, row,
        "%s is %s, but sums of more than %zu terms take several launches here "
        "and need f32",
        result, dtype_name(dtype), part);
    return false;
}

bool row_is_foreign(const kernel_row *row, const device_limits *limits)
{
    return limits->is_cpu && (row->propose_attention == propose_simt ||
                                 row->propose_matmul == propose_matmul_simt);
}

bool is_for_device(
    declined_rows *declined, const proposal *p, const device_limits *limits)
{
    if (p->asked || !row_is_foreign(p->row, limits))
        return true;
    decline(declined, p->row, "is for CPUs only where it is asked for");
    return false;
}
