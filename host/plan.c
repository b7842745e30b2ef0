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
#include "launches.h"

/* Scores in memory at a time when nobody asked for the weights: enough rows to
   fill any device, and a fraction of what inputs of that size take. */
#define SCORES_BYTES ((size_t)32 << 20)

/* Kernels count in int: sizes plus a tile must stay below 2^31. */
#define MAX_COUNT ((size_t)0x7fffffff - 256)

const kernel_row KERNEL_ROWS[] = {
    {"tiled16", "materialised", 16, 64},
    {"tiled8", "materialised", 8, 64},
    {"tiled4", "materialised", 4, 16},
    {"tiled1", "materialised", 1, 1},
};
const size_t N_KERNEL_ROWS = sizeof KERNEL_ROWS / sizeof KERNEL_ROWS[0];

const char *clattn_kernel_name(size_t index)
{
    return index < N_KERNEL_ROWS ? KERNEL_ROWS[index].name : NULL;
}

/* ---- Wishes and refusals -------------------------------------------------- */

static void decline(declined_rows *declined, const kernel_row *row,
    const char *format, ...) PRINTF_LIKE(3, 4);

static void decline(
    declined_rows *declined, const kernel_row *row, const char *format, ...)
{
    size_t used = strlen(declined->text);
    const size_t room = sizeof declined->text;
    declined->row[row - KERNEL_ROWS] = true;
    const int n = snprintf(declined->text + used, room - used,
        "%s%s: ", used ? "; " : "", row->name);
    used += n > 0 ? (size_t)n : 0;
    if (used >= room)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(declined->text + used, room - used, format, arguments);
    va_end(arguments);
}

