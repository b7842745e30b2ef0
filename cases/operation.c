/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.c - attention, linear and layer as one and the same.
 */
#include "operation.h"

static clattn_status attention_host(
    clattn_context *ctx, const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    return clattn_attention_host(ctx, &trial->problem, &args, error);
}

static clattn_status attention_reference(const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    return clattn_attention_reference(&trial->problem, &args, error);
}

static clattn_status attention_plan(clattn_plan **plan, clattn_context *ctx,
    const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    return clattn_attention_plan(plan, ctx, &trial->problem, error);
}

static clattn_status attention_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_attention_args args = attention_trial_args(of, buffers);
    args.workspace = workspace;
    return clattn_attention_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

static clattn_status linear_host(
    clattn_context *ctx, const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    const clattn_linear_args args = linear_trial_args(trial, NULL);
    return clattn_linear_host(ctx, &trial->problem, &args, error);
}

static clattn_status linear_reference(const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    const clattn_linear_args args = linear_trial_args(trial, NULL);
    return clattn_linear_reference(&trial->problem, &args, error);
}

static clattn_status linear_plan(clattn_plan **plan, clattn_context *ctx,
    const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    return clattn_linear_plan(plan, ctx, &trial->problem, error);
}

static clattn_status linear_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_linear_args args = linear_trial_args(of, buffers);
    args.workspace = workspace;
    return clattn_linear_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

static clattn_status layer_host(
    clattn_context *ctx, const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    clattn_attention_args inner;
    const clattn_layer_args args = layer_trial_args(trial, &inner, NULL);
    return clattn_layer_host(ctx, &trial->problem, &args, error);
}

static clattn_status layer_reference(const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    clattn_attention_args inner;
    const clattn_layer_args args = layer_trial_args(trial, &inner, NULL);
    return clattn_layer_reference(&trial->problem, &args, error);
}

static clattn_status layer_plan(clattn_plan **plan, clattn_context *ctx,
    const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    return clattn_layer_plan(plan, ctx, &trial->problem, error);
}

static clattn_status layer_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    clattn_output workspace, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    clattn_attention_args inner;
    clattn_layer_args args = layer_trial_args(of, &inner, buffers);
    args.workspace = workspace;
    return clattn_layer_enqueue(
        plan, queue, &args, wait != NULL, wait, event, error);
}

operation operation_attention(attention_trial *trial)
{
    return (operation){&trial->memory, trial, attention_host,
        attention_reference, attention_plan, attention_enqueue};
}

operation operation_linear(linear_trial *trial)
{
    return (operation){&trial->memory, trial, linear_host, linear_reference,
        linear_plan, linear_enqueue};
}

operation operation_layer(layer_trial *trial)
{
    return (operation){&trial->memory, trial, layer_host, layer_reference,
        layer_plan, layer_enqueue};
}
