/* SPDX-License-Identifier: Apache-2.0
 *
 * linear.c - clattn_linear_supported, _plan and _enqueue: y = x W + b.
 */
#include "call.h"
#include "error.h"
#include "operations.h"
#include "planned.h"
#include "problem.h"

clattn_status clattn_linear_supported(
    clattn_context *ctx, const clattn_linear *linear, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_linear complete;
    choice chosen;

    error_none(error);
    TRY(context_check(ctx, error));
    TRY(problem_linear(&complete, linear, false, error));
    const matmul_job job = linear_job(&complete);
    TRY(choose_matmul(
        &chosen, ctx, &job, complete.kernel, complete.disable, false, error));

cleanup:
    return status;
}

clattn_status clattn_linear_plan(clattn_plan **out, clattn_context *ctx,
    const clattn_linear *linear, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;

    error_none(error);
    if (!out)
        return error_set(error, CLATTN_INVALID, "plan is NULL");
    TRY(context_check(ctx, error));
    TRY(planned_create(&plan, ctx, OPERATION_LINEAR, error));
    TRY(problem_linear(&plan->linear, linear, false, error));
    plan->job[0] = linear_job(&plan->linear);
    TRY(choose_matmul(&plan->project[0], ctx, &plan->job[0],
        plan->linear.kernel, plan->linear.disable, true, error));
    plan->workspace_bytes = plan->project[0].p.workspace_bytes;
    planned_describe(plan, "linear", &plan->project[0]);
    planned_forget_pointers(plan);
    context_log(ctx, "%s", plan->text);
    *out = plan;
    plan = NULL;

cleanup:
    clattn_plan_destroy(plan);
    return status;
}

clattn_status linear_chain(call *c, clattn_error *error)
{
    const clattn_plan *plan = c->plan;
    const matmul_regions regions = {
        .a = call_region(c, "x"),
        .b = call_region(c, "w"),
        .bias = call_region(c, "b"),
        .c = call_region(c, "y"),
        .workspace = call_scratch(c, 0, sizeof(float)),
    };
    return chain_matmul(&c->chain, &plan->project[0], plan->ctx, &plan->job[0],
        &regions, error);
}

clattn_status clattn_linear_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_linear_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_linear_args taken;
    call c;

    TRY(call_begin(
        &c, plan, OPERATION_LINEAR, queue, num_wait, wait_list, error));
    TRY(problem_take_struct(
        &taken, sizeof taken, sizeof taken, args, "args", error));
    c.count = operands_of_linear(c.list, &plan->linear, &taken);
    TRY(call_check(&c, &taken.workspace, error));
    TRY(call_prepare(&c, error));
    TRY(linear_chain(&c, error));
    TRY(chain_finish(&c.chain, event, error));

cleanup:
    call_end(&c);
    return status;
}