/* Whether a comma list holds the row's name or path. */
static bool listed(const char *list, const kernel_row *row)
{
    while (list && *list != '\0') {
        const size_t length = strcspn(list, ",");
        const bool name = strlen(row->name) == length &&
                          strncmp(list, row->name, length) == 0;
        const bool path = strlen(row->path) == length &&
                          strncmp(list, row->path, length) == 0;
        if (name || path)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static const char *wished_kernel(const row_wishes *wishes)
{
    if (wishes->kernel && wishes->kernel[0] != '\0')
        return wishes->kernel;
    return wishes->env_kernel;
}

static bool is_known(const char *kernel)
{
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (strcmp(kernel, KERNEL_ROWS[i].name) == 0 ||
            strcmp(kernel, KERNEL_ROWS[i].path) == 0)
            return true;
    return false;
}

static clattn_status check_wishes(const row_wishes *wishes, clattn_error *error)
{
    const char *kernel = wished_kernel(wishes);
    if (!kernel || kernel[0] == '\0' || is_known(kernel))
        return CLATTN_OK;
    char names[200] = "";
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        snprintf(names + strlen(names), sizeof names - strlen(names), ", %s",
            KERNEL_ROWS[i].name);
    return error_set(error, CLATTN_INVALID,
        "kernel is '%.60s', but there are %s%s", kernel, KERNEL_ROWS[0].path,
        names);
}

/* Decline what the caller does not want, once. */
static void apply_wishes(declined_rows *declined, const row_wishes *wishes)
{
    const char *kernel = wished_kernel(wishes);
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i) {
        const kernel_row *row = &KERNEL_ROWS[i];
        if (declined->row[i])
            continue;
        if (kernel && kernel[0] != '\0' && !listed(kernel, row))
            decline(declined, row, "kernel '%.40s' was asked for", kernel);
        else if (listed(wishes->disable, row) ||
                 listed(wishes->env_disable, row))
            decline(declined, row, "switched off");
    }
}

/* ---- Rows ------------------------------------------------------------------ */

static bool group_fits(
    declined_rows *declined, const kernel_row *row, const device_limits *limits)
{
    const size_t square = row->tile * row->tile;
    const size_t items = square > row->lanes ? square : row->lanes;
    if (items > limits->max_group) {
        decline(declined, row, "needs %zu work-items, the device has %zu",
            items, limits->max_group);
        return false;
    }
    if (row->tile > limits->max_group_dim[0] ||
        row->lanes > limits->max_group_dim[0] ||
        row->tile > limits->max_group_dim[1]) {
        decline(declined, row,
            "needs %zux%zu work-items, the device has %zux%zu",
            row->tile > row->lanes ? row->tile : row->lanes, row->tile,
            limits->max_group_dim[0], limits->max_group_dim[1]);
        return false;
    }
    const size_t local = sizeof(float) * row->tile * (2 * row->tile + 1);
    if (local > limits->local_bytes) {
        decline(declined, row,
            "needs %zu bytes of local memory, the device has %zu", local,
            limits->local_bytes);
        return false;
    }
    return true;
}

/* Columns or keys of one launch: a tile takes T passes and one to advance. */
static size_t part_of(const kernel_row *row, const device_limits *limits)
{
    if (limits->max_iterations == 0)
        return MAX_COUNT / row->tile * row->tile;
    return limits->max_iterations / (row->tile + 1) * row->tile;
}

/* Three walks over the keys and two reductions of at most 8 steps. */
static bool softmax_fits(declined_rows *declined, const kernel_row *row,
    const device_limits *limits, size_t Lk)
{
    const size_t passes = 3 * (Lk / row->lanes + 1) + 2 * 8;
    if (limits->max_iterations == 0 || passes <= limits->max_iterations)
        return true;
    decline(declined, row,
        "Lk = %zu takes %zu loop passes, the device ends loops after %zu", Lk,
        passes, limits->max_iterations);
    return false;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The block of scores that is in memory at a time, and the workspace. */
static bool choose_block(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    const size_t all_heads = a->B * a->Hq;
    p->to_weights = (a->flags & CLATTN_RETURN_WEIGHTS) != 0;
    p->block_rows = a->Lq;
    p->block_heads = all_heads;
    p->workspace_bytes = 0;
    if (p->to_weights || a->Lk == 0 || a->Lq == 0 || all_heads == 0)
        return true;

    const size_t budget = smaller(SCORES_BYTES, limits->max_buffer_bytes);
    const size_t rows = budget / (a->Lk * sizeof(float));
    if (rows == 0 && a->Lk * sizeof(float) > limits->max_buffer_bytes) {
        decline(declined, row,
            "one row of scores takes %zu bytes, the device's buffers end at "
            "%zu",
            a->Lk * sizeof(float), limits->max_buffer_bytes);
        return false;
    }
    if (rows >= a->Lq) {
        p->block_heads = smaller(rows / a->Lq, all_heads);
    } else {
        p->block_heads = 1;
        p->block_rows = rows > row->tile ? rows / row->tile * row->tile
                        : rows > 0       ? rows
                                         : 1;
    }
    p->workspace_bytes = p->block_heads * p->block_rows * a->Lk * sizeof(float);
    return true;
}

static void need(proposal *p, size_t index, const char *name, size_t items,
    const char *format, ...) PRINTF_LIKE(5, 6);

static void need(proposal *p, size_t index, const char *name, size_t items,
    const char *format, ...)
{
    va_list arguments;
    p->need[index].name = name;
    p->group_items[index] = items;
    va_start(arguments, format);
    vsnprintf(p->need[index].options, sizeof p->need[index].options, format,
        arguments);
    va_end(arguments);
}

static void need_matmul(proposal *p, bool b_rows_are_n)
{
    const size_t tile = p->row->tile;
    need(p, SCORES, "matmul", tile * tile, "-DT=%zu -DB_ROWS=%s", tile,
        b_rows_are_n ? "B_ROWS_N" : "B_ROWS_K");
    p->n_needs = 1;
}

static clattn_status none_left(
    const declined_rows *declined, clattn_error *error)
{
    return error_set(
        error, CLATTN_UNSUPPORTED, "no kernel can run: %s", declined->text);
}

/* ---- Attention ------------------------------------------------------------- */

/* Options of the descriptor that no kernel has yet. */
static const char *unbuilt_option(const clattn_attention *a)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } FLAGS[] = {
        {CLATTN_RETURN_SCORES, "CLATTN_RETURN_SCORES"},
        {CLATTN_RETURN_SCALED, "CLATTN_RETURN_SCALED"},
        {CLATTN_RETURN_CAPPED, "CLATTN_RETURN_CAPPED"},
        {CLATTN_QUERY_LENGTHS, "CLATTN_QUERY_LENGTHS"},
        {CLATTN_QUERY_STARTS, "CLATTN_QUERY_STARTS"},
        {CLATTN_KEY_STARTS, "CLATTN_KEY_STARTS"},
        {CLATTN_SINKS, "CLATTN_SINKS"},
    };
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; ++i)
        if (a->flags & FLAGS[i].flag)
            return FLAGS[i].name;
    if (a->mask.dtype)
        return "mask";
    if (a->alibi_slopes)
        return "alibi_slopes";
    if (a->window_left >= 0)
        return "window_left";
    if (a->window_right >= 0)
        return "window_right";
    if (a->softcap != 0.0f)
        return "softcap";
    if (a->dropout_p != 0.0f)
        return "dropout_p";
    if (a->precision != CLATTN_PRECISION_F32)
        return "precision";
    return NULL;
}

