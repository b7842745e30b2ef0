/* SPDX-License-Identifier: Apache-2.0
 *
 * trust.c - what was found out about a device by trying.
 */
#include "trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"
#include "context.h"
#include "convert.h"
#include "error.h"
#include "params.h"
#include "problem.h"
#include "source.h"

typedef struct verdict {
    struct verdict *next;
    kernel_need need;
    char why[TRUST_WHY]; /* "": right */
} verdict;

struct trust {
    system_lock *lock; /* of what follows, held while trying */
    verdict *verdicts;
};

clattn_status trust_create(trust **out, clattn_error *error)
{
    trust *t = calloc(1, sizeof *t);
    system_lock *lock = system_lock_create();
    if (!t || !lock) {
        free(t);
        system_lock_destroy(lock);
        return error_set(error, CLATTN_NO_MEMORY, "no memory for verdicts");
    }
    t->lock = lock;
    *out = t;
    return CLATTN_OK;
}

void trust_destroy(trust *t)
{
    if (!t)
        return;
    while (t->verdicts) {
        verdict *v = t->verdicts;
        t->verdicts = v->next;
        free(v);
    }
    system_lock_destroy(t->lock);
    free(t);
}

static const verdict *find(const trust *t, const kernel_need *need)
{
    for (const verdict *v = t->verdicts; v; v = v->next)
        if (strcmp(v->need.name, need->name) == 0 &&
            strcmp(v->need.options, need->options) == 0)
            return v;
    return NULL;
}

/* Without memory it is found out again. */
static void add(trust *t, const kernel_need *need, const char *why)
{
    verdict *v = calloc(1, sizeof *v);
    if (!v)
        return;
    v->need = *need;
    snprintf(v->why, sizeof v->why, "%s", why);
    v->next = t->verdicts;
    t->verdicts = v;
}

/* ---- The product ------------------------------------------------------------- */

/* In the order of the kernel's memory. */
typedef struct product {
    size_t rows;
    double *in, *s, *o, *most, *total; /* one block of memory: in */
} product;

static size_t in_count(size_t rows)
{
    return (rows + PROBE_KEYS) * PROBE_D + PROBE_KEYS * PROBE_DV;
}

static size_t out_count(size_t rows)
{
    return rows * (PROBE_KEYS + PROBE_DV + 2);
}

static clattn_status product_create(
    product *p, size_t rows, clattn_error *error)
{
    p->rows = rows;
    p->in = calloc(in_count(rows) + out_count(rows), sizeof *p->in);
    if (!p->in)
        return error_set(error, CLATTN_NO_MEMORY, "no memory for a product");
    p->s = p->in + in_count(rows);
    p->o = p->s + rows * PROBE_KEYS;
    p->most = p->o + rows * PROBE_DV;
    p->total = p->most + rows;
    return CLATTN_OK;
}

/* Whole numbers from -1 to 1 and from -2 to 2: all results are exact in f32,
   and s in 16 bits. */
static void fill(product *p)
{
    const size_t factors = (p->rows + PROBE_KEYS) * PROBE_D;
    uint32_t state = 1;
    for (size_t n = 0; n < in_count(p->rows); ++n) {
        state = state * 1664525u + 1013904223u;
        p->in[n] = n < factors ? (int)(state >> 16) % 3 - 1
                               : (int)(state >> 16) % 5 - 2;
    }
}

static void multiply(product *p)
{
    const double *k = p->in + p->rows * PROBE_D;
    const double *v = k + PROBE_KEYS * PROBE_D;
    for (size_t i = 0; i < p->rows; ++i) {
        p->most[i] = -PROBE_D;
        for (size_t j = 0; j < PROBE_KEYS; ++j) {
            double sum = 0;
            for (size_t d = 0; d < PROBE_D; ++d)
                sum += p->in[i * PROBE_D + d] * k[j * PROBE_D + d];
            p->s[i * PROBE_KEYS + j] = sum;
            p->most[i] = sum > p->most[i] ? sum : p->most[i];
            p->total[i] += sum;
            for (size_t c = 0; c < PROBE_DV; ++c)
                p->o[i * PROBE_DV + c] += sum * v[j * PROBE_DV + c];
        }
    }
}

static void judge(char why[TRUST_WHY], const product *p, const float *got)
{
    for (size_t n = 0; n < out_count(p->rows); ++n)
        if (!((double)got[n] == p->s[n])) {
            snprintf(why, TRUST_WHY,
                "a product as built there is wrong: number %zu is %g, but must "
                "be %g",
                n, (double)got[n], p->s[n]);
            return;
        }
    why[0] = '\0';
}

/* ---- On the device ------------------------------------------------------------- */

typedef struct bench {
    cl_command_queue queue;
    cl_mem in, out;
} bench;

static void bench_close(bench *b)
{
    if (b->in)
        clReleaseMemObject(b->in);
    if (b->out)
        clReleaseMemObject(b->out);
    if (b->queue)
        clReleaseCommandQueue(b->queue);
}

