/* SPDX-License-Identifier: Apache-2.0
 *
 * planned.c - the object behind clattn_plan: an operation, its completed
 * descriptor, and the choices made for it.
 */
#include "planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "process.h"

clattn_status planned_create(clattn_plan **out, clattn_context *ctx,
    enum operation operation, clattn_error *error)
{
    clattn_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return error_set(error, CLATTN_NO_MEMORY, "no memory for a plan");
    context_retain(ctx);
    plan->ctx = ctx;
    plan->operation = operation;
    *out = plan;
    return CLATTN_OK;
}

clattn_status planned_keep_slopes(clattn_plan *plan, clattn_error *error)
{
    const clattn_attention *a = &plan->attention;
    cl_int code = CL_SUCCESS;
    if (!a->alibi_slopes || a->Hq == 0)
        return CLATTN_OK;
    /* OpenCL only reads it: its type is not const for CL_MEM_USE_HOST_PTR. */
    void *slopes = (void *)(uintptr_t)a->alibi_slopes;
    plan->slopes =
        clCreateBuffer(plan->ctx->cl, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
            a->Hq * sizeof(float), slopes, &code);
    return error_check_cl(error, code, "clCreateBuffer");
}

void planned_describe(clattn_plan *plan, const char *label, const choice *c)
{
    char text[3000];
    plan_text(text, sizeof text, &c->p, &c->declined);
    const size_t used = strlen(plan->text);
    snprintf(plan->text + used, sizeof plan->text - used, "%s%s: %s",
        used ? " | " : "", label, text);
}

void planned_forget_pointers(clattn_plan *plan)
{
    plan->attention.alibi_slopes = NULL;
    plan->attention.kernel = plan->attention.disable = NULL;
    plan->linear.kernel = plan->linear.disable = NULL;
    plan->given.attention = NULL;
}

const char *operation_name(enum operation operation)
{
    static const char *const NAMES[] = {"attention", "linear", "layer"};
    return NAMES[operation];
}

const char *clattn_plan_describe(const clattn_plan *plan)
{
    return plan ? plan->text : NULL;
}

size_t clattn_plan_workspace_bytes(const clattn_plan *plan)
{
    return plan ? plan->workspace_bytes : 0;
}

void clattn_plan_destroy(clattn_plan *plan)
{
    if (!plan)
        return;
    /* As a context leaves its objects alone in a forked child. */
    if (plan->slopes && process_may_use_opencl())
        clReleaseMemObject(plan->slopes);
    clattn_context_destroy(plan->ctx);
    free(plan);
}
