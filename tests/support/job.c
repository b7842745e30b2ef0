/* SPDX-License-Identifier: Apache-2.0
 *
 * job.c - one problem that is enqueued again and again.
 */
#include "job.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_expected.h"
#include "device_queues.h"
#include "rows.h"

enum {
    WORKSPACE_OFFSET = 64,
    POISON = 0xff
};

/* Projections, scores, softmax, weighted sum, projection: six launches at
   least, and four intermediate tensors. */
static const layer_case LAYER = {"a layer", {2, 2, 1, 4, 5, 4, 4, 6, 3, 0, 5},
    CLATTN_OUT_IN, CLATTN_BIAS_Q | CLATTN_PROJECT_OUT | CLATTN_BIAS_O,
    .returns = CLATTN_RETURN_LSE, .key_lengths = true};

/* ---- Making --------------------------------------------------------------- */

static void make_trial(job *j, const job_case *c, uint64_t seed)
{
    if (c->layer) {
        layer_case of = LAYER;
        of.seed = seed;
        ck_assert(layer_trial_create(&j->layer, &of));
        j->op = operation_layer(&j->layer);
        return;
    }
    attention_case of = c->attention;
    of.seed = seed;
    ck_assert(attention_trial_create(&j->attention, &of));
    j->attention.problem.kernel = rows_or_choice(c->kernel);
    j->op = operation_attention(&j->attention);
}

