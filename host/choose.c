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

/* A kernel, or, of rows that are only tried, why there is none. */
static clattn_status build_one(const built_kernel **built, char why[TRUST_WHY],
    clattn_context *ctx, const kernel_need *need, bool tried,
    clattn_error *error)
{
    clattn_error own;
    why[0] = '\0';
    if (!tried)
        return program_get(built, ctx, need, error);
    if (trust_knows_refused(why, ctx, need))
        return CLATTN_OK;
    const clattn_status status = program_get(built, ctx, need, &own);
    if (status == CLATTN_BUILD_FAILED) {
        trust_refused(why, ctx, need, &own);
        return CLATTN_OK;
    }
    return status == CLATTN_OK ? CLATTN_OK : error_pass(error, &own);
}

/* Build the proposal's kernels; *accepted says whether they can be used, or
   else the row is declined.  Nothing is compiled for a problem that launches
   nothing. */
static clattn_status build(
    bool *accepted, choice *c, clattn_context *ctx, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const bool tried = c->p.tried.kernel.name != NULL;
    char why[TRUST_WHY] = "";
    *accepted = true;
    if (c->p.launches == 0)
        return CLATTN_OK;
    if (tried)
        TRY(trust_unit(why, ctx, &c->p.tried, error));
    for (size_t i = 0; i < c->p.n_needs && why[0] == '\0'; ++i)
        TRY(build_one(&c->built[i], why, ctx, &c->p.need[i], tried, error));
    if (why[0] != '\0')
        decline(&c->declined, c->p.row, "%s", why);
    *accepted = why[0] == '\0' && plan_accept(&c->p, c->built, &c->declined);

cleanup:
    return status;
}

clattn_status choose_attention(choice *c, clattn_context *ctx,
    const clattn_attention *attention, bool compile, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const row_wishes wishes =
        wishes_of(ctx, attention->kernel, attention->disable);
    bool accepted = false;
    memset(c, 0, sizeof *c);
    do {
        TRY(plan_attention(
            &c->p, attention, &ctx->limits, &wishes, &c->declined, error));
        if (!compile)
            return CLATTN_OK;
        TRY(build(&accepted, c, ctx, error));
    } while (!accepted);

cleanup:
    return status;
}

clattn_status choose_matmul(choice *c, clattn_context *ctx,
    const matmul_job *job, const char *kernel, const char *disable,
    bool compile, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const row_wishes wishes = wishes_of(ctx, kernel, disable);
    bool accepted = false;
    memset(c, 0, sizeof *c);
    do {
        TRY(plan_matmul(
            &c->p, job, &ctx->limits, &wishes, &c->declined, error));
        if (!compile)
            return CLATTN_OK;
        TRY(build(&accepted, c, ctx, error));
    } while (!accepted);

cleanup:
    return status;
}