static clattn_status bench_open(bench *b, clattn_context *ctx, void *in,
    size_t in_bytes, float *out, size_t out_bytes, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    cl_int code = CL_SUCCESS;
    b->queue = clCreateCommandQueue(ctx->cl, ctx->device, 0, &code);
    TRY(error_check_cl(error, code, "clCreateCommandQueue"));
    b->in = clCreateBuffer(
        ctx->cl, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, in_bytes, in, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer"));
    b->out = clCreateBuffer(ctx->cl, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
        out_bytes, out, &code);
    TRY(error_check_cl(error, code, "clCreateBuffer"));

cleanup:
    return status;
}

/* A code of the driver's: what the kernel as built does not bear is a verdict
   on it. */
static cl_int launch(bench *b, const built_kernel *built, size_t items,
    float *out, size_t out_bytes)
{
    system_lock_take(built->lock);
    cl_int code =
        clSetKernelArg(built->kernel, 0, sizeof(cl_mem), (void *)&b->out);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(built->kernel, 1, sizeof(cl_mem), (void *)&b->in);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(
            b->queue, built->kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    system_lock_release(built->lock);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(
            b->queue, b->out, CL_TRUE, 0, out_bytes, out, 0, NULL, NULL);
    return code;
}

/* What a verdict holds for. */
enum life {
    FOR_THE_PLAN,
    FOR_THE_CONTEXT,
    FOR_THE_DRIVER
};

static clattn_status run(char why[TRUST_WHY], enum life *life,
    clattn_context *ctx, const unit_trial *trial, const built_kernel *built,
    clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const size_t count = in_count(trial->rows);
    const size_t out_bytes = out_count(trial->rows) * sizeof(float);
    bench b = {NULL, NULL, NULL};
    product p = {.rows = 0};
    float *got = calloc(1, out_bytes);
    uint16_t *in = calloc(count, sizeof *in);
    if (!got || !in) {
        status = error_set(error, CLATTN_NO_MEMORY, "no memory for a product");
        goto cleanup;
    }
    TRY(product_create(&p, trial->rows, error));
    fill(&p);
    multiply(&p);
    convert_store(in, trial->dtype, 0, p.in, count);
    for (size_t n = 0; n < out_count(trial->rows); ++n)
        got[n] = 0.5f; /* that no result is */
    TRY(bench_open(&b, ctx, in, count * sizeof *in, got, out_bytes, error));
    const cl_int code = launch(&b, built, trial->items, got, out_bytes);
    *life = code == CL_SUCCESS ? FOR_THE_DRIVER : FOR_THE_PLAN;
    if (code == CL_SUCCESS)
        judge(why, &p, got);
    else
        snprintf(why, TRUST_WHY, "a product as built there does not run: %s",
            error_cl_name(code));

cleanup:
    bench_close(&b);
    free(p.in);
    free(got);
    free(in);
    return status;
}

/* What a message about a build says at its end. */
static void say_refused(char why[TRUST_WHY], const clattn_error *error)
{
    const char *end = strstr(error->message, "clBuildProgram failed: ");
    snprintf(why, TRUST_WHY, "does not compile as built there: %.150s",
        end ? end + strlen("clBuildProgram failed: ") : error->message);
}

/* A compiler that names no error may have lacked something else than the unit. */
static clattn_status try_unit(char why[TRUST_WHY], enum life *life,
    clattn_context *ctx, const unit_trial *trial, clattn_error *error)
{
    const built_kernel *built = NULL;
    clattn_error own;
    const clattn_status status = program_get(&built, ctx, &trial->kernel, &own);
    *life = FOR_THE_DRIVER;
    if (status == CLATTN_BUILD_FAILED) {
        say_refused(why, &own);
        if (!strstr(why, "error"))
            *life = FOR_THE_CONTEXT;
        return CLATTN_OK;
    }
    if (status != CLATTN_OK)
        return error_pass(error, &own);
    if (built->max_group < trial->items) {
        snprintf(why, TRUST_WHY,
            "a product needs %zu work-items, as built it takes %zu",
            trial->items, built->max_group);
        return CLATTN_OK;
    }
    return run(why, life, ctx, trial, built, error);
}

/* ---- Verdicts ------------------------------------------------------------------ */

/* Under which a verdict is kept on disk; NULL: it is not. */
static char *key_of(const clattn_context *ctx, const kernel_need *need)
{
    char file[64];
    char *source = NULL, *key = NULL;
    snprintf(file, sizeof file, "%s.cl", need->name);
    if (source_assemble(&source, file, ctx->env.kernel_dir, NULL) == CLATTN_OK)
        key = binary_key(ctx, "a product's verdict", need->options, source);
    free(source);
    return key;
}

static clattn_status find_out(char why[TRUST_WHY], clattn_context *ctx,
    const unit_trial *trial, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    enum life life = FOR_THE_DRIVER; /* if it is recalled */
    char *key = key_of(ctx, &trial->kernel);
    if (!binary_recall(ctx, key, why, TRUST_WHY)) {
        TRY(try_unit(why, &life, ctx, trial, error));
        if (life == FOR_THE_DRIVER)
            binary_note(ctx, key, why);
    }
    context_log(ctx, "%s.cl with '%s': %s", trial->kernel.name,
        trial->kernel.options, why[0] != '\0' ? why : "right");
    if (life != FOR_THE_PLAN)
        add(ctx->trust, &trial->kernel, why);

cleanup:
    free(key);
    return status;
}

clattn_status trust_unit(char why[TRUST_WHY], clattn_context *ctx,
    const unit_trial *trial, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    system_lock_take(ctx->trust->lock);
    const verdict *known = find(ctx->trust, &trial->kernel);
    if (known)
        snprintf(why, TRUST_WHY, "%s", known->why);
    else
        status = find_out(why, ctx, trial, error);
    system_lock_release(ctx->trust->lock);
    return status;
}

void trust_refused(char why[TRUST_WHY], clattn_context *ctx,
    const kernel_need *need, const clattn_error *error)
{
    say_refused(why, error);
    system_lock_take(ctx->trust->lock);
    add(ctx->trust, need, why);
    system_lock_release(ctx->trust->lock);
}

bool trust_knows_refused(
    char why[TRUST_WHY], clattn_context *ctx, const kernel_need *need)
{
    system_lock_take(ctx->trust->lock);
    const verdict *known = find(ctx->trust, need);
    if (known)
        snprintf(why, TRUST_WHY, "%s", known->why);
    system_lock_release(ctx->trust->lock);
    return known != NULL;
}