static void make_buffers(job *j, cl_context cl)
{
    cl_int code = CL_SUCCESS;
    for (size_t m = 0; m < j->op.memory->memories; ++m) {
        j->buffer[m] =
            clCreateBuffer(cl, CL_MEM_READ_WRITE, job_bytes(j, m), NULL, &code);
        ck_assert_int_eq(code, CL_SUCCESS);
    }
    j->workspace.offset = WORKSPACE_OFFSET;
    j->workspace.mem = clCreateBuffer(cl, CL_MEM_READ_WRITE,
        WORKSPACE_OFFSET + clattn_plan_workspace_bytes(j->plan), NULL, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
}

static bool meets_reference(const job *j, char why[ARENA_TEXT])
{
    clattn_error error;
    attention_expected attention;
    layer_expected layer;
    bool met = false;
    if (j->is_layer) {
        met = layer_expect(&layer, &j->layer, &error) == CLATTN_OK &&
              layer_meets(&layer, &j->layer, why);
        layer_expected_free(&layer);
    } else {
        met =
            attention_expect(&attention, &j->attention, &error) == CLATTN_OK &&
            attention_meets(&attention, &j->attention, why);
        attention_expected_free(&attention);
    }
    return met;
}

static cl_int read_all(const job *j, float *const to[ARENA_TENSORS])
{
    cl_int code = CL_SUCCESS;
    for (size_t m = 0; m < j->op.memory->memories && code == CL_SUCCESS; ++m)
        code = clEnqueueReadBuffer(j->queue, j->buffer[m], CL_TRUE, 0,
            job_bytes(j, m), to[m], 0, NULL, NULL);
    return code;
}

/* The first run is judged, and judges all others. */
static void run_first(job *j)
{
    char why[ARENA_TEXT] = "";
    clattn_error error;
    arena *a = j->op.memory;
    ck_assert_int_eq(job_reset(j), CL_SUCCESS);
    ck_assert_msg(
        job_enqueue(j, j->plan, j->queue, NULL, NULL, &error) == CLATTN_OK,
        "%s", error.message);
    for (size_t m = 0; m < a->memories; ++m)
        j->right[m] = malloc(job_bytes(j, m));
    ck_assert_int_eq(read_all(j, j->right), CL_SUCCESS);
    for (size_t m = 0; m < a->memories; ++m)
        memcpy(a->memory[m].data, j->right[m], job_bytes(j, m));
    ck_assert_msg(meets_reference(j, why), "%s", why);
    arena_restore(a);
}

void job_create(job *j, clattn_context *ctx, const job_case *c, uint64_t seed)
{
    clattn_error error;
    memset(j, 0, sizeof *j);
    j->is_layer = c->layer;
    make_trial(j, c, seed);
    arena_remember(j->op.memory);
    ck_assert_msg(j->op.plan(&j->plan, ctx, j->op.trial, &error) == CLATTN_OK,
        "%s", error.message);
    j->queue = clCreateCommandQueue(
        clattn_context_cl(ctx), clattn_context_device(ctx), 0, NULL);
    ck_assert_ptr_nonnull(j->queue);
    make_buffers(j, clattn_context_cl(ctx));
    run_first(j);
}

void job_destroy(job *j)
{
    for (size_t m = 0; m < j->op.memory->memories; ++m) {
        if (j->buffer[m])
            clReleaseMemObject(j->buffer[m]);
        free(j->right[m]);
    }
    if (j->workspace.mem)
        clReleaseMemObject(j->workspace.mem);
    if (j->queue)
        clReleaseCommandQueue(j->queue);
    clattn_plan_destroy(j->plan);
    if (j->is_layer)
        layer_trial_destroy(&j->layer);
    else
        attention_trial_destroy(&j->attention);
}

/* ---- Running -------------------------------------------------------------- */

size_t job_bytes(const job *j, size_t m)
{
    return j->op.memory->memory[m].count * sizeof(float);
}

cl_int job_reset(const job *j)
{
    static const unsigned char poison = POISON;
    const size_t bytes =
        j->workspace.offset + clattn_plan_workspace_bytes(j->plan);
    cl_int code = clEnqueueFillBuffer(
        j->queue, j->workspace.mem, &poison, 1, 0, bytes, 0, NULL, NULL);
    for (size_t m = 0; m < j->op.memory->memories && code == CL_SUCCESS; ++m)
        code = clEnqueueWriteBuffer(j->queue, j->buffer[m], CL_TRUE, 0,
            job_bytes(j, m), j->op.memory->memory[m].before, 0, NULL, NULL);
    return code == CL_SUCCESS ? clFinish(j->queue) : code;
}

clattn_status job_enqueue(const job *j, const clattn_plan *plan,
    cl_command_queue queue, const cl_event *wait, cl_event *event,
    clattn_error *error)
{
    return j->op.enqueue(
        plan, queue, j->op.trial, j->buffer, j->workspace, wait, event, error);
}

static bool compare(const job *j, float *const copy[ARENA_TENSORS],
    float *const wanted[ARENA_TENSORS], char why[ARENA_TEXT])
{
    for (size_t m = 0; m < j->op.memory->memories; ++m)
        for (size_t i = 0; i < j->op.memory->memory[m].count; ++i)
            if (memcmp(&copy[m][i], &wanted[m][i], sizeof(float)) != 0) {
                snprintf(why, ARENA_TEXT,
                    "word %zu of memory %zu is %g, not %g", i, m,
                    (double)copy[m][i], (double)wanted[m][i]);
                return false;
            }
    return true;
}

bool job_holds(
    const job *j, float *const copy[ARENA_TENSORS], char why[ARENA_TEXT])
{
    return compare(j, copy, j->right, why);
}

/* Read into memory of this call's own, and compare. */
static bool read_and_compare(
    const job *j, float *const wanted[ARENA_TENSORS], char why[ARENA_TEXT])
{
    float *copy[ARENA_TENSORS] = {NULL};
    bool same = false;
    for (size_t m = 0; m < j->op.memory->memories; ++m)
        copy[m] = malloc(job_bytes(j, m));
    const cl_int code = read_all(j, copy);
    if (code == CL_SUCCESS)
        same = compare(j, copy, wanted, why);
    else
        snprintf(why, ARENA_TEXT, "clEnqueueReadBuffer: %d", (int)code);
    for (size_t m = 0; m < j->op.memory->memories; ++m)
        free(copy[m]);
    return same;
}

bool job_is_right(const job *j, char why[ARENA_TEXT])
{
    return read_and_compare(j, j->right, why);
}

bool job_is_untouched(const job *j, char why[ARENA_TEXT])
{
    float *before[ARENA_TENSORS] = {NULL};
    for (size_t m = 0; m < j->op.memory->memories; ++m)
        before[m] = j->op.memory->memory[m].before;
    return read_and_compare(j, before, why);
}

bool job_works(const job *j, const clattn_plan *plan, cl_command_queue queue,
    char why[ARENA_TEXT])
{
    clattn_error error = {.message = "buffers could not be written"};
    cl_event event = NULL;
    if (job_reset(j) != CL_SUCCESS ||
        job_enqueue(j, plan, queue, NULL, &event, &error) != CLATTN_OK ||
        device_queues_finish(event, &error) != CLATTN_OK) {
        snprintf(why, ARENA_TEXT, "%s", error.message);
        return false;
    }
    return job_is_right(j, why);
}
