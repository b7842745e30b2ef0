/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - which row of kernels takes a problem, in what blocks, with how much
 * workspace: arithmetic on the completed descriptor and the device's limits.
 */
#include "plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

/* Kernels count in int: sizes plus a tile must stay below 2^31. */
#define MAX_COUNT ((size_t)0x7fffffff - 1024)

#define TILED         propose_tiled, walk_tiled, propose_tiled_matmul, walk_tiled_matmul
#define LANES         propose_lanes, walk_fused, NULL, NULL
#define SIMT          propose_simt, walk_fused, NULL, NULL
#define UNITS         propose_mma, walk_fused, NULL, NULL
#define WEIGHTS_LANES propose_weights_lanes, walk_weights_lanes, NULL, NULL
#define PANEL         NULL, NULL, propose_matmul_lanes, walk_matmul_lanes
#define SIMT_MATMUL   NULL, NULL, propose_matmul_simt, walk_matmul_simt

const kernel_row KERNEL_ROWS[] = {
    {"lanes", "fused", LANES, 0, 1},
    {"lanes_weights", "materialised", WEIGHTS_LANES, 0, 1},
    {"mma_m16n8k16", "fused", UNITS, 1, 0},
    {"mma_m16n8k8", "fused", UNITS, 2, 0},
    {"mma_mfma", "fused", UNITS, 3, 0},
    {"mma_wmma", "fused", UNITS, 4, 0},
    {"mma_dpas16", "fused", UNITS, 5, 0},
    {"mma_dpas8", "fused", UNITS, 6, 0},
    {"simt64", "fused", SIMT, 0, 128},
    {"simt64m", "fused", SIMT, 1, 128},
    {"simt64w", "fused", SIMT, 2, 256},
    {"simt32", "fused", SIMT, 3, 64},
    {"items64", "fused", LANES, 0, 64},
    {"items16", "fused", LANES, 0, 16},
    {"matmul_lanes", "materialised", PANEL, 0, 1},
    {"matmul_simt128", "materialised", SIMT_MATMUL, 0, 128},
    {"matmul_simt64", "materialised", SIMT_MATMUL, 1, 256},
    {"matmul_simt32", "materialised", SIMT_MATMUL, 2, 64},
    {"tiled16", "materialised", TILED, 16, 64},
    {"tiled8", "materialised", TILED, 8, 64},
    {"tiled4", "materialised", TILED, 4, 16},
    {"tiled1", "materialised", TILED, 1, 1},
};
const size_t N_KERNEL_ROWS = sizeof KERNEL_ROWS / sizeof KERNEL_ROWS[0];

const char *clattn_kernel_name(size_t index)
{
    return index < N_KERNEL_ROWS ? KERNEL_ROWS[index].name : NULL;
}

/* ---- Wishes and refusals -------------------------------------------------- */

static void name_declined(
    declined_rows *declined, const char *before, const kernel_row *row)
{
    const size_t used = strlen(declined->text);
    declined->row[row - KERNEL_ROWS] = true;
    snprintf(declined->text + used, sizeof declined->text - used, "%s%s",
        used ? before : "", row->name);
}

static void give_reason(declined_rows *declined, const char *reason)
{
    const size_t used = strlen(declined->text);
    snprintf(
        declined->text + used, sizeof declined->text - used, ": %s", reason);
}

void decline(
    declined_rows *declined, const kernel_row *row, const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    name_declined(declined, "; ", row);
    give_reason(declined, reason);
}

