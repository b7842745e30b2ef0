/* SPDX-License-Identifier: Apache-2.0
 *
 * command_attend.c - `clattn attend`: attention alone, of queries, keys and
 * values in files.
 */
#include <string.h>

#include <clattn/clattn.h>

#include "arrays.h"
#include "commands.h"
#include "session.h"
#include "values.h"

static const option_row ROWS[] = {
    {OPTION_QUERY, "Q.npy", "required", "(B,Hq,Lq,D), (Hq,Lq,D) or (Lq,D)"},
    {OPTION_KEY, "K.npy", "required", "(B,Hkv,Lk,D), same rank"},
    {OPTION_VALUE, "V.npy", "required", "(B,Hkv,Lk,Dv), same rank"},
    {OPTION_LAYOUT, "bhld|blhd", "bhld",
        "order of the axes; blhd has the heads of a row side by side"},
    {OPTION_SCALE, "S", "1/sqrt(D)", "what the scores are multiplied by"},
    {OPTION_CAUSAL, "top-left|bottom-right|N|N,N,...|F.npy",
        "every query reads every key",
        "query i reads no key after i + offset; a number is that offset (0: "
        "top-left), several are one per item"},
    {OPTION_LENGTHS, "N,N,...|F.npy", "all Lk",
        "how many keys each item has; those past it are hidden"},
    {OPTION_READ_BF16, NULL, NULL,
        "2-byte elements V2 and u2 of the inputs are bf16"},
    {OPTION_OUTPUT, "O.npy", NULL, "write the output, in the same layout"},
    {OPTION_ATTENTION, "A.npy", NULL, "write the weights ([B,]Hq,Lq,Lk)"},
    {OPTION_LSE, "S.npy", NULL,
        "write the log of the sum of exp of each row's scores ([B,]Hq,Lq)"},
    {OPTION_PATH, "auto|materialised", "auto", "which kernels compute"},
    {OPTION_DEVICE, "SPEC", "CLATTN_DEVICE, else the best",
        "index, part of a name, or platform:kind:name"},
    {OPTION_EXPLAIN, NULL, NULL, "print what was planned and why"},
    {OPTION_QUIET, NULL, NULL, "no summary"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

enum {
    Q,
    K,
    V,
    INPUTS
};

typedef struct request {
    const char *input[INPUTS], *output, *attention, *lse, *device, *kernel;
    enum npy_two_bytes two_bytes;
    bool rows_first; /* blhd */
    bool has_scale;
    float scale;
    int32_t diagonal;
    integers offsets, lengths;
    bool explain, quiet;
} request;

/* Sizes of one tensor, whatever its rank and layout. */
typedef struct sizes {
    size_t B, H, L, D;
} sizes;

typedef struct work {
    npy_array input[INPUTS];
    sizes size[INPUTS];
    npy_array out, weights, lse;
    session session;
} work;

/* ---- Parse -------------------------------------------------------------- */

static bool read_causal(request *r, const char *text, failure *f)
{
    if (!text)
        return true;
    if (strcmp(text, "top-left") == 0) {
        r->diagonal = CLATTN_TOP_LEFT;
        return true;
    }
    if (strcmp(text, "bottom-right") == 0) {
        r->diagonal = CLATTN_BOTTOM_RIGHT;
        return true;
    }
    r->diagonal = CLATTN_OFFSET;
    return integers_parse(&r->offsets, OPTION_CAUSAL, text, f) ||
           fail(f,
               "--causal %s is neither top-left nor bottom-right, nor an "
               "offset N, nor one per item, N,N,... or a file that ends in "
               ".npy",
               text);
}

static bool read_words(request *r, const options *given, failure *f)
{
    static const value_word LAYOUTS[] = {{"bhld", 0}, {"blhd", 1}, {NULL, 0}};
    static const value_word PATHS[] = {
        {"auto", 0}, {"materialised", 1}, {NULL, 0}};
    const char *layout = given->value[OPTION_LAYOUT];
    const char *path = given->value[OPTION_PATH];
    int32_t word = 0;
    if (layout && !value_one_of(&word, OPTION_LAYOUT, layout, LAYOUTS, f))
        return false;
    r->rows_first = word == 1;
    word = 0;
    if (path && !value_one_of(&word, OPTION_PATH, path, PATHS, f))
        return false;
    r->kernel = word == 1 ? path : NULL;
    return true;
}

static bool read_request(request *r, const options *given, failure *f)
{
    const char *const *value = given->value;
    r->input[Q] = value[OPTION_QUERY];
    r->input[K] = value[OPTION_KEY];
    r->input[V] = value[OPTION_VALUE];
    r->output = value[OPTION_OUTPUT];
    r->attention = value[OPTION_ATTENTION];
    r->lse = value[OPTION_LSE];
    r->device = value[OPTION_DEVICE];
    r->two_bytes = value[OPTION_READ_BF16] ? NPY_AS_BF16 : NPY_NO_BF16;
    r->has_scale = value[OPTION_SCALE] != NULL;
    r->explain = value[OPTION_EXPLAIN] != NULL;
    r->quiet = value[OPTION_QUIET] != NULL;
    if (r->has_scale &&
        !value_float(&r->scale, OPTION_SCALE, value[OPTION_SCALE], f))
        return false;
    return read_words(r, given, f) && read_causal(r, value[OPTION_CAUSAL], f) &&
           integers_parse(
               &r->lengths, OPTION_LENGTHS, value[OPTION_LENGTHS], f);
}

/* ---- Load and check ----------------------------------------------------- */

static sizes sizes_of(const npy_array *a, bool rows_first)
{
    const size_t *last = a->size + a->rank;
    sizes s = {.B = 1, .H = 1, .L = last[-2], .D = last[-1]};
    if (a->rank == 4)
        s.B = last[-4];
    if (a->rank < 3)
        return s;
    s.H = rows_first ? last[-2] : last[-3];
    s.L = rows_first ? last[-3] : last[-2];
    return s;
}

static bool equal(const request *r, int one, size_t a, int other, size_t b,
    const char *what, failure *f)
{
    if (a == b)
        return true;
    return fail(f, "%s has %zu %s, but %s has %zu", r->input[one], a, what,
        r->input[other], b);
}

static bool check_sizes(const request *r, const work *w, failure *f)
{
    const sizes *s = w->size;
    for (int i = K; i < INPUTS; i++)
        if (!equal(r, Q, w->input[Q].rank, i, w->input[i].rank, "axes", f) ||
            !equal(r, Q, s[Q].B, i, s[i].B, "items", f))
            return false;
    if (!equal(r, K, s[K].H, V, s[V].H, "heads", f) ||
        !equal(r, K, s[K].L, V, s[V].L, "rows", f) ||
        !equal(r, Q, s[Q].D, K, s[K].D, "columns", f))
        return false;
    if (s[Q].H && (s[K].H == 0 || s[Q].H % s[K].H))
        return fail(f,
            "%s has %zu heads, but the %zu heads of %s must divide them",
            r->input[Q], s[Q].H, s[K].H, r->input[K]);
    return true;
}

/* One offset serves all items. */
static bool load_offsets(request *r, size_t B, failure *f)
{
    if (r->offsets.text && !r->offsets.is_file && r->offsets.count == 1)
        return true;
    return integers_load(&r->offsets, B, INT32_MIN, INT32_MAX, r->input[Q], f);
}

static bool load(request *r, work *w, failure *f)
{
    const char *const outputs[] = {r->output, r->attention, r->lse};
    if (!outputs_possible(outputs, 3, f))
        return false;
    for (int i = Q; i < INPUTS; i++) {
        if (!array_read(&w->input[i], r->input[i], r->two_bytes, 2, 4, f))
            return false;
        w->size[i] = sizes_of(&w->input[i], r->rows_first);
    }
    const size_t Lk = w->size[K].L;
    const int32_t most = Lk < INT32_MAX ? (int32_t)Lk : INT32_MAX;
    return check_sizes(r, w, f) && load_offsets(r, w->size[Q].B, f) &&
           integers_load(&r->lengths, w->size[K].B, 0, most, r->input[K], f);
}

/* ---- Compute ------------------------------------------------------------ */

static bool make_results(const request *r, work *w, failure *f)
{
    const sizes *s = w->size;
    const size_t all[4] = {s[Q].B, s[Q].H, s[Q].L, s[K].L};
    const size_t rank = w->input[Q].rank;
    size_t out[4] = {0};
    memcpy(out, w->input[Q].size, rank * sizeof out[0]);
    out[rank - 1] = s[V].D;
    if (!array_make(&w->out, rank, out, "the output", f))
        return false;
    if (r->attention &&
        !array_make(&w->weights, rank, all + 4 - rank, "the attention", f))
        return false;
    return !r->lse ||
           array_make(&w->lse, rank - 1, all + 4 - rank, "the LSE", f);
}

static clattn_tensor strides(const request *r, const sizes *s, size_t columns)
{
    if (!r->rows_first)
        return (clattn_tensor){0};
    return (clattn_tensor){
        .batch = s->L * s->H * columns, .head = columns, .row = s->H * columns};
}

static void describe(clattn_attention *a, const request *r, const work *w)
{
    const sizes *s = w->size;
    /* A file of one value is a list too. */
    const bool listed =
        r->offsets.text && (r->offsets.is_file || r->offsets.count > 1);
    clattn_attention_init(a, sizeof *a);
    a->B = s[Q].B;
    a->Hq = s[Q].H;
    a->Hkv = s[K].H;
    a->Lq = s[Q].L;
    a->Lk = s[K].L;
    a->D = s[Q].D;
    a->Dv = s[V].D;
    a->q = strides(r, &s[Q], a->D);
    a->k = strides(r, &s[K], a->D);
    a->v = strides(r, &s[V], a->Dv);
    a->out = strides(r, &s[Q], a->Dv);
    a->kernel = r->kernel;
    a->dtype = CLATTN_F32;
    a->has_scale = r->has_scale;
    a->scale = r->scale;
    a->causal = r->diagonal != CLATTN_DIAGONAL_UNSET;
    a->diagonal = r->diagonal;
    if (r->diagonal == CLATTN_OFFSET && !listed)
        a->diagonal_offset = r->offsets.value[0];
    a->flags = (w->weights.data ? CLATTN_RETURN_WEIGHTS : 0u) |
               (w->lse.data ? CLATTN_RETURN_LSE : 0u) |
               (r->lengths.text ? CLATTN_KEY_LENGTHS : 0u) |
               (listed ? CLATTN_DIAGONAL_OFFSETS : 0u);
}

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

static void bring(clattn_attention_args *args, const clattn_attention *a,
    const request *r, const work *w)
{
    *args = (clattn_attention_args){.struct_size = sizeof *args};
    args->q.host = w->input[Q].data;
    args->k.host = w->input[K].data;
    args->v.host = w->input[V].data;
    args->out.host = w->out.data;
    args->weights.host = w->weights.data;
    args->lse.host = w->lse.data;
    args->key_lengths.host = r->lengths.value;
    if (a->flags & CLATTN_DIAGONAL_OFFSETS)
        args->diagonal_offsets.host = r->offsets.value;
}

static bool compute(const request *r, work *w, failure *f)
{
    clattn_error error;
    clattn_attention a;
    clattn_attention_args args;
    session *s = &w->session;
    if (!make_results(r, w, f))
        return false;
    describe(&a, r, w);
    if (!build(&a, s, r->explain ? stdout : NULL, f))
        return false;
    bring(&args, &a, r, w);
    const double start = clock_ms();
    const clattn_status status =
        clattn_attention_host(s->ctx, &a, &args, &error);
    s->run_ms = clock_ms() - start;
    return library_ok(status, &error, f);
}

/* ---- Write and show ----------------------------------------------------- */

static void print_summary(const request *r, const work *w)
{
    const sizes *s = w->size;
    printf("attention B %zu, Hq %zu, Hkv %zu, Lq %zu, Lk %zu, D %zu, Dv %zu\n",
        s[Q].B, s[Q].H, s[K].H, s[Q].L, s[K].L, s[Q].D, s[V].D);
    if (r->output)
        printf("output    %s\n", r->output);
    if (r->attention)
        printf("attention %s\n", r->attention);
    if (r->lse)
        printf("lse       %s\n", r->lse);
    session_print_device(stdout, &w->session);
    session_print_time(stdout, &w->session);
}

static bool perform(request *r, work *w, failure *f)
{
    if (!load(r, w, f) || !session_open(&w->session, r->device, f) ||
        !compute(r, w, f) || !array_write(r->output, &w->out, f) ||
        !array_write(r->attention, &w->weights, f) ||
        !array_write(r->lse, &w->lse, f))
        return false;
    if (!r->quiet)
        print_summary(r, w);
    return true;
}

static exit_code run(const options *given, failure *f)
{
    request r = {0};
    work w = {0};
    exit_code code = EXIT_WRONG_USE;
    if (read_request(&r, given, f))
        code = perform(&r, &w, f) ? EXIT_DONE : EXIT_FAILED;
    session_close(&w.session);
    for (int i = Q; i < INPUTS; i++)
        npy_free(&w.input[i]);
    npy_free(&w.out);
    npy_free(&w.weights);
    npy_free(&w.lse);
    integers_free(&r.offsets);
    integers_free(&r.lengths);
    return code;
}

const command COMMAND_ATTEND = {
    .name = "attend",
    .summary = "attention of queries, keys and values",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
