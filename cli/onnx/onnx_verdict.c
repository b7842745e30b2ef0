/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_verdict.c - runs one case folder from its files to a line of text.
 */
#include "onnx_verdict.h"

#include <string.h>

#include "onnx_judge.h"

enum {
    PATH_BYTES = 3000, /* less than a case's own paths have */
    LINE_BYTES = 1200
};

/* One case on its way. */
typedef struct trial {
    onnx_case c;
    onnx_problem problem;
    onnx_results got;
    onnx_results exact;
    char line[LINE_BYTES]; /* errors of the outputs so far */
    bool cannot;
} trial;

/* ---- Judging ------------------------------------------------------------- */

static void append(trial *t, const char *text)
{
    const size_t at = strlen(t->line);
    snprintf(
        t->line + at, sizeof t->line - at, "%s%s", at > 0 ? "; " : "", text);
}

static bool judge(trial *t, enum onnx_tensor output, const char *name,
    const onnx_memory *got, const onnx_memory *exact, failure *f)
{
    char report[ONNX_REPORT];
    const onnx_limit own = {
        t->c.attribute[ONNX_ATOL].value, t->c.attribute[ONNX_RTOL].value, 0};

    const bool ok = onnx_judge(
        report, name, &t->c.tensor[output], got->data, exact->data, own, f);
    append(t, report);
    return ok;
}

/* Past and new keys, or values, as the attention was given them. */
static bool judge_present(trial *t, enum onnx_tensor output,
    enum onnx_tensor from, const void *joined, failure *f)
{
    char report[ONNX_REPORT];
    const npy_array *stored = &t->c.tensor[output];

    if (!t->c.given[output])
        return true;
    if (stored->dtype != t->c.tensor[from].dtype)
        return fail(f, "%s is %s, but must have the dtype of %s, %s",
            onnx_tensor_name(output), onnx_dtype_name(stored->dtype),
            onnx_tensor_name(from), onnx_dtype_name(t->c.tensor[from].dtype));
    const bool ok =
        onnx_judge_copy(report, onnx_tensor_name(output), stored, joined, f);
    append(t, report);
    return ok;
}

static bool judge_scores(trial *t, failure *f)
{
    char name[80];

    if (!t->c.given[ONNX_QK_OUTPUT])
        return true;
    snprintf(name, sizeof name, "%s %s%s", onnx_tensor_name(ONNX_QK_OUTPUT),
        onnx_stage_name(t->problem.stage),
        t->got.scores_apart ? " by a call of its own" : "");
    return judge(t, ONNX_QK_OUTPUT, name, &t->got.scores, &t->exact.scores, f);
}

static bool judge_outputs(trial *t, failure *f)
{
    return judge(t, ONNX_Y, "Y", &t->got.y, &t->exact.y, f) &&
           judge_present(t, ONNX_PRESENT_KEY, ONNX_K, t->problem.key, f) &&
           judge_present(t, ONNX_PRESENT_VALUE, ONNX_V, t->problem.value, f) &&
           judge_scores(t, f);
}

/* ---- Computing ----------------------------------------------------------- */

static bool compute(trial *t, const onnx_runner *r, failure *f)
{
    clattn_error error;
    return onnx_results_make(&t->got, &t->c, f) &&
           library_ok(
               onnx_runner_attend(r, &t->got, &t->problem, &t->cannot, &error),
               &error, f);
}

/* What f16 and bf16 are judged by. */
static bool compute_exact(trial *t, failure *f)
{
    const onnx_runner reference = {.path = ONNX_REFERENCE};
    clattn_error error;
    bool cannot;

    return onnx_results_make(&t->exact, &t->c, f) &&
           library_ok(onnx_runner_attend(
                          &reference, &t->exact, &t->problem, &cannot, &error),
               &error, f);
}

/* ---- The case ------------------------------------------------------------ */

static bool run(trial *t, const onnx_runner *r, const char *folder, failure *f)
{
    return onnx_case_read(&t->c, folder, f) &&
           onnx_problem_make(&t->problem, &t->c, f) && compute(t, r, f) &&
           compute_exact(t, f) && judge_outputs(t, f);
}

static void finish(trial *t)
{
    onnx_results_free(&t->exact);
    onnx_results_free(&t->got);
    onnx_problem_free(&t->problem);
    onnx_case_free(&t->c);
}

static void print(FILE *to, const char *name, enum onnx_verdict verdict,
    const trial *t, const failure *f)
{
    static const char *const WORDS[ONNX_VERDICTS] = {
        "pass", "FAIL", "skip", "FAIL"};
    fprintf(to, "%s  %-61s ", WORDS[verdict], name);
    if (verdict == ONNX_PASSED)
        fprintf(to, "%s\n", t->line);
    else
        fprintf(
            to, "%s%s%s\n", f->text, t->line[0] != '\0' ? "; " : "", t->line);
}

enum onnx_verdict onnx_verdict_of(FILE *to, const onnx_runner *r,
    const char *root, const char *name, bool verbose)
{
    char folder[PATH_BYTES];
    failure f = {.text = ""};
    trial t = {.cannot = false};
    enum onnx_verdict verdict = ONNX_FAILED;

    const int length = snprintf(folder, sizeof folder, "%s/%s", root, name);
    if (length < 0 || (size_t)length >= sizeof folder)
        fail(&f, "its path has more than %d bytes", PATH_BYTES);
    else if (run(&t, r, folder, &f))
        verdict = ONNX_PASSED;
    else if (t.cannot)
        verdict = ONNX_SKIPPED;
    else if (f.no_memory)
        verdict = ONNX_NO_MEMORY;
    print(to, name, verdict, &t, &f);
    if (verbose && t.c.given[ONNX_Q]) {
        onnx_problem_print(to, &t.problem);
        onnx_runner_explain(to, r, &t.problem);
    }
    finish(&t);
    return verdict;
}