static bool holds(const char *list, const char *word)
{
    while (list && *list != '\0') {
        const size_t length = strcspn(list, ",");
        if (strlen(word) == length && strncmp(list, word, length) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

/* Whether a comma list holds the row's name or path. */
static bool listed(const char *list, const kernel_row *row)
{
    return holds(list, row->name) || holds(list, row->path);
}

static const char *wished_kernel(const row_wishes *wishes)
{
    if (wishes->kernel && wishes->kernel[0] != '\0')
        return wishes->kernel;
    return wishes->env_kernel;
}

static bool is_known(const char *name, size_t length)
{
    static const char *const PATHS[] = {"fused", "materialised"};
    for (size_t i = 0; i < N_KERNEL_ROWS + 2; ++i) {
        const char *known = i < 2 ? PATHS[i] : KERNEL_ROWS[i - 2].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return true;
    }
    return false;
}

/* `verb` says what `whose` does with the name: "kernel is". */
static clattn_status refuse_name(const char *whose, const char *verb,
    const char *name, size_t length, clattn_error *error)
{
    char names[400] = "";
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        snprintf(names + strlen(names), sizeof names - strlen(names), ", %s",
            KERNEL_ROWS[i].name);
    return error_set(error, CLATTN_INVALID,
        "%s %s '%.*s', but there are fused, materialised%s", whose, verb,
        (int)(length < 60 ? length : 60), name, names);
}

/* A misspelt name would leave on what is to be off. */
static clattn_status check_list(
    const char *list, const char *whose, clattn_error *error)
{
    while (list && *list != '\0') {
        const size_t length = strcspn(list, ",");
        if (length > 0 && !is_known(list, length))
            return refuse_name(whose, "holds", list, length, error);
        list += length + (list[length] == ',');
    }
    return CLATTN_OK;
}

static clattn_status check_wishes(const row_wishes *wishes, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    const char *kernel = wished_kernel(wishes);
    const size_t length = kernel ? strlen(kernel) : 0;
    if (length > 0 && !is_known(kernel, length))
        return refuse_name(
            kernel == wishes->env_kernel ? "CLATTN_KERNEL" : "kernel", "is",
            kernel, length, error);
    TRY(check_list(wishes->disable, "disable", error));
    TRY(check_list(wishes->env_disable, "CLATTN_DISABLE", error));

cleanup:
    return status;
}

static bool does_attention(const kernel_row *row)
{
    return row->propose_attention != NULL;
}

static bool does_products(const kernel_row *row)
{
    return row->propose_matmul != NULL;
}

/* Decline what the caller does not want; rows beside the one asked for go
   without a word, and so do those of a path that do not do the operation:
   does_it. */
static void apply_wishes(declined_rows *declined, const row_wishes *wishes,
    bool (*does_it)(const kernel_row *row), const char *operation)
{
    const char *kernel = wished_kernel(wishes);
    bool any_off = false;
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i) {
        const kernel_row *row = &KERNEL_ROWS[i];
        if (declined->row[i])
            continue;
        if (kernel && kernel[0] != '\0' && !listed(kernel, row))
            declined->row[i] = true;
        else if (!does_it(row) && holds(kernel, row->name))
            decline(declined, row, "does no %s", operation);
        else if (!does_it(row))
            declined->row[i] = true;
        else if (listed(wishes->disable, row) ||
                 listed(wishes->env_disable, row)) {
            name_declined(declined, ", ", row);
            any_off = true;
        }
    }
    if (any_off)
        give_reason(declined, "switched off");
}

/* ---- For the rows ---------------------------------------------------------- */

void plan_need(
    proposal *p, const char *name, size_t group_items, const char *format, ...)
{
    kernel_need *need = &p->need[p->n_needs];
    va_list arguments;
    need->name = name;
    p->group_items[p->n_needs] = group_items;
    va_start(arguments, format);
    vsnprintf(need->options, sizeof need->options, format, arguments);
    va_end(arguments);
    ++p->n_needs;
}

static clattn_status none_left(
    const declined_rows *declined, clattn_error *error)
{
    return error_set(
        error, CLATTN_UNSUPPORTED, "no kernel can run: %s", declined->text);
}

/* A proposal of nothing yet. */
static void start(proposal *p, const kernel_row *row, const row_wishes *wishes)
{
    memset(p, 0, sizeof *p);
    p->row = row;
    p->asked = holds(wished_kernel(wishes), row->name);
}

/* ---- Attention ------------------------------------------------------------- */

/* Each factor fits in 31 bits, so the product fits in a size_t. */
static clattn_status check_heads(
    size_t B, size_t heads, const char *name, clattn_error *error)
{
    if (B * heads > MAX_COUNT)
        return error_set(error, CLATTN_UNSUPPORTED,
            "B * %s is %zu, but at most %zu is supported", name, B * heads,
            MAX_COUNT);
    return CLATTN_OK;
}

static clattn_status check_attention(
    const clattn_attention *a, clattn_error *error)
{
    if (a->Lq > MAX_COUNT || a->Lk > MAX_COUNT)
        return error_set(error, CLATTN_UNSUPPORTED,
            "%s is %zu, but at most %zu is supported",
            a->Lq > MAX_COUNT ? "Lq" : "Lk", a->Lq > MAX_COUNT ? a->Lq : a->Lk,
            MAX_COUNT);
    return check_heads(a->B, a->Hq, "Hq", error);
}

/* Beyond this a call would queue for minutes before any work is done. */
#define MAX_LAUNCHES ((size_t)4000000)

static bool launches_fit(
    declined_rows *declined, const kernel_row *row, size_t launches)
{
    if (launches <= MAX_LAUNCHES)
        return true;
    decline(declined, row, "takes %zu launches, at most %zu are queued",
        launches, MAX_LAUNCHES);
    return false;
}

static bool is_empty(const clattn_attention *a)
{
    return a->B * a->Hq * a->Lq == 0;
}

clattn_status plan_walk_attention(const proposal *p, const clattn_attention *a,
    const device_limits *limits, const attention_regions *regions,
    launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    if (is_empty(a))
        return CLATTN_OK;
    TRY(walk_items(a, p->items_need, limits, regions, visit, state));
    TRY(p->row->walk_attention(p, a, limits, regions, visit, state));

cleanup:
    return status;
}

/* The row's own proposal, and what all rows need. */
static bool propose(proposal *p, declined_rows *declined, const kernel_row *row,
    const clattn_attention *a, const device_limits *limits,
    const row_wishes *wishes)
{
    const attention_regions nowhere = {0};
    launch_count count = {.times = 1};
    start(p, row, wishes);
    if (!row->propose_attention(p, declined, row, a, limits))
        return false;
    p->items_need = p->n_needs;
    if (has_items(a))
        plan_need(p, "items", 1, "%s", "");
    p->workspace_bytes += items_bytes(a);
    plan_walk_attention(p, a, limits, &nowhere, NULL, &count);
    p->launches = count.launches;
    return launches_fit(declined, row, p->launches);
}

clattn_status plan_attention(proposal *p, const clattn_attention *attention,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    TRY(check_attention(attention, error));
    TRY(check_wishes(wishes, error));
    apply_wishes(declined, wishes, does_attention, "attention");
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (!declined->row[i] && KERNEL_ROWS[i].propose_attention &&
            propose(p, declined, &KERNEL_ROWS[i], attention, limits, wishes))
            return CLATTN_OK;
    status = none_left(declined, error);

cleanup:
    return status;
}

/* ---- Matmul ---------------------------------------------------------------- */

matmul_job linear_job(const clattn_linear *l)
{
    return (matmul_job){
        .items = 1,
        .heads = 1,
        .group = 1,
        .M = l->rows,
        .N = l->n_out,
        .K = l->n_in,
        .a = {0, 0, (wide)l->x.row, 0},
        .b = {0, 0, (wide)l->w.row, 0},
        .c = {0, 0, (wide)l->y.row, 0},
        .a_dtype = l->x.dtype,
        .b_dtype = l->w.dtype,
        .c_dtype = l->y.dtype,
        .b_rows_are_n = l->weight_order == CLATTN_OUT_IN,
        .has_bias = l->has_bias != 0,
    };
}

static bool propose_product(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits,
    const row_wishes *wishes)
{
    const matmul_regions nowhere = {0};
    launch_count count = {.times = 1};
    start(p, row, wishes);
    if (!row->propose_matmul(p, declined, row, job, limits))
        return false;
    row->walk_matmul(p, job, limits, &nowhere, NULL, &count);
    p->launches = count.launches;
    return launches_fit(declined, row, p->launches);
}

/* A wish for a row that does attention alone leaves the products free. */
static row_wishes wishes_for_matmul(const row_wishes *wishes)
{
    row_wishes w = *wishes;
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i) {
        const char *kernel = wished_kernel(wishes);
        if (kernel && listed(kernel, &KERNEL_ROWS[i]) &&
            KERNEL_ROWS[i].propose_matmul)
            return w;
    }
    w.kernel = w.env_kernel = NULL;
    return w;
}

clattn_status plan_matmul(proposal *p, const matmul_job *job,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error)
{
    if (job->M > MAX_COUNT || job->N > MAX_COUNT || job->K > MAX_COUNT)
        return error_set(error, CLATTN_UNSUPPORTED,
            "a product of %zu x %zu x %zu, but each size may be at most %zu",
            job->M, job->K, job->N, MAX_COUNT);
    const clattn_status status = check_wishes(wishes, error);
    if (status != CLATTN_OK)
        return status;
    const row_wishes own = wishes_for_matmul(wishes);
    apply_wishes(declined, &own, does_products, "products");
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (!declined->row[i] && KERNEL_ROWS[i].propose_matmul &&
            propose_product(p, declined, &KERNEL_ROWS[i], job, limits, &own))
            return CLATTN_OK;
    return none_left(declined, error);
}

/* ---- After the build ------------------------------------------------------- */

static bool accept_kernel(const proposal *p, size_t need,
    const built_kernel *built, declined_rows *declined)
{
    const char *name = p->need[need].name;
    if (p->group_items[need] > built->max_group) {
        decline(declined, p->row,
            "%s needs %zu work-items, as built it takes %zu", name,
            p->group_items[need], built->max_group);
        return false;
    }
    if (p->private_bytes > 0 && built->private_bytes > p->private_bytes) {
        decline(declined, p->row,
            "%s as built keeps %zu bytes of an item in memory, not in "
            "registers, and at most %zu are taken",
            name, built->private_bytes, p->private_bytes);
        return false;
    }
    return true;
}

bool plan_accept(const proposal *p, const built_kernel *const built[],
    declined_rows *declined)
{
    for (size_t i = 0; i < p->n_needs; ++i)
        if (!accept_kernel(p, i, built[i], declined))
            return false;
    return true;
}

typedef struct text_line {
    char *text;
    size_t capacity, used;
} text_line;

static void say(text_line *line, const char *format, ...) PRINTF_LIKE(2, 3);

static void say(text_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line->text + line->used,
        line->capacity - line->used, format, arguments);
    va_end(arguments);
    const size_t room = line->capacity - line->used;
    if (n > 0)
        line->used += (size_t)n < room ? (size_t)n : room - 1;
}

/* What is compiled in, without what is switched off. */
static void say_options(text_line *line, const char *options)
{
    while (*options != '\0') {
        const int length = (int)strcspn(options, " ");
        const bool off =
            length > 2 && strncmp(options + length - 2, "=0", 2) == 0;
        if (length > 2 && !off)
            say(line, " %.*s", length - 2, options + 2);
        options += length + (options[length] == ' ');
    }
}

void plan_text(char *text, size_t capacity, const proposal *p,
    const declined_rows *declined)
{
    text_line line = {text, capacity, 0};
    say(&line, "%s (%s):", p->row->name, p->row->path);
    for (size_t i = 0; i < p->n_needs; ++i) {
        say(&line, "%s %s", i ? "," : "", p->need[i].name);
        say_options(&line, p->need[i].options);
    }
    if (p->note[0] != '\0')
        say(&line, "; %s", p->note);
    say(&line, "; launches=%zu workspace=%zu bytes", p->launches,
        p->workspace_bytes);
    if (declined->text[0] != '\0')
        say(&line, "; declined %s", declined->text);
}
