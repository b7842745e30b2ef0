/* SPDX-License-Identifier: Apache-2.0
 *
 * check_limits.c - which kernels the environment forces or keeps out: a name
 * that is none says nothing of the device, and what is kept out belongs into
 * the report.
 */
#include <stdio.h>
#include <string.h>

#include "check_report.h"
#include "environment.h"
#include "session.h"

/* With all rows switched off nothing is built, but names are looked at first,
   and the library has a sentence for one that is none. */
static bool names_are_known(clattn_context *ctx, failure *f)
{
    clattn_linear problem;
    clattn_plan *plan = NULL;
    clattn_error error;
    clattn_linear_init(&problem, sizeof problem);
    problem.rows = problem.n_in = problem.n_out = 1;
    problem.dtype = CLATTN_F32;
    problem.weight_order = CLATTN_IN_OUT;
    problem.disable = "fused,materialised";
    const clattn_status status =
        clattn_linear_plan(&plan, ctx, &problem, &error);
    clattn_plan_destroy(plan);
    return status != CLATTN_INVALID || library_ok(status, &error, f);
}

bool check_limits(check_report *report, clattn_context *ctx, failure *f)
{
    static const char *const NAMES[] = {"CLATTN_KERNEL", "CLATTN_DISABLE"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = environment_value(NAMES[i]);
        if (!value || !value[0] || used >= sizeof report->limits)
            continue;
        used += (size_t)snprintf(report->limits + used,
            sizeof report->limits - used, "%s%s=%s", used ? " " : "", NAMES[i],
            value);
    }
    return names_are_known(ctx, f);
}