static clattn_status check_dtypes(
    const clattn_attention *a, clattn_error *error)
{
    const struct {
        const char *name;
        const clattn_tensor *tensor;
        bool used;
    } tensors[] = {
        {"q", &a->q, true},
        {"k", &a->k, true},
        {"v", &a->v, true},
        {"out", &a->out, true},
        {"lse", &a->lse, (a->flags & CLATTN_RETURN_LSE) != 0},
        {"weights", &a->weights, (a->flags & CLATTN_RETURN_WEIGHTS) != 0},
    };
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i)
        if (tensors[i].used && tensors[i].tensor->dtype != CLATTN_F32)
            return error_set(error, CLATTN_UNSUPPORTED,
                "%s has dtype %d, but kernels take CLATTN_F32 (%d) only yet",
                tensors[i].name, (int)tensors[i].tensor->dtype, CLATTN_F32);
    return CLATTN_OK;
}

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
    clattn_status status = CLATTN_OK;
    const char *unbuilt = unbuilt_option(a);
    if (unbuilt)
        return error_set(error, CLATTN_UNSUPPORTED,
            "%s is set, but no kernel of this version does it", unbuilt);
    TRY(check_dtypes(a, error));
    TRY(check_heads(a->B, a->Hq, "Hq", error));
    if (a->Lq > MAX_COUNT || a->Lk > MAX_COUNT)
        status = error_set(error, CLATTN_UNSUPPORTED,
            "%s is %zu, but at most %zu is supported",
            a->Lq > MAX_COUNT ? "Lq" : "Lk", a->Lq > MAX_COUNT ? a->Lq : a->Lk,
            MAX_COUNT);

cleanup:
    return status;
}

matmul_job scores_job(const clattn_attention *a, const proposal *p)
{
    const size_t block = p->block_rows * a->Lk;
    matmul_job job = {
        .items = a->B,
        .heads = a->Hq,
        .group = a->Hkv ? a->Hq / a->Hkv : 1,
        .M = a->Lq,
        .N = a->Lk,
        .K = a->D,
        .a = {(wide)a->q.batch, (wide)a->q.head, (wide)a->q.row, 0},
        .b = {(wide)a->k.batch, (wide)a->k.head, (wide)a->k.row, 0},
        .c = {(wide)(a->Hq * block), (wide)block, (wide)a->Lk, 0},
        .b_rows_are_n = true,
    };
    if (p->to_weights)
        job.c = (place){(wide)a->weights.batch, (wide)a->weights.head,
            (wide)a->weights.row, 0};
    return job;
}

