/* SPDX-License-Identifier: Apache-2.0
 *
 * builds.c - which programs a problem comes to, by the planner's own list.
 */
#include "builds.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "context.h"
#include "opencl.h"
/* Through it the host's program.h, not the one beside this file. */
#include "plan.h"
#include "problem.h"

enum {
    MOST_BUILDS = 65536
};

static cl_kernel known[MOST_BUILDS];
static size_t count;

/* What choose.c would build first. */
static bool propose(proposal *p, const clattn_attention *problem)
{
    const clattn_context *ctx = opencl_get()->ctx;
    const row_wishes wishes = {.kernel = problem->kernel,
        .disable = problem->disable,
        .env_kernel = ctx->env.kernel,
        .env_disable = ctx->env.disable};
    clattn_attention complete;
    declined_rows declined = {{false}, ""};
    return problem_attention(&complete, problem, false, false, NULL) ==
               CLATTN_OK &&
           plan_attention(p, &complete, &ctx->limits, &wishes, &declined,
               NULL) == CLATTN_OK &&
           p->launches > 0;
}

size_t builds_kernels(
    cl_kernel kernels[BUILDS_OF_PROBLEM], const clattn_attention *problem)
{
    proposal p;
    if (!propose(&p, problem))
        return 0;
    for (size_t n = 0; n < p.n_needs; ++n) {
        const built_kernel *built = NULL;
        ck_assert_int_eq(
            program_get(&built, opencl_get()->ctx, &p.need[n], NULL),
            CLATTN_OK);
        kernels[n] = built->kernel;
    }
    return p.n_needs;
}

void builds_note(const clattn_attention *problem)
{
    cl_kernel kernels[BUILDS_OF_PROBLEM];
    const size_t needs = builds_kernels(kernels, problem);
    for (size_t n = 0; n < needs; ++n) {
        size_t at = 0;
        while (at < count && known[at] != kernels[n])
            ++at;
        if (at == count && count < MOST_BUILDS)
            known[count++] = kernels[n];
    }
}

size_t builds_count(void)
{
    return count;
}
