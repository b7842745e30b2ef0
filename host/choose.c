/* SPDX-License-Identifier: Apache-2.0
 *
 * choose.c - propose a row, build its kernels, accept them or take the next
 * row: the loop that joins plan and program.
 */
#include "choose.h"

#include <string.h>

#include "error.h"

static row_wishes wishes_of(
    const clattn_context *ctx, const char *kernel, const char *disable)
{
    return (row_wishes){
        .kernel = kernel,
        .disable = disable,
        .env_kernel = ctx->env.kernel,
        .env_disable = ctx->env.disable,
    };
}

/* Nothing is compiled for a problem that launches nothing. */
static clattn_status build(choice *c, clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    for (size_t i = 0; i < c->p.n_needs && c->p.launches > 0; ++i)
        TRY(program_get(&c->built[i], ctx, &c->p.need[i], error));

cleanup:
    return status;
}

static bool accepted(choice *c)
{
    return c->p.launches == 0 || plan_accept(&c->p, c->built, &c->declined);
}

clattn_status choose_attention(choice *c, clattn_context *ctx,
    const clattn_attention *attention, bool compile, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const row_wishes wishes =
        wishes_of(ctx, attention->kernel, attention->disable);
    memset(c, 0, sizeof *c);
    do {
        TRY(plan_attention(
            &c->p, attention, &ctx->limits, &wishes, &c->declined, error));
        if (!compile)
            return CLATTN_OK;
        TRY(build(c, ctx, error));
    } while (!accepted(c));

cleanup:
    return status;
}

clattn_status choose_matmul(choice *c, clattn_context *ctx,
    const matmul_job *job, const char *kernel, const char *disable,
    bool compile, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const row_wishes wishes = wishes_of(ctx, kernel, disable);
    memset(c, 0, sizeof *c);
    do {
        TRY(plan_matmul(
            &c->p, job, &ctx->limits, &wishes, &c->declined, error));
        if (!compile)
            return CLATTN_OK;
        TRY(build(c, ctx, error));
    } while (!accepted(c));

cleanup:
    return status;
}
