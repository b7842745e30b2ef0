/* SPDX-License-Identifier: Apache-2.0
 *
 * operation.c - attention, linear and layer as one and the same.
 */
#include "operation.h"

#include "opencl.h"

static clattn_status attention_host(const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    return clattn_attention_host(
        opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status attention_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const attention_trial *trial = of;
    return clattn_attention_plan(
        plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status attention_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    cl_event *event, clattn_error *error)
{
    const clattn_attention_args args = attention_trial_args(of, buffers);
    return clattn_attention_enqueue(plan, queue, &args, 0, NULL, event, error);
}

static clattn_status linear_host(const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    const clattn_linear_args args = linear_trial_args(trial, NULL);
    return clattn_linear_host(opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status linear_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const linear_trial *trial = of;
    return clattn_linear_plan(plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status linear_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    cl_event *event, clattn_error *error)
{
    const clattn_linear_args args = linear_trial_args(of, buffers);
    return clattn_linear_enqueue(plan, queue, &args, 0, NULL, event, error);
}

static clattn_status layer_host(const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    clattn_attention_args inner;
    const clattn_layer_args args = layer_trial_args(trial, &inner, NULL);
    return clattn_layer_host(opencl_get()->ctx, &trial->problem, &args, error);
}

static clattn_status layer_plan(
    clattn_plan **plan, const void *of, clattn_error *error)
{
    const layer_trial *trial = of;
    return clattn_layer_plan(plan, opencl_get()->ctx, &trial->problem, error);
}

static clattn_status layer_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const void *of, const cl_mem *buffers,
    cl_event *event, clattn_error *error)
{
    clattn_attention_args inner;
    const clattn_layer_args args = layer_trial_args(of, &inner, buffers);
    return clattn_layer_enqueue(plan, queue, &args, 0, NULL, event, error);
}

operation operation_attention(attention_trial *trial)
{
    return (operation){&trial->memory, trial, attention_host, attention_plan,
        attention_enqueue};
}

operation operation_linear(linear_trial *trial)
{
    return (operation){
        &trial->memory, trial, linear_host, linear_plan, linear_enqueue};
}

operation operation_layer(layer_trial *trial)
{
    return (operation){
        &trial->memory, trial, layer_host, layer_plan, layer_enqueue};
}
