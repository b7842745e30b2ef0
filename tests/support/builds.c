/* SPDX-License-Identifier: Apache-2.0
 *
 * builds.c - how many programs the problems of a test program come to, by the
 * planner's own list of what it needs.
 */
#include "builds.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "opencl.h"
#include "plan.h"
#include "problem.h"

enum {
    MOST_BUILDS = 65536
};

static uint64_t known[MOST_BUILDS];
static size_t count;

/* FNV-1a, 64 bits: two of a few thousand texts do not meet. */
static uint64_t hash(uint64_t so_far, const char *text)
{
    for (; *text != '\0'; ++text)
        so_far = (so_far ^ (unsigned char)*text) * 0x100000001b3u;
    return so_far;
}

static void note(const kernel_need *need)
{
    const uint64_t key =
        hash(hash(0xcbf29ce484222325u, need->name), need->options);
    for (size_t n = 0; n < count; ++n)
        if (known[n] == key)
            return;
    if (count < MOST_BUILDS)
        known[count++] = key;
}

void builds_note(const clattn_attention *problem)
{
    const clattn_context *ctx = opencl_get()->ctx;
    const row_wishes wishes = {.kernel = problem->kernel,
        .disable = problem->disable,
        .env_kernel = ctx->env.kernel,
        .env_disable = ctx->env.disable};
    clattn_attention complete;
    declined_rows declined = {{false}, ""};
    proposal p;
    if (problem_attention(&complete, problem, false, false, NULL) !=
            CLATTN_OK ||
        plan_attention(&p, &complete, &ctx->limits, &wishes, &declined, NULL) !=
            CLATTN_OK)
        return;
    for (size_t n = 0; n < p.n_needs && p.launches > 0; ++n)
        note(&p.need[n]);
}

size_t builds_count(void)
{
    return count;
}
