/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_runner.c - computes a problem on a device, or with the reference.
 */
#include "onnx_runner.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- Opening ------------------------------------------------------------- */

bool onnx_runner_open(onnx_runner *r, enum onnx_path path, const char *kernel,
    const char *device, failure *f)
{
    cl_int code = CL_SUCCESS;

    *r = (onnx_runner){.path = path, .kernel = kernel};
    if (path == ONNX_REFERENCE)
        return true;
    if (!session_open(&r->device, device, f))
        return false;
    r->queue = clCreateCommandQueue(clattn_context_cl(r->device.ctx),
        clattn_context_device(r->device.ctx), 0, &code);
    return code == CL_SUCCESS ||
           fail(f, "clCreateCommandQueue: %s", error_cl_name(code));
}

void onnx_runner_close(onnx_runner *r)
{
    if (r->queue != NULL)
        clReleaseCommandQueue(r->queue);
    session_close(&r->device);
    *r = (onnx_runner){.path = ONNX_REFERENCE};
}

/* ---- Results ------------------------------------------------------------- */

/* Full of 0xff, which is NaN in every float type, so that an element that no
   one writes is noticed. */
static bool make_blank(onnx_memory *to, const npy_array *like, failure *f)
{
    to->bytes = like->count * onnx_dtype_bytes(like->dtype);
    to->data = malloc(to->bytes + 1);
    if (to->data == NULL)
        return fail_memory(
            f, "no memory for an output of %zu bytes", to->bytes);
    memset(to->data, 0xff, to->bytes + 1);
    return true;
}

bool onnx_results_make(onnx_results *to, const onnx_case *c, failure *f)
{
    memset(to, 0, sizeof *to);
    return make_blank(&to->y, &c->tensor[ONNX_Y], f) &&
           (!c->given[ONNX_QK_OUTPUT] ||
               make_blank(&to->scores, &c->tensor[ONNX_QK_OUTPUT], f));
}

void onnx_results_free(onnx_results *to)
{
    free(to->y.data);
    free(to->scores.data);
    memset(to, 0, sizeof *to);
}

/* ---- One call ------------------------------------------------------------ */

typedef struct call {
    const clattn_attention *a;
    onnx_memory memory[ONNX_OPERANDS]; /* of the host; only what `a` needs */
    cl_mem buffer[ONNX_OPERANDS];      /* all NULL for a call with pointers */
} call;

static call make_call(const clattn_attention *a, const onnx_problem *p,
    const onnx_memory *out, const onnx_memory *scores)
{
    call c = {.a = a};

    memcpy(c.memory, p->input, sizeof p->input);
    if (a->mask.dtype == 0)
        c.memory[ONNX_IN_MASK].data = NULL;
    if ((a->flags & CLATTN_KEY_LENGTHS) == 0)
        c.memory[ONNX_IN_KEY_LENGTHS].data = NULL;
    if ((a->flags & CLATTN_DIAGONAL_OFFSETS) == 0)
        c.memory[ONNX_IN_DIAGONAL_OFFSETS].data = NULL;
    c.memory[ONNX_OUT] = *out;
    if ((a->flags & p->stage) != 0)
        c.memory[ONNX_WEIGHTS] = *scores;
    return c;
}

static clattn_input input(const call *c, enum onnx_operand which)
{
    const cl_mem buffer = c->buffer[which];
    return (clattn_input){
        .mem = buffer, .host = buffer == NULL ? c->memory[which].data : NULL};
}

static clattn_output output(const call *c, enum onnx_operand which)
{
    const cl_mem buffer = c->buffer[which];
    return (clattn_output){
        .mem = buffer, .host = buffer == NULL ? c->memory[which].data : NULL};
}

static clattn_attention_args arguments(const call *c)
{
    return (clattn_attention_args){
        .struct_size = sizeof(clattn_attention_args),
        .out = output(c, ONNX_OUT),
        .weights = output(c, ONNX_WEIGHTS),
        .q = input(c, ONNX_IN_Q),
        .k = input(c, ONNX_IN_K),
        .v = input(c, ONNX_IN_V),
        .mask = input(c, ONNX_IN_MASK),
        .key_lengths = input(c, ONNX_IN_KEY_LENGTHS),
        .diagonal_offsets = input(c, ONNX_IN_DIAGONAL_OFFSETS),
    };
}

/* ---- Enqueue ------------------------------------------------------------- */

/* A buffer for each tensor that has elements; outputs bring their pattern. */
static clattn_status create_buffers(
    const onnx_runner *r, call *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    for (size_t i = 0; i < ONNX_OPERANDS; ++i) {
        cl_int code = CL_SUCCESS;
        if (c->memory[i].data == NULL || c->memory[i].bytes == 0)
            continue;
        c->buffer[i] = clCreateBuffer(clattn_context_cl(r->device.ctx),
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, c->memory[i].bytes,
            c->memory[i].data, &code);
        TRY(error_check_cl(error, code, "clCreateBuffer"));
    }

cleanup:
    return status;
}

