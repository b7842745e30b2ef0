/* SPDX-License-Identifier: Apache-2.0
 *
 * command_run.c - `clattn run`: a layer of a model in a file applied to hidden
 * states.
 */
#include "arrays.h"
#include "commands.h"
#include "display.h"
#include "expect.h"
#include "layer_run.h"
#include "layer_steps.h"
#include "text.h"
#include "values.h"

static const option_row ROWS[] = {
    {OPTION_MODEL, "F.safetensors", "required", "the model's weights"},
    {OPTION_INPUT, "X.npy", "required", "hidden states (L,E) or (B,L,E)"},
    {OPTION_LAYER, "N", "the only one",
        "the layer with .N. in its tensors' names"},
    {OPTION_PREFIX, "P", "the only one",
        "the layer whose tensors' names begin with P"},
    {OPTION_HEADS, "H", "the file's metadata", "number of query heads"},
    {OPTION_WEIGHT_ORDER, "in-out|out-in", "by the names",
        "how weights are stored, whatever their names say"},
    {OPTION_NO_ROPE, NULL, NULL,
        "run a model with rotary embedding without the rotation"},
    {OPTION_LENGTHS, "N,N,...|F.npy", "all L",
        "how many words each item has; keys past it are hidden"},
    {OPTION_CAUSAL, "top-left|bottom-right", "every word reads every word",
        "words read no later word"},
    {OPTION_NO_SCALE, NULL, NULL,
        "do not divide the scores by the root of the head's width"},
    {OPTION_NO_OUTPUT_PROJECTION, NULL, NULL, "the output is the context"},
    {OPTION_READ_BF16, NULL, NULL, "2-byte elements V2 and u2 of X are bf16"},
    {OPTION_OUTPUT, "Y.npy", NULL, "write the output (L,Ey) or (B,L,Ey)"},
    {OPTION_CONTEXT, "C.npy", NULL,
        "write the heads side by side, before the output projection"},
    {OPTION_ATTENTION, "A.npy", NULL, "write the weights ([B,]H,L,L)"},
    {OPTION_LSE, "S.npy", NULL,
        "write the log of the sum of exp of each row's scores ([B,]H,L)"},
    {OPTION_EXPECT, "Y.npy", NULL,
        "compare the output with a stored one; fail if it differs"},
    {OPTION_TOLERANCE, "T", "1e-5", "the largest difference --expect allows"},
    {OPTION_TOKENS, "T.txt", "numbers", "the words, one a line in UTF-8"},
    {OPTION_HEAD, "N|mean", "mean",
        "the head to show, from 0; --steps takes 0 for mean"},
    {OPTION_BATCH, "N", "0", "the item of the batch to show, from 0"},
    {OPTION_PICTURE, "M.png|M.svg|M.pdf", NULL, "draw a heat map into a file"},
    {OPTION_SHOW, NULL, NULL, "draw which word reads which in the terminal"},
    {OPTION_STEPS, NULL, NULL, "print the computation step by step"},
    {OPTION_DEVICE, "SPEC", "CLATTN_DEVICE, else the best",
        "index, part of a name, or platform:kind:name"},
    {OPTION_EXPLAIN, NULL, NULL, "print what was planned and why"},
    {OPTION_QUIET, NULL, NULL, "no summary"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

static const option_id WRITTEN[] = {OPTION_OUTPUT, OPTION_CONTEXT,
    OPTION_ATTENTION, OPTION_LSE, OPTION_PICTURE};
static const option_id READ[] = {
    OPTION_MODEL, OPTION_INPUT, OPTION_EXPECT, OPTION_TOKENS};
static const option_id LISTED[] = {OPTION_LENGTHS};
static const file_options FILES = {WRITTEN, READ, LISTED,
    sizeof WRITTEN / sizeof WRITTEN[0], sizeof READ / sizeof READ[0], 1};

typedef struct request {
    const options *given;
    model_request model;
    const char *input, *output, *context, *attention, *lse, *device;
    enum npy_two_bytes two_bytes;
    integers lengths;
    int32_t diagonal;
    bool no_scale, steps, explain, quiet;
    expectation expect;
    display display;
} request;

typedef struct work {
    model_layer model;
    npy_array x;
    layer_run run;
    session session;
    outputs files;
} work;

/* ---- Parse -------------------------------------------------------------- */

static bool read_model(model_request *model, const options *given, failure *f)
{
    static const value_word ORDERS[] = {
        {"in-out", CLATTN_IN_OUT}, {"out-in", CLATTN_OUT_IN}, {NULL, 0}};
    const char *layer = given->value[OPTION_LAYER];
    const char *heads = given->value[OPTION_HEADS];
    const char *order = given->value[OPTION_WEIGHT_ORDER];
    *model = (model_request){
        .path = given->value[OPTION_MODEL],
        .has_layer = layer != NULL,
        .prefix = given->value[OPTION_PREFIX],
        .no_rope = given->value[OPTION_NO_ROPE] != NULL,
        .no_output = given->value[OPTION_NO_OUTPUT_PROJECTION] != NULL,
    };
    if (layer &&
        !value_size(&model->layer, OPTION_LAYER, layer, 0, SIZE_MAX, f))
        return false;
    if (heads &&
        !value_size(&model->heads, OPTION_HEADS, heads, 1, SIZE_MAX, f))
        return false;
    return !order || value_one_of(&model->weight_order, OPTION_WEIGHT_ORDER,
                         order, ORDERS, f);
}

static bool check_effects(const options *given, failure *f)
{
    static const option_id DRAWN[] = {
        OPTION_SHOW, OPTION_PICTURE, OPTION_STEPS};
    return options_need(given, OPTION_TOKENS, DRAWN, 3, f) &&
           options_need(given, OPTION_HEAD, DRAWN, 3, f) &&
           options_need(given, OPTION_BATCH, DRAWN, 3, f);
}

static bool read_request(request *r, const options *given, failure *f)
{
    static const value_word DIAGONALS[] = {{"top-left", CLATTN_TOP_LEFT},
        {"bottom-right", CLATTN_BOTTOM_RIGHT}, {NULL, 0}};
    const char *const *value = given->value;
    const char *causal = value[OPTION_CAUSAL];
    r->given = given;
    r->input = value[OPTION_INPUT];
    r->output = value[OPTION_OUTPUT];
    r->context = value[OPTION_CONTEXT];
    r->attention = value[OPTION_ATTENTION];
    r->lse = value[OPTION_LSE];
    r->device = value[OPTION_DEVICE];
    r->two_bytes = value[OPTION_READ_BF16] ? NPY_AS_BF16 : NPY_NO_BF16;
    r->no_scale = value[OPTION_NO_SCALE] != NULL;
    r->steps = value[OPTION_STEPS] != NULL;
    r->explain = value[OPTION_EXPLAIN] != NULL;
    r->quiet = value[OPTION_QUIET] != NULL;
    if (causal &&
        !value_one_of(&r->diagonal, OPTION_CAUSAL, causal, DIAGONALS, f))
        return false;
    return read_model(&r->model, given, f) && check_effects(given, f) &&
           expectation_parse(&r->expect, given, f) &&
           display_parse(&r->display, given, f) &&
           integers_parse(
               &r->lengths, OPTION_LENGTHS, value[OPTION_LENGTHS], f) &&
           outputs_distinct(given, &FILES, f);
}

/* ---- Load and check ----------------------------------------------------- */

static bool load_lengths(request *r, layer_run *run, failure *f)
{
    const int32_t most = run->L < INT32_MAX ? (int32_t)run->L : INT32_MAX;
    if (!integers_load(&r->lengths, run->B, 0, most, r->input, f))
        return false;
    run->lengths = r->lengths.value;
    return true;
}

static bool prepare_display(request *r, const layer_run *run, failure *f)
{
    const display_shape shape = {
        .B = run->B, .H = run->model->Hq, .Lq = run->L, .Lk = run->L};
    if (!display_wanted(&r->display) && !r->steps)
        return true;
    return display_prepare(&r->display, &shape, r->input, f);
}

static bool load_expected(request *r, const layer_run *run, failure *f)
{
    size_t size[3] = {run->B, run->L, run->model->Ey};
    const size_t lead = run->x->rank == 3 ? 0 : 1;
    return expectation_load(&r->expect, 3 - lead, size + lead, f);
}

static bool load(request *r, work *w, failure *f)
{
    if (!outputs_possible(r->given, &FILES, f) ||
        !model_load(&w->model, &r->model, f) ||
        !array_read(&w->x, r->input, r->two_bytes, 2, 3, f) ||
        !array_check_bf16(w->x.was_bf16, r->two_bytes, f))
        return false;
    w->run = (layer_run){
        .model = &w->model,
        .x = &w->x,
        .diagonal = r->diagonal,
        .no_scale = r->no_scale,
        .want_context = r->context || r->steps,
        .want_weights = r->attention || r->steps || display_wanted(&r->display),
        .want_lse = r->lse != NULL,
        .want_qkv = r->steps,
    };
    return layer_run_measure(&w->run, r->model.path, r->input, f) &&
           load_lengths(r, &w->run, f) && prepare_display(r, &w->run, f) &&
           load_expected(r, &w->run, f);
}

/* ---- Write and show ----------------------------------------------------- */

static bool write_results(const request *r, work *w, failure *f)
{
    outputs *to = &w->files;
    return array_write(to, r->output, &w->run.y, f) &&
           array_write(to, r->context, layer_run_context(&w->run), f) &&
           array_write(to, r->attention, &w->run.weights, f) &&
           array_write(to, r->lse, &w->run.lse, f);
}

static bool show_results(const request *r, work *w, failure *f)
{
    char subject[40] = "";
    const display *d = &r->display;
    if (r->steps && !layer_steps_print(&w->run, stdout, d->batch,
                        d->mean ? 0 : d->head, &d->keys, f))
        return false;
    if (w->model.has_index)
        snprintf(subject, sizeof subject, "layer %zu", w->model.index);
    return display_draw(d, stdout, &w->files, w->run.weights.data, subject, f);
}

static void print_layer(const request *r, const model_layer *m)
{
    static const char *const NAMES[MODEL_PARTS] = {"q", "k", "v", "o"};
    fputs("layer     ", stdout);
    text_put(stdout, m->prefix);
    fputs(m->prefix[0] ? " of " : "", stdout);
    text_put(stdout, r->model.path);
    printf(": width %zu, %zu head%s of %zu", m->E, m->Hq, m->Hq == 1 ? "" : "s",
        m->D);
    if (m->Hkv != m->Hq)
        printf(" that read %zu", m->Hkv);
    if (m->Dv != m->D)
        printf(", values of %zu", m->Dv);
    if (m->part[MODEL_O].w)
        printf(", output projection to %zu", m->Ey);
    const char *before = ", bias on ";
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++) {
        if (!m->part[i].b)
            continue;
        printf("%s%s", before, NAMES[i]);
        before = " ";
    }
    printf("\n");
}

static void print_file(const char *label, const char *path, const npy_array *a)
{
    char shape[200];
    if (path)
        text_print_path(label, path, npy_shape_text(shape, a->rank, a->size));
}

static void print_summary(const request *r, const work *w)
{
    if (r->steps || r->display.show)
        printf("\n");
    print_layer(r, &w->model);
    print_file("input", r->input, &w->x);
    print_file("output", r->output, &w->run.y);
    print_file("context", r->context, layer_run_context(&w->run));
    print_file("attention", r->attention, &w->run.weights);
    print_file("lse", r->lse, &w->run.lse);
    if (r->display.picture)
        text_print_path("picture", r->display.picture, "");
    session_print_device(stdout, &w->session);
    session_print_time(stdout, &w->session);
}

/* ---- Whole -------------------------------------------------------------- */

static bool perform(request *r, work *w, failure *f)
{
    FILE *explain = r->explain ? stdout : NULL;
    if (!load(r, w, f) || !session_open(&w->session, r->device, f) ||
        !layer_run_compute(&w->run, &w->session, explain, f) ||
        !write_results(r, w, f) || !show_results(r, w, f))
        return false;
    if (!r->quiet)
        print_summary(r, w);
    return outputs_commit(&w->files, f) &&
           expectation_check(
               &r->expect, &w->run.y, r->quiet ? NULL : stdout, f);
}

static exit_code run(const options *given, failure *f)
{
    request r = {0};
    work w = {0};
    exit_code code = EXIT_WRONG_USE;
    if (read_request(&r, given, f))
        code = perform(&r, &w, f) ? EXIT_DONE : EXIT_FAILED;
    outputs_abandon(&w.files);
    session_close(&w.session);
    layer_run_free(&w.run);
    npy_free(&w.x);
    model_free(&w.model);
    display_free(&r.display);
    expectation_free(&r.expect);
    integers_free(&r.lengths);
    return code;
}

const command COMMAND_RUN = {
    .name = "run",
    .summary = "multi-head self-attention of a model's layer",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
