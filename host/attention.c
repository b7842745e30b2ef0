/* SPDX-License-Identifier: Apache-2.0
 *
 * attention.c - clattn_attention_supported, _plan and _enqueue.
 */
#include "call.h"
#include "error.h"
#include "operations.h"
#include "planned.h"
#include "problem.h"

clattn_status clattn_attention_supported(
    clattn_context *ctx, const clattn_attention *attention, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_attention complete;
    choice chosen;

    error_none(error);
    TRY(context_check(ctx, error));
    TRY(problem_attention(&complete, attention, false, false, error));
    TRY(choose_attention(&chosen, ctx, &complete, false, error));

cleanup:
    return status;
}

clattn_status clattn_attention_plan(clattn_plan **out, clattn_context *ctx,
    const clattn_attention *attention, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;

    error_none(error);
    if (!out)
        return error_set(error, CLATTN_INVALID, "plan is NULL");
    TRY(context_check(ctx, error));
    TRY(planned_create(&plan, ctx, OPERATION_ATTENTION, error));
    TRY(problem_attention(&plan->attention, attention, false, false, error));
    TRY(choose_attention(&plan->attend, ctx, &plan->attention, true, error));
    plan->workspace_bytes = plan->attend.p.workspace_bytes;
    TRY(planned_keep_slopes(plan, error));
    planned_describe(plan, "attention", &plan->attend);
    planned_forget_pointers(plan);
    context_log(ctx, "%s", plan->text);
    *out = plan;
    plan = NULL;

cleanup:
    clattn_plan_destroy(plan);
    return status;
}

clattn_status attention_chain(call *c, clattn_error *error)
{
    const clattn_plan *plan = c->plan;
    attention_regions regions = call_attention_regions(c, false);
    regions.workspace = call_scratch(c, 0, sizeof(float));
    return chain_attention(
        &c->chain, &plan->attend, plan->ctx, &plan->attention, &regions, error);
}

clattn_status clattn_attention_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_attention_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_attention_args taken;
    call c;

    TRY(call_begin(
        &c, plan, OPERATION_ATTENTION, queue, num_wait, wait_list, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    c.count = operands_of_attention(c.list, &plan->attention, &taken);
    c.dropout_seed = taken.dropout_seed;
    c.dropout_offset = taken.dropout_offset;
    TRY(call_check(&c, &taken.workspace, error));
    TRY(operands_check_arrays(&plan->attention, &taken, error));
    TRY(call_prepare(&c, error));
    TRY(attention_chain(&c, error));
    TRY(chain_finish(&c.chain, event, error));

cleanup:
    call_end(&c);
    return status;
}