static clattn_status fetch(
    const onnx_runner *r, call *c, cl_event done, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    TRY(error_check_cl(error, clWaitForEvents(1, &done), "clWaitForEvents"));
    for (size_t i = ONNX_OUT; i < ONNX_OPERANDS; ++i)
        if (c->buffer[i] != NULL)
            TRY(error_check_cl(error,
                clEnqueueReadBuffer(r->queue, c->buffer[i], CL_TRUE, 0,
                    c->memory[i].bytes, c->memory[i].data, 0, NULL, NULL),
                "clEnqueueReadBuffer"));

cleanup:
    return status;
}

static clattn_status enqueue(const onnx_runner *r, call *c, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    clattn_plan *plan = NULL;
    cl_event done = NULL;

    TRY(clattn_attention_plan(&plan, r->device.ctx, c->a, error));
    TRY(create_buffers(r, c, error));
    const clattn_attention_args args = arguments(c);
    TRY(clattn_attention_enqueue(plan, r->queue, &args, 0, NULL, &done, error));
    TRY(fetch(r, c, done, error));

cleanup:
    for (size_t i = 0; i < ONNX_OPERANDS; ++i)
        if (c->buffer[i] != NULL)
            clReleaseMemObject(c->buffer[i]);
    if (done != NULL)
        clReleaseEvent(done);
    clattn_plan_destroy(plan);
    return status;
}

/* ---- Problems ------------------------------------------------------------ */

static clattn_status attend(const onnx_runner *r, const clattn_attention *a,
    const onnx_problem *p, const onnx_memory *out, const onnx_memory *scores,
    clattn_error *error)
{
    call c = make_call(a, p, out, scores);
    const clattn_attention_args args = arguments(&c);

    switch (r->path) {
    case ONNX_HOST:
        return clattn_attention_host(r->device.ctx, a, &args, error);
    case ONNX_ENQUEUE:
        return enqueue(r, &c, error);
    default:
        return clattn_attention_reference(a, &args, error);
    }
}

/* qk_matmul_output alone, by whatever kernel; the call's Y is thrown away. */
static clattn_status attend_stage(const onnx_runner *r, const onnx_results *to,
    const onnx_problem *p, clattn_error *error)
{
    const clattn_attention a = onnx_problem_stage(p);
    const onnx_memory spare = {malloc(to->y.bytes + 1), to->y.bytes};

    if (spare.data == NULL)
        return error_set(error, CLATTN_NO_MEMORY,
            "no memory for an output of %zu bytes", spare.bytes);
    memset(spare.data, 0xff, spare.bytes + 1);
    const clattn_status status = attend(r, &a, p, &spare, &to->scores, error);
    free(spare.data);
    return status;
}

/* With the forced kernel, if there is one. */
static clattn_status attend_forced(const onnx_runner *r, onnx_results *to,
    clattn_attention a, const onnx_problem *p, bool *cannot,
    clattn_error *error)
{
    a.kernel = r->kernel;
    const clattn_status status = attend(r, &a, p, &to->y, &to->scores, error);
    *cannot = status == CLATTN_UNSUPPORTED && (r->kernel != NULL || r->limited);
    return status;
}

clattn_status onnx_runner_attend(const onnx_runner *r, onnx_results *to,
    const onnx_problem *p, bool *cannot, clattn_error *error)
{
    clattn_status status = CLATTN_OK;

    *cannot = false;
    if (!p->stage_apart)
        status = attend_forced(r, to, onnx_problem_whole(p), p, cannot, error);
    to->scores_apart = p->stage_apart || (*cannot && p->stage != 0);
    if (!to->scores_apart)
        return status;
    status = attend_forced(r, to, p->attention, p, cannot, error);
    if (status != CLATTN_OK)
        return status;
    status = attend_stage(r, to, p, error);
    *cannot = status == CLATTN_UNSUPPORTED && r->limited;
    return status;
}

void onnx_runner_explain(FILE *to, const onnx_runner *r, const onnx_problem *p)
{
    clattn_plan *plan = NULL;
    clattn_attention a = onnx_problem_whole(p);
    clattn_error error;

    a.kernel = r->kernel;
    if (r->path == ONNX_REFERENCE)
        return;
    if (clattn_attention_plan(&plan, r->device.ctx, &a, &error) == CLATTN_OK)
        fprintf(to, "      %s\n", clattn_plan_describe(plan));
    else
        fprintf(to, "      no plan: %s\n", error.message);
    clattn_plan_destroy(plan);
}
