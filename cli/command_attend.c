/* SPDX-License-Identifier: Apache-2.0
 *
 * command_attend.c - `clattn attend`: attention alone, of queries, keys and
 * values in files.
 */
#include <clattn/clattn.h>

#include "arrays.h"
#include "attend_data.h"
#include "attend_problem.h"
#include "attend_request.h"
#include "commands.h"
#include "session.h"
#include "text.h"

static const option_row ROWS[] = {
    {OPTION_QUERY, "Q.npy", "required", "(B,Hq,Lq,D), (Hq,Lq,D) or (Lq,D)"},
    {OPTION_KEY, "K.npy", "required", "(B,Hkv,Lk,D), same rank"},
    {OPTION_VALUE, "V.npy", "required", "(B,Hkv,Lk,Dv), same rank"},
    {OPTION_LAYOUT, "bhld|blhd|thd", "bhld",
        "order of the axes; blhd has the heads of a row side by side; thd is a "
        "packed batch (T,H,D), item behind item"},
    {OPTION_CU_QUERY, "N,N,...|F.npy", NULL,
        "packed batch: the first row of each item in Q and, at the end, where "
        "the last one ends"},
    {OPTION_CU_KEY, "N,N,...|F.npy", NULL, "packed batch: the same in K and V"},
    {OPTION_DTYPE, "f32|f16|bf16", "f32",
        "what Q, K, V and the output are stored as on the device"},
    {OPTION_PRECISION, "f32|storage", "f32",
        "storage: weights may be rounded to the dtype before they multiply "
        "the values, as matrix units want it"},
    {OPTION_SCALE, "S", "1/sqrt(D)", "what the scores are multiplied by"},
    {OPTION_SOFTCAP, "C", NULL, "scores become C * tanh(score / C); 0: off"},
    {OPTION_ALIBI, "auto|S,S,...|F.npy", NULL,
        "slope S of each query head: scores lose S times the distance from the "
        "diagonal; auto: the usual geometric ones"},
    {OPTION_MASK, "F.npy", NULL,
        "bool: true may attend; f16, f32, f64: added to the scores.  1 to 4 "
        "axes, the last of (B,Hq,Lq,Lk), each of that size or 1"},
    {OPTION_CAUSAL, "top-left|bottom-right|N|N,N,...|F.npy",
        "every query reads every key",
        "query i reads no key after i + offset; a number is that offset (0: "
        "top-left), several are one per item"},
    {OPTION_WINDOW, "L,R", "-1,-1",
        "query i reads no key before i + offset - L or after i + offset + R; "
        "-1: no limit"},
    {OPTION_DIAGONAL, "top-left|bottom-right|N|N,N,...|F.npy", NULL,
        "the offset of --window and --alibi where --causal does not give it"},
    {OPTION_LENGTHS, "N,N,...|F.npy", "all Lk",
        "how many keys each item has; those past it are hidden"},
    {OPTION_QUERY_LENGTHS, "N,N,...|F.npy", "all Lq",
        "how many queries each item has; those past it read nothing"},
    {OPTION_SINKS, "S,S,...|F.npy", NULL,
        "one score per query head that takes its share of the weight and has "
        "no value"},
    {OPTION_DROPOUT, "P", "0", "the share of weights to drop, 0 to 1"},
    {OPTION_SEED, "N", "0", "of the dropout"},
    {OPTION_DROPOUT_OFFSET, "N", "0", "of the dropout's stream"},
    {OPTION_READ_BF16, NULL, NULL,
        "2-byte elements V2 and u2 of the inputs are bf16"},
    {OPTION_OUTPUT, "O.npy", NULL, "write the output, in the same layout"},
    {OPTION_ATTENTION, "A.npy", NULL, "write the weights ([B,]Hq,Lq,Lk)"},
    {OPTION_SCORES, "S.npy", NULL, "write the scores ([B,]Hq,Lq,Lk)"},
    {OPTION_STAGE, "scaled|capped|masked|weights", "masked",
        "which scores: after scale, after softcap, or as they enter the "
        "softmax; weights is --attention"},
    {OPTION_LSE, "S.npy", NULL,
        "write the log of the sum of exp of each row's scores ([B,]Hq,Lq)"},
    {OPTION_PATH, "auto|materialised|fused", "auto", "which kernels compute"},
    {OPTION_KERNEL, "ROW", NULL,
        "the kernel of this name, and a failure where it cannot run"},
    {OPTION_DEVICE, "SPEC", "CLATTN_DEVICE, else the best",
        "index, part of a name, or platform:kind:name"},
    {OPTION_REFERENCE, NULL, NULL,
        "compute in double precision without a device, slowly: the judge of "
        "all kernels"},
    {OPTION_EXPLAIN, NULL, NULL, "print what was planned and why"},
    {OPTION_QUIET, NULL, NULL, "no summary"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

/* ---- Compute ------------------------------------------------------------ */

/* The host call plans by itself; planning before it compiles, so that the time
   of the build is known and the plan can be described. */
static bool build(
    const clattn_attention *a, session *s, FILE *explain, failure *f)
{
    clattn_error error;
    clattn_plan *plan = NULL;
    const double start = clock_ms();
    if (!library_ok(clattn_attention_plan(&plan, s->ctx, a, &error), &error, f))
        return false;
    s->build_ms = clock_ms() - start;
    if (explain)
        fprintf(explain, "plan      %s\n", clattn_plan_describe(plan));
    clattn_plan_destroy(plan);
    return true;
}

static bool compute(
    const attend_request *r, const attend_data *d, session *s, failure *f)
{
    clattn_error error;
    clattn_attention a;
    clattn_attention_args args;
    attend_describe(&a, r, d);
    attend_bring(&args, r, d);
    if (!r->reference && !build(&a, s, r->explain ? stdout : NULL, f))
        return attend_blame(r, f);
    const double start = clock_ms();
    const clattn_status status =
        r->reference ? clattn_attention_reference(&a, &args, &error)
                     : clattn_attention_host(s->ctx, &a, &args, &error);
    s->run_ms = clock_ms() - start;
    return library_ok(status, &error, f) || attend_blame(r, f);
}

/* ---- Show --------------------------------------------------------------- */

static void print_path(const char *what, const char *path)
{
    if (path)
        text_print_path(what, path, "");
}

static void print_summary(
    const attend_request *r, const attend_data *d, const session *s)
{
    const attend_sizes *q = &d->size[ATTEND_Q];
    const attend_sizes *k = &d->size[ATTEND_K];
    printf("attention B %zu, Hq %zu, Hkv %zu, Lq %zu, Lk %zu, D %zu, Dv %zu\n",
        q->B, q->H, k->H, q->L, k->L, q->D, d->size[ATTEND_V].D);
    print_path("output", r->output);
    print_path(
        r->stage == CLATTN_RETURN_WEIGHTS ? "attention" : "scores", r->matrix);
    print_path("lse", r->lse);
    if (r->reference) {
        printf("device    none, the reference\n");
        printf("time      %.1f ms to run\n", s->run_ms);
        return;
    }
    session_print_device(stdout, s);
    session_print_time(stdout, s);
}

/* ---- The command -------------------------------------------------------- */

typedef struct work {
    attend_data data;
    session session;
    outputs files;
} work;

static bool perform(attend_request *r, work *w, failure *f)
{
    attend_data *d = &w->data;
    session *s = &w->session;
    if (!outputs_possible(r->given, &ATTEND_FILES, f) ||
        !attend_load(d, r, f) ||
        (!r->reference && !session_open(s, r->device, f)) ||
        !attend_make_results(d, r, f) || !compute(r, d, s, f) ||
        !attend_write(&w->files, d, r, f))
        return false;
    if (!r->quiet)
        print_summary(r, d, s);
    return outputs_commit(&w->files, f);
}

static exit_code run(const options *given, failure *f)
{
    attend_request r;
    work w = {0};
    exit_code code = EXIT_WRONG_USE;
    if (attend_request_read(&r, given, f))
        code = perform(&r, &w, f) ? EXIT_DONE : EXIT_FAILED;
    outputs_abandon(&w.files);
    session_close(&w.session);
    attend_data_free(&w.data);
    attend_request_free(&r);
    return code;
}

const command COMMAND_ATTEND = {
    .name = "attend",
    .summary = "attention of queries, keys and values",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