static bool propose_attention(proposal *p, declined_rows *declined,
    const kernel_row *row, const clattn_attention *a,
    const device_limits *limits)
{
    if (!group_fits(declined, row, limits) ||
        !softmax_fits(declined, row, limits, a->Lk) ||
        !choose_block(p, declined, row, a, limits))
        return false;
    p->row = row;
    p->part = part_of(row, limits);
    need_matmul(p, true);
    need(p, SOFTMAX, "scale_softmax", row->lanes, "-DG=%zu", row->lanes);
    need(p, WEIGHTED_SUM, "weighted_sum", row->tile * row->tile, "-DT=%zu",
        row->tile);
    p->n_needs = 3;
    p->launches = count_attention_launches(p, a, limits);
    return true;
}

clattn_status plan_attention(proposal *p, const clattn_attention *attention,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error)
{
    clattn_status status = CLATTN_OK;
    memset(p, 0, sizeof *p);
    TRY(check_attention(attention, error));
    TRY(check_wishes(wishes, error));
    apply_wishes(declined, wishes);
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (!declined->row[i] &&
            propose_attention(p, declined, &KERNEL_ROWS[i], attention, limits))
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
        .b_rows_are_n = l->weight_order == CLATTN_OUT_IN,
        .has_bias = l->has_bias != 0,
    };
}

static bool propose_matmul(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits)
{
    if (!group_fits(declined, row, limits))
        return false;
    p->row = row;
    p->part = part_of(row, limits);
    need_matmul(p, job->b_rows_are_n);
    p->launches = count_matmul_launches(p, job, limits);
    return true;
}

clattn_status plan_matmul(proposal *p, const matmul_job *job,
    const device_limits *limits, const row_wishes *wishes,
    declined_rows *declined, clattn_error *error)
{
    memset(p, 0, sizeof *p);
    if (job->M > MAX_COUNT || job->N > MAX_COUNT || job->K > MAX_COUNT)
        return error_set(error, CLATTN_UNSUPPORTED,
            "a product of %zu x %zu x %zu, but each size may be at most %zu",
            job->M, job->K, job->N, MAX_COUNT);
    const clattn_status status = check_wishes(wishes, error);
    if (status != CLATTN_OK)
        return status;
    apply_wishes(declined, wishes);
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i)
        if (!declined->row[i] &&
            propose_matmul(p, declined, &KERNEL_ROWS[i], job, limits))
            return CLATTN_OK;
    return none_left(declined, error);
}

/* ---- After the build ------------------------------------------------------- */

bool plan_accept(const proposal *p, const built_kernel *const built[],
    declined_rows *declined)
{
    for (size_t i = 0; i < p->n_needs; ++i) {
        if (p->group_items[i] > built[i]->max_group) {
            decline(declined, p->row,
                "%s needs %zu work-items, as built it takes %zu",
                p->need[i].name, p->group_items[i], built[i]->max_group);
            return false;
        }
    }
    return true;
}

void plan_text(char *text, size_t capacity, const proposal *p,
    const declined_rows *declined)
{
    size_t used = 0;
    const int n =
        snprintf(text, capacity, "%s (%s):", p->row->name, p->row->path);
    used = n > 0 ? (size_t)n : 0;
    for (size_t i = 0; i < p->n_needs && used < capacity; ++i) {
        const int more = snprintf(text + used, capacity - used, "%s %s %s",
            i ? "," : "", p->need[i].name, p->need[i].options);
        used += more > 0 ? (size_t)more : 0;
    }
    if (p->n_needs > 1 && used < capacity) {
        const int more = snprintf(text + used, capacity - used,
            "; scores of %zu heads x %zu rows at a time in %s", p->block_heads,
            p->block_rows, p->to_weights ? "the weights" : "workspace");
        used += more > 0 ? (size_t)more : 0;
    }
    if (used < capacity)
        snprintf(text + used, capacity - used,
            "; launches=%zu workspace=%zu bytes%s%s", p->launches,
            p->workspace_bytes, declined->text[0] ? "; declined " : "",
            declined->text);
}
